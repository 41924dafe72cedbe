"""The rounds read so far, as a model for Qt's tables: two lines in each cell, and the check mark.

Rounds are read page by page. When the points database changes, all pages are read again: a pending
round may have been proven, and old rounds may have been found. The check mark appears only where
the worker itself verified that the round's end is in the ledger's log; see `is_checked`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from PySide6.QtCore import QObject, Qt

from tequio_client.app import worker_texts
from tequio_client.app.model import AppModel
from tequio_client.app.pages.page import PagedReader
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import TRAILING, tool_tip
from tequio_client.app.widgets.cards import NOWHERE, Index, TableRows
from tequio_client.ipc.control import Question, Reply
from tequio_client.ipc.facts import MAX_ROWS
from tequio_client.ipc.points import AskPoints, PointsReply, PointsRow

ROUNDS_PAGE = 100
"""Rounds per request while scrolling."""
STATES = {
    "pending": ("hourglass", "text_sub"),
    "verified": ("circle-check", "ok"),
    "rejected": ("circle-x", "warn"),
}
ACCESSIBLE = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)


class RoundsReader(PagedReader[AskPoints, PointsRow]):
    """The rounds read so far, newest first; owned by its page."""

    def __init__(self, model: AppModel, parent: QObject | None = None) -> None:
        super().__init__(model, parent)
        self.runs: dict[str, str] = {}
        """Names of all runs seen, by id."""
        self.devices: tuple[str, ...] = ()
        """All devices seen."""
        self.run = self.device = ""
        """The filter: one run, one device; empty: all."""
        self._fresh: list[PointsRow] = []
        self._is_renewing = self._is_stale = False

    def set_filter(self, run: str, device: str) -> None:
        """Read only rounds of that run and device from now on; empty: of all."""
        if (run, device) != (self.run, self.device):
            self.run, self.device = run, device
            self.rows, self.has_more = None, False
            self.pending = None
            self.reload()

    def reload(self) -> None:
        """Read everything read so far again, or the first page."""
        if self.pending is not None:
            self._is_stale = True
            return
        self._is_renewing, self._is_stale, self._fresh = True, False, []
        self._ask_from(None, min(max(len(self.rows or ()), ROUNDS_PAGE), MAX_ROWS))

    def read_older(self) -> None:
        """Read the next older page, unless there is none or a question is pending."""
        oldest = self._oldest
        if oldest is not None:
            self._is_renewing = False
            self._ask_from(oldest.number, ROUNDS_PAGE)

    def _ask_from(self, before: int | None, limit: int) -> None:
        self._ask(AskPoints(before=before, run=self.run, device=self.device, limit=limit))

    def _receive(self, question: Question, reply: Reply) -> None:
        if question != self.pending or not isinstance(reply, PointsReply):
            return
        self.pending, self.problem = None, ""
        self._remember(reply.rows)
        if self._is_renewing:
            self._fresh += reply.rows
            if reply.has_more and self._fresh and self._is_short():
                self._ask_from(self._fresh[-1].number, MAX_ROWS)
                return
            self.rows = tuple(self._fresh)
        else:
            self.rows = (*(self.rows or ()), *reply.rows)
        self.has_more = reply.has_more
        self.changed.emit()
        if self._is_stale:
            self.reload()

    def _is_short(self) -> bool:
        """Return true if a renewal has read fewer rounds than are shown."""
        return bool(self.rows) and self._fresh[-1].number > (self.rows or ())[-1].number

    def _handle_refusal(self, question: Question, why: str) -> None:
        if question == self.pending:
            self._is_stale = False
        super()._handle_refusal(question, why)

    def _remember(self, rows: tuple[PointsRow, ...]) -> None:
        self.runs.update({row.run: row.run_name or row.run for row in rows})
        seen = {row.device for row in rows if row.device}
        self.devices = tuple(sorted(seen | set(self.devices)))


class RoundsColumn(IntEnum):
    ROUND = 0
    WHEN = 1
    STATE = 2
    WORK = 3
    ENERGY = 4
    POINTS = 5
    PROOF = 6


class RoundsRole(IntEnum):
    """The values that the delegate asks the model for."""

    NOTE = Qt.ItemDataRole.UserRole + 1
    PICTURE = Qt.ItemDataRole.UserRole + 2
    INK = Qt.ItemDataRole.UserRole + 3


SIDES: dict[int, Qt.AlignmentFlag] = {
    RoundsColumn.ENERGY: TRAILING,
    RoundsColumn.POINTS: TRAILING,
    RoundsColumn.PROOF: Qt.AlignmentFlag.AlignHCenter,
}


def is_checked(row: PointsRow) -> bool:
    """Return true if the worker verified the proof of this round's points."""
    return row.state == "verified" and row.entry is not None and row.size is not None


class RoundsRows(TableRows[PointsRow]):
    """The rows; `name_device` turns a device id into its familiar name."""

    def __init__(self, name_device: Callable[[str], str], parent: QObject) -> None:
        headings = (
            self.tr("Round"),
            self.tr("When"),
            self.tr("State"),
            self.tr("Device, tokens"),
            self.tr("Energy"),
            self.tr("Points"),
            self.tr("Proof"),
        )
        super().__init__(headings, SIDES, parent)
        self._name_device = name_device

    def show_rows(self, rows: tuple[PointsRow, ...]) -> None:
        """Replace the rows; if rows were only appended, selection and scroll position stay."""
        old = self.rows
        if rows == old:
            return
        if old and rows[: len(old)] == old:
            self.beginInsertRows(NOWHERE, len(old), len(rows) - 1)
            self.rows = rows
            self.endInsertRows()
        elif [row.number for row in rows] == [row.number for row in old]:
            self.rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, RoundsColumn.PROOF))
        else:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self.rows[index.row()], RoundsColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cell_lines(row, column)[0]
        if role == RoundsRole.NOTE:
            return self.cell_lines(row, column)[1]
        if role in ACCESSIBLE:
            words = ", ".join(filter(None, self.cell_lines(row, column)))
            if column is RoundsColumn.PROOF:
                words = self._proof_text(row)
            return tool_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.side(column)
        picture, ink = _icon(row, column)
        icon: dict[int, str] = {RoundsRole.PICTURE: picture, RoundsRole.INK: ink}
        return icon.get(role)

    def cell_lines(self, row: PointsRow, column: RoundsColumn) -> tuple[str, str]:
        match column:
            case RoundsColumn.ROUND:
                number = self.tr("Round {number}").format(number=figures.count(row.round))
                pair = row.run_name or row.run, number
            case RoundsColumn.WHEN:
                pair = figures.clock(row.at_ms), figures.day(row.at_ms)
            case RoundsColumn.STATE:
                state = worker_texts.round_state_name(row.state)
                pair = state, worker_texts.round_failure(row.reason)
            case RoundsColumn.WORK:
                tokens = self.tr("{count} tokens").format(count=figures.count(row.tokens))
                pair = self._name_device(row.device), tokens if row.tokens else ""
            case RoundsColumn.ENERGY:
                pair = figures.energy(row.energy_j) if row.energy_j else figures.ABSENT, ""
            case RoundsColumn.POINTS:
                pair = self._points(row)
            case RoundsColumn.PROOF:
                pair = "", ""
        return pair

    def _points(self, row: PointsRow) -> tuple[str, str]:
        """All points, and the part earned by witnessing."""
        if row.state == "pending":
            return figures.ABSENT, ""
        part = self.witness_points(row.witnessed) if row.witnessed else ""
        return figures.short_points(row.gflop), part

    def witness_points(self, gflop: int) -> str:
        return self.tr("{points} as witness").format(points=figures.short_points(gflop))

    def _proof_text(self, row: PointsRow) -> str:
        if is_checked(row):
            return self.tr("Proof checked by this computer: open to see what that means")
        return self.tr("No proof was checked yet")


def _icon(row: PointsRow, column: RoundsColumn) -> tuple[str, str]:
    if column is RoundsColumn.STATE:
        return STATES.get(row.state, ("", "text"))
    if column is RoundsColumn.PROOF and is_checked(row):
        return "badge-check", "ok"
    return "", "text"
