"""Points: integers that follow from accepted tokens alone, and how they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.round import points

tokens = st.integers(0, 10**9)
parameters = st.integers(1, 10**11)


def test_the_published_example() -> None:
    assert points.trainer_gflop(1_000_000, 100_000_000) == 600_000  # 60 points
    assert points.witness_gflop(1_000_000, 500, 16) == 3_125


@given(tokens, tokens, parameters)
def test_splitting_work_among_keys_gains_nothing(one: int, other: int, size: int) -> None:
    apart = points.trainer_gflop(one, size) + points.trainer_gflop(other, size)
    together = points.trainer_gflop(one + other, size)
    assert together - 1 <= apart <= together


@given(st.integers(0, 2**53), st.integers(0, 5_000), st.integers(0, 16))
def test_witnesses_never_get_more_than_their_share(total: int, share: int, elected: int) -> None:
    each = points.witness_gflop(total, share, elected)
    assert each * max(elected, 1) * 10_000 <= total * share


@pytest.mark.parametrize(
    ("gflop", "short", "exact"),
    [
        (0, "0", "0"),
        (1, "0.0001", "0.0001"),
        (86, "0.0086", "0.0086"),
        (1_239, "0.123", "0.1239"),
        (9_999, "0.999", "0.9999"),
        (10_000, "1.00", "1"),
        (41_269, "4.12", "4.1269"),
        (412_699, "41.2", "41.2699"),
        (4_126_999, "412", "412.6999"),
        (189_309_999, "18,930", "18,930.9999"),
    ],
)
def test_amounts_are_cut_and_never_rounded_up(gflop: int, short: str, exact: str) -> None:
    assert points.points(gflop) == short
    assert points.exact_points(gflop) == exact


@given(st.integers(0, 2**53 - 1))
def test_an_exact_amount_loses_no_gflop(gflop: int) -> None:
    whole, _, part = points.exact_points(gflop).replace(",", "").partition(".")
    assert int(whole) * points.GFLOP_PER_POINT + int(part.ljust(4, "0")) == gflop


@given(st.integers(0, 2**53 - 1))
def test_a_short_amount_is_close_and_never_too_much(gflop: int) -> None:
    shown = float(points.points(gflop).replace(",", "")) * points.GFLOP_PER_POINT
    assert gflop * 0.99 - 1 <= shown <= gflop * (1 + 1e-12)


def test_a_small_card_earns_hundreds_of_points_an_hour() -> None:
    hourly_flop = 1e12 * 3600  # a card that trains with one TFLOP/s
    assert 100 <= hourly_flop / (points.FLOP_PER_GFLOP * points.GFLOP_PER_POINT) < 1000


@pytest.mark.parametrize(
    ("gflop", "words"),
    [
        (0, ""),
        (8_000, ""),
        (10_000, "about what an RTX 3060 does in 1 second"),
        (800_000, "about what an RTX 3060 does in 89 seconds"),
        (29_140_000, "about what an RTX 3060 does in 54 minutes"),
        (300_000_000, "about what an RTX 3060 does in 9 hours"),
        (1_500_000_000, "about what an RTX 3060 does in 2 days"),
        (3_000_000_000, "about what an RTX 4070 does in 2 days"),
        (8_000_000_000, "about what an RTX 4090 does in 2 days"),
        (10**15, "about what an H100 does in 33,423 days"),
    ],
)
def test_an_amount_is_compared_with_a_card(gflop: int, words: str) -> None:
    assert points.comparison(gflop) == words
