"""Numbers as people read them."""

from __future__ import annotations

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
    [(0, "0"), (7, "7"), (8.94, "8.9"), (950, "950"), (12_400, "12.4k"), (1_310_000_000, "1.31B")],
)
def test_great_numbers_have_three_digits(number: float, said: str) -> None:
    assert text.short_count(number) == said


def test_a_time_that_no_calendar_has_is_said_all_the_same() -> None:
    assert text.utc_time(2**53 - 1) == "9007199254740991 ms since 1970"
    assert text.machine_time(2**53 - 1) == ""
    assert text.utc_time(1_800_000_000_000) == "15 Jan 2027, 08:00:00 UTC"


def test_sizes_are_those_of_disks() -> None:
    said = [text.size(one) for one in (0, 999, 1_000, 8_192, 1_500_000, 3_200_000_000)]
    assert said == ["0 B", "999 B", "1 kB", "8.19 kB", "1.5 MB", "3.2 GB"]
