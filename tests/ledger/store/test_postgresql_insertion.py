"""Rows come out as they were put in, however many are put in at once, on both databases."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from tequio_ledger.store.database import Database
from tequio_ledger.store.insertion import upsert
from tequio_ledger.store.models import PEER, STANDING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

FRESH = ("standing", "since", "cause", "evidence", "until", "appeal")
FEW, MANY = 3, 40

NOTHING = {"gflop": 0, "unvested": 0, "forfeited": 0}


@pytest.fixture
def database(tmp_path: Path, either_database: str) -> Iterator[Database]:
    with closing(Database(either_database or tmp_path / "rows.sqlite")) as made:
        made.migrate()
        yield made


def _register(connection: Connection, count: int) -> None:
    peer = {"registered_index": 1, "last_seq": 0, "last_hash": bytes(32), **NOTHING}
    connection.execute(insert(PEER), [{"key": _key(at), **peer} for at in range(count)])


def _key(at: int) -> bytes:
    return at.to_bytes(1, "big") + bytes(range(31))


def _row(at: int, since: int) -> dict[str, object]:
    return {
        "peer": _key(at),
        "standing": ("good", "shut out: {a,b} \\ \"x\" 'y', NULL", "")[at % 3],
        "since": since << 33,
        "cause": None if at % 2 else at,
        "evidence": [] if at % 5 else [1 << 40, at],
        "until": 0,
        "appeal": None,
    }


def _stored(connection: Connection) -> list[dict[str, object]]:
    table = STANDING
    return [dict(row) for row in connection.execute(select(table).order_by("peer")).mappings()]


@pytest.mark.parametrize("count", [FEW, MANY])
def test_new_rows_are_written_and_grown_ones_written_anew(database: Database, count: int) -> None:
    with database.writer.begin() as connection:
        _register(connection, count)
        old = [_row(at, 1) for at in range(0, count, 2)]
        upsert(connection, STANDING, old, FRESH)
        assert _stored(connection) == old
        new = [_row(at, 2 + at) for at in range(count)]
        upsert(connection, STANDING, new, FRESH)
        assert _stored(connection) == new


@pytest.mark.parametrize("count", [FEW, MANY])
def test_only_the_named_columns_are_written_anew(database: Database, count: int) -> None:
    with database.writer.begin() as connection:
        _register(connection, count)
        upsert(connection, STANDING, [_row(at, 1) for at in range(count)], FRESH)
        upsert(connection, STANDING, [_row(at, 2) for at in range(count)], ("until",))
        assert _stored(connection) == [_row(at, 1) for at in range(count)]


@pytest.mark.parametrize("count", [FEW, MANY])
def test_rows_that_name_no_peer_are_refused_whole(database: Database, count: int) -> None:
    with database.writer.begin() as connection:
        _register(connection, count - 1)
    rows = [_row(at, 1) for at in range(count)]
    with pytest.raises(IntegrityError), database.writer.begin() as connection:
        upsert(connection, STANDING, rows, FRESH)
    with database.reader.begin() as connection:
        assert _stored(connection) == []
