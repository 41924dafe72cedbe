"""Composite parts of pages: text to copy, the ranking, the list of sections, figures and tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QGuiApplication, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.theme import icons, style
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    TOP,
    Columns,
    ElidedLabel,
    Label,
    caption,
    caption_line,
    fill,
    hbox,
    paint_event,
    tool_tip,
)
from tequio_client.app.widgets.buttons import Button, Dropdown, NavButton
from tequio_client.app.widgets.inputs import SearchField
from tequio_client.ipc.snapshot import Snapshot

if TYPE_CHECKING:
    from tequio_client.ipc.control import RankRow

COPIED_MS = 2_000
Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
ROW = 32
KEY_LETTERS = 10
RANK, WHO, POINTS = range(3)
DOT = 7.0
TILE = 28
STAT_WIDTH = 190
"""Minimum width of a figure's card in pixels."""
TILE_RADIUS = 8


class CopyLine(QWidget):
    """Shows a text, cut where it does not fit, and copies all of it.

    Text for a machine is wrapped anywhere and never cut.
    """

    def __init__(self, name: str, *, is_for_machine: bool = False) -> None:
        super().__init__()
        self._whole = ""
        self._text: Label = ElidedLabel("", TextStyle.BODY, "sub")
        if is_for_machine:
            self._text = caption()
            self._text.setFont(style.fixed_font())
        self.button = Button(self.tr("Copy"), "quiet", "copy")
        self.button.setAccessibleName(self.tr("Copy: {name}").format(name=name))
        self.button.clicked.connect(self._copy)
        self._copied_timer = QTimer(self)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.setInterval(COPIED_MS)
        self._copied_timer.timeout.connect(lambda: self.button.set_label(self.tr("Copy"), "copy"))
        self._row = row = hbox(spacing=10, parent=self)
        fill(row, (self._text, 1), self.button)
        self.show_text("")

    def show_text(self, text: str) -> None:
        """Empty text disables copying."""
        self._whole = text or figures.ABSENT
        is_broken = self._text.wordWrap()
        self._text.setText("\u200b".join(self._whole) if is_broken else self._whole)
        self._text.setAccessibleName(self._whole)
        self.button.setEnabled(bool(text))

    def add(self, button: Button) -> None:
        """Add another button after the copy button."""
        self._row.addWidget(button)

    @property
    def text(self) -> str:
        return self._whole

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._whole)
        self.button.set_label(self.tr("Copied"), "check")
        self._copied_timer.start()


class PlainTable(QTableView):
    """A table without a grid, with rows of one height."""

    def __init__(self, name: str, row_height: int) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(row_height)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionsClickable(False)


class RankingTable(PlainTable):
    """The neighbours in the ranking, best first."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ROW)
        self._rows = RankingRows()
        self.setModel(self._rows)
        self.setItemDelegate(RankingDelegate(self))
        self.setFont(font(TextStyle.BODY))
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        header = self.horizontalHeader()
        header.setSectionResizeMode(RANK, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(WHO, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(POINTS, QHeaderView.ResizeMode.ResizeToContents)

    def show_rows(self, rows: tuple[RankRow, ...]) -> None:
        self._rows.replace(rows)


class RankingRows(QAbstractTableModel):
    """The rows of the ranking as a Qt model."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[RankRow, ...] = ()
        self._headings = ("#", self.tr("Volunteer"), self.tr("Points"))

    def replace(self, rows: tuple[RankRow, ...]) -> None:
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._headings)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == WHO:
            return row.key
        if role == Qt.ItemDataRole.ForegroundRole and row.is_ours:
            return QBrush(QColor(current_tokens().text_accent))
        if role == Qt.ItemDataRole.FontRole and row.is_ours:
            return font(TextStyle.STRONG)
        return row.is_ours if role == Qt.ItemDataRole.UserRole else None

    def _words(self, row: RankRow, column: int) -> str:
        if column == RANK:
            return figures.count(row.rank)
        if column == POINTS:
            return figures.short_points(row.micropoints)
        short = f"{row.key[:KEY_LETTERS]}…" if len(row.key) > KEY_LETTERS else row.key
        return self.tr("You") if row.is_ours else short


class RankingDelegate(QStyledItemDelegate):
    """Highlights our own row, and draws a hairline below each other one."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        place = QRectF(option.rect)
        if index.data(Qt.ItemDataRole.UserRole):
            painter.fillRect(place, QColor(current_tokens().accent_soft))
        painter.setPen(QColor(current_tokens().hairline))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        super().paint(painter, option, index)


def _side(column: int) -> Qt.AlignmentFlag:
    trailing = column == POINTS
    side = Qt.AlignmentFlag.AlignTrailing if trailing else Qt.AlignmentFlag.AlignLeading
    return side | Qt.AlignmentFlag.AlignVCenter


class SectionEntry(NamedTuple):
    """A section as the list shows it."""

    name: str
    title: str
    picture: str


class SectionList(QWidget):
    """The list of a page's sections: a column, or a drop-down where it is narrow."""

    chosen = Signal(str)
    """The section chosen by the user."""

    def __init__(
        self, name: str, search: str, entries: Sequence[SectionEntry], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.search = SearchField(search)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, SectionButton] = {}
        self.choices = Dropdown(name, {one.name: one.title for one in entries})
        self._buttons = QWidget()
        column = QVBoxLayout(self._buttons)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for one in entries:
            button = SectionButton(one.title, one.picture)
            button.clicked.connect(lambda _=False, name=one.name: self.chosen.emit(name))
            self._group.addButton(button)
            self.buttons[one.name] = button
            column.addWidget(button)
        self.choices.chosen.connect(self.chosen)
        self._box = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(10)
        self._box.addWidget(self.search, 1)
        self._box.addWidget(self.choices)
        self._box.addWidget(self._buttons)
        self._box.addStretch(0)

    def fold(self, *, is_narrow: bool, margins: tuple[int, int, int, int]) -> None:
        """Become one line with margins and an opaque ground, or a column again."""
        self._box.setContentsMargins(*(margins if is_narrow else (0, 0, 0, 0)))
        self.setAutoFillBackground(is_narrow)
        way = QBoxLayout.Direction.LeftToRight if is_narrow else QBoxLayout.Direction.TopToBottom
        self._box.setDirection(way)
        self._box.setStretch(0, 1 if is_narrow else 0)
        self._box.setStretch(3, 0 if is_narrow else 1)
        self.choices.setVisible(is_narrow)
        self._buttons.setVisible(not is_narrow)

    @property
    def line(self) -> int:
        """The height in pixels of the single line."""
        return max(self.search.sizeHint().height(), self.choices.sizeHint().height())

    def select(self, name: str) -> None:
        """Select that section; an empty name selects none."""
        self._group.setExclusive(False)
        for key, button in self.buttons.items():
            button.setChecked(key == name)
        self._group.setExclusive(True)
        self.choices.select(name)

    def mark(self, name: str, why: str) -> None:
        """Put a dot beside that section with its reason; an empty name removes the dot."""
        for key, button in self.buttons.items():
            button.mark(why if key == name else "")


class SectionButton(NavButton):
    """One section; a dot says that something in it needs attention."""

    def __init__(self, words: str, picture: str) -> None:
        super().__init__(words, picture)
        self.setAutoExclusive(False)
        self._why = ""

    def mark(self, why: str) -> None:
        if why != self._why:
            self._why = why
            self.setAccessibleDescription(why)
            self.setToolTip(tool_tip(why))
            self.update()

    @property
    def reason(self) -> str:
        """The reason for the dot."""
        return self._why

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        self.draw(painter)
        if self._why:
            is_mirrored = self.isRightToLeft()
            left = 10.0 if is_mirrored else self.width() - 10 - DOT
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(current_tokens().warn))
            painter.drawEllipse(QRectF(left, (self.height() - DOT) / 2, DOT, DOT))

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width(), hint.height() - 4)


class StatCard(QFrame):
    """A card for one figure and a note about it."""

    def __init__(self, name: str, picture: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setMinimumWidth(STAT_WIDTH)
        self._name = caption_line(name)
        self._figure = ElidedLabel("", TextStyle.FIGURE)
        self._note = caption_line()
        grid = QGridLayout(self)
        grid.setContentsMargins(*style.CARD_MARGINS)
        grid.setVerticalSpacing(2)
        grid.addWidget(self._name, 0, 0)
        grid.addWidget(IconTile(picture), 0, 1, 2, 1, TOP)
        grid.addWidget(self._figure, 1, 0)
        grid.addWidget(self._note, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)

    def show_figure(self, figure: str, note: str = "", exact: str = "") -> None:
        """`exact` is added to the tool tip."""
        self._figure.setText(figure)
        self._note.setText(note)
        self.setToolTip(exact)
        self.setAccessibleName(f"{self._name.text()}: {exact or figure}")
        self.setAccessibleDescription(note)

    @property
    def figure(self) -> str:
        return self._figure.text()

    @property
    def note_text(self) -> str:
        return self._note.text()


class StatCards(Columns):
    """Cards in a row; subclasses fill them in `show_known`."""

    def __init__(self) -> None:
        super().__init__(folded=2)
        self._cards: Sequence[StatCard] = ()

    def set_cards(self, cards: Sequence[StatCard]) -> None:
        self._cards = cards
        self.set_parts(cards)
        self.show_snapshot(None)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            self.show_known(snapshot)
            return
        for card in self._cards:
            card.show_figure(figures.ABSENT)

    def show_known(self, snapshot: Snapshot) -> None:
        raise NotImplementedError


class IconTile(QWidget):
    """A small decorative icon on a soft ground."""

    def __init__(self, picture: str) -> None:
        super().__init__()
        self._picture = picture
        self.setFixedSize(QSize(TILE, TILE))

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        room = QRectF(self.rect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current_tokens().accent_soft))
        painter.drawRoundedRect(room, TILE_RADIUS, TILE_RADIUS)
        inset = (TILE - style.ICON + 2) / 2
        icons.draw_icon(
            painter,
            self._picture,
            current_tokens().text_accent,
            room.adjusted(inset, inset, -inset, -inset),
        )
