"""Earners in a time span or overall: an owner counts once, however many keys it has."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, update

from tequio_ledger.store import queries, ranking
from tequio_ledger.store.models import ATTENDED, CREDIT, OPENED_RUN, PEER, ROUND, STANDING, TIER
from tequio_ledger.store.queries import DAY_MS
from tequio_ledger.store.ranking import Owner, Team
from tequio_shared.ids import PeerKey
from tequio_shared.network.standing import Standing
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

RUN, OWNER = bytes([1]) * 32, bytes([2]) * 32
SMALL, LARGE, ALONE, LATE = (PeerKey(bytes([at]) * 32) for at in (9, 5, 7, 8))
EARNED = (
    (SMALL, 1, 20, 0),
    (LARGE, 1, 30, 1),
    (LARGE, 2, 5, 2),
    (ALONE, 2, 40, 1),
    (SMALL, 3, 1_000, 2),
)
"""Key, round, gflop, and the team in which the key was then."""

NO_LOSS = {"unvested": 0, "forfeited": 0}


def invent(ledger: Ledger) -> None:
    with ledger.database.writer.begin() as connection:
        for key in (SMALL, LARGE, ALONE, LATE):
            peer = {
                "key": key,
                "registered_index": 1,
                "last_seq": 0,
                "last_hash": bytes(32),
                **NO_LOSS,
            }
            total = sum(gflop for one, _, gflop, _ in EARNED if one == key)
            connection.execute(insert(PEER).values(gflop=total, **peer))
        for key in (SMALL, LARGE):
            owned = insert(TIER).values(peer=key, tier=1, owner=OWNER, until=9, since=1)
            connection.execute(owned)
        connection.execute(insert(OPENED_RUN).values(run=RUN, opened_index=1, manifest=RUN))
        for number, ended_ms in ((1, 100), (2, 100), (3, 50)):
            made = {"run": RUN, "round": number, "roster_index": 1, "roster": bytes(32)}
            ended = {"closed_index": 10 + number % 3, "outcome": "closed", "ended_ms": ended_ms}
            connection.execute(insert(ROUND).values(**made, **ended, accepted=1, tokens=1))
        for key, number, gflop, team in EARNED:
            credit = {"run": RUN, "round": number, "peer": key, "kind": "trainer", "team": team}
            connection.execute(insert(CREDIT).values(gflop=gflop, author=key, **credit))
            attended = insert(ATTENDED).values(peer=key, closed_index=10 + number % 3)
            connection.execute(attended)


def test_keys_of_one_owner_have_one_place_under_the_best_of_them(
    tmp_path: Path, either_database: str
) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        with ledger.database.reader.begin() as connection:
            assert ranking.owners(connection, 100, 9) == [
                Owner(key=LARGE, gflop=55, rounds=3, keys=2),
                Owner(key=ALONE, gflop=40, rounds=1, keys=1),
            ]
            assert [one.key for one in ranking.owners(connection, 0, 1)] == [SMALL]
            assert ranking.owners(connection, 101, 9) == []


def test_of_all_time_owners_have_one_place_too(tmp_path: Path, either_database: str) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        with ledger.database.reader.begin() as connection:
            places = ranking.owners(connection, None, 9)
            assert places == [
                Owner(key=SMALL, gflop=1_055, rounds=None, keys=2),
                Owner(key=ALONE, gflop=40, rounds=None, keys=1),
            ]
            assert ranking.owners(connection, None, 1) == places[:1]


def test_points_per_day_are_read_from_the_rounds_of_these_days_or_those_of_the_key(
    tmp_path: Path, either_database: str
) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        asked: list[str] = []
        with ledger.database.writer.begin() as connection:
            connection.execute(update(ROUND).values(ended_ms=ROUND.c.ended_ms * DAY_MS))
        with ledger.database.reader.begin() as connection:
            plain = connection.connection.driver_connection
            if not either_database and plain is not None:
                plain.set_trace_callback(asked.append)
            assert queries.points_per_day_of(connection, 0, SMALL) == {100: 20, 50: 1_000}
            assert queries.points_per_day_of(connection, 51 * DAY_MS, LARGE) == {100: 35}
            assert queries.points_per_day_of(connection, 101 * DAY_MS, LARGE) == {}
            assert queries.points_per_day(connection, 51 * DAY_MS) == {100: 95}
            assert queries.points_per_day_of(connection, 0, LATE) == {}
            plans = [
                str(connection.exec_driver_sql("EXPLAIN QUERY PLAN " + said).all())
                for said in asked.copy()
            ]
    assert all("SCAN" not in plan for plan in plans), plans
    if not either_database:
        by_key = ["attended USING PRIMARY KEY (peer=? AND closed_index>?)" in one for one in plans]
        assert by_key == [True, True, True, False, True], plans


def test_guests_of_one_invitation_are_not_taken_for_one_person(
    tmp_path: Path, either_database: str
) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        with ledger.database.writer.begin() as connection:
            connection.execute(update(TIER).values(tier=2))
        with ledger.database.reader.begin() as connection:
            for since_ms in (None, 0):
                found = ranking.owners(connection, since_ms, 9)
                assert [(one.key, one.keys) for one in found] == [
                    (SMALL, 1),
                    (ALONE, 1),
                    (LARGE, 1),
                ]


def test_a_team_has_what_was_earned_for_it_and_not_what_its_members_earned_before(
    tmp_path: Path, either_database: str
) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        with ledger.database.reader.begin() as connection:
            assert ranking.teams(connection, None, 9) == [
                Team(team=2, gflop=1_005, keys=2),
                Team(team=1, gflop=70, keys=2),
            ]
            assert ranking.teams(connection, 100, 9) == [
                Team(team=1, gflop=70, keys=2),
                Team(team=2, gflop=5, keys=1),
            ]
            assert ranking.teams(connection, 101, 9) == []


@pytest.mark.parametrize(
    ("last", "is_restricted"),
    [
        (Standing.NEWCOMER, False),
        (Standing.QUARANTINED, True),
        (Standing.REVOKED, False),
        (Standing.REVOKED, True),
    ],
)
def test_a_replaced_key_is_listed_unless_its_last_successor_is_restricted(
    tmp_path: Path, either_database: str, last: Standing, *, is_restricted: bool
) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        line = (ALONE, SMALL, LATE)
        with ledger.database.writer.begin() as connection:
            for former, heir in pairwise(line):
                connection.execute(update(PEER).where(PEER.c.key == heir).values(replaces=former))
            connection.execute(update(PEER).values(forfeited=1))  # by others' quarantines
            for key in line:
                row = {"peer": key, "since": 1, "evidence": [], "until": 0}
                if key == LATE:
                    row |= {"standing": last, "is_restricted": is_restricted}
                else:
                    row |= {"standing": Standing.REPLACED, "is_restricted": False}
                connection.execute(insert(STANDING).values(row))
        with ledger.database.reader.begin() as connection:
            spans = [one.gflop for one in ranking.owners(connection, 0, 9)]
            teams = [(one.team, one.gflop) for one in ranking.teams(connection, None, 9)]
    assert spans == ([35] if is_restricted else [1_055, 40])
    assert teams == ([(1, 30), (2, 5)] if is_restricted else [(2, 1_005), (1, 70)])
