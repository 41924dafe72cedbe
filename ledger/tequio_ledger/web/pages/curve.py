"""A smooth line through given points that never goes beyond them, as an SVG path.

Cubic Hermite pieces with the slopes of Steffen (Astronomy and Astrophysics 239, 1990): between two
neighbours the line is monotone, so that a chart shows no height that was not measured.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Point = tuple[float, float]


def smooth(points: Sequence[Point]) -> str:
    """The line through the points, whose x must rise; none: an empty path."""
    if not points:
        return ""
    path = [f"M{_pair(points[0])}"]
    for (start, one), (end, other) in pairwise(zip(points, _slopes(points), strict=True)):
        third = (end[0] - start[0]) / 3
        first = (start[0] + third, start[1] + one * third)
        second = (end[0] - third, end[1] - other * third)
        path.append(f"C{_pair(first)} {_pair(second)} {_pair(end)}")
    return "".join(path)


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _slopes(points: Sequence[Point]) -> list[float]:
    if len(points) == 1:
        return [0.0]
    pieces = [(b[0] - a[0], (b[1] - a[1]) / (b[0] - a[0])) for a, b in pairwise(points)]
    middle = [_inner(*one, *other) for one, other in pairwise(pieces)]
    return [pieces[0][1], *middle, pieces[-1][1]]


def _inner(step: float, rise: float, next_step: float, next_rise: float) -> float:
    if rise * next_rise <= 0:
        return 0.0
    weighed = (rise * next_step + next_rise * step) / (step + next_step)
    size = min(abs(rise), abs(next_rise), abs(weighed) / 2) * 2
    return size if rise > 0 else -size
