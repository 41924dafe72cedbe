"""Local hours and months, on the days on which the clocks are changed and around them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_client import clock
from tequio_client.ipc.preferences import WHOLE_WEEK, Week
from tequio_client.worker.lending.facts import HOUR_MS, LocalInstant

MINUTE_MS = 60_000
DAY_MS = 24 * HOUR_MS
MADRID = "Europe/Madrid"
MEXICO = "America/Mexico_City"
LORD_HOWE = "Australia/Lord_Howe"
"""Half an hour of summer time, on top of half an hour."""
CHATHAM = "Pacific/Chatham"
"""Changes its clocks at a quarter to three."""
ZONES = [
    MADRID,
    MEXICO,
    LORD_HOWE,
    CHATHAM,
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "America/New_York",
    "UTC",
]
NIGHT: Week = (0b11,) * 7  # 0 to 2 o'clock
NEVER: Week = (0,) * 7

CHANGES = [
    (MADRID, "2026-03-29 01:00"),
    (MADRID, "2026-10-25 01:00"),
    (MEXICO, "2022-04-03 08:00"),
    (MEXICO, "2022-10-30 07:00"),
    (LORD_HOWE, "2026-04-04 15:00"),
    (LORD_HOWE, "2026-10-03 15:30"),
    (CHATHAM, "2026-04-04 14:00"),
    (CHATHAM, "2026-09-26 14:00"),
]
"""Instants, in UTC, at which clocks were or will be changed."""


def utc_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000)


def local_ms(zone: str, text: str, fold: int = 0) -> int:
    when = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return int(when.timestamp() * 1_000)


def offset_s(zone: ZoneInfo, at_ms: int) -> int:
    offset = datetime.fromtimestamp(at_ms / 1_000, zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


def at(zone: str, ms: int) -> LocalInstant:
    return LocalInstant(ms=ms, steady_ms=0, offset_s=partial(offset_s, ZoneInfo(zone)))


def is_in(zone: str, week: Week, ms: int) -> bool:
    """The same, by Python's own calendar."""
    local = datetime.fromtimestamp(ms / 1_000, ZoneInfo(zone))
    return bool(week[local.weekday()] >> local.hour & 1)


def next_by_walking(zone: str, week: Week, ms: int, days: int) -> int | None:
    """The first allowed minute after a moment, found by looking at each."""
    first = ms - ms % MINUTE_MS + MINUTE_MS
    minutes = range(first, first + days * DAY_MS, MINUTE_MS)
    return next((minute for minute in minutes if is_in(zone, week, minute)), None)


@pytest.mark.parametrize(("zone", "change"), CHANGES)
@pytest.mark.parametrize("hour", range(5))
def test_the_next_hour_is_found_across_a_change_of_the_clocks(
    zone: str, change: str, hour: int
) -> None:
    week: Week = (1 << hour,) * 7
    for before_min in (0, 1, 29, 30, 31, 61, 24 * 60, 3 * 24 * 60 - 17):
        ms = utc_ms(change) - before_min * MINUTE_MS
        if not is_in(zone, week, ms):
            assert at(zone, ms).next_hour_ms(week) == next_by_walking(zone, week, ms, 9)


@given(
    zone=st.sampled_from(ZONES),
    week=st.tuples(*[st.integers(0, 2**24 - 1) | st.just(0)] * 7),
    ms=st.integers(utc_ms("2021-01-01"), utc_ms("2027-01-01")),
)
@settings(derandomize=True, deadline=None, database=None, max_examples=400)
def test_the_next_hour_is_the_first_that_the_calendar_allows(
    zone: str, week: Week, ms: int
) -> None:
    moment = at(zone, ms)
    assert moment.is_in(week) == is_in(zone, week, ms)
    if moment.is_in(week):
        return
    found = moment.next_hour_ms(week)
    if found is None:
        assert not any(week)
        return
    assert ms < found <= ms + 15 * DAY_MS
    assert is_in(zone, week, found)
    assert not is_in(zone, week, found - 1)
    if found - ms < 2 * DAY_MS:
        assert found == next_by_walking(zone, week, ms, 3)


def test_the_week_goes_round() -> None:
    monday_morning: Week = (1 << 8, 0, 0, 0, 0, 0, 0)
    ms = local_ms(MADRID, "2026-11-15 23:59")  # a Sunday
    assert at(MADRID, ms).next_hour_ms(monday_morning) == local_ms(MADRID, "2026-11-16 08:00")
    ms = local_ms(MADRID, "2026-11-16 09:00")
    assert at(MADRID, ms).next_hour_ms(monday_morning) == local_ms(MADRID, "2026-11-23 08:00")


def test_an_hour_that_summer_time_skips_waits_for_the_next_week() -> None:
    sunday_two: Week = (0, 0, 0, 0, 0, 0, 1 << 2)
    ms = local_ms(MADRID, "2026-03-28 12:00")
    assert at(MADRID, ms).next_hour_ms(sunday_two) == local_ms(MADRID, "2026-04-05 02:00")


def test_an_hour_that_comes_twice_counts_twice() -> None:
    sunday_two: Week = (0, 0, 0, 0, 0, 0, 1 << 2)
    twice = [local_ms(MADRID, "2026-10-25 02:30", fold) for fold in (0, 1)]
    assert twice[1] - twice[0] == HOUR_MS
    assert all(at(MADRID, ms).is_in(sunday_two) for ms in twice)


def test_half_an_hour_of_summer_time_is_no_hour_more() -> None:
    ms = local_ms(LORD_HOWE, "2026-10-04 01:59")
    hour_two: Week = (1 << 2,) * 7
    begin = at(LORD_HOWE, ms).next_hour_ms(hour_two)
    assert begin == ms + MINUTE_MS, "at half past two, where it springs to"
    hour_three: Week = (1 << 3,) * 7
    assert at(LORD_HOWE, ms).next_hour_ms(hour_three) == ms + 31 * MINUTE_MS


def test_no_hour_at_all_never_comes() -> None:
    assert at(MADRID, 0).next_hour_ms(NEVER) is None
    assert at(MADRID, 0).is_in(WHOLE_WEEK)


@pytest.mark.parametrize(
    ("zone", "now", "month", "end"),
    [
        (MADRID, "2026-11-21 20:00", "2026-11", "2026-12-01 00:00"),
        (MADRID, "2026-10-01 00:00", "2026-10", "2026-11-01 00:00"),
        (MADRID, "2026-03-28 23:59", "2026-03", "2026-04-01 00:00"),
        (MEXICO, "2026-12-31 23:59", "2026-12", "2027-01-01 00:00"),
        (MEXICO, "2022-10-29 05:00", "2022-10", "2022-11-01 00:00"),
        (LORD_HOWE, "2026-10-01 00:30", "2026-10", "2026-11-01 00:00"),
        ("Asia/Kathmandu", "2028-02-29 12:00", "2028-02", "2028-03-01 00:00"),
    ],
)
def test_a_month_ends_at_local_midnight(zone: str, now: str, month: str, end: str) -> None:
    moment = at(zone, local_ms(zone, now))
    assert moment.month() == month
    assert moment.month_end_ms() == local_ms(zone, end)


def test_the_systems_offset_follows_its_zone_and_summer_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summer, winter = utc_ms("2026-07-01"), utc_ms("2026-12-01")
    monkeypatch.setenv("TZ", "Europe/Madrid")
    assert (clock.utc_offset_s(summer), clock.utc_offset_s(winter)) == (7_200, 3_600)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    assert clock.utc_offset_s(summer) == 20_700
    monkeypatch.undo()
    local = datetime.fromtimestamp(summer / 1_000, UTC)
    assert abs(clock.utc_offset_s(summer)) <= 14 * 3_600
    assert local.astimezone().utcoffset() == timedelta(seconds=clock.utc_offset_s(summer))


def test_the_steady_clock_goes_forward() -> None:
    before = clock.steady_ms()
    assert clock.steady_ms() >= before >= 0
