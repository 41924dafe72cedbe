"""SQLite: one file, one process; WAL and synchronous=FULL.

The driver must not begin transactions by itself, and every writing transaction begins IMMEDIATE: a
deferred one that becomes a writer later fails at once, whatever busy_timeout says.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.pool import QueuePool

from tequio_ledger.store import files
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import FatalLogError, TequioError

if TYPE_CHECKING:
    from sqlalchemy.exc import DatabaseError

_CACHE = "cache_size=-512"  # KiB per connection; the system caches the rest of the file
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


class Sqlite:
    """One file."""

    is_shared = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = str(path)

    def writer(self) -> Engine:
        """Make one connection, for which other threads wait."""
        engine = create_engine(
            f"sqlite:///{self._path}",
            poolclass=QueuePool,
            pool_size=1,
            max_overflow=0,
            connect_args={"check_same_thread": False},
        )
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin_immediate)
        return engine

    def reader(self) -> Engine:
        """Make a few connections that cannot write."""
        engine = create_engine(
            f"sqlite:///file:{self._path}?mode=ro&uri=true",
            poolclass=QueuePool,
            pool_size=_READERS,
            pool_use_lifo=True,  # reuse one while it is enough: each has a cache of its own
            connect_args={"check_same_thread": False},
        )
        event.listen(engine, "connect", _prepare_reader)
        event.listen(engine, "begin", _begin)
        return engine

    def glance(self, reader: Engine) -> Engine:
        """Give the reader: a transaction costs nothing here."""
        return reader

    def office(self, writer: Engine) -> Engine:
        """Give the writer: the folder's lock keeps other processes out."""
        return writer

    def is_vacant(self, connection: Connection) -> bool:
        """Return False: the process that asks is the only one."""
        return False

    def migrating(self, connection: Connection) -> AbstractContextManager[None]:
        """Do nothing: the folder's lock keeps other processes out."""
        return contextlib.nullcontext()

    def check_pages(self, connection: Connection) -> Iterator[str]:
        """Let SQLite read every page."""
        for said in connection.execute(text("PRAGMA integrity_check")).scalars():
            if said != "ok":
                yield said

    def failed_write(self, err: DatabaseError) -> TequioError:
        """Classify a failed write: UnwritableError for a passing cause, else FatalLogError."""
        code = getattr(err.orig, "sqlite_errorcode", 0) & 0xFF
        if code in _PASSING:
            return UnwritableError(self.explain(err))
        if code in _INPUT_OUTPUT:
            # SQLite reports a full quota, or a file system that became read-only, as an I/O error.
            # A write of our own to the folder tells these from a broken disk.
            try:
                files.probe(self._path.parent)
            except OSError as why:
                if files.is_passing(why):
                    return UnwritableError(files.explain(why, self._path.parent))
        return FatalLogError(self.explain(err))

    def explain(self, err: DatabaseError) -> str:
        """Explain an error of SQLite."""
        said, path = str(err.orig), self._path
        reasons = {
            "full": f"the disk of {path} is full: free some space",
            "readonly": f"{path} is read-only: give the service a folder it may write",
            "unable to open": f"{path} cannot be opened: check the folder and its owner",
            "not a database": f"{path} is not a database of tequio-ledger: choose another folder",
            "malformed": f"{path} is damaged ({said}): restore the folder or rebuild from a mirror",
            "locked": f"{path} is locked by another program: stop it",
        }
        for sign, reason in reasons.items():
            if sign in said:
                return reason
        return f"{path} cannot be used: {said}"


def copy(source: sqlite3.Connection, target: Path) -> None:
    """Write a whole database to a new file as of one moment; raises sqlite3.Error."""
    with contextlib.closing(sqlite3.connect(target)) as copied:
        source.backup(copied)
        copied.execute("PRAGMA journal_mode=DELETE")  # one file, without -wal and -shm beside it


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
