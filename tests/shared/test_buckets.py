"""Token buckets: they fill with time, survive a clock that goes back, and forget."""

from __future__ import annotations

import pytest

from tequio_shared.ratelimit import Buckets


def test_buckets_fill_again_with_time_and_survive_a_clock_that_goes_back() -> None:
    buckets = Buckets(10, 100)
    assert buckets.take("a", 100, 1_000)
    assert not buckets.take("a", 1, 1_000)
    assert not buckets.take("a", 1, 0)
    assert buckets.take("a", 10, 1)
    assert buckets.take("b", 1, 1)


def test_a_bucket_holds_no_more_than_its_most() -> None:
    buckets = Buckets(10, 20)
    assert not buckets.take("a", 21, 1_000)
    assert buckets.take("a", 20, 1_000)


def test_what_is_owed_is_waited_for() -> None:
    buckets = Buckets(10, 20)
    assert buckets.owe("a", 20, 0) == 0
    assert buckets.owe("a", 5, 0) == pytest.approx(0.5)
    assert buckets.owe("a", 5, 0.25) == pytest.approx(0.75)


def test_who_was_forgotten_is_new_again() -> None:
    buckets = Buckets(1, 1, names=10)
    assert buckets.take("first", 1, 0)
    assert not buckets.take("first", 1, 0)
    for number in range(10):
        assert buckets.take(number, 1, 0)
    assert buckets.take("first", 1, 0)
