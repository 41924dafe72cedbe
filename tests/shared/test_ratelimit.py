"""Token buckets: they fill with time, survive a clock that goes back, and forget."""

from __future__ import annotations

import pytest

from tequio_shared.ratelimit import TokenBuckets


def test_buckets_fill_again_with_time_and_survive_a_clock_that_goes_back() -> None:
    buckets = TokenBuckets(10, 100)
    assert buckets.try_spend("a", 100, 1_000)
    assert not buckets.try_spend("a", 1, 1_000)
    assert not buckets.try_spend("a", 1, 0)
    assert buckets.try_spend("a", 10, 1)
    assert buckets.try_spend("b", 1, 1)


def test_a_bucket_holds_no_more_than_its_most() -> None:
    buckets = TokenBuckets(10, 20)
    assert not buckets.try_spend("a", 21, 1_000)
    assert buckets.try_spend("a", 20, 1_000)


def test_some_of_what_is_asked_for_is_taken_when_not_all_is_there() -> None:
    buckets = TokenBuckets(10, 20)
    assert buckets.spend_some("a", 50, 0) == 20
    assert buckets.spend_some("a", 2, 0.375) == 2
    assert buckets.spend_some("a", 50, 0.375) == 1
    assert buckets.spend_some("a", 1, 0.375) == 0


def test_what_is_owed_is_waited_for() -> None:
    buckets = TokenBuckets(10, 20)
    assert buckets.spend("a", 20, 0) == 0
    assert buckets.spend("a", 5, 0) == pytest.approx(0.5)
    assert buckets.spend("a", 5, 0.25) == pytest.approx(0.75)


def test_who_was_forgotten_is_new_again() -> None:
    buckets = TokenBuckets(1, 1, names=10)
    assert buckets.try_spend("first", 1, 0)
    assert not buckets.try_spend("first", 1, 0)
    for number in range(10):
        assert buckets.try_spend(number, 1, 0)
    assert buckets.try_spend("first", 1, 0)
