"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from tequio_ledger.web.pages import text


@pytest.mark.parametrize(
    ("length_ms", "said"),
    [
        (-5, "0 s"),
        (999, "0 s"),
        (38_000, "38 s"),
        (60_000, "1 min"),
        (125_000, "2 min 5 s"),
        (3_600_000, "1 h"),
        (8_040_000, "2 h 14 min"),
        (90_000_000, "1 d 1 h"),
    ],
)
def test_a_duration_has_two_units_at_most(length_ms: int, said: str) -> None:
    assert text.duration(length_ms) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (8.232, "8.23"),
        (431.72, "431.7"),
        (35_123.4, "35.1k"),
        (2.0**40, "1.1e+12"),
        (2.0**1_000, "1.07e+301"),
        (math.inf, text.NO_VALUE),
    ],
)
def test_a_perplexity_stays_short_however_great_it_is(number: float, said: str) -> None:
    assert text.perplexity(number) == said


def test_byte_perplexity_is_two_to_the_bits_per_byte() -> None:
    assert text.perplexity(text.byte_perplexity(0.9), 4) == "1.8661"
    assert text.perplexity(text.byte_perplexity(5_000.0), 4) == text.NO_VALUE


def test_a_time_that_no_calendar_has_is_said_all_the_same() -> None:
    assert text.utc_time(2**53 - 1) == "9007199254740991 ms since 1970"
    assert text.machine_time(2**53 - 1) == ""
    assert text.utc_time(1_800_000_000_000) == "15 Jan 2027, 08:00:00 UTC"


@pytest.mark.parametrize(
    ("away_ms", "said"),
    [
        (0, "just now"),
        (59_999, "just now"),
        (60_000, "1 minute ago"),
        (3_599_999, "59 minutes ago"),
        (7_200_000, "2 hours ago"),
        (29 * 86_400_000, "29 days ago"),
        (30 * 86_400_000, "16 Dec 2026"),
        (-1, "in a moment"),
        (-3_600_000, "in 1 hour"),
        (-40 * 86_400_000, "24 Feb 2027"),
    ],
)
def test_times_near_now_are_relative(away_ms: int, said: str) -> None:
    now_ms = 1_800_000_000_000
    assert text.relative_time(now_ms - away_ms, now_ms) == said


def test_a_time_that_no_calendar_has_is_far_away() -> None:
    assert text.relative_time(2**53 - 1, 0) == "in 104,249,991 days"
