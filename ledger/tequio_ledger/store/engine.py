"""The database: one connection that writes, a few that read (SQLite, WAL, synchronous=FULL).

The driver must not begin transactions by itself, and every writing one begins IMMEDIATE: a
deferred one that turns into a writer fails at once, whatever busy_timeout says.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import QueuePool

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000", "foreign_keys=ON")
_READERS = 4


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

    def close(self) -> None:
        """Close every connection."""
        self.reader.dispose()
        self.writer.dispose()


def explain(err: DatabaseError, path: Path) -> str:
    """Say in one sentence what a database error means for the person who runs the service."""
    said = str(err.orig)
    reasons = {
        "full": f"the disk of {path} is full: free some space and start again",
        "readonly": f"{path} is read-only: give the service a folder it may write",
        "unable to open": f"{path} cannot be opened: check the folder and its owner",
        "not a database": f"{path} is no database of tequio-ledger: choose another folder",
        "malformed": f"{path} is damaged ({said}): restore the folder or rebuild from a mirror",
        "locked": f"{path} is locked by another program: stop it and start again",
    }
    for sign, reason in reasons.items():
        if sign in said:
            return reason
    return f"{path} cannot be used: {said}"


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
    dbapi.execute("PRAGMA busy_timeout=5000")


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
