"""PostgreSQL: several processes serve from one database, and one of them writes the log.

The process that writes the log holds a session advisory lock, on the one connection on which it
writes: losing the session means losing both. `office` gives that connection or raises `TakenError`.
A session that is silent for LEASE_S while it holds the lock, because its process is frozen or cut
off, is ended by the next process that wants the office: by the database's own clock, so that no two
hosts compare theirs. The ended process cannot do harm: it swaps the head only against its own term
(`log_rows.swap_head`).

synchronous_commit stays on. A standby that lags behind must not be promoted: that would be the
restore of an old backup (docs/operating.md).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event, insert, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.pool import QueuePool

from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import FatalLogError, TequioError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import psycopg

    from tequio_ledger.store.models import Base


SCHEME = "postgresql+psycopg"
LEASE_S = 2.5
"""A leader whose session is silent for longer than this may lose it."""
_OFFICE_LOCK = 0x7465_7175_696F_0001  # "tequio"; advisory locks are each database's own
_TABLES_LOCK = 0x7465_7175_696F_0002
_CONNECTIONS = 4
_ENDING_MS = 1_000
_STATEMENT_S = 60
_CONNECT = {
    "connect_timeout": 3,  # seconds
    "tcp_user_timeout": 3_000,  # ms until a line that carries nothing counts as cut
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "application_name": "tequio-ledger",
}
_PASSING = ("08", "25006", "40", "53", "55", "57", "58030")
"""Prefixes of SQLSTATEs of passing errors: connection, read-only, conflict, resources."""


_HOLDERS = """
    SELECT held.pid, doing.usename AS role,
        pg_has_role(doing.usesysid, 'MEMBER') AS is_ours,
        extract(epoch FROM clock_timestamp()
            - greatest(doing.query_start, doing.state_change))::float8 AS rests_s
    FROM pg_locks held JOIN pg_stat_activity doing USING (pid)
    WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (held.classid::bigint << 32 | held.objid::bigint) = :key
"""
"""Query for the session that holds the office: one row or none.

The activity of a session of another role is hidden from us.
"""


class OfficeTakenError(UnwritableError):
    """Another process writes the log of this database."""


class ForeignOfficeError(UnwritableError):
    """A session of another role holds the office; it is not one of our processes."""


class Postgresql:
    """One database of a server."""

    is_shared = True

    def __init__(self, url: str) -> None:
        """Parse the URL; raises UserFacingError."""
        try:
            parsed = make_url(url)
        except ArgumentError as err:
            raise UserFacingError(f"--database {url!r} is not a valid URL: {err}") from err
        if parsed.drivername != SCHEME or not parsed.database:
            raise UserFacingError(
                f"--database {parsed.render_as_string()!r} must be {SCHEME}://user@host/database, "
                "or sqlite:///path"
            )
        self._url = parsed
        self.name = parsed.render_as_string(hide_password=True).replace(":***", "")

    def writer(self) -> Engine:
        """Make the connections for short writes of every replica."""
        return self._engine(_CONNECTIONS, "READ COMMITTED", "")

    def reader(self) -> Engine:
        """Make connections whose transactions see one moment and cannot write."""
        return self._engine(_CONNECTIONS, "REPEATABLE READ", "-c default_transaction_read_only=on")

    def glance(self, reader: Engine) -> Engine:
        """Give the reader without BEGIN and ROLLBACK, each of which costs a round trip."""
        return reader.execution_options(isolation_level="AUTOCOMMIT")

    def office(self, writer: Engine) -> Engine:
        """Make the one connection that holds the lock; connecting raises TakenError without it."""
        engine = self._engine(1, "READ COMMITTED", "")
        event.listen(engine, "connect", _take_lock)
        return engine

    def is_vacant(self, connection: Connection) -> bool:
        """Return whether nobody holds the lock, after ending a silent session that holds it.

        Raises ForeignOfficeError when the session belongs to another role: it is not one of our
        ledgers, and we may not end it.
        """
        # A process that froze in the middle of a query stays `active`. So the query above measures
        # when the session last began or ended something, not the state that it reports.
        holders = connection.execute(text(_HOLDERS), {"key": _OFFICE_LOCK}).all()
        for holder in holders:
            if not holder.is_ours:
                raise ForeignOfficeError(
                    f"role {holder.role} (process {holder.pid} of the server) holds the lock of "
                    f"the log's writer in {self.name}: end that session, and let nobody else "
                    "connect (REVOKE CONNECT ON DATABASE .. FROM PUBLIC)"
                )
            if holder.rests_s > LEASE_S:
                end = text("SELECT pg_terminate_backend(:pid, :patience_ms)")
                connection.execute(end, {"pid": holder.pid, "patience_ms": _ENDING_MS})
        return all(holder.rests_s > LEASE_S for holder in holders)

    @contextmanager
    def migrating(self, connection: Connection) -> Iterator[None]:
        """Let one process at a time check and change the tables."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _TABLES_LOCK})
        yield

    def check_pages(self, connection: Connection) -> Iterator[str]:
        """Report damaged pages, if PostgreSQL keeps checksums."""
        if connection.scalar(text("SHOW data_checksums")) != "on":
            return
        query = text(
            "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()"
        )
        failures = connection.scalar(query) or 0
        if failures:
            yield f"{failures} pages whose checksum does not hold"

    def failed_write(self, err: DatabaseError) -> TequioError:
        """Classify a failed write: an error that a new session may not meet is passing."""
        state = getattr(err.orig, "sqlstate", None)
        if state is None:  # the request never reached the server, or the answer was lost
            passes = err.connection_invalidated or isinstance(err, OperationalError)
        else:
            passes = state.startswith(_PASSING)
        return (UnwritableError if passes else FatalLogError)(self.explain(err))

    def explain(self, err: DatabaseError) -> str:
        """Explain an error of PostgreSQL."""
        state = getattr(err.orig, "sqlstate", None) or ""
        said = " ".join(str(err.orig).split())
        reasons = {
            "53100": f"the disk of {self.name} is full: free some space",
            "53300": f"{self.name} takes no more connections: raise max_connections",
            "25006": f"{self.name} is read-only: use the primary server",
            "28": f"{self.name} does not let this user in: check user, password and pg_hba.conf",
            "3D000": f"{self.name} does not exist: create the database",
            "42501": f"this user may not use the tables of {self.name}: make it their owner",
        }
        for sign, reason in reasons.items():
            if state.startswith(sign):
                return reason
        return f"{self.name} cannot be used: {said}"

    def _engine(self, connections: int, isolation: str, options: str) -> Engine:
        # synchronous_commit explicitly: a role or database may have another default, and a receipt
        # promises that the entry survives a crash of the server.
        settings = f"-c statement_timeout={_STATEMENT_S}s -c synchronous_commit=on {options}"
        return create_engine(
            self._url,
            poolclass=QueuePool,
            pool_size=connections,
            max_overflow=0,
            isolation_level=isolation,
            connect_args={**_CONNECT, "options": settings},
        )


def _take_lock(dbapi: psycopg.Connection[tuple[object, ...]], _record: object) -> None:
    with dbapi.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", (_OFFICE_LOCK,))
        row = cursor.fetchone()
    dbapi.commit()
    if row is None or not row[0]:
        dbapi.close()  # the pool must not hand out a connection that does not hold the lock
        raise OfficeTakenError("another tequio-ledger writes this log")


# --- Inserting rows, in the fastest way that the database has.
#
# Both databases understand `INSERT ... ON CONFLICT`. SQLite inserts many rows with one prepared
# statement. PostgreSQL would need a message for each row, so it gets many rows at once, as one
# array per column.

if TYPE_CHECKING:
    Row = Mapping[str, object]
    Upsert = postgresql.Insert | sqlite.Insert

_POSTGRESQL = "postgresql"
_MANY = 16
"""Fewer rows are faster as one statement each."""


def insert_many(connection: Connection, table: type[Base], rows: Sequence[Row]) -> None:
    """Write rows, all with the same columns; fails if one exists already."""
    if _are_many(connection, rows):
        from tequio_ledger.store.array_insertion import insert_arrays  # noqa: PLC0415 - see there

        insert_arrays(connection, table, rows)
    else:
        connection.execute(insert(table), rows)


def insert_new(connection: Connection, table: type[Base], row: Row) -> None:
    """Write a row unless its key exists."""
    connection.execute(_insert(connection, table).on_conflict_do_nothing(), row)


def upsert(
    connection: Connection,
    table: type[Base],
    rows: Sequence[Row],
    keys: Sequence[str],
    fresh: Sequence[str],
) -> None:
    """Write rows; if a key exists already, replace the columns named in `fresh`."""
    if _are_many(connection, rows):
        from tequio_ledger.store.array_insertion import upsert_arrays  # noqa: PLC0415 - see there

        upsert_arrays(connection, table, rows, keys, fresh)
        return
    statement = _insert(connection, table)
    columns = {name: statement.excluded[name] for name in fresh}
    change = statement.on_conflict_do_update(index_elements=list(keys), set_=columns)
    connection.execute(change, rows)


def _are_many(connection: Connection, rows: Sequence[Row]) -> bool:
    return connection.dialect.name == _POSTGRESQL and len(rows) >= _MANY


def _insert(connection: Connection, table: type[Base]) -> Upsert:
    if connection.dialect.name == _POSTGRESQL:
        return postgresql.insert(table)
    return sqlite.insert(table)
