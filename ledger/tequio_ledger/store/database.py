"""The database of a ledger: SQLite in its folder, or PostgreSQL for several processes.

Four engines: `reader` for reading, `writer` for short writes, `log_writer` for the log itself, and
`log_reader` for its look-ups, so that the log never waits for other readers; `glance` is `reader`
for single queries. Answers are made from `reader`, which reads no table with a wrong row. The
differences between the two kinds of database are in `sqlite` and `postgresql`; everything else is
the same code.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from typing import Protocol, cast

from sqlalchemy import ClauseElement, Connection, Engine, Table, event, inspect, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql import visitors

from tequio_ledger import metrics
from tequio_ledger.runtime import RareLog
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.postgresql import NotLeaderError, Postgresql
from tequio_ledger.store.sqlite import Sqlite
from tequio_shared.errors import FatalLogError, RefusedError, TequioError, UserFacingError

FAILURES = (DatabaseError, NoConnectionError)
"""Errors of a database that did not do what it was asked to do."""
_SQLITE = "sqlite:///"
_REVISION_TABLE = "alembic_version"
_SINCE = "tequio_since"


class Dialect(Protocol):
    """The operations that each kind of database does in its own way."""

    name: str
    """The place for messages, without a password."""
    is_shared: bool
    """True if several processes may serve from it at once."""

    def writer(self) -> Engine:
        """Make the engine of short writes."""

    def reader(self) -> Engine:
        """Make the engine of readers: each transaction sees one moment and writes nothing."""

    def glance(self, reader: Engine) -> Engine:
        """Make an engine for single queries, on the connections of a reader's engine."""

    def log_writer(self, writer: Engine) -> Engine:
        """Make the engine of the log's one writer, with one connection.

        Connecting raises NotLeaderError while another process writes the log.
        """

    def is_vacant(self, connection: Connection) -> bool:
        """Return whether no process writes the log; ends the session of a silent one."""

    def begin_rewriting(self, connection: Connection) -> None:
        """Keep other processes from changing the tables until the transaction ends.

        Its statements may take as long as they need.
        """

    def check_pages(self, connection: Connection) -> Iterator[str]:
        """Let the database check itself; yields a sentence for each fault."""

    def passes(self, err: DatabaseError) -> bool:
        """Return whether the cause of a failed write may go away while the process lives."""

    def explain(self, err: DatabaseError) -> str:
        """Explain an error in one sentence to the operator."""


class Database:
    """The engines of one database; `migrate` must run before any is used."""

    def __init__(self, place: Path | str) -> None:
        """Choose the place, a file or a URL; raises UserFacingError. Nothing is opened yet."""
        self.dialect = dialect_of(place)
        self.name = self.dialect.name
        self.is_shared = self.dialect.is_shared
        self.writer = self.dialect.writer()
        self.reader = self.dialect.reader()
        self.glance = self.dialect.glance(self.reader)
        self.log_writer = self.dialect.log_writer(self.writer)
        self.log_reader = self.dialect.reader()
        self._log = RareLog()
        self.damaged: dict[str, str] = {}
        """Tables from which `reader` reads nothing any more, and why."""
        event.listen(self.reader, "before_execute", self._refuse_damaged)

    def _refuse_damaged(self, _connection: Connection, statement: object, *_: object) -> None:
        # Here and not in the queries, none of which can then forget it.
        if not self.damaged or not isinstance(statement, ClauseElement):
            return
        for part in visitors.iterate(statement):
            if isinstance(part, Table) and part.name in self.damaged:
                raise RefusedError(
                    "damaged", f"these figures are withheld: {self.damaged[part.name]}"
                )

    def migrate(self) -> None:
        """Update the tables to this program's version; raises UserFacingError if impossible."""
        if self.revision() == _newest_revision():
            return
        # Here and not at the top: alembic takes a tenth of a start, and most starts have no use
        # for it.
        from alembic import command  # noqa: PLC0415 - as above
        from alembic.config import Config  # noqa: PLC0415 - as above
        from alembic.util import CommandError  # noqa: PLC0415 - as above

        config = Config()
        folder = resources.files("tequio_ledger.store") / "migrations"
        config.set_main_option("script_location", str(folder))
        try:
            # One transaction for all versions: a start that is killed leaves the old tables, and
            # both databases can roll back a change of tables.
            with self.writer.begin() as connection:
                self.dialect.begin_rewriting(connection)
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except CommandError as err:
            raise UserFacingError(
                f"{self.name} was made by another version of tequio-ledger ({err}): use that one"
            ) from err
        except DatabaseError as err:
            raise UserFacingError(self.dialect.explain(err)) from err

    def revision(self) -> str | None:
        """Give the revision of the tables; None when there are none. Raises UserFacingError."""
        try:
            with self.writer.connect() as connection:
                return _revision(connection)
        except DatabaseError as err:
            raise UserFacingError(self.dialect.explain(err)) from err

    def is_current(self, connection: Connection) -> bool:
        """Return whether the tables are as this program makes them."""
        return _revision(connection) == _newest_revision()

    def copy(self, path: Path) -> None:
        """Copy an SQLite database to a new file as of one moment, while others write.

        Raises UserFacingError.
        """
        try:
            with self.reader.connect() as connection, closing(sqlite3.connect(path)) as copied:
                cast("sqlite3.Connection", connection.connection.driver_connection).backup(copied)
                copied.execute("PRAGMA journal_mode=DELETE")  # no -wal and -shm beside the file
        except sqlite3.Error as err:
            raise UserFacingError(f"{self.name} could not be copied to {path}: {err}") from err

    def failed_write(self, err: DatabaseError | NoConnectionError) -> TequioError:
        """Classify a failed write: UnwritableError for a passing cause, else FatalLogError.

        The cause of the former is in the ledger's log only: strangers read the error, and it names
        neither the place of the database nor what the server said.
        """
        reason = self.explain(err)
        if isinstance(err, DatabaseError) and not self.dialect.passes(err):
            return FatalLogError(reason)
        self._log.report("the database failed", reason=reason)
        return UnwritableError("the database cannot be used for now: try again later")

    def explain(self, err: DatabaseError | NoConnectionError) -> str:
        """Explain an error in one sentence to the operator."""
        if isinstance(err, DatabaseError):
            return self.dialect.explain(err)
        return f"all connections to {self.name} are in use"

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Translate the database's errors inside the block as `failed_write` does."""
        try:
            yield
        except FAILURES as err:
            raise self.failed_write(err) from err

    def has_no_leader(self) -> bool:
        """Return whether no process writes the log; ends the session of a silent one.

        Raises UnwritableError when the database does not answer.
        """
        with self.translated_errors(), self.writer.begin() as connection:
            return self.dialect.is_vacant(connection)

    def hold_leader_lock(self) -> None:
        """Take the lock of the log's writer, or keep its session alive.

        Raises NotLeaderError when another process has it, UnwritableError.
        """
        with self.translated_errors(), self.log_writer.connect() as connection:
            connection.exec_driver_sql("SELECT 1")

    def release_leader_lock(self) -> None:
        """Let another process write the log."""
        self.log_writer.dispose()  # the lock ends with its session

    def lost_lead(self, message: str) -> TequioError:
        """Make the error for a log that another process wrote: fatal where there must be none."""
        return NotLeaderError(message) if self.is_shared else FatalLogError(message)

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        for engine in (self.reader, self.log_reader, self.log_writer, self.writer):
            engine.dispose()


@contextmanager
def closed_on_error(database: Database) -> Iterator[None]:
    """Leave no connection behind when the block fails, and no lock held."""
    try:
        yield
    except BaseException:
        database.close()
        raise


def dialect_of(place: Path | str) -> Dialect:
    """Choose the dialect for a path, a `sqlite:///path`, or a PostgreSQL URL."""
    if isinstance(place, Path):
        return Sqlite(place)
    if place.startswith(_SQLITE):
        return Sqlite(Path(place.removeprefix(_SQLITE)).absolute())
    return Postgresql(place)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_REVISION_TABLE):
        return None
    stored = text(f"SELECT version_num FROM {_REVISION_TABLE}")  # noqa: S608 - a constant
    revision: str | None = connection.execute(stored).scalar_one_or_none()
    return revision


def _newest_revision() -> str:
    # From the names of the files, each of which begins with its revision: asking alembic would
    # import it at every start.
    files = (resources.files("tequio_ledger.store") / "migrations" / "versions").iterdir()
    return max(file.name.partition("_")[0] for file in files if file.name[0].isdigit())


def watch(engine: Engine, name: str) -> None:
    """Measure every use of an engine's connections from now on."""
    duration = metrics.DATABASE_S.labels(engine=name)

    def check_out(_dbapi: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        record.info[_SINCE] = time.perf_counter()

    def check_in(_dbapi: object, record: ConnectionPoolEntry) -> None:
        since = record.info.pop(_SINCE, None)
        if since is not None:
            duration.observe(time.perf_counter() - since)

    event.listen(engine, "checkout", check_out)
    event.listen(engine, "checkin", check_in)
