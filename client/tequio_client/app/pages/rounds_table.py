"""The table of rounds, as tall as its rows: the page around it scrolls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from tequio_client.app.pages.rounds_rows import Column, Role, RoundsRows, is_checked
from tequio_client.app.theme import icons, sizes
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QMouseEvent, QPainter, QResizeEvent

    from tequio_client.app.pages.rounds_rows import Index
    from tequio_client.link.questions import PointsRow

ROW = 50
HEAD = 30
LEAST = 400
PADDING = 3
GAP = 8
WIDTHS = {
    Column.ROUND: 120,
    Column.WHEN: 84,
    Column.STATE: 150,
    Column.WORK: 118,
    Column.ENERGY: 76,
    Column.POINTS: 124,
    Column.PROOF: 64,
}
"""Pixels that each column needs at least; the rest goes to round and state."""
WITNESSED = 444_444
"""Micro-points in the widest figures, for what is usually given for checking."""
SPARED = (Column.ENERGY, Column.WORK)
"""Columns that go first where there is no room; a round's own window has them all."""


class RoundsTable(QTableView):
    """The rounds; `opened` tells the one that the user wants to see."""

    opened = Signal(object)

    def __init__(self, name: str, name_device: Callable[[str], str]) -> None:
        super().__init__()
        self.rows = RoundsRows(name_device)
        self.setAccessibleName(name)
        self.setModel(self.rows)
        self.setItemDelegate(TwoLines(self))
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setFixedHeight(HEAD)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(0)
        self._needs = {column: max(need, self._words(column)) for column, need in WIDTHS.items()}
        for signal in (self.rows.rowsInserted, self.rows.modelReset):
            signal.connect(self._settle)
        self.activated.connect(self._open)
        self.clicked.connect(self._open_proof)
        self._settle()

    def minimumSizeHint(self) -> QSize:
        """A narrow window's."""
        return QSize(LEAST, HEAD)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out."""
        super().resizeEvent(event)
        self._share(self.viewport().width())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at what can be clicked."""
        super().mouseMoveEvent(event)
        at = self.indexAt(event.position().toPoint())
        over = at.isValid() and at.column() == Column.PROOF and is_checked(self.rows.row(at.row()))
        shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)

    def _words(self, column: Column) -> int:
        """Pixels that the words of a column need in the language that is spoken."""
        heading = self.rows.headerData(column, Qt.Orientation.Horizontal)
        widths = [QFontMetrics(self.horizontalHeader().font()).horizontalAdvance(str(heading))]
        if column is Column.POINTS:
            note = self.rows.witnessed(WITNESSED)
            widths.append(QFontMetrics(font(Type.CAPTION)).horizontalAdvance(note))
        return max(widths) + 2 * PADDING + GAP

    def _share(self, width: int) -> None:
        hidden: set[Column] = set()
        for column in SPARED:
            if sum(need for one, need in self._needs.items() if one not in hidden) > width:
                hidden.add(column)
        for column in Column:
            self.setColumnHidden(column, column in hidden)
        needed = sum(need for one, need in self._needs.items() if one not in hidden)
        scale, spare = min(width / needed, 1.0), max(width - needed, 0)
        for column, need in self._needs.items():
            share = spare // 3 * {Column.ROUND: 1, Column.STATE: 2}.get(column, 0)
            self.setColumnWidth(column, int(need * scale) + share)

    def _settle(self) -> None:
        self.setFixedHeight(HEAD + ROW * self.rows.rowCount() + 2 * sizes.FOCUS)

    def _open(self, at: QModelIndex) -> None:
        self.opened.emit(self._row(at))

    def _open_proof(self, at: QModelIndex) -> None:
        if at.column() == Column.PROOF and is_checked(self._row(at)):
            self.opened.emit(self._row(at))

    def _row(self, at: QModelIndex) -> PointsRow:
        return self.rows.row(at.row())


class TwoLines(QStyledItemDelegate):
    """Draws a cell: an icon, a line, and a smaller one below."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        painter.save()
        place, colours = QRectF(option.rect), tokens()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(place, QColor(colours.hover))
        painter.setPen(QColor(colours.hairline))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        side = QStyle.visualAlignment(
            option.direction, index.data(Qt.ItemDataRole.TextAlignmentRole)
        )
        room = place.adjusted(PADDING, 0, -PADDING, 0)
        note = str(index.data(Role.NOTE) or "")
        room = self._draw_picture(painter, option, index, room)
        words = str(index.data() or "")
        first = room.adjusted(0, 7, 0, -ROW / 2 + 1) if note else room
        ink = str(index.data(Role.INK))
        kind = Type.BODY if ink == "text" else Type.LABEL
        _write(painter, first, words, (kind, ink), side)
        if note:
            below = room.adjusted(0, ROW / 2 - 1, 0, -7)
            _write(painter, below, note, (Type.CAPTION, "text_sub"), side)
        painter.restore()

    def _draw_picture(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, room: QRectF
    ) -> QRectF:
        name = str(index.data(Role.PICTURE) or "")
        if not name:
            return room
        has_words = bool(index.data())
        size = 16.0 if has_words else 18.0
        is_mirrored = option.direction is Qt.LayoutDirection.RightToLeft
        middle = room.center().x() - size / 2
        left = middle if not has_words else room.right() - size if is_mirrored else room.left()
        note = bool(index.data(Role.NOTE))
        top = room.top() + 8 if note else room.center().y() - size / 2
        colour = getattr(tokens(), str(index.data(Role.INK)))
        icons.draw(painter, name, colour, QRectF(QPointF(left, top), QSize(int(size), int(size))))
        step = size + GAP
        return room.adjusted(0, 0, -step, 0) if is_mirrored else room.adjusted(step, 0, 0, 0)


def _write(
    painter: QPainter, room: QRectF, words: str, how: tuple[Type, str], side: Qt.AlignmentFlag
) -> None:
    kind, ink = how
    made = font(kind)
    shown = QFontMetrics(made).elidedText(words, Qt.TextElideMode.ElideRight, int(room.width()))
    painter.setFont(made)
    painter.setPen(QColor(getattr(tokens(), ink)))
    painter.drawText(room, int(side), shown)
