"""The hours of the week in which something may be done.

Drawing with the mouse or with Shift and the arrow keys sets hours to what the first one became;
Space turns the hour at the cursor over. Hours go from left to right in every language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import focus_ring, painted
from tequio_client.link.preferences import ALWAYS, DAYS, HOURS

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

    from tequio_client.link.preferences import Week

TOP = 20
LEAST_CELL = 14
MOST_CELL = 26
BETWEEN = 2
EVERY_HOURS = 3
MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class WeekGrid(QWidget):
    """Seven rows of 24 hours, from Monday on."""

    chosen = Signal(tuple)
    """The week (`link.preferences.Week`) when the hand lets go, and after each key."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._week: Week = ALWAYS
        self._cursor = (0, 0)
        self._paints: bool | None = None
        self._beside = _room_for_names()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._describe()

    @property
    def week(self) -> Week:
        """What it shows."""
        return self._week

    def choose(self, week: Week) -> None:
        """Show that week, unless a hand is drawing."""
        if self._paints is None and week != self._week:
            self._week = week
            self._describe()
            self.update()

    def sizeHint(self) -> QSize:
        """Wide enough for calm cells."""
        return QSize(self._beside + HOURS * MOST_CELL, TOP + DAYS * (MOST_CELL - 2))

    def minimumSizeHint(self) -> QSize:
        """Cells that can still be hit."""
        return QSize(self._beside + HOURS * LEAST_CELL, self.sizeHint().height())

    # --- by hand

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Turn the hour below the hand over, and go on with what it became."""
        cell = self._at(event.position())
        if cell is not None and event.button() is Qt.MouseButton.LeftButton:
            self._cursor = cell
            self._paints = not self._is_on(cell)
            self._set(cell, is_on=self._paints)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Draw on."""
        cell = self._at(event.position())
        if cell is not None and self._paints is not None:
            self._cursor = cell
            self._set(cell, is_on=self._paints)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Say what was drawn."""
        super().mouseReleaseEvent(event)
        event.accept()
        if self._paints is not None:
            self._paints = None
            self.chosen.emit(self._week)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move, draw or turn over."""
        move = MOVES.get(Qt.Key(event.key()))
        if move is not None:
            self._move(move, draws=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._set(self._cursor, is_on=not self._is_on(self._cursor))
            self.chosen.emit(self._week)
        else:
            super().keyPressEvent(event)

    def _move(self, move: tuple[int, int], *, draws: bool) -> None:
        was_on = self._is_on(self._cursor)
        day, hour = (self._cursor[0] + move[0]) % DAYS, (self._cursor[1] + move[1]) % HOURS
        self._cursor = (day, hour)
        if draws:
            self._set(self._cursor, is_on=was_on)
            self.chosen.emit(self._week)
        self._describe()
        self.update()

    # --- the week

    def _is_on(self, cell: tuple[int, int]) -> bool:
        return bool(self._week[cell[0]] >> cell[1] & 1)

    def _set(self, cell: tuple[int, int], *, is_on: bool) -> None:
        day, bit = cell[0], 1 << cell[1]
        hours = self._week[day] | bit if is_on else self._week[day] & ~bit
        self._week = (*self._week[:day], hours, *self._week[day + 1 :])
        self._describe()
        self.update()

    def _describe(self) -> None:
        day, hour = self._cursor
        state = self.tr("may lend") if self._is_on(self._cursor) else self.tr("does not lend")
        name = QLocale().dayName(day + 1, QLocale.FormatType.LongFormat)
        self.setAccessibleDescription(f"{name} {hour}–{hour + 1}: {state}")

    # --- drawing

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw names, hours and the cursor."""
        painter.setFont(font(Type.SMALL))
        self._draw_names(painter)
        painter.setPen(Qt.PenStyle.NoPen)
        colours = tokens()
        for day in range(DAYS):
            for hour in range(HOURS):
                is_on = self._is_on((day, hour))
                painter.setBrush(QColor(colours.accent if is_on else colours.track))
                painter.drawRoundedRect(self._cell(day, hour), 4, 4)
        if self.hasFocus():
            cell = self._cell(*self._cursor).adjusted(-2, -2, 2, 2)
            focus_ring(painter, cell, 5)

    def _draw_names(self, painter: QPainter) -> None:
        painter.setPen(QColor(tokens().text_sub))
        locale, side = QLocale(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        for day in range(DAYS):
            place = QRectF(0, self._cell(day, 0).top(), self._beside, self._cell(day, 0).height())
            name = locale.dayName(day + 1, QLocale.FormatType.ShortFormat)
            painter.drawText(place, side, name)
        for hour in range(0, HOURS, EVERY_HOURS):
            place = QRectF(self._cell(0, hour).left(), 0, 40, TOP - 4)
            painter.drawText(place, side, locale.toString(hour))

    def _cell(self, day: int, hour: int) -> QRectF:
        wide = (self.width() - self._beside - 2) / HOURS
        high = (self.height() - TOP - 2) / DAYS
        left, top = self._beside + hour * wide, TOP + day * high
        return QRectF(left, top, wide - BETWEEN, high - BETWEEN)

    def _at(self, point: QPointF) -> tuple[int, int] | None:
        hour = int((point.x() - self._beside) * HOURS // (self.width() - self._beside - 2))
        day = int((point.y() - TOP) * DAYS // (self.height() - TOP - 2))
        return (day, hour) if 0 <= hour < HOURS and 0 <= day < DAYS else None


def _room_for_names() -> int:
    """Pixels before the first hour, for the name of any day."""
    metrics, locale = QFontMetrics(font(Type.SMALL)), QLocale()
    names = (locale.dayName(day + 1, QLocale.FormatType.ShortFormat) for day in range(DAYS))
    return max(map(metrics.horizontalAdvance, names)) + 10
