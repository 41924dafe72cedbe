"""The rounds as Qt's tables ask for them: two lines in each cell, and the check mark.

The check mark stands only where the worker has itself checked that the round's end is in the
ledger's log: `is_checked` is the one place that says so.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from tequio_client.app import words
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.text import tip

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.link.questions import PointsRow

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class Column(IntEnum):
    """What stands where."""

    ROUND = 0
    WHEN = 1
    STATE = 2
    WORK = 3
    ENERGY = 4
    POINTS = 5
    PROOF = 6


class Role(IntEnum):
    """What the delegate asks for beside the first line."""

    NOTE = Qt.ItemDataRole.UserRole + 1
    PICTURE = Qt.ItemDataRole.UserRole + 2
    INK = Qt.ItemDataRole.UserRole + 3
    ROW = Qt.ItemDataRole.UserRole + 4


STATES = {
    "pending": ("hourglass", "text_sub"),
    "verified": ("circle-check", "ok"),
    "rejected": ("circle-x", "warn"),
}
TRAILING = (Column.ENERGY, Column.POINTS)
SPOKEN = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)


def is_checked(row: PointsRow) -> bool:
    """Whether the worker has checked the proof of what this round gave."""
    return row.state == "verified" and row.entry is not None and row.size is not None


class RoundsRows(QAbstractTableModel):
    """The rows; `name_device` writes a device as people know it."""

    def __init__(self, name_device: Callable[[str], str]) -> None:
        super().__init__()
        self._rows: tuple[PointsRow, ...] = ()
        self._name_device = name_device
        self._headings = {
            Column.ROUND: self.tr("Round"),
            Column.WHEN: self.tr("When"),
            Column.STATE: self.tr("State"),
            Column.WORK: self.tr("Device, tokens"),
            Column.ENERGY: self.tr("Energy"),
            Column.POINTS: self.tr("Points"),
            Column.PROOF: self.tr("Proof"),
        }

    def show_rows(self, rows: tuple[PointsRow, ...]) -> None:
        """Hold these; rows that are only added below leave everything else in place."""
        old = self._rows
        if rows == old:
            return
        if old and rows[: len(old)] == old:
            self.beginInsertRows(NOWHERE, len(old), len(rows) - 1)
            self._rows = rows
            self.endInsertRows()
        elif [row.number for row in rows] == [row.number for row in old]:
            self._rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, Column.PROOF))
        else:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def row(self, at: int) -> PointsRow:
        """The round in that row."""
        return self._rows[at]

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """How many there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """As many as there are headings."""
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Name a column."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[Column(section)]
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One cell."""
        row, column = self._rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.words(row, column)[0]
        if role == Role.NOTE:
            return self.words(row, column)[1]
        if role in SPOKEN:
            said = ", ".join(filter(None, self.words(row, column))) or self._unseen(row, column)
            return tip(said) if role == Qt.ItemDataRole.ToolTipRole else said
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(column)
        if role == Role.ROW:
            return row
        return _drawn(row, column)[role - Role.PICTURE] if role in _DRAWN else None

    def words(self, row: PointsRow, column: Column) -> tuple[str, str]:
        """First and second line of a cell."""
        match column:
            case Column.ROUND:
                number = self.tr("Round {number}").format(number=figures.count(row.round))
                pair = row.run_name or row.run, number
            case Column.WHEN:
                pair = figures.clock(row.at_ms), figures.day(row.at_ms)
            case Column.STATE:
                pair = words.round_state(row.state), words.round_reason(row.reason)
            case Column.WORK:
                tokens = self.tr("{count} tokens").format(count=figures.count(row.tokens))
                pair = self._name_device(row.device), tokens if row.tokens else ""
            case Column.ENERGY:
                pair = figures.energy(row.energy_j) if row.energy_j else figures.ABSENT, ""
            case Column.POINTS:
                pair = self._points(row)
            case Column.PROOF:
                pair = "", ""
        return pair

    def _points(self, row: PointsRow) -> tuple[str, str]:
        """All of the points, and what of them was given for checking others' work."""
        if row.state == "pending":
            return figures.ABSENT, ""
        part = self.witnessed(row.witnessed) if row.witnessed else ""
        return figures.full_points(row.micropoints), part

    def witnessed(self, micropoints: int) -> str:
        """What was given for checking others' work."""
        return self.tr("{points} as witness").format(points=figures.exact_points(micropoints))

    def _unseen(self, row: PointsRow, column: Column) -> str:
        """What a cell without words says."""
        if column is not Column.PROOF:
            return ""
        checked = self.tr("Proof checked by this computer: open to see what that means")
        return checked if is_checked(row) else self.tr("No proof was checked yet")


_DRAWN = (Role.PICTURE, Role.INK)


def _drawn(row: PointsRow, column: Column) -> tuple[str, str]:
    """Icon and colour of a cell."""
    if column is Column.STATE:
        return STATES.get(row.state, ("", "text"))
    if column is Column.PROOF and is_checked(row):
        return "badge-check", "ok"
    return "", "text"


def _side(column: int) -> Qt.AlignmentFlag:
    if column == Column.PROOF:
        return Qt.AlignmentFlag.AlignCenter
    side = Qt.AlignmentFlag.AlignTrailing if column in TRAILING else Qt.AlignmentFlag.AlignLeading
    return side | Qt.AlignmentFlag.AlignVCenter
