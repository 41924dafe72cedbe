"""A chart's line goes through every point, and its axis holds them all."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF

from tequio_client.app.widgets.charts import axis_top_and_step, smooth_path

HEIGHTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)


@given(HEIGHTS)
def test_the_line_goes_through_every_point(heights: list[float]) -> None:
    points = [QPointF(10.0 * at, height) for at, height in enumerate(heights)]
    path = smooth_path(points)
    ends = [path.elementAt(3 * at) for at in range(len(points))]
    assert [(end.x, end.y) for end in ends] == [(point.x(), point.y()) for point in points]


def test_no_points_give_no_line() -> None:
    assert smooth_path([]).isEmpty()


@given(st.floats(1e-9, 1e15), st.integers(1, 8))
def test_an_axis_holds_the_highest_value_and_not_much_more(highest: float, parts: int) -> None:
    top, step = axis_top_and_step(highest, parts)
    assert highest <= top * (1 + 1e-6)
    assert top < highest * 1.51
    assert math.isclose(step * parts, top)


def test_an_axis_without_values_ends_at_one() -> None:
    assert axis_top_and_step(0.0, 4) == (1.0, 0.25)
