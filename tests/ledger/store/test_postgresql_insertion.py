"""Rows come out as they were put in, however many are put in at once, on both databases."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event, insert, select, text
from sqlalchemy.exc import IntegrityError

from tequio_ledger.store import postgresql
from tequio_ledger.store.database import Database
from tequio_ledger.store.derived import clear
from tequio_ledger.store.insertion import insert_many, upsert
from tequio_ledger.store.models import DERIVED, PEER, STANDING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from tests.support.postgres import Cluster

FRESH = ("standing", "since", "cause", "evidence", "until", "appeal", "is_restricted")
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
        "is_restricted": not at % 3,
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


HISTORY = (
    "SET LOCAL session_replication_role = replica",  # without checks of foreign keys: sooner
    "INSERT INTO run VALUES (sha256('run'), 1, sha256('manifest'))",
    "INSERT INTO peer (key, registered_index, last_seq, last_hash, gflop, unvested, forfeited) "
    "SELECT sha256(n::text::bytea), n, 1, sha256('x'), 0, 0, 0 FROM generate_series(1, 2000) n",
    "INSERT INTO credit (run, round, peer, kind, author, gflop) "
    "SELECT sha256('run'), r, key, 'trainer', key, 1 FROM peer, generate_series(1, 50) r",
)
"""100,000 credits of 2,000 keys."""


def test_a_long_history_is_cleared_before_a_statement_takes_too_long(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_STATEMENT_S", 2)
    with closing(Database(cluster.database())) as database:
        database.migrate()
        with database.writer.begin() as connection:
            for statement in HISTORY:
                connection.execute(text(statement))
        with database.writer.begin() as connection:
            clear(connection)
            assert not any(connection.execute(select(table)).first() for table in DERIVED)


def test_a_rewriting_of_the_tables_may_take_longer_than_a_statement(cluster: Cluster) -> None:
    with closing(Database(cluster.database())) as database:
        with database.writer.begin() as connection:
            database.dialect.begin_rewriting(connection)
            assert connection.scalar(text("SHOW statement_timeout")) == "0"
        with database.writer.begin() as connection:
            assert connection.scalar(text("SHOW statement_timeout")) == "1min"


def test_ten_thousand_rows_are_several_statements(cluster: Cluster) -> None:
    peer = {"registered_index": 1, "last_seq": 0, "last_hash": bytes(32), **NOTHING}
    rows = [{"key": at.to_bytes(32, "big"), **peer} for at in range(10_000)]
    sizes: list[int] = []
    with closing(Database(cluster.database())) as database:
        database.migrate()
        with database.writer.begin() as connection:
            event.listen(
                connection,
                "before_cursor_execute",
                lambda _connection, _cursor, _text, columns, *_: sizes.append(len(columns[0])),
            )
            insert_many(connection, PEER, rows)
    assert sizes == [4_096, 4_096, 1_808]
