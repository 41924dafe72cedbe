"""The charts' smooth line as a path that Qt draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from tequio_shared import curve

if TYPE_CHECKING:
    from collections.abc import Sequence


def smooth(points: Sequence[QPointF]) -> QPainterPath:
    """The line through the points, whose x must rise; none: an empty path."""
    if not points:
        return QPainterPath()
    path = QPainterPath(points[0])
    for piece in curve.smooth([(point.x(), point.y()) for point in points]):
        path.cubicTo(QPointF(*piece.first), QPointF(*piece.second), QPointF(*piece.end))
    return path
