"""Dates that follow each other, on one line, with how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import across, painted
from tequio_client.app.widgets.text import Paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter

DOT = 5.0
TRACK = 24
"""Height of line and dots."""
LINE = 4.0


class Milestones(QWidget):
    """A dot with name and date for each of them; `names` stay."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names, self._done, self._is_over = tuple(names), 0.0, False
        self._dates = [Paragraph("", Type.SMALL, "sub") for _ in names]
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, TRACK, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        for at, name in enumerate(names):
            grid.setColumnStretch(at, 1)
            for line, part in enumerate((Paragraph(name, Type.SMALL), self._dates[at])):
                part.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
                part.setMinimumWidth(1)
                grid.addWidget(part, line, at)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def show_dates(self, dates: Sequence[str], done: float, summary: str, *, is_over: bool) -> None:
        """Show those dates; `done` is 0 at the first of them, 1 at the second; -1 before all."""
        for label, date in zip(self._dates, dates, strict=True):
            label.setText(date)
        self.setAccessibleName(summary)
        if (done, is_over) != (self._done, self._is_over):
            self._done, self._is_over = done, is_over
            self.update()

    @property
    def done(self) -> float:
        """How far it has come."""
        return self._done

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw track, what is done of it, and the dots."""
        colours, y = tokens(), TRACK / 2
        spots = [QPointF(label.geometry().center().x() + 0.5, y) for label in self._dates]
        painter.setPen(_pen(QColor(colours.track)))
        painter.drawLine(spots[0], spots[-1])
        end = self._spot(spots)
        if end != spots[0]:
            left, right = sorted((spots[0].x(), spots[-1].x()))
            pen = _pen(QColor(colours.ok))
            if not self._is_over:
                pen.setBrush(across(left, right))
            painter.setPen(pen)
            # a line that is quite level has no area, and no gradient is drawn on it
            painter.drawLine(spots[0], end + QPointF(0, 0.01))
        for at, spot in enumerate(spots):
            self._draw_dot(painter, spot, is_reached=at <= self._done)

    def _spot(self, spots: list[QPointF]) -> QPointF:
        done = max(self._done, 0.0)
        at = min(int(done), len(spots) - 1)
        part, last = done - at, min(at + 1, len(spots) - 1)
        return spots[at] + (spots[last] - spots[at]) * part

    def _draw_dot(self, painter: QPainter, spot: QPointF, *, is_reached: bool) -> None:
        colours = tokens()
        ink = (colours.ok if self._is_over else colours.accent) if is_reached else colours.edge
        painter.setPen(QPen(QColor(ink), 2))
        painter.setBrush(QColor(ink if is_reached else colours.card))
        painter.drawEllipse(QRectF(spot.x() - DOT, spot.y() - DOT, 2 * DOT, 2 * DOT))


def _pen(ink: QColor) -> QPen:
    pen = QPen(ink, LINE)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    return pen
