"""The month's traffic: no byte is lost, whatever the clock and the disk do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from tequio_client.worker.lending import meters
from tequio_client.worker.lending.meters import MonthCounter, MonthCounts
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9
months = st.sampled_from(["1970-01", "2026-10", "2026-11", "2026-12", "2038-01"])


def counted(folder: Path, *steps: tuple[str, int]) -> MonthCounter:
    counter = MonthCounter(folder)
    for month, size_bytes in steps:
        counter.count(size_bytes, month)
    return counter


def test_each_month_begins_at_zero(tmp_path: Path) -> None:
    counter = counted(tmp_path, ("2026-11", 3 * GB), ("2026-11", GB), ("2026-12", 5))
    assert counter.in_month("2026-12") == 5
    assert counter.in_month("2027-01") == 0


def test_the_count_survives_a_restart_once_it_is_kept(tmp_path: Path) -> None:
    counted(tmp_path, ("2026-11", 7 * GB)).save()
    again = MonthCounter(tmp_path)
    again.count(1, "2026-11")
    assert again.in_month("2026-11") == 7 * GB + 1


def test_nothing_is_written_where_nothing_is_new(tmp_path: Path) -> None:
    MonthCounter(tmp_path).save()
    assert list(tmp_path.iterdir()) == []
    counted(tmp_path, ("2026-11", 7)).save()
    written = (tmp_path / meters.TRAFFIC_FILE).stat().st_mtime_ns
    MonthCounter(tmp_path).save()
    assert (tmp_path / meters.TRAFFIC_FILE).stat().st_mtime_ns == written


@pytest.mark.parametrize("wrong", ["1970-01", "2026-10", "2026-12", "2038-01"])
def test_a_clock_that_was_wrong_for_a_while_loses_nothing(tmp_path: Path, wrong: str) -> None:
    counter = counted(tmp_path, ("2026-10", 100 * GB), ("2026-11", 90 * GB), (wrong, 5 * GB))
    counter.save()
    corrected = MonthCounter(tmp_path)
    assert corrected.in_month("2026-11") == 95 * GB


def test_a_clock_that_is_set_back_does_not_give_the_month_anew(tmp_path: Path) -> None:
    counter = counted(tmp_path, ("2026-11", 90 * GB))
    assert counter.in_month("1970-01") == 90 * GB


@given(
    before=st.integers(0, 10**12),
    strays=st.lists(st.tuples(months, st.integers(0, 10**12)), max_size=8),
)
@settings(derandomize=True, deadline=None, database=None)
def test_whoever_comes_back_to_a_month_finds_all_that_was_counted_since(
    before: int, strays: list[tuple[str, int]]
) -> None:
    kept = MonthCounts().at("2026-11").plus(before)
    for month, size_bytes in strays:
        kept = kept.at(month).plus(size_bytes)
    assert kept.at("2026-11").count == before + sum(size for _, size in strays)


@given(steps=st.lists(st.tuples(months, st.integers(0, 10**12)), max_size=20))
@settings(derandomize=True, deadline=None, database=None)
def test_a_month_never_has_more_than_was_counted_nor_less_than_just_now(
    steps: list[tuple[str, int]],
) -> None:
    kept = MonthCounts()
    for month, size_bytes in steps:
        kept = kept.at(month).plus(size_bytes)
        assert size_bytes <= kept.count <= kept.total


def test_a_month_after_a_wrong_one_in_the_far_future_begins_at_zero(tmp_path: Path) -> None:
    counter = counted(tmp_path, ("2026-11", 90), ("2038-01", 5), ("2026-11", 1))
    assert counter.in_month("2026-11") == 96
    assert counter.in_month("2026-12") == 0


def test_a_long_life_keeps_a_bounded_number_of_months() -> None:
    kept = MonthCounts()
    for year in range(2026, 2036):
        for month in range(1, 13):
            kept = kept.at(f"{year}-{month:02}").plus(1)
    assert len(kept.begins) == meters.MAX_MONTHS
    assert kept.count == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b'{"total":-1}',
        b'{"total":1,"begins":{"november":0},"last":"november"}',
        b'{"total":1,"begins":{"2026-11":0},"last":"2026-12"}',
        b'{"total":1,"begins":{"2026-11":2},"last":"2026-11"}',
        b'{"total":1,"begins":{},"last":"2026-11"}',
        b'{"total":5}',
    ],
)
def test_a_broken_file_is_kept_aside_and_said_to_be_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / meters.TRAFFIC_FILE).write_bytes(content)
    with capture_logs() as logs:
        counter = MonthCounter(tmp_path)
    assert counter.in_month("2026-11") == 0
    assert [line["log_level"] for line in logs] == ["warning"]
    assert (tmp_path / meters.BROKEN_TRAFFIC_FILE).read_bytes() == content
    counter.count(9, "2026-11")
    counter.save()
    assert MonthCounter(tmp_path).in_month("2026-11") == 9


def test_what_is_written_can_be_read_again(tmp_path: Path) -> None:
    counter = counted(tmp_path, ("2026-10", 1), ("2026-11", 2), ("2026-10", 3))
    counter.save()
    found = msgspec.json.decode((tmp_path / meters.TRAFFIC_FILE).read_bytes(), type=MonthCounts)
    assert found == MonthCounts(total=6, begins={"2026-10": 0, "2026-11": 1}, last="2026-10")


def test_a_folder_that_takes_no_file_says_what_to_do(tmp_path: Path) -> None:
    counter = counted(tmp_path / "gone", ("2026-11", 1))
    with pytest.raises(UserFacingError, match="free some space"):
        counter.save()
    assert counter.in_month("2026-11") == 1, "it goes on counting"
