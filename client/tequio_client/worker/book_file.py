"""A small SQLite file that the worker keeps beside its keys: opened, checked, written by one.

Rules. A file that is damaged, of a newer program or of another owner is kept aside under another
name, and a new one is begun: no book holds what cannot be had again or done without. What a
transaction wrote is there after the process is killed, whole or not at all. One connection, one
lock: calls may come from any thread, and block for milliseconds.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

import structlog

from tequio_shared.errors import TequioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = structlog.get_logger(__name__)

KEPT = 5
"""Files that were kept aside; the next one takes the place of the last."""
_BESIDE = ("-wal", "-shm")
_CACHE = "cache_size=-256"  # KiB; the system keeps the rest of the file at hand
_SETTINGS = ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=2000", _CACHE)


class BookError(TequioError):
    """The book cannot be read or written now: its disk is full, or it was damaged meanwhile."""


class _UnfitError(Exception):
    """The file is no book of ours."""


class BookFile:
    """One open book; `close` when done."""

    def __init__(self, path: Path, schema: str, *, version: int, owner: str = "") -> None:
        """Open or begin the book; raises BookError when its folder cannot be written."""
        self.path = path
        self.kept_aside: Path | None = None
        """Where the file lies that was there and did not fit."""
        self._lock = threading.Lock()
        self._sql = self._opened(schema, version, owner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._sql.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, all of it or nothing; raises BookError."""
        with self._lock:
            try:
                self._sql.execute("BEGIN IMMEDIATE")
                yield self._sql
                self._sql.execute("COMMIT")
            except sqlite3.Error as err:
                raise BookError(f"{self.path} cannot be written: {err}") from err
            finally:
                if self._sql.in_transaction:
                    with suppress(sqlite3.Error):
                        self._sql.execute("ROLLBACK")

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Read; raises BookError."""
        with self._lock:
            try:
                return self._sql.execute(query, values).fetchall()
            except sqlite3.Error as err:
                raise BookError(f"{self.path} cannot be read: {err}") from err

    def _opened(self, schema: str, version: int, owner: str) -> sqlite3.Connection:
        try:
            try:
                return _open(self.path, schema, version, owner)
            except (_UnfitError, sqlite3.DatabaseError) as err:
                if not self.path.exists() or _is_no_fault_of_the_file(err):
                    raise BookError(f"{self.path} cannot be used: {err}") from err
                self.kept_aside = _keep_aside(self.path)
                log.warning("kept a book aside", kept=str(self.kept_aside), why=str(err))
                return _open(self.path, schema, version, owner)
        except (_UnfitError, sqlite3.Error, OSError) as err:
            raise BookError(f"{self.path} cannot be used: {err}") from err


def _is_no_fault_of_the_file(err: Exception) -> bool:
    """Whether disk or folder refuse, which another file would not change."""
    return isinstance(err, sqlite3.OperationalError)


def _open(path: Path, schema: str, version: int, owner: str) -> sqlite3.Connection:
    sql = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _prepare(sql, schema, version, owner)
    except BaseException:
        sql.close()
        raise
    return sql


def _prepare(sql: sqlite3.Connection, schema: str, version: int, owner: str) -> None:
    sql.row_factory = sqlite3.Row
    for setting in _SETTINGS:
        sql.execute(f"PRAGMA {setting}")
    (sound,) = sql.execute("PRAGMA quick_check(1)").fetchone()
    if sound != "ok":
        raise _UnfitError(f"it is damaged: {sound}")
    (found,) = sql.execute("PRAGMA user_version").fetchone()
    if found > version:
        raise _UnfitError(f"a newer program wrote it (version {found})")
    if found < version:
        begin = "CREATE TABLE owner (name TEXT NOT NULL)"
        sql.executescript(f"BEGIN IMMEDIATE; {begin}; {schema}; PRAGMA user_version={version};")
        sql.execute("INSERT INTO owner VALUES (?)", (owner,))
        sql.execute("COMMIT")
    ((known,),) = sql.execute("SELECT name FROM owner").fetchall()
    if known != owner:
        raise _UnfitError(f"it is another's: {known}")


def _keep_aside(path: Path) -> Path:
    """Rename the file and what SQLite keeps beside it."""
    names = [path.with_name(f"{path.name}.kept-{number}") for number in range(1, KEPT + 1)]
    kept = next((name for name in names if not name.exists()), names[-1])
    path.replace(kept)
    for ending in _BESIDE:
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).replace(kept.with_name(kept.name + ending))
    return kept
