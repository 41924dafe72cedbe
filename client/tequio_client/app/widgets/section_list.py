"""Leads to the sections of a page, with a search: a list, or a drop-down where it is narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QLineEdit, QVBoxLayout, QWidget

from tequio_client.app.theme import icons
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.dropdown import Dropdown
from tequio_client.app.widgets.nav_button import NavButton
from tequio_client.app.widgets.painting import painted
from tequio_client.app.widgets.text import tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QPainter

DOT = 7.0


class ListEntry(NamedTuple):
    """A section as the list shows it."""

    name: str
    title: str
    picture: str


class SectionList(QWidget):
    """The list; it looks the same on any page."""

    chosen = Signal(str)
    """The section that was chosen by hand."""

    def __init__(self, name: str, entries: Sequence[ListEntry], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.search = QLineEdit()
        self.search.setClearButtonEnabled(True)
        self._picture = QAction(self)
        self.search.addAction(self._picture, QLineEdit.ActionPosition.LeadingPosition)
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
        self._colour()

    def fold(self, *, is_narrow: bool, margins: tuple[int, int, int, int]) -> None:
        """Be one line, with margins around it and a ground to scroll below; or a column."""
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
        """Pixels that it is high when it is one line."""
        return max(self.search.sizeHint().height(), self.choices.sizeHint().height())

    def check(self, name: str) -> None:
        """Show that one as open; no name: none is."""
        self._group.setExclusive(False)
        for key, button in self.buttons.items():
            button.setChecked(key == name)
        self._group.setExclusive(True)
        self.choices.choose(name)

    def mark(self, name: str, why: str) -> None:
        """Put a dot beside that one, which says why; no name: beside none."""
        for key, button in self.buttons.items():
            button.mark(why if key == name else "")

    def changeEvent(self, event: QEvent) -> None:
        """Take the new colours."""
        super().changeEvent(event)
        if event.type() == event.Type.StyleChange:
            self._colour()

    def _colour(self) -> None:
        self._picture.setIcon(icons.icon("search", tokens().text_sub, 16))


class SectionButton(NavButton):
    """One section; a dot says that something in it wants to be seen."""

    def __init__(self, words: str, picture: str) -> None:
        super().__init__(words, picture)
        self.setAutoExclusive(False)
        self._why = ""

    def mark(self, why: str) -> None:
        """Show the dot for that reason, or none."""
        if why != self._why:
            self._why = why
            self.setAccessibleDescription(why)
            self.setToolTip(tip(why))
            self.update()

    @property
    def why(self) -> str:
        """Why there is a dot."""
        return self._why

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw the entry, and its dot."""
        self.draw(painter)
        if self._why:
            is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            left = 10.0 if is_mirrored else self.width() - 10 - DOT
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens().warn))
            painter.drawEllipse(QRectF(left, (self.height() - DOT) / 2, DOT, DOT))

    def sizeHint(self) -> QSize:
        """A little lower than the entries of the side bar."""
        hint = super().sizeHint()
        return QSize(hint.width(), hint.height() - 4)
