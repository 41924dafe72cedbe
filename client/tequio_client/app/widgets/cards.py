"""Composite parts of pages: text to copy, tables, the list of sections, figures and tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
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
    QFrame,
    QGridLayout,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from tequio_client.app.theme import icons, style
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    LEADING,
    MIDDLE,
    TOP,
    TRAILING,
    Columns,
    ElidedLabel,
    Label,
    caption,
    caption_line,
    hbox,
    holding,
    paint_event,
    tool_tip,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, Dropdown, NavButton, check_only
from tequio_client.app.widgets.inputs import SearchField
from tequio_client.ipc.points import RankRow
from tequio_client.ipc.snapshot import Snapshot

COPIED_MS = 2_000
Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
Row = TypeVar("Row")
ROW = 29
KEY_LETTERS = 10
AVATAR = 18
RANK, WHO, POINTS = range(3)
DOT = 7.0
TILE = 28
STAT_WIDTH = 190
"""Minimum width of a figure's card in pixels."""
TILE_RADIUS = 8


class CopyLine(QWidget):
    """Shows a text, cut where it does not fit, and copies all of it.

    Text for a machine is wrapped and never cut.
    """

    def __init__(self, name: str, *, is_for_machine: bool = False) -> None:
        super().__init__()
        self.text = ""
        self._label: Label = ElidedLabel("", TextStyle.BODY, "sub")
        if is_for_machine:
            self._label = caption()
            self._label.setFont(style.fixed_font())
        self._label.show_machine_text()
        self.button = Button(self.tr("Copy"), "quiet", "copy")
        self.button.setAccessibleName(self.tr("Copy: {name}").format(name=name))
        self.button.clicked.connect(self._copy)
        self._copied_timer = QTimer(self)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.setInterval(COPIED_MS)
        self._copied_timer.timeout.connect(lambda: self.button.set_label(self.tr("Copy"), "copy"))
        self.row = hbox((self._label, 1), self.button, spacing=10, parent=self)
        self.show_text("")

    def show_text(self, text: str) -> None:
        """Empty text disables copying."""
        self.text = text or figures.ABSENT
        self._label.setText(self.text)
        self.button.setEnabled(bool(text))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
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


class TableRows(QAbstractTableModel, Generic[Row]):
    """The headings of a table, and on which side its columns are; subclasses write the cells."""

    def __init__(
        self,
        headings: Sequence[str],
        sides: Mapping[int, Qt.AlignmentFlag],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._headings, self._sides = headings, sides
        self.rows: tuple[Row, ...] = ()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._headings)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        return self.side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def side(self, column: int) -> Qt.AlignmentFlag:
        return self._sides.get(column, LEADING) | MIDDLE


class RankingTable(PlainTable):
    def __init__(self, name: str) -> None:
        super().__init__(name, ROW)
        self.rows = RankingRows(self)
        self.setModel(self.rows)
        self.setItemDelegate(RankingDelegate(self))
        self.setFont(font(TextStyle.BODY))
        self.setIconSize(QSize(AVATAR, AVATAR))
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        header = self.horizontalHeader()
        header.setSectionResizeMode(RANK, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(WHO, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(POINTS, QHeaderView.ResizeMode.ResizeToContents)


class RankingRows(TableRows[RankRow]):
    def __init__(self, parent: QObject) -> None:
        headings = ("#", self.tr("Volunteer"), self.tr("Points"))
        super().__init__(headings, {POINTS: TRAILING}, parent)

    def replace(self, rows: tuple[RankRow, ...]) -> None:
        if rows != self.rows:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.side(index.column())
        if index.column() == WHO and role == Qt.ItemDataRole.ToolTipRole:
            return row.key
        if index.column() == WHO and role == Qt.ItemDataRole.DecorationRole:
            return icons.avatar(row.key, AVATAR)
        if role == Qt.ItemDataRole.UserRole:
            return row.is_ours
        return _own_look(role) if row.is_ours else None

    def _words(self, row: RankRow, column: int) -> str:
        if column == RANK:
            return figures.count(row.rank)
        if column == POINTS:
            return figures.short_points(row.gflop)
        if row.is_ours:
            return self.tr("{name} (you)").format(name=row.name) if row.name else self.tr("You")
        short = f"{row.key[:KEY_LETTERS]}…" if len(row.key) > KEY_LETTERS else row.key
        return row.name or short


def _own_look(role: int) -> object:
    """Colour and font of our own row."""
    if role == Qt.ItemDataRole.ForegroundRole:
        return QBrush(QColor(current_tokens().text_accent))
    return font(TextStyle.STRONG) if role == Qt.ItemDataRole.FontRole else None


class RankingDelegate(QStyledItemDelegate):
    """Highlights our own row, and draws a hairline below each other one."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        place = QRectF(option.rect)
        if index.data(Qt.ItemDataRole.UserRole):
            painter.fillRect(place, QColor(current_tokens().accent_soft))
        painter.setPen(QColor(current_tokens().hairline))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        super().paint(painter, option, index)


class SectionEntry(NamedTuple):
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
        self.buttons: dict[str, SectionButton] = {}
        self.choices = Dropdown(name, {one.name: one.title for one in entries})
        for one in entries:
            button = self.buttons[one.name] = SectionButton(one.title, one.picture)
            button.clicked.connect(lambda _=False, name=one.name: self.chosen.emit(name))
        self._buttons = holding(vbox(*self.buttons.values(), spacing=2))
        self.choices.chosen.connect(self.chosen)
        self._box = vbox((self.search, 1), self.choices, self._buttons, spacing=10, parent=self)
        self._box.addStretch(0)

    def fold(self, *, is_narrow: bool, margins: tuple[int, int, int, int]) -> None:
        """Become one line with margins and an opaque ground, or a column again."""
        self._box.setContentsMargins(*(margins if is_narrow else (0, 0, 0, 0)))
        self.setAutoFillBackground(is_narrow)
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._box.setDirection(beside if is_narrow else below)
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
        check_only(self.buttons, name)
        self.choices.select(name)

    def mark(self, name: str, why: str) -> None:
        """Put a dot beside that section with its reason; an empty name removes the dot."""
        for key, button in self.buttons.items():
            button.mark(why if key == name else "")


class SectionButton(NavButton):
    """One section; a dot says that something in it needs attention."""

    def __init__(self, words: str, picture: str) -> None:
        super().__init__(words, picture)
        self.reason = ""
        """The reason for the dot."""

    def mark(self, reason: str) -> None:
        if reason != self.reason:
            self.reason = reason
            self.setAccessibleDescription(reason)
            self.setToolTip(tool_tip(reason))
            self.update()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        self.draw(painter)
        if self.reason:
            left = 10.0 if self.isRightToLeft() else self.width() - 10 - DOT
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(current_tokens().warn))
            painter.drawEllipse(QRectF(left, (self.height() - DOT) / 2, DOT, DOT))

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width(), hint.height() - 4)


class StatCard(QFrame):
    def __init__(self, name: str, picture: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setMinimumWidth(STAT_WIDTH)
        self._name = caption_line(name)
        self.figure = ElidedLabel("", TextStyle.FIGURE)
        self.note, self.worth = caption_line(), caption_line()
        grid = QGridLayout(self)
        grid.setContentsMargins(*style.CARD_MARGINS)
        grid.setVerticalSpacing(2)
        grid.addWidget(self._name, 0, 0)
        grid.addWidget(IconTile(picture), 0, 1, 2, 1, TOP)
        grid.addWidget(self.figure, 1, 0)
        grid.addWidget(self.note, 2, 0, 1, 2)
        grid.addWidget(self.worth, 3, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(4, 1)  # cards of one row are as high as the highest

    def show_figure(self, figure: str, note: str = "", exact: str = "", worth: str = "") -> None:
        """`exact` is the tool tip; `worth` is a second note, and takes no room if it is empty."""
        self.figure.setText(figure)
        self.note.setText(note)
        self.worth.setText(worth)
        self.worth.setVisible(bool(worth))
        self.setToolTip(exact)
        self.setAccessibleName(f"{self._name.text()}: {exact or figure}")
        self.setAccessibleDescription(note)

    def show_points(self, gflop: int, note: str, sign: str = "", more: str = "") -> None:
        """Compare them with a card's work; the tool tip adds `more` on lines of its own."""
        exact = self.tr("{points} points").format(points=figures.exact_points(gflop))
        told = "\n".join(one for one in (exact, figures.comparison(gflop), more) if one)
        worth = figures.short_comparison(gflop)
        self.show_figure(sign + figures.card_points(gflop), note, told, worth)


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
        place = room.adjusted(inset, inset, -inset, -inset)
        icons.draw_icon(painter, self._picture, current_tokens().text_accent, place)
