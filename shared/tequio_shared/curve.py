"""A smooth line through given points that never overshoots them, for every chart of the project.

Cubic Hermite pieces with the slopes of Steffen (Astronomy and Astrophysics 239, 1990): between two
neighbours the line is monotone, so that a chart shows no height that was not measured. A spline
with the usual slopes would swing above a peak and below a valley.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

Point: TypeAlias = tuple[float, float]


class CurvePiece(NamedTuple):
    """A cubic Bézier from the end of the previous piece, or from the first point."""

    first: Point
    """Control point of the start."""
    second: Point
    """Control point of the end."""
    end: Point


def smooth(points: Sequence[Point]) -> list[CurvePiece]:
    """Return the pieces between the points, whose x must rise; fewer than two points give none."""
    pieces = []
    for (start, one), (end, other) in pairwise(zip(points, _slopes(points), strict=True)):
        third = (end[0] - start[0]) / 3
        first = start[0] + third, start[1] + one * third
        second = end[0] - third, end[1] - other * third
        pieces.append(CurvePiece(first, second, end))
    return pieces


def _slopes(points: Sequence[Point]) -> list[float]:
    pieces = [(b[0] - a[0], (b[1] - a[1]) / (b[0] - a[0])) for a, b in pairwise(points)]
    if not pieces:
        return [0.0] * len(points)
    inner = [_inner_slope(*one, *other) for one, other in pairwise(pieces)]
    return [pieces[0][1], *inner, pieces[-1][1]]


def _inner_slope(step: float, rise: float, next_step: float, next_rise: float) -> float:
    if rise * next_rise <= 0:
        return 0.0  # a peak or a valley: the line is level there
    weighed = (rise * next_step + next_rise * step) / (step + next_step)
    size = min(abs(rise), abs(next_rise), abs(weighed) / 2) * 2
    return size if rise > 0 else -size
