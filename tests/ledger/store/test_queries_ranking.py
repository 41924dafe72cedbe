"""Points per key and per round: rows that follow from the log."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, text

from tequio_ledger.replay import replay
from tequio_ledger.store import entries, ranking
from tequio_ledger.store.models import ATTENDED, CREDIT, PEER, ROUND
from tequio_ledger.store.queries import StoredRows
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey
from tequio_shared.limits import JSON_INTEGER
from tests.ledger.test_replay import CLOCK, live_through, rows
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection

    from tequio_ledger.ledger import Ledger

POINTS = (0, 5, 30, 30, 0, 7, 30, 1)
"""Of made-up keys, in order of registration."""


@pytest.fixture
def folder(tmp_path: Path, either_database: str) -> Path:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
    return tmp_path


def invent_peers(ledger: Ledger) -> list[tuple[int, bytes, int]]:
    """Put keys with points in, and give the ranking as Python's own sort makes it."""
    made = [(bytes([99 - at]) * 32, at // 2, gflop) for at, gflop in enumerate(POINTS)]
    with ledger.database.writer.begin() as connection:
        connection.execute(text("UPDATE peer SET gflop = 0"))
        for key, registered, gflop in made:
            connection.execute(
                text(
                    "INSERT INTO peer "
                    "VALUES (:key, :at, 0, :last, :points, 0, 0, 0, NULL, NULL, NULL, '', '[]', "
                    "0, 0, 0, 0)"
                ),
                {"key": key, "at": registered, "last": bytes(32), "points": gflop},
            )
    best = sorted((-points, at, key) for key, at, points in made if points)
    return [(rank, key, -points) for rank, (points, _, key) in enumerate(best, 1)]


@pytest.mark.usefixtures("either_database")
def test_the_ranking_is_by_points_then_by_registration(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        expected = invent_peers(ledger)
        with ledger.database.reader.begin() as connection:
            assert ranking.count(connection) == len(expected)
            for rank in range(len(expected) + 1):
                found = ranking.after(connection, rank, 2)
                assert [(one.rank, one.key, one.gflop) for one in found] == expected[
                    rank : rank + 2
                ]


@pytest.mark.usefixtures("either_database")
def test_neighbours_are_those_of_the_whole_ranking(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        expected = invent_peers(ledger)
        with ledger.database.reader.begin() as connection:
            for rank, key, _ in expected:
                found = ranking.around(connection, PeerKey(key), 2)
                assert found is not None
                said = [(one.rank, one.key, one.gflop) for one in found]
                assert said == expected[max(rank - 3, 0) : rank + 2]
            without = ranking.around(connection, PeerKey(bytes([99]) * 32), 2)
            assert [one.rank for one in without or ()] == [5, 6], "the last ones of those with any"
            assert ranking.around(connection, PeerKey(bytes(32)), 2) is None


def plan_of(ledger: Ledger, ask: Callable[[Connection], object]) -> list[str]:
    """Ask something, and give the steps by which SQLite answers it."""
    asked: list[str] = []
    with ledger.database.reader.begin() as connection:
        plain = connection.connection.driver_connection
        assert plain is not None
        plain.set_trace_callback(asked.append)
        ask(connection)
        plain.set_trace_callback(None)
        explained = [connection.exec_driver_sql("EXPLAIN QUERY PLAN " + said) for said in asked]
        return [row.detail for rows in explained for row in rows]


def test_ranking_reads_one_index_and_sorts_nothing(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        (_, key, _), *_ = invent_peers(ledger)
        plan = plan_of(ledger, lambda sql: ranking.around(sql, PeerKey(key), 2))
        plan += plan_of(ledger, lambda sql: ranking.after(sql, 2, 2))
        assert all("TEMP B-TREE" not in step for step in plan), plan
        assert all("SCAN peer" not in step or "INDEX" in step for step in plan)


def test_what_is_asked_of_a_few_rounds_reads_no_table_whole(tmp_path: Path) -> None:
    head = Digest(bytes(32))
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        plan = plan_of(ledger, lambda sql: ranking.teams(sql, 1, 2))
        plan += plan_of(ledger, lambda sql: entries.rounds_of_head(sql, head, 2))
        assert not [step for step in plan if step.startswith(("SCAN round", "SCAN credit"))]


def test_every_round_that_is_over_is_listed_for_everybody_in_its_roster(folder: Path) -> None:
    with opened(make_settings(folder), CLOCK) as ledger, ledger.database.reader.begin() as sql:
        closed = sql.execute(select(ROUND.c.closed_index, ROUND.c.outcome, ROUND.c.round)).all()
        over = [one for one in closed if one.closed_index is not None]
        assert {one.outcome for one in over} == {"closed", "void"}
        for key in sql.execute(select(PEER.c.key)).scalars():
            found = StoredRows(sql).attended(PeerKey(key), JSON_INTEGER, 100)
            mine = set(
                sql.execute(select(ATTENDED.c.closed_index).where(ATTENDED.c.peer == key)).scalars()
            )
            assert {one.closed_index for one in found} == mine
            assert [one.closed_index for one in found] == sorted(mine, reverse=True)
            earned = sql.execute(select(CREDIT.c.gflop).where(CREDIT.c.peer == key)).scalars()
            assert sum(one.gflop for one in found) == sum(earned)
        counted = sql.execute(select(ATTENDED.c.closed_index)).scalars().all()
        assert set(counted) == {one.closed_index for one in over}
        assert len(counted) >= 3 * len(over)


def test_pages_follow_each_other_without_gap(folder: Path) -> None:
    with opened(make_settings(folder), CLOCK) as ledger, ledger.database.reader.begin() as sql:
        (key, count), *_ = Counter(sql.execute(select(ATTENDED.c.peer)).scalars()).most_common()
        whole = StoredRows(sql).attended(PeerKey(key), JSON_INTEGER, 100)
        paged, before = [], JSON_INTEGER
        while page := StoredRows(sql).attended(PeerKey(key), before, 1):
            paged += page
            before = page[-1].closed_index
        assert paged == whole
        assert len(whole) == count == 3


def test_a_table_that_lost_its_rows_is_not_shown_before_a_replay(folder: Path) -> None:
    settings = make_settings(folder)
    with opened(settings, CLOCK) as ledger:
        before = rows(ledger)
        with ledger.database.writer.begin() as connection:
            connection.execute(text("DELETE FROM attended"))
    with opened(settings, CLOCK) as ledger, pytest.raises(RefusedError, match="withheld"):
        rows(ledger)
    replay(settings)
    with opened(settings, CLOCK) as ledger:
        assert rows(ledger) == before
