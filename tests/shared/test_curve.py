"""A chart's line shows no height that was not measured."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.curve import smooth

HEIGHTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)
STEPS = 24


@given(HEIGHTS)
def test_the_line_never_goes_beyond_two_neighbours(heights: list[float]) -> None:
    points = [(10.0 * at, height) for at, height in enumerate(heights)]
    pieces = smooth(points)
    assert len(pieces) == len(points) - 1
    for (one, other), piece in zip(pairwise(points), pieces, strict=True):
        lowest, highest = sorted((one[1], other[1]))
        slack = 1e-6 * max(1.0, highest)
        for step in range(STEPS + 1):
            y = _bezier((one[1], piece.first[1], piece.second[1], other[1]), step / STEPS)
            assert lowest - slack <= y <= highest + slack


@given(HEIGHTS)
def test_the_line_goes_through_every_point(heights: list[float]) -> None:
    points = [(10.0 * at, height) for at, height in enumerate(heights)]
    assert [piece.end for piece in smooth(points)] == points[1:]


@pytest.mark.parametrize("points", [(), ((1.0, 2.0),)])
def test_fewer_than_two_points_have_no_line(points: tuple[tuple[float, float], ...]) -> None:
    assert smooth(points) == []


def _bezier(heights: tuple[float, float, float, float], t: float) -> float:
    (start, first, second, end), u = heights, 1 - t
    return u**3 * start + 3 * u * u * t * first + 3 * u * t * t * second + t**3 * end
