"""The last readings of something, as a small line without an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainterPath, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import painted, see_through

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter

HEIGHT = 26
LINE = 1.6
DOT = 2.2


class Sparkline(QWidget):
    """Draws the newest reading at its end; a reading that is missing (None) leaves a gap.

    The line reaches from the side where reading begins, once there are `room` readings.
    """

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room
        self._values: tuple[float | None, ...] = ()
        self._top = 1.0
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_values(self, values: Sequence[float | None], top: float) -> None:
        """Show these, oldest first, below such a top; what is higher raises it."""
        self._values = tuple(values)[-self._room :]
        self._top = max([top, *(value for value in self._values if value is not None)])
        self.update()

    @property
    def values(self) -> tuple[float | None, ...]:
        """What it shows."""
        return self._values

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(80, HEIGHT)

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw ground line, pieces of curve and the newest reading."""
        colours, foot = tokens(), self.height() - 1.5
        painter.setPen(QPen(QColor(colours.hairline), 1))
        painter.drawLine(QPointF(0, foot), QPointF(self.width(), foot))
        for piece in self._pieces():
            self._draw(painter, piece, foot)
        newest = self._points()[-1] if self._values else None
        if newest is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent2))
            painter.drawEllipse(newest, DOT, DOT)

    def _points(self) -> list[QPointF | None]:
        step = (self.width() - 2 * DOT) / max(self._room - 1, 1)
        high, first = self.height() - 2 * DOT - 3, self._room - len(self._values)
        return [
            None
            if value is None
            else QPointF(
                DOT + (first + at) * step,
                DOT + 1 + high * (1 - (max(value, 0.0) / self._top if self._top else 0.0)),
            )
            for at, value in enumerate(self._values)
        ]

    def _pieces(self) -> list[list[QPointF]]:
        pieces: list[list[QPointF]] = [[]]
        for point in self._points():
            if point is None:
                pieces.append([])
            else:
                pieces[-1].append(point)
        return [piece for piece in pieces if len(piece) > 1]

    def _draw(self, painter: QPainter, piece: list[QPointF], foot: float) -> None:
        line = QPainterPath(piece[0])
        for point in piece[1:]:
            line.lineTo(point)
        ground = QPainterPath(line)
        ground.lineTo(piece[-1].x(), foot)
        ground.lineTo(piece[0].x(), foot)
        fade = QLinearGradient(0, 0, 0, foot)
        fade.setColorAt(0, see_through(tokens().accent, 0.28))
        fade.setColorAt(1, see_through(tokens().accent, 0.0))
        painter.fillPath(ground, fade)
        pen = QPen(QColor(tokens().accent), LINE)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(line, pen)
