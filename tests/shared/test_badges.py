"""Badges: each is earned once, by the entry that makes its fact true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.badges import BADGE_DAYS, BADGE_GFLOP, BADGE_ROUNDS, Badge, Badges
from tequio_shared.keys import Signer
from tequio_shared.served.state import State
from tequio_shared.statements.runs import HeadMeasure, RoundClose
from tests.support.key_swarm import KeySwarm
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey

ONE, TWO = (Signer(bytes([at]) * 32).key for at in (1, 2))
DAY_MS = 86_400_000
NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


def earned(badges: Badges, key: PeerKey = ONE) -> dict[str, int]:
    return dict(badges.of(key))


def test_rounds_are_counted() -> None:
    badges = Badges()
    assert badges.of(ONE) == ()
    for number in range(1, BADGE_ROUNDS + 5):
        badges.count_accepted(number * 10, NOON_MS, ONE)
    assert badges.of(ONE) == (("first-round", 10), ("hundred-rounds", 10 * BADGE_ROUNDS))
    assert badges.of(TWO) == ()


def test_a_month_is_thirty_days_in_a_row() -> None:
    badges = Badges()
    for day in range(BADGE_DAYS - 1):
        for hour in (0, 5):
            badges.count_accepted(day, NOON_MS + day * DAY_MS + hour * 3_600_000, ONE)
    assert "month" not in earned(badges)
    badges.count_accepted(777, NOON_MS + (BADGE_DAYS - 1) * DAY_MS, ONE)
    assert earned(badges)["month"] == 777


def test_a_day_without_work_begins_the_month_again() -> None:
    badges = Badges()
    for day in [*range(20), *range(21, 21 + BADGE_DAYS - 1)]:
        badges.count_accepted(day, NOON_MS + day * DAY_MS, ONE)
    assert "month" not in earned(badges)
    badges.count_accepted(99, NOON_MS + (21 + BADGE_DAYS - 1) * DAY_MS, ONE)
    assert earned(badges)["month"] == 99


def test_points_and_single_deeds_are_proven_by_their_first_entry() -> None:
    badges = Badges()
    badges.count_points(1, ONE, BADGE_GFLOP - 1)
    badges.count_points(2, ONE, BADGE_GFLOP)
    badges.count_points(3, ONE, BADGE_GFLOP + 1)
    for index, badge in enumerate((Badge.JUDGE, Badge.AUDIT, Badge.JUDGE), 4):
        badges.award(index, ONE, badge)
    assert badges.of(ONE) == (("exaflop", 2), ("judge", 4), ("audit", 5))


def test_a_successor_has_badges_and_counts() -> None:
    badges = Badges()
    for index in range(BADGE_ROUNDS - 1):
        badges.count_accepted(index, NOON_MS, ONE)
    badges.replace(ONE, TWO)
    badges.count_accepted(500, NOON_MS, TWO)
    assert badges.of(ONE) == ()
    assert badges.of(TWO) == (("first-round", 0), ("hundred-rounds", 500))


def test_the_badges_of_a_log_name_the_entries_that_prove_them() -> None:
    swarm = Swarm(manifest=tiny_manifest(most=3), seed=5)
    names = ("ana", "bo", "cleo")
    them = {name: swarm.volunteer(name) for name in names}
    swarm.run()
    state = State(swarm.genesis, swarm.blobs.__getitem__)
    closes = []
    for index, entry in enumerate(swarm.entries):
        state.apply(index, entry, 0)
        if isinstance(entry.statement.body, RoundClose):
            closes.append(index)
    for one in them.values():
        found = dict(state.badges.of(one.key))
        assert found["first-round"] in closes
        assert set(found) <= {"first-round", "measure", "audit"}
        if "measure" in found:
            statement = swarm.entries[found["measure"]].statement
            assert isinstance(statement.body, HeadMeasure)
            assert statement.author == one.key


def test_badges_follow_a_replacement_in_the_log() -> None:
    swarm = KeySwarm(tiny_manifest(most=9))
    one, *_ = (swarm.volunteer(name) for name in ("ana", "bo", "cleo"))
    swarm.run_rounds(2)
    heir = swarm.replace(one, "heir")
    state = State(swarm.genesis, swarm.blobs.__getitem__)
    for index, entry in enumerate(swarm.entries):
        state.apply(index, entry, 0)
    assert state.badges.of(one.key) == ()
    assert "first-round" in dict(state.badges.of(heir.key))


def test_counts_of_a_key_follow_its_accepted_work_and_its_successor() -> None:
    badges = Badges()
    assert badges.counts(ONE) == (0, 0, 0)
    for day in (0, 1, 1, 3, 4):
        badges.count_accepted(day, NOON_MS + day * DAY_MS, ONE)
    assert badges.counts(ONE) == (5, 20_004, 2), "the missing day began another streak"
    badges.replace(ONE, TWO)
    assert (badges.counts(ONE), badges.counts(TWO)) == ((0, 0, 0), (5, 20_004, 2))
