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
    MAX_INTERVALS,
    MAX_STEPS,
    AxisTitles,
    Chart,
    ChartBreak,
    ChartReading,
    SingleValue,
    as_bars,
    chart,
    downsample,
    position_ticks,
    value_axis,
)
from tequio_ledger.web.pages.run_charts import points_per_day
from tequio_ledger.web.pages.text import DAY_MS
from tequio_shared.round.points import GFLOP_PER_POINT

FINITE = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False, allow_subnormal=False)


def readings(*values: float) -> list[ChartReading]:
    return [
        ChartReading(
            at=at, value=value, label=str(at), caption=f"step {at}: {value}", figure="{} m".format
        )
        for at, value in enumerate(values)
    ]


@given(st.lists(FINITE.filter(lambda value: abs(value) > 1e-6 or value == 0), min_size=1))
def test_an_axis_holds_every_value(values: list[float]) -> None:
    axis = value_axis(values, from_zero=False)
    slack = (axis.high - axis.low) * 1e-6
    assert axis.low - slack <= min(values)
    assert max(values) <= axis.high + slack
    assert 2 <= len(axis.ticks()) <= MAX_INTERVALS + 1


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([2.2, 5.4], ["2", "3", "4", "5", "6"]),
        ([1.01, 2.3], ["1.0", "1.5", "2.0", "2.5"]),
        ([0, 950], ["0", "200", "400", "600", "800", "1,000"]),
        ([0, 24_000], ["0", "5k", "10k", "15k", "20k", "25k"]),
        ([0, 2_400_000], ["0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M"]),
        ([0, 0.0009], ["0", "0.0002", "0.0004", "0.0006", "0.0008", "0.0010"]),
        ([-3, 4], ["-4", "-2", "0", "2", "4"]),
        ([7, 7], ["6", "8"]),
        ([0, 0], ["0", "0.2"]),
    ],
)
def test_ticks_are_round_numbers(values: list[float], labels: list[str]) -> None:
    assert [label for _, label in value_axis(values, from_zero=False).ticks()] == labels


def test_the_plot_begins_where_its_longest_label_ends() -> None:
    narrow, wide = (points_chart("x", *values) for values in ((1, 3, 2), (0.0001, 0.0003, 0.0002)))
    assert wide.layouts[0].left - narrow.layouts[0].left > 25
    assert wide.layouts[0].rows[-1].text == "0.0003"


def points_chart(name: str, *values: float) -> Chart:
    titles = AxisTitles("points", "round")
    return chart(name, "X", "", readings(*values), titles, from_zero=True)


@pytest.mark.parametrize(
    ("span", "labels"),
    [
        ((0, 36), ["0", "5", "10", "15", "20", "25", "30", "35"]),
        ((23, 121), ["40", "60", "80", "100", "120"]),
        ((1, 3), ["1", "2", "3"]),
        ((1_400, 3_400), ["1,500", "2,000", "2,500", "3,000"]),
    ],
)
def test_rounds_below_a_chart_are_round_numbers(
    span: tuple[float, float], labels: list[str]
) -> None:
    ticks = position_ticks(span, 40, 526)
    assert [one.text for one in ticks] == labels
    assert all(40 <= one.at <= 526 for one in ticks)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=40))
def test_a_curve_stays_between_its_neighbours(values: list[float]) -> None:
    points = [(float(at), value) for at, value in enumerate(values)]
    numbers = [float(one) for one in re.findall(r"[\d.]+(?=[C ]|$)", charts.smooth_path(points))]
    assert min(values) - 0.06 <= min(numbers)
    assert max(numbers) <= max(values) + 0.06


def test_many_values_become_means_that_say_so() -> None:
    shown = downsample(readings(*range(1_000)))
    assert len(shown) <= MAX_STEPS
    assert shown[0].caption == "mean of rounds 0 to 9: 4.5 m"
    assert sum(one.value for one in shown[:-1]) / len(shown[:-1]) == pytest.approx(496.5, abs=7)


def test_no_mean_reaches_over_a_break_and_the_last_value_is_no_mean() -> None:
    went_back = ChartBreak(at=504.5, caption="")
    values = [1.0] * 505 + [9.0] * 494 + [2.0]
    shown = chart(
        "x", "X", "", readings(*values), AxisTitles("m"), from_zero=True, breaks=[went_back]
    )
    assert {one.value for one in shown.readings[:-1]} == {1.0, 9.0}
    assert shown.readings[-1].value == pytest.approx((4 * 9 + 2) / 5)
    assert shown.last is not None
    assert shown.last.caption == "step 999: 2.0"


def test_a_chart_is_laid_out_for_a_wide_and_a_narrow_screen() -> None:
    shown = points_chart("x", 1, 3, 2)
    assert [one.kind for one in shown.layouts] == ["wide", "narrow"]
    for layout in shown.layouts:
        assert [row.text for row in layout.rows] == ["0", "1", "2", "3"]
        assert [dot.caption for dot in layout.dots] == ["step 0: 1", "step 1: 3", "step 2: 2"]
        assert layout.dots[1].y < layout.dots[2].y < layout.dots[0].y
        assert layout.dots[-1].left + layout.dots[-1].width == pytest.approx(layout.right)


@pytest.mark.parametrize("values", [(), (5.0,)])
def test_there_is_no_line_through_less_than_two_values(values: tuple[float, ...]) -> None:
    assert points_chart("x", *values).layouts == ()


def test_single_values_are_drawn_beside_the_line_and_an_outlier_stretches_no_axis() -> None:
    singles = (SingleValue(value=2.5, is_outlier=False), SingleValue(value=900.0, is_outlier=True))
    plain = readings(1, 3, 2)
    titles = AxisTitles("points", "round")
    spotted = [plain[0], plain[1], replace(plain[2], singles=singles)]
    shown = chart("x", "X", "", spotted, titles, from_zero=True)
    for layout, alone in zip(shown.layouts, points_chart("x", 1, 3, 2).layouts, strict=True):
        assert (layout.line, layout.rows) == (alone.line, alone.rows)
        near, far = layout.spots
        assert (near.is_outlier, far.is_outlier) == (False, True)
        assert near.x == far.x == layout.dots[2].x
        assert layout.dots[1].y < near.y < layout.dots[2].y
        assert far.y == min(row.at for row in layout.rows)


def test_bars_are_as_high_as_their_values_and_nothing_is_drawn_between_them() -> None:
    for layout in as_bars(points_chart("x", 0, 2, 1, 2)).layouts:
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
    made = points_per_day({10: 3 * GFLOP_PER_POINT, 12: GFLOP_PER_POINT}, 12 * DAY_MS + 5)
    assert [bar.is_open for bar in made.layouts[0].bars] == [False, False, False, True]
    assert made.readings[-1].caption == "13 Jan, so far: 1.00 points"
    assert made.readings[-2].caption == "12 Jan: 0 points"
    assert made.summary.endswith("1.00 today so far")
