"""SQLite: one file, one process; WAL and synchronous=FULL.

The driver must not begin transactions by itself, and every writing transaction begins IMMEDIATE: a
deferred one that becomes a writer later fails at once, whatever busy_timeout says.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import QueuePool

from tequio_ledger.store import files

_CACHE = "cache_size=-512"  # KiB per connection; the system caches the rest of the file
_PRAGMAS = (
    "journal_mode=WAL",  # readers go on while the log is written
    "synchronous=FULL",  # NORMAL would lose the last commits in a power cut, after their receipts
    "busy_timeout=5000",
    "foreign_keys=ON",
    _CACHE,
)
_READER_PRAGMAS = ("busy_timeout=5000", _CACHE)
_READERS = 4
_PASSING = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_NOMEM,
    # Nothing was written: the file's place is away, or no descriptor is left.
    sqlite3.SQLITE_CANTOPEN,
}
_INPUT_OUTPUT = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM}


class Sqlite:
    is_shared = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = str(path)

    def writer(self) -> Engine:
        engine = create_engine(
            f"sqlite:///{self._path}",
            poolclass=QueuePool,
            pool_size=1,  # SQLite has one writer: threads wait here, in order, and not in the file
            max_overflow=0,
            connect_args={"check_same_thread": False},
        )
        return _prepared(engine, _PRAGMAS, "BEGIN IMMEDIATE")

    def reader(self) -> Engine:
        # Opened as read-only: a query with a side effect fails here, and not on PostgreSQL alone.
        engine = create_engine(
            f"sqlite:///file:{self._path}?mode=ro&uri=true",
            poolclass=QueuePool,
            pool_size=_READERS,
            pool_use_lifo=True,  # reuse one while it is enough: each has a cache of its own
            connect_args={"check_same_thread": False},
        )
        return _prepared(engine, _READER_PRAGMAS, "BEGIN")

    def glance(self, reader: Engine) -> Engine:
        return reader  # a transaction costs nothing here

    def log_writer(self, writer: Engine) -> Engine:
        return writer  # the folder's lock keeps other processes out

    def is_vacant(self, connection: Connection) -> bool:
        return False  # the process that asks is the only one

    def begin_rewriting(self, connection: Connection) -> None:
        pass  # the folder's lock keeps other processes out

    def check_pages(self, connection: Connection) -> Iterator[str]:
        for line in connection.execute(text("PRAGMA integrity_check")).scalars():
            if line != "ok":
                yield line

    def passes(self, err: DatabaseError) -> bool:
        extended = getattr(err.orig, "sqlite_errorcode", 0)
        code = extended & 0xFF
        if code in _PASSING or extended == sqlite3.SQLITE_IOERR_NOMEM:
            return True
        if code in _INPUT_OUTPUT:
            # SQLite reports a full quota, or a file system that became read-only, as an I/O error.
            # A write of our own to the folder tells these from a broken disk.
            try:
                files.probe(self._path.parent)
            except OSError as why:
                return files.is_passing(why)
        return False

    def explain(self, err: DatabaseError) -> str:
        message, path = str(err.orig), self._path
        reasons = {
            "full": f"the disk of {path} is full: free some space",
            "disk I/O": f"the disk of {path} is full or fails: free some space, and check it",
            "readonly": f"{path} is read-only: give the service a folder it may write",
            "unable to open": f"{path} cannot be opened: check the folder and its owner",
            "not a database": f"{path} is not a database of tequio-ledger: choose another folder",
            "malformed": f"{path} is damaged ({message}): "
            "restore the folder or rebuild from a mirror",
            "locked": f"{path} is locked by another program: stop it",
        }
        found = (reason for words, reason in reasons.items() if words in message)
        return next(found, f"{path} cannot be used: {message}")


def _prepared(engine: Engine, pragmas: Sequence[str], begin: str) -> Engine:
    def prepare(dbapi: sqlite3.Connection, _record: object) -> None:
        dbapi.isolation_level = None  # the driver begins nothing by itself: the listener below does
        for pragma in pragmas:
            dbapi.execute("PRAGMA " + pragma)

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine
