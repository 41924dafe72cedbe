"""Who has how many points, with our own row marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets import figures

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from tequio_client.link.questions import RankRow

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
ROW = 32
KEY_LETTERS = 10
RANK, WHO, POINTS = range(3)


class RankingTable(QTableView):
    """The neighbours in the ranking, the best first."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._rows = RankingRows()
        self.setAccessibleName(name)
        self.setModel(self._rows)
        self.setItemDelegate(OwnRow(self))
        self.setFont(font(Type.BODY))
        self.setShowGrid(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW)
        self._set_header(self.horizontalHeader())

    def show_rows(self, rows: tuple[RankRow, ...]) -> None:
        """Show these."""
        self._rows.replace(rows)

    def _set_header(self, header: QHeaderView) -> None:
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(RANK, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(WHO, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(POINTS, QHeaderView.ResizeMode.ResizeToContents)


class RankingRows(QAbstractTableModel):
    """The rows as Qt asks for them."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[RankRow, ...] = ()
        self._headings = ("#", self.tr("Volunteer"), self.tr("Points"))

    def replace(self, rows: tuple[RankRow, ...]) -> None:
        """Hold these from now on."""
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """How many there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """Rank, name and points."""
        return 0 if parent.isValid() else len(self._headings)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Name a column."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One cell."""
        row = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == WHO:
            return row.key
        if role == Qt.ItemDataRole.ForegroundRole and row.is_ours:
            return QBrush(QColor(tokens().text_accent))
        if role == Qt.ItemDataRole.FontRole and row.is_ours:
            return font(Type.STRONG)
        return row.is_ours if role == Qt.ItemDataRole.UserRole else None

    def _words(self, row: RankRow, column: int) -> str:
        if column == RANK:
            return figures.count(row.rank)
        if column == POINTS:
            return figures.points(row.micropoints)
        short = f"{row.key[:KEY_LETTERS]}…" if len(row.key) > KEY_LETTERS else row.key
        return self.tr("You") if row.is_ours else short


class OwnRow(QStyledItemDelegate):
    """Lays a soft ground below our own row, and a hairline below each other one."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        place = QRectF(option.rect)
        if index.data(Qt.ItemDataRole.UserRole):
            painter.fillRect(place, QColor(tokens().accent_soft))
        painter.setPen(QColor(tokens().hairline))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        super().paint(painter, option, index)


def _side(column: int) -> Qt.AlignmentFlag:
    trailing = column == POINTS
    side = Qt.AlignmentFlag.AlignTrailing if trailing else Qt.AlignmentFlag.AlignLeading
    return side | Qt.AlignmentFlag.AlignVCenter
