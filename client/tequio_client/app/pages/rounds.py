"""The table of rounds, as tall as its rows because the page scrolls, and a round's dialog."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QMouseEvent,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from tequio_client.app import worker_texts
from tequio_client.app.language import with_reason
from tequio_client.app.pages.rounds_model import (
    STATES,
    RoundsColumn,
    RoundsReader,
    RoundsRole,
    RoundsRows,
    is_checked,
)
from tequio_client.app.theme import icons, style
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    TOP,
    Card,
    Columns,
    ElidedLabel,
    IconLabel,
    Label,
    WrappedLabel,
    caption,
    fill,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, Dropdown
from tequio_client.app.widgets.cards import CopyLine, Index, PlainTable
from tequio_client.app.widgets.messages import EmptyState
from tequio_client.app.widgets.scrolling import DialogScroll
from tequio_client.ipc.points import PointsRow

WIDTH = 520
AUDIT_COMMAND = "tequio audit --ledger {url}"
ROW = 50
HEAD = 30
TABLE_WIDTH = 400
PADDING = 3
GAP = 8
WIDTHS = {
    RoundsColumn.ROUND: 120,
    RoundsColumn.WHEN: 84,
    RoundsColumn.STATE: 150,
    RoundsColumn.WORK: 118,
    RoundsColumn.ENERGY: 76,
    RoundsColumn.POINTS: 124,
    RoundsColumn.PROOF: 64,
}
"""Minimum width of each column in pixels; round and state share the rest."""
WIDEST_WITNESSED = 444_444
"""GFLOP of the widest figure expected for witnessing."""
HIDDEN_FIRST = (RoundsColumn.ENERGY, RoundsColumn.WORK)
"""Columns hidden first in a narrow window; the round's dialog shows them all."""
ANY = ""
EMPTY = 220


class RoundsCard(Card):
    """The table and its filters; `filter_changed` carries run and device."""

    filter_changed = Signal(str, str)
    retry_requested = Signal()

    def __init__(self, name_device: Callable[[str], str]) -> None:
        super().__init__()
        self._name_device = name_device
        self.run = Dropdown(self.tr("Run"), {ANY: self.tr("All runs")})
        self.device = Dropdown(self.tr("Device"), {ANY: self.tr("All devices")})
        for one in (self.run, self.device):
            one.chosen.connect(
                lambda _: self.filter_changed.emit(self.run.selected, self.device.selected)
            )
        self.table = RoundsTable(self.tr("Rounds"), name_device)
        looking = self.tr("Looking"), self.tr("Reading the rounds of this key.")
        self.empty = EmptyState("coins", *looking, self.tr("Try again"))
        self.empty.setMinimumHeight(EMPTY)
        self.empty.button.clicked.connect(self.retry_requested)
        self.foot = caption()
        fill(self.body, self._head(), self.table, self.empty, self.foot)
        self.table.hide()
        self.foot.hide()

    def show_rounds(self, reader: RoundsReader) -> None:
        _add_choices(self.run, reader.runs)
        _add_choices(self.device, {one: self._name_device(one) for one in reader.devices})
        self.run.select(reader.run)
        self.device.select(reader.device)
        rows = reader.rows or ()
        self.table.rows.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self.foot.setVisible(bool(rows) and bool(reader.problem or reader.has_more))
        self.foot.setText(reader.problem or self.tr("Older rounds are read as you scroll."))
        if not rows:
            self._explain_empty(reader)

    def _explain_empty(self, reader: RoundsReader) -> None:
        self.empty.button.setVisible(bool(reader.problem))
        if reader.problem:
            self.empty.show_words(self.tr("Couldn't load the rounds"), reader.problem)
        elif reader.rows is None:
            words = self.tr("Reading the rounds of this key.")
            self.empty.show_words(self.tr("Looking"), words)
        elif reader.run or reader.device:
            words = self.tr("No round of that run was worked in on that device.")
            self.empty.show_words(self.tr("No matches"), words)
        else:
            words = self.tr(
                "Each round that this computer takes part in will appear here, with what it gave "
                "and the proof."
            )
            self.empty.show_words(self.tr("No round yet"), words)

    def _head(self) -> QWidget:
        made, filters = Columns(gap=10), holding(hbox(self.run, self.device, None, spacing=10))
        made.set_parts((ElidedLabel(self.tr("Rounds"), TextStyle.HEADING), filters), shares=(1, 0))
        return made


class RoundDialog(QDialog):
    def __init__(
        self, row: PointsRow, ledger: str, device: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._row, self._ledger, self._device = row, ledger, device
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name, number = row.run_name or row.run, figures.count(row.round)
        title = self.tr("{run}, round {number}").format(run=name, number=number)
        self.setWindowTitle(title)
        self.setMinimumWidth(WIDTH)
        self.proof: tuple[tuple[str, str], ...] = self._proof() if is_checked(row) else ()
        scroll = DialogScroll()
        check = self._checked() if self.proof else WrappedLabel(self._unchecked(), tone="sub")
        parts = (self._head(title), _fields(self.facts()), check, None)
        vbox(*parts, spacing=14, margins=(22, 20, 22, 14), parent=scroll.content)
        vbox((scroll, 1), self._buttons(), spacing=0, parent=self)
        self.closes.setFocus()

    def facts(self) -> tuple[tuple[str, str], ...]:
        row = self._row
        tokens = figures.count(row.tokens) if row.tokens else figures.ABSENT
        energy = figures.energy(row.energy_j) if row.energy_j else figures.ABSENT
        amounts = (row.gflop, row.trained, row.witnessed)
        is_open = row.state == "pending"
        points, trained, witnessed = (
            figures.ABSENT if is_open else figures.exact_points(one) for one in amounts
        )
        shared = ((self.tr("Shared by others"), figures.exact_points(row.received)),)
        return (
            (self.tr("When"), figures.stamp(row.at_ms)),
            (self.tr("Points"), points),
            (self.tr("For training"), trained),
            (self.tr("For checking others' work"), witnessed),
            *(shared if row.received else ()),
            (self.tr("Device"), self._device or figures.ABSENT),
            (self.tr("Tokens"), tokens),
            (self.tr("Energy"), energy),
        )

    @property
    def text(self) -> str:
        lines = [self.windowTitle(), self._state()]
        lines += [f"{name}: {value}" for name, value in (*self.facts(), *self.proof)]
        if self.proof:
            lines.append(AUDIT_COMMAND.format(url=self._ledger))
        return "\n".join(lines)

    def _state(self) -> str:
        state = worker_texts.round_state_name(self._row.state)
        return with_reason(state, worker_texts.round_failure(self._row.reason))

    def _proof(self) -> tuple[tuple[str, str], ...]:
        row = self._row
        return (
            (self.tr("Ledger"), self._ledger),
            (self.tr("Log entry"), figures.count(row.entry or 0)),
            (self.tr("Checkpoint, entries"), figures.count(row.size or 0)),
            (self.tr("Checkpoint, root"), row.root),
        )

    def _head(self, title: str) -> QHBoxLayout:
        picture, ink = STATES.get(self._row.state, ("info", "text_sub"))
        if is_checked(self._row):
            picture = "badge-check"
        state = WrappedLabel(self._state(), tone="sub")
        texts = vbox(WrappedLabel(title, TextStyle.TITLE), state, spacing=2)
        mark = IconLabel(picture, QSize(28, 28), ink)
        return hbox((mark, TOP), (texts, 1), spacing=14)

    def _checked(self) -> Card:
        made = Card(self.tr("What was checked here"))
        words = self.tr(
            "This computer fetched the end of the round from the ledger's public log, read "
            "in it what you get, and checked that it is in the log that the ledger has "
            "signed. Nobody can change or remove it later without that showing."
        )
        proof = _fields(self.proof, can_copy=True)
        yourself = WrappedLabel(self.tr("To check the whole ledger yourself, run:"), tone="sub")
        name = self.tr("The command that checks it")
        command = _copy_line(name, AUDIT_COMMAND.format(url=self._ledger))
        fill(made.body, WrappedLabel(words), proof, yourself, command)
        return made

    def _unchecked(self) -> str:
        if self._row.state == "pending":
            return self.tr(
                "The round is not closed yet, or its end was not found in the ledger's signed log "
                "yet. Its points count when this computer has checked that."
            )
        return self.tr("This round gave no points, so there is nothing to prove.")

    def _buttons(self) -> QHBoxLayout:
        self.copy = Button(self.tr("Copy"), picture="copy")
        self.closes = Button(self.tr("Close"), "primary")
        self.copy.clicked.connect(self._copy)
        self.closes.clicked.connect(self.accept)
        self.closes.setDefault(True)
        return hbox(self.copy, None, self.closes, margins=(22, 0, 22, 20))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        self.copy.set_label(self.tr("Copied"), "check")


def _fields(fields: tuple[tuple[str, str], ...], *, can_copy: bool = False) -> QWidget:
    made = QWidget()
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(18)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(1, 1)
    for at, (name, value) in enumerate(fields):
        shown = _copy_line(name, value) if can_copy else Label(value)
        shown.setAccessibleName(f"{name}: {value}")
        grid.addWidget(Label(name, TextStyle.BODY, "sub"), at, 0)
        grid.addWidget(shown, at, 1)
    return made


def _copy_line(name: str, value: str) -> CopyLine:
    made = CopyLine(name, is_for_machine=True)
    made.show_text(value)
    return made


class RoundsTable(PlainTable):
    """The table; `opened` carries the round that the user clicked."""

    opened = Signal(object)

    def __init__(self, name: str, name_device: Callable[[str], str]) -> None:
        super().__init__(name, ROW)
        self.rows = RoundsRows(name_device)
        self.setModel(self.rows)
        self.setItemDelegate(TwoLineDelegate(self))
        self.setMouseTracking(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setFixedHeight(HEAD)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(0)
        self._needs = {
            column: max(need, self._text_width(column)) for column, need in WIDTHS.items()
        }
        for signal in (self.rows.rowsInserted, self.rows.modelReset):
            signal.connect(self._settle)
        self.activated.connect(lambda at: self.opened.emit(self.rows.rows[at.row()]))
        self.clicked.connect(self._open_proof)
        self._settle()

    def minimumSizeHint(self) -> QSize:
        return QSize(TABLE_WIDTH, HEAD)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width(self.viewport().width())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        is_over = self._has_proof(self.indexAt(event.position().toPoint()))
        shape = Qt.CursorShape.PointingHandCursor if is_over else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)

    def _text_width(self, column: RoundsColumn) -> int:
        """Width in pixels of a column's words in the current language."""
        heading = self.rows.headerData(column, Qt.Orientation.Horizontal)
        widths = [QFontMetrics(self.horizontalHeader().font()).horizontalAdvance(str(heading))]
        if column is RoundsColumn.POINTS:
            note = self.rows.witness_points(WIDEST_WITNESSED)
            widths.append(QFontMetrics(font(TextStyle.CAPTION)).horizontalAdvance(note))
        return max(widths) + 2 * PADDING + GAP

    def _share_width(self, width: int) -> None:
        needed = sum(self._needs.values())
        for column in HIDDEN_FIRST:
            is_too_wide = needed > width
            self.setColumnHidden(column, is_too_wide)
            needed -= self._needs[column] if is_too_wide else 0
        scale, spare = min(width / needed, 1.0), max(width - needed, 0)
        for column, need in self._needs.items():
            share = spare // 3 * {RoundsColumn.ROUND: 1, RoundsColumn.STATE: 2}.get(column, 0)
            self.setColumnWidth(column, int(need * scale) + share)

    def _settle(self) -> None:
        self.setFixedHeight(HEAD + ROW * self.rows.rowCount() + 2 * style.FOCUS)

    def _open_proof(self, at: QModelIndex) -> None:
        if self._has_proof(at):
            self.opened.emit(self.rows.rows[at.row()])

    def _has_proof(self, at: QModelIndex) -> bool:
        """Return true for a cell with a check mark."""
        is_proof = at.isValid() and at.column() == RoundsColumn.PROOF
        return is_proof and is_checked(self.rows.rows[at.row()])


class TwoLineDelegate(QStyledItemDelegate):
    """Draws a cell: an icon, a line, and a smaller one below."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        place, colours = QRectF(option.rect), current_tokens()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(place, QColor(colours.hover))
        painter.setPen(QColor(colours.hairline))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        side = QStyle.visualAlignment(
            option.direction, index.data(Qt.ItemDataRole.TextAlignmentRole)
        )
        room = place.adjusted(PADDING, 0, -PADDING, 0)
        note = str(index.data(RoundsRole.NOTE) or "")
        room = self._draw_picture(painter, option, index, room)
        words = str(index.data() or "")
        first = room.adjusted(0, 7, 0, -ROW / 2 + 1) if note else room
        ink = str(index.data(RoundsRole.INK))
        kind = TextStyle.BODY if ink == "text" else TextStyle.LABEL
        _write(painter, first, words, (kind, ink), side)
        if note:
            below = room.adjusted(0, ROW / 2 - 1, 0, -7)
            _write(painter, below, note, (TextStyle.CAPTION, "text_sub"), side)
        painter.restore()

    def _draw_picture(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, room: QRectF
    ) -> QRectF:
        name = str(index.data(RoundsRole.PICTURE) or "")
        if not name:
            return room
        has_words = bool(index.data())
        size = 16.0 if has_words else 18.0
        is_mirrored = option.direction is Qt.LayoutDirection.RightToLeft
        middle = room.center().x() - size / 2
        left = middle if not has_words else room.right() - size if is_mirrored else room.left()
        note = bool(index.data(RoundsRole.NOTE))
        top = room.top() + 8 if note else room.center().y() - size / 2
        colour = getattr(current_tokens(), str(index.data(RoundsRole.INK)))
        icons.draw_icon(
            painter, name, colour, QRectF(QPointF(left, top), QSize(int(size), int(size)))
        )
        step = size + GAP
        return room.adjusted(0, 0, -step, 0) if is_mirrored else room.adjusted(step, 0, 0, 0)


def _write(
    painter: QPainter, room: QRectF, words: str, how: tuple[TextStyle, str], side: Qt.AlignmentFlag
) -> None:
    kind, ink = how
    made = font(kind)
    shown = QFontMetrics(made).elidedText(words, Qt.TextElideMode.ElideRight, int(room.width()))
    painter.setFont(made)
    painter.setPen(QColor(getattr(current_tokens(), ink)))
    painter.drawText(room, int(side), shown)


def _add_choices(choice: Dropdown, names: dict[str, str]) -> None:
    """Add these choices; existing ones stay."""
    for key, words in names.items():
        at = choice.findData(key)
        if at < 0:
            choice.addItem(words, key)
        elif choice.itemText(at) != words:
            choice.setItemText(at, words)
