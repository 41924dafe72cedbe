"""A smooth line through given points that never goes beyond them.

Cubic Hermite pieces with the slopes of Steffen (Astronomy and Astrophysics 239, 1990): between two
neighbours the line is monotone, so that a chart shows no height that was not measured.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

if TYPE_CHECKING:
    from collections.abc import Sequence


def smooth(points: Sequence[QPointF]) -> QPainterPath:
    """The line through the points, whose x must rise; none: an empty path."""
    if not points:
        return QPainterPath()
    path = QPainterPath(points[0])
    ends = zip(points, _slopes(points), strict=True)
    for (start, one), (end, other) in pairwise(ends):
        third = (end.x() - start.x()) / 3
        path.cubicTo(start + QPointF(third, one * third), end - QPointF(third, other * third), end)
    return path


def _slopes(points: Sequence[QPointF]) -> list[float]:
    if len(points) == 1:
        return [0.0]
    pieces = [(b.x() - a.x(), (b.y() - a.y()) / (b.x() - a.x())) for a, b in pairwise(points)]
    middle = [_inner(*one, *other) for one, other in pairwise(pieces)]
    return [pieces[0][1], *middle, pieces[-1][1]]


def _inner(step: float, rise: float, next_step: float, next_rise: float) -> float:
    if rise * next_rise <= 0:
        return 0.0
    weighed = (rise * next_step + next_rise * step) / (step + next_step)
    size = min(abs(rise), abs(next_rise), abs(weighed) / 2) * 2
    return size if rise > 0 else -size
