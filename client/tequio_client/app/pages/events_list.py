"""The list of events: a shape for the level, the sentence, and when."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate

from tequio_client.app.pages.events_rows import EventsRows, Line, Role
from tequio_client.app.theme import icons
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.banner import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent, QPainter
    from PySide6.QtWidgets import QStyleOptionViewItem

    from tequio_client.app.pages.events_rows import Index

DAY = 36
LEAST = 260
TILE = 28
PICTURE = 15
SIDE = 4
GAP = 12
LONGEST_S = 13 * 86_400 + 23 * 3_600
"""Times of which the list keeps room for the words."""
ABOVE = 9
GROUNDS = {
    "info": "hover",
    "good": "ok_soft",
    "warning": "warn_soft",
    "error": "danger_soft",
}
WRAPPED = Qt.TextFlag.TextWordWrap


class EventsList(QListView):
    """The events, the newest first."""

    def __init__(self, name: str, now_ms: Callable[[], int]) -> None:
        super().__init__()
        self.rows = EventsRows(now_ms)
        self.setAccessibleName(name)
        self.setModel(self.rows)
        self.setItemDelegate(EventLine(self, now_ms))
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalScrollBar().setSingleStep(24)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumHeight(LEAST)

    def show_lines(self, lines: tuple[Line, ...]) -> None:
        """Show these; who reads further down stays where they are."""
        bar = self.verticalScrollBar()
        value, most = bar.value(), bar.maximum()
        if self.rows.show_lines(lines) > 0 and value > 0:
            self.doItemsLayout()
            bar.setValue(value + bar.maximum() - most)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the chosen event."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            line = self.currentIndex().data(Role.LINE)
            QGuiApplication.clipboard().setText(f"{self.rows.when(line)}  {line.words}")
        else:
            super().keyPressEvent(event)


class EventLine(QStyledItemDelegate):
    """Draws one line."""

    def __init__(self, view: QListView, now_ms: Callable[[], int]) -> None:
        super().__init__(view)
        self._view, self._now_ms = view, now_ms

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """As tall as its words need at this width."""
        width = self._view.viewport().width()
        line: Line = index.data(Role.LINE)
        return QSize(width, DAY if line.is_day else _height(line.words, _room(width)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the day's name, or the event."""
        painter.save()
        line: Line = index.data(Role.LINE)
        place = QRectF(option.rect)
        if line.is_day:
            painter.setFont(font(Type.STRONG))
            painter.setPen(QColor(tokens().text_sub))
            side = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignBottom
            shown = QStyle.visualAlignment(option.direction, side)
            painter.drawText(place.adjusted(SIDE, 0, -SIDE, -7), int(shown), line.words)
        else:
            self._draw_event(painter, option, line)
        painter.restore()

    def _draw_event(self, painter: QPainter, option: QStyleOptionViewItem, line: Line) -> None:
        colours, place = tokens(), QRectF(option.rect)
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover))
            painter.drawRoundedRect(place.adjusted(0, 1, 0, -1), 8, 8)
        tile = self._place(option, QRectF(SIDE, ABOVE + 1, TILE, TILE))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(colours, GROUNDS.get(line.level, "hover"))))
        painter.drawRoundedRect(tile, 8, 8)
        name, ink = LEVELS.get(line.level, LEVELS["info"])
        inset = (TILE - PICTURE) / 2
        ink = "text_sub" if line.level == "info" else ink
        picture = tile.adjusted(inset, inset, -inset, -inset)
        icons.draw(painter, name, getattr(colours, ink), picture)
        self._write(painter, option, line)

    def _write(self, painter: QPainter, option: QStyleOptionViewItem, line: Line) -> None:
        room, height = _room(option.rect.width()), option.rect.height()
        left = SIDE + TILE + GAP
        words = self._place(option, QRectF(left, ABOVE, room, height - 2 * ABOVE + 2))
        times = QRectF(left + room + GAP, ABOVE, _when(), height - 2 * ABOVE + 2)
        lead = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeading)
        trail = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignTrailing)
        painter.setFont(font(Type.BODY))
        painter.setPen(QColor(tokens().text))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(words, int(lead | middle | WRAPPED), line.words)
        painter.setFont(font(Type.CAPTION))
        painter.setPen(QColor(tokens().text_sub))
        when = f"{figures.clock(line.at_ms)}\n{figures.ago(line.at_ms, self._now_ms())}"
        painter.drawText(self._place(option, times), int(trail | middle), when)

    def _place(self, option: QStyleOptionViewItem, inside: QRectF) -> QRectF:
        """A place inside of the line, on the side where lines begin."""
        rect = option.rect
        left = rect.left() + inside.left()
        if option.direction is Qt.LayoutDirection.RightToLeft:
            left = rect.right() + 1 - inside.left() - inside.width()
        return QRectF(left, rect.top() + inside.top(), inside.width(), inside.height())


def _room(width: int) -> int:
    """Pixels that words have in a line of that width."""
    return max(width - 2 * SIDE - TILE - 2 * GAP - _when(), 80)


def _when() -> int:
    """Pixels of the times."""
    spans = (LONGEST_S, 86_340)
    return max(_width(figures.ago(0, span_s * 1_000)) for span_s in spans)


@lru_cache(maxsize=16)
def _width(words: str) -> int:
    return QFontMetrics(font(Type.CAPTION)).horizontalAdvance(words) + 2


@lru_cache(maxsize=8_192)
def _height(words: str, room: int) -> int:
    metrics = QFontMetrics(font(Type.BODY))
    box = metrics.boundingRect(QRect(0, 0, room, 10_000), int(WRAPPED), words)
    two_times = 2 * QFontMetrics(font(Type.CAPTION)).lineSpacing()
    return max(box.height(), two_times) + 2 * ABOVE
