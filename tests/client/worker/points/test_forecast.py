"""Forecasts of points per day, by a device's speed and by the last rounds."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tequio_client.worker.points import forecast
from tequio_client.worker.points.points_db import VERIFIED, PointsDatabase, RoundOutcome
from tests.client.worker.points.test_points_db_points_book import KEY, RUN, checkpoint, place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINUTE_MS, DAY_MS = 60_000, 86_400_000
TERA = 1e12


@pytest.fixture
def db(tmp_path: Path) -> Iterator[PointsDatabase]:
    with closing(PointsDatabase.opened(tmp_path, KEY)) as opened:
        yield opened


def earn(db: PointsDatabase, amounts: list[int], every_ms: int = 3 * MINUTE_MS) -> int:
    """Record rounds that paid these GFLOP; returns the time of the last."""
    for at, amount in enumerate(amounts):
        outcome = RoundOutcome(state=VERIFIED, trained=amount)
        db.record_end(place(10 * at, at_ms=at * every_ms), 10 * at + 9, outcome)
    db.mark_proven(RUN, 10 * len(amounts) + 10, checkpoint(1_000))
    return (len(amounts) - 1) * every_ms


def test_a_key_at_work_goes_on_at_the_pace_of_its_last_rounds(db: PointsDatabase) -> None:
    now_ms = earn(db, [500] * 30)
    assert forecast.by_rounds(db.file, now_ms + MINUTE_MS) == 500 * DAY_MS // (3 * MINUTE_MS)


def test_rounds_that_paid_nothing_count(db: PointsDatabase) -> None:
    now_ms = earn(db, [500, 0] * 10)
    assert forecast.by_rounds(db.file, now_ms) == 250 * DAY_MS // (3 * MINUTE_MS)


def test_few_rounds_or_old_ones_forecast_nothing(db: PointsDatabase) -> None:
    now_ms = earn(db, [500] * forecast.LEAST_ROUNDS)
    assert forecast.by_rounds(db.file, now_ms) == 0
    now_ms = earn(db, [500] * 10)
    assert forecast.by_rounds(db.file, now_ms + 10 * MINUTE_MS) == 0


def test_a_measured_device_trains_in_its_part_of_each_round(tmp_path: Path) -> None:
    assert forecast.read_speeds(tmp_path) == {}
    forecast.record_speed(tmp_path, "cuda:0", 5 * TERA)
    forecast.record_speed(tmp_path, "cpu", TERA / 20)
    speeds = forecast.read_speeds(tmp_path)
    assert speeds == {"cuda:0": 5 * TERA, "cpu": TERA / 20}
    whole = forecast.by_speed(speeds["cuda:0"], train_ms=60_000, round_ms=60_000)
    assert whole == 5_000 * 86_400, "GFLOP are 10^9 FLOP"
    assert forecast.by_speed(speeds["cuda:0"], train_ms=60_000, round_ms=80_000) == whole * 3 // 4
    assert forecast.by_speed(0.0, train_ms=60_000, round_ms=0) == 0


def test_a_damaged_file_of_speeds_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / forecast.SPEEDS_FILE).write_text('{"cpu": -1}')
    assert forecast.read_speeds(tmp_path) == {}
