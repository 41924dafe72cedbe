"""Errors of the database: strangers learn that it fails for now, and the operator learns why."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from structlog.testing import capture_logs

from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import FatalLogError

if TYPE_CHECKING:
    from pathlib import Path

URL = "postgresql+psycopg://tequio@db.internal:5432/ledger"
AWAY = "the database cannot be used for now: try again later"


class ServerError(Exception):
    """An error as psycopg raises it."""

    def __init__(self, sqlstate: str, words: str) -> None:
        super().__init__(words)
        self.sqlstate = sqlstate


def of_server(sqlstate: str, words: str) -> OperationalError:
    return OperationalError("INSERT", {}, ServerError(sqlstate, words))


def of_file(code: int, words: str) -> OperationalError:
    err = sqlite3.OperationalError(words)
    err.sqlite_errorcode = code
    return OperationalError("INSERT", {}, err)


@pytest.mark.parametrize(
    ("err", "reason"),
    [
        (of_server("40P01", "deadlock detected"), "deadlock detected"),
        (of_server("57014", "canceling statement due to statement timeout"), "statement timeout"),
        (of_server("53200", "out of memory"), "out of memory"),
        (of_server("58030", "could not write block"), "could not write block"),
        (of_server("53100", "no space left"), "is full: free some space"),
        (of_file(sqlite3.SQLITE_BUSY, "database is locked"), "is locked by another program"),
        (of_file(sqlite3.SQLITE_FULL, "database or disk is full"), "is full: free some space"),
        (of_file(sqlite3.SQLITE_CANTOPEN, "unable to open database file"), "cannot be opened"),
        (NoConnectionError("QueuePool limit"), "all connections to"),
    ],
)
def test_strangers_read_no_cause_of_a_failure_that_passes_and_the_operator_does(
    tmp_path: Path, err: DatabaseError | NoConnectionError, reason: str
) -> None:
    is_of_server = isinstance(getattr(err, "orig", None), ServerError)
    database = Database(URL if is_of_server else tmp_path / "ledger.sqlite")
    with capture_logs() as lines:
        judged = database.failed_write(err)
    assert isinstance(judged, UnwritableError)
    assert str(judged) == AWAY
    (line,) = lines
    assert line["event"] == "the database failed"
    assert reason in line["reason"]
    assert database.name in line["reason"], "the operator reads which one it is"


def test_a_failure_that_lasts_ends_the_process_with_its_cause(tmp_path: Path) -> None:
    database = Database(tmp_path / "ledger.sqlite")
    judged = database.failed_write(of_file(sqlite3.SQLITE_IOERR, "disk I/O error"))
    assert isinstance(judged, FatalLogError)
    assert "fails: free some space, and check it" in str(judged)
