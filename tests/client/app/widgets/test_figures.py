"""Numbers as people read them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QDate, QDateTime, QTime

from tequio_client.app.widgets import figures
from tests.support.app_scenes import DAY_MS, NOW_MS

if TYPE_CHECKING:
    from tequio_client.app.language import Language

pytestmark = pytest.mark.usefixtures("language")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-3, "0 s"), (38, "38 s"), (60, "1 min"), (8_040, "2 h 14 min"), (273_600, "3 d 4 h")],
)
def test_a_duration_has_at_most_two_units(seconds: int, words: str) -> None:
    assert figures.duration(seconds) == words


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (812, "812 bytes"),
        (7_400_000_000, "7.4 GB"),
        (100 * 10**9, "100 GB"),
    ],
)
def test_traffic_is_written_in_decimal_units(size_bytes: int, words: str) -> None:
    assert figures.data(size_bytes) == words


def test_memory_is_written_as_cards_are_sold() -> None:
    assert figures.memory(12_288) == "12 GB"
    assert figures.memory(7_572) == "7.4 GB"


def test_a_rate_is_written_in_megabits() -> None:
    assert figures.rate(150_000) == "1.2 Mbit/s"


@pytest.mark.parametrize(
    ("joules", "words"),
    [(0, "0.0 Wh"), (129_600, "36 Wh"), (1_476_000, "0.41 kWh"), (222_120_000, "61.7 kWh")],
)
def test_energy_changes_to_kilowatt_hours_in_time(joules: float, words: str) -> None:
    assert figures.energy(joules) == words


def test_figures_follow_the_locale(language: Language) -> None:
    language.choose("es")
    assert figures.exact_points(189_304_021) == "18.930,4021"
    assert figures.short_points(412_618) == "41,2"


def test_a_moment_is_told_as_shortly_as_it_can_be() -> None:
    now = 1_795_285_800_000
    hour = 3_600_000
    assert figures.moment(now, now)[0].isdigit()
    assert figures.moment(now + 24 * hour, now).startswith("tomorrow ")
    assert figures.moment(now + 72 * hour, now).split()[0].endswith("day")
    assert figures.moment(now + 480 * hour, now).startswith(figures.day(now + 480 * hour))


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "0"),
        (950, "950"),
        (1_234, "1.23k"),
        (9_996, "10.0k"),
        (999_950, "1.00M"),
        (12_400, "12.4k"),
        (350_000_000, "350M"),
        (1_310_000_000, "1.31B"),
        (2_500_000_000_000, "2.50T"),
    ],
)
def test_great_numbers_have_three_digits(number: int, written: str) -> None:
    assert figures.short_count(number) == written


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("en", "1.50k 1.50M 1.50B 1.50T"),
        ("de", "1,50\u00a0Tsd 1,50\u00a0Mio 1,50\u00a0Mrd 1,50\u00a0Bio"),
        ("es", "1,50k 1,50M 1,50B 1,50T"),
        ("fr", "1,50 k 1,50 M 1,50 Md 1,50 Bn"),
        ("ja", "1.50k 1.50M 1.50B 1.50T"),
        ("pt", "1,50 mil 1,50 mi 1,50 bi 1,50 tri"),
        ("zh", "1.50k 1.50M 1.50B 1.50T"),
    ],
)
def test_great_numbers_have_the_suffixes_of_the_language(
    language: Language, code: str, written: str
) -> None:
    language.choose(code)
    assert " ".join(figures.short_count(15 * 10**power) for power in (2, 5, 8, 11)) == written


@pytest.mark.parametrize(
    ("number", "written"),
    [(None, "–"), (inf, "–"), (18.64, "18.6"), (999.94, "999.9"), (1_234.5, "1.23k")],
)
def test_a_perplexity_is_short_and_never_infinite(number: float | None, written: str) -> None:
    assert figures.perplexity(number) == written


@pytest.mark.parametrize(("bits", "written"), [(0.8421, "1.793"), (8.0, "256.000"), (2_000.0, "–")])
def test_perplexity_per_byte_is_two_to_the_bits(bits: float, written: str) -> None:
    assert figures.byte_perplexity(bits) == written


@pytest.mark.parametrize(
    ("before_s", "written"),
    [
        (-5, "just now"),
        (0, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (7_260, "2 h 1 min ago"),
    ],
)
def test_times_that_are_past_say_how_long(before_s: int, written: str) -> None:
    assert figures.ago(NOW_MS - before_s * 1_000, NOW_MS) == written


def test_days_have_names_by_the_local_calendar() -> None:
    noon = QDateTime(QDate(2026, 11, 21), QTime(12, 0)).toMSecsSinceEpoch()
    days = [figures.day_name(noon - away * DAY_MS, noon) for away in (0, 1, 2, 400)]
    assert days == ["Today", "Yesterday", "Thursday 19 November", "Friday 17 October 2025"]


def test_a_stamp_has_the_day_and_the_second() -> None:
    at = QDateTime(QDate(2026, 11, 21), QTime(18, 30, 5)).toMSecsSinceEpoch()
    assert figures.stamp(at) == "Sat 21 Nov 2026, 18:30:05"
    assert figures.clock(at).startswith("6:30")


def test_dates_are_in_the_order_of_the_language(language: Language) -> None:
    at = QDateTime(QDate(2026, 11, 21), QTime(18, 30, 5)).toMSecsSinceEpoch()
    language.choose("ja")
    assert figures.stamp(at) == "2026年11月21日（土） 18:30:05"
    language.choose("zh")
    assert figures.day(at) == "11月21日"
    assert figures.stamp(at) == "2026年11月21日 周六 18:30:05"
    assert figures.day_name(at, at + 2 * DAY_MS) == "11月21日 星期六"
