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


def test_speed_is_the_lower_median_of_the_last_five_rounds() -> None:
    paces = [(900, 1)] * 4 + [(10, 1_000), (20, 1_000), (30, 1_000), (40, 1_000), (50, 1_000)]
    assert assignment.verified_speed(paces) == 30_000
    assert assignment.verified_speed([(10, 1_000), (20, 1_000)]) == 10_000


def test_nobody_is_unknown_for_being_slow() -> None:
    assert assignment.verified_speed([]) == 0
    assert assignment.verified_speed([(1, 5_000_000)]) == 1


@given(
    st.integers(0, 10**9),
    st.integers(1, 10**8),
    st.integers(1, 50),
    st.integers(1, 50),
    st.integers(1, 40),
)
def test_a_share_lies_between_one_and_most_and_is_whole_steps_where_it_can_be(
    speed: int, train_ms: int, first: int, more: int, steps: int
) -> None:
    most = first + more
    share = assignment.window_share(speed, train_ms, first, most, steps)
    assert 1 <= share <= most
    assert share < steps or share % steps == 0


@pytest.mark.parametrize(("speed", "expected"), [(0, 4), (500, 30), (1, 1), (10_000, 64)])
def test_a_share_follows_verified_speed(speed: int, expected: int) -> None:
    assert assignment.window_share(speed, 60_000, 4, 64, 1) == expected
