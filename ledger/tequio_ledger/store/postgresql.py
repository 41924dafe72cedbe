"""PostgreSQL: several processes serve from one database, and one of them writes the log.

The process that writes the log holds a session advisory lock, on the one connection on which it
writes: losing the session means losing both. `log_writer` gives that connection or raises
`NotLeaderError`. A session that is silent for LEASE_S while it holds the lock, because its process
is frozen or cut off, is ended by the next process that wants to lead: by the database's own clock,
so that no two hosts compare theirs. The ended process cannot do harm: it swaps the head only
against its own term (`log_rows.swap_head`).

synchronous_commit stays on. A standby that lags behind must not be promoted: that would be the
restore of an old backup (docs/operating.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.pool import QueuePool

from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    import psycopg  # only with this database: it would slow down every other start

SCHEME = "postgresql+psycopg"
LEASE_S = 2.5
"""A leader whose session is silent for longer than this may lose it."""
_LEADER_LOCK = 0x7465_7175_696F_0001  # "tequio"; advisory locks are each database's own
_TABLES_LOCK = 0x7465_7175_696F_0002
_CONNECTIONS = 4
_ENDING_MS = 1_000
_STATEMENT_S = 60  # no query takes that long: a session that hangs must give its locks back
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

_REASONS = {
    "53100": "the disk of {} is full: free some space",
    "53300": "{} takes no more connections: raise max_connections",
    "25006": "{} is read-only: use the primary server",
    "28": "{} does not let this user in: check user, password and pg_hba.conf",
    "3D000": "{} does not exist: create the database",
    "42501": "this user may not use the tables of {}: make it their owner",
}
"""Sentences by prefixes of SQLSTATEs."""
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
"""Query for the session that holds the lock: one row or none.

The activity of a session of another role is hidden from us.
"""


class NotLeaderError(UnwritableError):
    """Another process writes the log of this database."""


class ForeignLockError(UnwritableError):
    """A session of another role holds the lock; it is not one of our processes."""


class Postgresql:
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
        # Every write is one conditional statement or an insertion that a key guards, so the
        # weakest isolation is enough, and no transaction has to be repeated.
        return self._engine(_CONNECTIONS, "READ COMMITTED")

    def reader(self) -> Engine:
        # A page or a check makes several queries: they must see the same moment of the log.
        options = "-c default_transaction_read_only=on"
        return self._engine(_CONNECTIONS, "REPEATABLE READ", options)

    def glance(self, reader: Engine) -> Engine:
        # Without BEGIN and ROLLBACK, each of which costs a round trip.
        return reader.execution_options(isolation_level="AUTOCOMMIT")

    def log_writer(self, writer: Engine) -> Engine:
        # One connection and no more: the lock belongs to its session, so a second one could write
        # while the lock is lost.
        engine = self._engine(1, "READ COMMITTED")
        event.listen(engine, "connect", _take_lock)
        return engine

    def is_vacant(self, connection: Connection) -> bool:
        """Return whether no session holds the lock, after ending a silent one that holds it.

        Raises ForeignLockError when the session belongs to another role: it is not one of our
        ledgers, and we may not end it.
        """
        # A process that froze in the middle of a query stays `active`. So `_HOLDERS` measures when
        # the session last began or ended something, not the state that it reports.
        holders = connection.execute(text(_HOLDERS), {"key": _LEADER_LOCK}).all()
        for holder in holders:
            if not holder.is_ours:
                raise ForeignLockError(
                    f"role {holder.role} (process {holder.pid} of the server) holds the lock of "
                    f"the log's writer in {self.name}: end that session, and let nobody else "
                    "connect (REVOKE CONNECT ON DATABASE .. FROM PUBLIC)"
                )
            if holder.rests_s > LEASE_S:
                end = text("SELECT pg_terminate_backend(:pid, :patience_ms)")
                connection.execute(end, {"pid": holder.pid, "patience_ms": _ENDING_MS})
        return all(holder.rests_s > LEASE_S for holder in holders)

    def begin_rewriting(self, connection: Connection) -> None:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        # Of replicas that start together one migrates, and the others wait and find it done. The
        # lock ends with the transaction, so a killed process cannot leave it behind.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _TABLES_LOCK})

    def check_pages(self, connection: Connection) -> Iterator[str]:
        # The server checks each page that it reads, if it keeps checksums at all; it counts what
        # it found, and nothing else can be asked of it through SQL.
        if connection.scalar(text("SHOW data_checksums")) != "on":
            return
        query = text(
            "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()"
        )
        failures = connection.scalar(query) or 0
        if failures:
            yield f"{failures} pages whose checksum does not hold"

    def passes(self, err: DatabaseError) -> bool:
        # A new session may not meet the error.
        state = getattr(err.orig, "sqlstate", None)
        if state is None:  # the request never reached the server, or the answer was lost
            return err.connection_invalidated or isinstance(err, OperationalError)
        return bool(state.startswith(_PASSING))

    def explain(self, err: DatabaseError) -> str:
        state = getattr(err.orig, "sqlstate", None) or ""
        for prefix, reason in _REASONS.items():
            if state.startswith(prefix):
                return reason.format(self.name)
        return f"{self.name} cannot be used: {' '.join(str(err.orig).split())}"

    def _engine(self, connections: int, isolation: str, options: str = "") -> Engine:
        # synchronous_commit explicitly: a role or database may have another default, and a receipt
        # promises that the entry survives a crash of the server.
        settings = f"-c statement_timeout={_STATEMENT_S}s -c synchronous_commit=on {options}"
        return create_engine(
            self._url,
            poolclass=QueuePool,
            pool_size=connections,
            max_overflow=0,  # all replicas share the server's max_connections
            isolation_level=isolation,
            connect_args={**_CONNECT, "options": settings},
        )


def _take_lock(dbapi: psycopg.Connection[tuple[object, ...]], _record: object) -> None:
    with dbapi.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", (_LEADER_LOCK,))
        row = cursor.fetchone()
    dbapi.commit()  # ends the transaction that the driver began: the lock outlives it
    if row is None or not row[0]:
        dbapi.close()  # the pool must not hand out a connection that does not hold the lock
        raise NotLeaderError("another tequio-ledger writes this log")
