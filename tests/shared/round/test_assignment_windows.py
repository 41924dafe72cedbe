"""Windows: every one is handed out, to one trainer at a time, until somebody trained it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.round import assignment
from tequio_shared.round.assignment import WindowQueue

shares = st.lists(st.integers(0, 9), max_size=8)
rounds = st.lists(st.tuples(shares, st.integers(0, 2**32 - 1)), max_size=12)


def indices(ranges: assignment.Ranges) -> list[int]:
    return [at for first, count in ranges for at in range(first, first + count)]


@given(rounds)
def test_each_window_is_trained_once_whatever_comes_back(
    plan: list[tuple[list[int], int]],
) -> None:
    queue, trained = WindowQueue(), []
    for dealt, draw in plan:
        pool, queue = queue.split_off(sum(dealt))
        hands = assignment.deal_windows(pool, dealt)
        assert [assignment.count_windows(hand) for hand in hands] == dealt
        left: list[assignment.Range] = []
        for hand in hands:  # some finish all, some a part, some nothing
            done = draw % (assignment.count_windows(hand) + 1)
            completed, remaining = assignment.split_windows(hand, done)
            trained += indices(completed)
            left += remaining
        queue = queue.put_back(assignment.merge_ranges(left))
    waiting = indices(queue.returned)
    assert len(set(trained)) == len(trained)
    assert sorted(trained + waiting) == list(range(queue.fresh))


@given(rounds)
def test_no_two_trainers_hold_a_window_at_once(plan: list[tuple[list[int], int]]) -> None:
    queue = WindowQueue()
    for dealt, _ in plan:
        pool, queue = queue.split_off(sum(dealt))
        held = [at for hand in assignment.deal_windows(pool, dealt) for at in indices(hand)]
        assert held == sorted(set(held)), "in the run's order and disjoint"


@given(st.sets(st.integers(0, 60)))
def test_merged_ranges_hold_the_same_windows_and_do_not_touch(chosen: set[int]) -> None:
    merged = assignment.merge_ranges((at, 1) for at in chosen)
    assert indices(merged) == sorted(chosen)
    assert all(first + count < later for (first, count), (later, _) in pairwise(merged))


@given(st.integers(0, 20), st.integers(0, 20))
def test_what_was_taken_and_given_back_comes_first_again(count: int, again: int) -> None:
    pool, queue = WindowQueue().split_off(count)
    back, _ = queue.put_back(pool).split_off(again)
    assert indices(back) == list(range(again))


TRAIN_MS = 60_000
paces = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 200_000)), min_size=1, max_size=9)
rules = st.fixed_dictionaries(
    {
        "train_ms": st.integers(0, 10**8),
        "first": st.integers(1, 50),
        "most": st.integers(51, 400),
        "steps": st.integers(1, 40),
    }
)


def share_after(*done: tuple[int, int], most: int = 512, steps: int = 1) -> int:
    return assignment.window_share(done, train_ms=TRAIN_MS, first=4, most=most, steps=steps)


def test_speed_is_the_lower_median_of_the_last_five_rounds() -> None:
    done = [(900, 1)] * 4 + [(10, 1_000), (20, 1_000), (30, 1_000), (40, 1_000), (50, 1_000)]
    assert assignment.verified_speed(done, 1_000) == 30_000
    assert assignment.verified_speed([(10, 1_000), (20, 1_000)], 1_000) == 10_000


def test_speed_is_never_more_than_twice_what_was_accepted_last() -> None:
    assert assignment.verified_speed([(30, 1)], TRAIN_MS) == 1_000
    assert assignment.verified_speed([(30, 1)] * 5 + [(3, 1)], TRAIN_MS) == 100


def test_nobody_is_unknown_for_being_slow() -> None:
    assert assignment.verified_speed([], TRAIN_MS) == 0
    assert assignment.verified_speed([(1, 5_000_000)], TRAIN_MS) == 1


@given(paces, rules)
def test_a_share_lies_between_one_and_most_and_is_whole_steps_where_it_can_be(
    done: list[tuple[int, int]], rule: dict[str, int]
) -> None:
    share = assignment.window_share(done, **rule)
    assert 1 <= share <= rule["most"]
    assert share < rule["steps"] or share % rule["steps"] == 0


@given(paces, rules)
def test_a_share_is_at_most_twice_what_was_accepted_last_however_early_it_came(
    done: list[tuple[int, int]], rule: dict[str, int]
) -> None:
    assert assignment.window_share(done, **rule) <= 2 * done[-1][0]


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 100)), max_size=12))
def test_no_sequence_of_commitment_times_grows_a_share_faster_than_twofold_a_round(
    answers: list[tuple[int, int]],
) -> None:
    done = list[tuple[int, int]]()
    share = share_after()
    for ms, percent in answers:
        done.append((max(share * percent // 100, 1), ms))
        before, share = share, share_after(*done)
        assert share <= 2 * done[-1][0] <= 2 * before


@given(st.integers(1, 10_000), st.integers(1, 64))
def test_an_honest_machine_reaches_its_speed_in_a_logarithmic_number_of_rounds(
    per_minute: int, steps: int
) -> None:
    done, reached = list[tuple[int, int]](), []
    for _ in range(24):
        share = share_after(*done, most=10**6, steps=steps)
        windows = min(share, 3 * per_minute)  # it stops at the limit, three times the target
        done.append((windows, max(windows * TRAIN_MS // per_minute, 1)))
        reached.append(share)
    doublings = max(per_minute.bit_length() - 1, 1)
    settled = reached[doublings + 5 :]  # as many rounds as the median looks back on
    assert len(set(settled)) <= 2
    assert settled[0] >= min(per_minute - steps, per_minute * 9 // 10) - 1
    assert max(settled) <= per_minute + 1


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ((), 4),
        (((30, 60_000),), 30),
        (((40, 10_000),), 80),  # six times as fast as needed: twice as much
        (((40, 1),), 80),
        (((400, 60_000),), 399),  # speeds are rounded down
        (((400, 20_000),), 512),
        (((20, 180_000),), 6),  # came at the limit
        (((3, 1_000),), 6),  # a share that was left early
        (((1, 10**9),), 1),
    ],
)
def test_a_share_follows_what_was_verified(
    done: tuple[tuple[int, int], ...], expected: int
) -> None:
    assert share_after(*done) == expected


@pytest.mark.parametrize(
    ("share", "speed", "audited", "left"),
    [
        (32, 3_200, 16, 32),  # time for 64 windows: enough for both
        (32, 3_200, 40, 24),
        (32, 3_200, 41, 16),  # whole inner steps only
        (32, 3_200, 63, 0),
        (32, 3_200, 80, 0),
        (7, 3_200, 0, 0),
        (32, 0, 16, 0),  # an unknown speed leaves no time
    ],
)
def test_beside_an_audit_a_share_is_what_the_speed_leaves_time_for(
    share: int, speed: int, audited: int, left: int
) -> None:
    found = assignment.share_beside_audit(share, speed, train_ms=20_000, audited=audited, steps=8)
    assert found == left
