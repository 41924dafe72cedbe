"""A figure within its interval, on a scale that rows below each other share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import painted

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

DOT = 4.5
BAR = 4.0
SIDE = 6.0
HEIGHT = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """From `low` to `high`, with the figure itself somewhere in it."""

    low: float
    value: float
    high: float


class IntervalBar(QWidget):
    """Draws the interval as a bar and the figure as a dot; better is where the line begins."""

    def __init__(self) -> None:
        super().__init__()
        self._interval: Interval | None = None
        self._from, self._to, self._is_ours = 0.0, 1.0, False
        self.setMinimumWidth(70)
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_interval(
        self, interval: Interval, scale: tuple[float, float], *, is_ours: bool
    ) -> None:
        """Show it between the ends of that scale."""
        self._interval, self._is_ours = interval, is_ours
        self._from, self._to = scale
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(140, HEIGHT)

    def place(self, value: float) -> float:
        """Where that value stands, in pixels."""
        span = self._to - self._from
        part = (value - self._from) / span if span > 0 else 0.5
        x = SIDE + (self.width() - 2 * SIDE) * part
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        return self.width() - x if is_mirrored else x

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw hairline, bar and dot."""
        colours, y = tokens(), self.height() / 2
        painter.setPen(QPen(QColor(colours.hairline), 1))
        painter.drawLine(QPointF(0, y), QPointF(self.width(), y))
        if self._interval is None:
            return
        ink = QColor(colours.accent if self._is_ours else colours.edge)
        pen = QPen(ink, BAR)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        ends = [QPointF(self.place(one), y) for one in (self._interval.low, self._interval.high)]
        painter.drawLine(*ends)
        painter.setPen(QPen(QColor(colours.card), 2))
        painter.setBrush(QColor(colours.text_accent if self._is_ours else colours.text))
        painter.drawEllipse(QPointF(self.place(self._interval.value), y), DOT, DOT)
