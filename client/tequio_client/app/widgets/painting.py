"""What every painted widget does: the focus ring, and brushes of the colours in force."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPen
from PySide6.QtWidgets import QWidget

from tequio_client.app.theme import sizes
from tequio_client.app.theme.look import tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QPaintEvent

W = TypeVar("W", bound=QWidget)


def painted(draw: Callable[[W, QPainter], None]) -> Callable[[W, QPaintEvent], None]:
    """Make a `paintEvent` of what draws with a painter, which has smooth edges.

    The painter is ended whatever happens: an error while a painter is active would end the process.
    """

    @wraps(draw)
    def paint(self: W, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        try:
            draw(self, painter)
        finally:
            painter.end()

    return paint


def focus_ring(painter: QPainter, place: QRectF, radius: float) -> None:
    """Draw the ring around what has the keyboard, inside that place."""
    inset = sizes.FOCUS / 2
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(tokens().ring), sizes.FOCUS))
    painter.drawRoundedRect(place.adjusted(inset, inset, -inset, -inset), radius, radius)


def across(left: float, right: float) -> QLinearGradient:
    """From the first accent to the second, between two places of the x axis."""
    made = QLinearGradient(QPointF(left, 0), QPointF(right, 0))
    made.setColorAt(0, QColor(tokens().accent))
    made.setColorAt(1, QColor(tokens().accent2))
    return made


def see_through(colour: str, opacity: float) -> QColor:
    """The colour, so much of it."""
    made = QColor(colour)
    made.setAlphaF(opacity)
    return made
