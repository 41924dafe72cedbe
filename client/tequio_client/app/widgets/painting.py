"""What every painted widget does: the focus ring, and brushes of the colours in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPen

from tequio_client.app.theme import sizes
from tequio_client.app.theme.look import tokens

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


def painter_of(widget: QWidget) -> QPainter:
    """A painter with smooth edges; the caller ends it."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


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
