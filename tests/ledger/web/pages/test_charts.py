"""Charts: axes are round and hold every value, and nothing is drawn that was not measured."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_ledger.web.pages import charts
from tequio_ledger.web.pages.charts import (
    INTERVALS,
    MAX_STEPS,
    ChartReading,
    SingleValue,
    as_bars,
    axis_bounds,
    chart,
    downsample,
)
from tequio_ledger.web.pages.run_charts import points_per_day
from tequio_ledger.web.pages.text import DAY_MS
from tequio_shared.round.points import MICROPOINTS

FINITE = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False, allow_subnormal=False)


def readings(*values: float) -> list[ChartReading]:
    return [
        ChartReading(at=at, value=value, label=str(at), caption=f"step {at}: {value}")
        for at, value in enumerate(values)
    ]


@given(st.lists(FINITE.filter(lambda value: abs(value) > 1e-6 or value == 0), min_size=1))
def test_an_axis_holds_every_value(values: list[float]) -> None:
    low, high = axis_bounds(values, from_zero=False)
    slack = (high - low) * 1e-6
    assert low - slack <= min(values)
    assert max(values) <= high + slack
    assert high > low


def test_an_axis_is_round() -> None:
    assert axis_bounds([2.2, 5.4], from_zero=False) == (2.0, 6.0)
    assert axis_bounds([3, 950], from_zero=True) == (0.0, 1000.0)
    assert axis_bounds([0, 0], from_zero=True) == (0.0, 1.0)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=40))
def test_a_curve_stays_between_its_neighbours(values: list[float]) -> None:
    points = [(float(at), value) for at, value in enumerate(values)]
    numbers = [float(one) for one in re.findall(r"[\d.]+(?=[C ]|$)", charts.smooth_path(points))]
    assert min(values) - 0.06 <= min(numbers)
    assert max(numbers) <= max(values) + 0.06


def test_many_values_become_means_that_say_so() -> None:
    shown = downsample(readings(*range(1_000)))
    assert len(shown) <= MAX_STEPS
    assert shown[0].caption == "mean of 7 up to step 6: 6"
    assert sum(one.value for one in shown[:-1]) / len(shown[:-1]) == pytest.approx(496.5, abs=7)


def test_a_chart_is_laid_out_for_a_wide_and_a_narrow_screen() -> None:
    made = chart("x", "X", "", readings(1, 3, 2), from_zero=True)
    assert [one.kind for one in made.layouts] == ["wide", "narrow"]
    for layout in made.layouts:
        assert len(layout.rows) == INTERVALS + 1
        assert [dot.caption for dot in layout.dots] == ["step 0: 1", "step 1: 3", "step 2: 2"]
        assert layout.dots[1].y < layout.dots[2].y < layout.dots[0].y
        assert layout.dots[-1].left + layout.dots[-1].width == pytest.approx(layout.right)


@pytest.mark.parametrize("values", [(), (5.0,)])
def test_there_is_no_line_through_less_than_two_values(values: tuple[float, ...]) -> None:
    assert chart("x", "X", "", readings(*values), from_zero=True).layouts == ()


def test_single_values_are_drawn_beside_the_line_and_an_outlier_stretches_no_axis() -> None:
    singles = (SingleValue(value=2.5, is_outlier=False), SingleValue(value=900.0, is_outlier=True))
    plain = readings(1, 3, 2)
    made = chart(
        "x", "X", "", [plain[0], plain[1], replace(plain[2], singles=singles)], from_zero=True
    )
    for layout, alone in zip(
        made.layouts, chart("x", "X", "", plain, from_zero=True).layouts, strict=True
    ):
        assert (layout.line, layout.rows) == (alone.line, alone.rows)
        near, far = layout.spots
        assert (near.is_outlier, far.is_outlier) == (False, True)
        assert near.x == far.x == layout.dots[2].x
        assert layout.dots[1].y < near.y < layout.dots[2].y
        assert far.y == min(row.at for row in layout.rows)


def test_bars_are_as_high_as_their_values_and_nothing_is_drawn_between_them() -> None:
    made = as_bars(chart("x", "X", "", readings(0, 2, 1, 2), from_zero=True))
    for layout in made.layouts:
        assert (layout.line, layout.area) == ("", "")
        none, two, one, again = layout.bars
        assert none.height == 0
        assert two.height == pytest.approx(2 * one.height, abs=0.2)
        assert two.y == again.y
        assert layout.left < none.x
        assert again.x + again.width < layout.right
        for bar, after in pairwise(layout.bars):
            assert bar.x + bar.width < after.x


def test_the_day_that_is_not_over_says_so() -> None:
    made = points_per_day({10: 3 * MICROPOINTS, 12: MICROPOINTS}, 12 * DAY_MS + 5)
    assert [bar.is_open for bar in made.layouts[0].bars] == [False, False, False, True]
    assert made.readings[-1].caption == "13 Jan, so far: 1.00 points"
    assert made.readings[-2].caption == "12 Jan: 0 points"
    assert made.summary.endswith("1.00 today so far")
