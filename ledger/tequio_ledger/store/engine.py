"""The database: one connection that writes, a few that read (SQLite, WAL, synchronous=FULL).

The driver must not begin transactions by itself, and every writing one begins IMMEDIATE: a
deferred one that turns into a writer fails at once, whatever busy_timeout says.
"""

from __future__ import annotations

import contextlib
import sqlite3
from importlib import resources
from typing import TYPE_CHECKING, cast

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import QueuePool

from tequio_ledger.store import disk
from tequio_ledger.store.disk import UnwritableError
from tequio_shared.errors import FatalLogError, TequioError, UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

_CACHE = "cache_size=-512"  # KiB a connection; the system keeps the rest of the file at hand
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "busy_timeout=5000",
    "foreign_keys=ON",
    _CACHE,
)
_READER_PRAGMAS = ("busy_timeout=5000", _CACHE)
_READERS = 4
_PASSING = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY}
_INPUT_OUTPUT = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


class Database:
    """Two engines on one file; `migrate` must run before either is used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer = _writer(path)
        self.reader = _reader(path)

    def migrate(self) -> None:
        """Bring the tables up to this program; raises UserFacingError when that is impossible."""
        try:
            with self.writer.connect() as connection:
                command.upgrade(_config(connection), "head")
        except CommandError as err:
            raise UserFacingError(
                f"{self.path} was made by a newer tequio-ledger ({err}): use that one"
            ) from err
        except DatabaseError as err:
            raise UserFacingError(explain(err, self.path)) from err

    def copy(self, path: Path) -> None:
        """Write all of it to a new file as of one moment, while others go on writing.

        Raises UserFacingError.
        """
        try:
            with contextlib.closing(sqlite3.connect(path)) as copied:
                with self.reader.connect() as connection:
                    source = cast("sqlite3.Connection", connection.connection.driver_connection)
                    source.backup(copied)
                copied.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
        except sqlite3.Error as err:
            raise UserFacingError(f"{self.path} could not be copied to {path}: {err}") from err

    def close(self) -> None:
        """Close every connection; what is used next opens new ones."""
        self.reader.dispose()
        self.writer.dispose()


def explain(err: DatabaseError, path: Path) -> str:
    """Say in one sentence what a database error means for the person who runs the service."""
    said = str(err.orig)
    reasons = {
        "full": f"the disk of {path} is full: free some space",
        "readonly": f"{path} is read-only: give the service a folder it may write",
        "unable to open": f"{path} cannot be opened: check the folder and its owner",
        "not a database": f"{path} is no database of tequio-ledger: choose another folder",
        "malformed": f"{path} is damaged ({said}): restore the folder or rebuild from a mirror",
        "locked": f"{path} is locked by another program: stop it",
    }
    for sign, reason in reasons.items():
        if sign in said:
            return reason
    return f"{path} cannot be used: {said}"


def failed_write(err: DatabaseError, path: Path) -> TequioError:
    """Say what a failed write means: UnwritableError for what may pass, else FatalLogError.

    SQLite calls a full quota or a file system that went read-only an I/O error; then the folder
    itself is asked.
    """
    code = getattr(err.orig, "sqlite_errorcode", 0) & 0xFF
    if code in _PASSING:
        return UnwritableError(explain(err, path))
    if code in _INPUT_OUTPUT:
        try:
            disk.probe(path.parent)
        except OSError as why:
            if disk.is_passing(why):
                return UnwritableError(disk.explain(why, path.parent))
    return FatalLogError(explain(err, path))


def _writer(path: Path) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=QueuePool,
        pool_size=1,  # the one writer: other threads wait for it
        max_overflow=0,
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def _reader(path: Path) -> Engine:
    engine = create_engine(
        f"sqlite:///file:{path}?mode=ro&uri=true",
        poolclass=QueuePool,
        pool_size=_READERS,
        pool_use_lifo=True,  # the same one while one is enough: each has a cache of its own
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_reader)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(dbapi: sqlite3.Connection, _record: object) -> None:
    dbapi.isolation_level = None
    for pragma in _PRAGMAS:
        dbapi.execute("PRAGMA " + pragma)


def _prepare_reader(dbapi: sqlite3.Connection, _record: object) -> None:
    dbapi.isolation_level = None
    for pragma in _READER_PRAGMAS:
        dbapi.execute("PRAGMA " + pragma)


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _config(connection: Connection) -> Config:
    config = Config()
    folder = resources.files("tequio_ledger.store") / "migrations"
    config.set_main_option("script_location", str(folder))
    config.attributes["connection"] = connection
    return config
