"""The Settings page: sections beside a list of them, and a search over all settings.

The list and the search stay in place while a section scrolls; in a narrow window they move above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app import snooze
from tequio_client.app.pages.edits import Edits
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.settings_control import SettingsContext, text
from tequio_client.app.pages.settings_section import SettingsSection
from tequio_client.app.pages.settings_table import SECTIONS, deciding_field, section_with
from tequio_client.app.theme import style
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets.base import Paragraph, Text
from tequio_client.app.widgets.cards import ListEntry, SectionList
from tequio_client.app.widgets.messages import EmptyState, UndoToast

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QHideEvent, QResizeEvent

    from tequio_client.app.pages.page import Means

LIST = 196
"""Width of the list of sections, in pixels."""
BESIDE = 22
BELOW = 10
"""Space between list and section."""
NARROW = 740
"""Width below which the list moves above the section."""
WIDEST = 720
"""Maximum width of a section: longer lines are hard to read."""


class Settings(Page):
    """The Settings page."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self.edits, self.toast = Edits(means.model, self), UndoToast(self)
        self._context = SettingsContext(means=means, edits=self.edits, toast=self.toast)
        self._specs = {
            one.name: one for one in SECTIONS if means.own is not None or not one.is_of_app
        }
        self._sections: dict[str, tuple[QWidget, SettingsSection]] = {}
        self._name = next(iter(self._specs))
        self._wanted: list[str] = []
        self._was_searched = False
        entries = [
            ListEntry(one.name, text(one.title), one.picture) for one in self._specs.values()
        ]
        self.list = SectionList(self.tr("Sections"), entries, self.viewport())
        self.search = self.list.search
        self.search.setAccessibleName(self.tr("Search settings"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.empty = EmptyState(
            "search",
            self.tr("No results"),
            self.tr("No setting has these words in its title or its note."),
        )
        self.body.addWidget(self.empty)
        self.body.addStretch(1)
        self.empty.hide()
        self.list.chosen.connect(self.open_section)
        self.search.textChanged.connect(self._find)
        finding = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        finding.activated.connect(self.search.setFocus)
        self.edits.changed.connect(self.expect)
        if means.own is not None:
            means.own.book.changed.connect(self.expect)
        self._show_section()

    @property
    def section(self) -> SettingsSection:
        return self._made(self._name)[1]

    def section_of(self, name: str) -> SettingsSection:
        """The section of that name, built on first use."""
        return self._made(name)[1]

    def open_section(self, name: str) -> None:
        """Show that section in place of search results."""
        self._name = name
        self.search.clear()
        self._wanted = []
        self._show_section()
        self.verticalScrollBar().setValue(0)

    @property
    def place(self) -> str:
        return self._name

    def go_to(self, place: str) -> None:
        if place in self._specs:
            self.open_section(place)

    def refresh(self) -> None:
        snapshot = self.model.snapshot
        for frame, section in self._sections.values():
            if not frame.isHidden():
                section.refresh(snapshot)
        self._mark()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.edits.flush()

    def _made(self, name: str) -> tuple[QWidget, SettingsSection]:
        if name not in self._sections:
            spec = self._specs[name]
            section = SettingsSection(spec, self._context)
            frame = QWidget()
            column = QVBoxLayout(frame)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(style.GAP)
            head = QVBoxLayout()
            head.setSpacing(2)
            head.addWidget(Text(text(spec.title), Type.TITLE))
            head.addWidget(Paragraph(text(spec.note), Type.CAPTION, "sub"))
            column.addLayout(head)
            column.addWidget(section)
            self._sections[name] = frame, section
            section.filter([])
            section.refresh(self.model.snapshot)
            frame.hide()
            before = list(self._specs)[: list(self._specs).index(name)]
            at = sum(1 for one in before if one in self._sections)
            self.body.insertWidget(at, frame)
        return self._sections[name]

    def _show_section(self) -> None:
        self._made(self._name)
        for name, (frame, section) in self._sections.items():
            if self._was_searched:
                section.filter([])
            frame.setVisible(name == self._name)
        self._was_searched = False
        self.empty.hide()
        self.list.check(self._name)
        self.expect()

    def _find(self, text: str) -> None:
        """Show the settings whose name or note contains all of these words."""
        self._wanted = text.casefold().split()
        if not self._wanted:
            self._show_section()
            return
        has_any, self._was_searched = False, True
        for name in self._specs:
            frame, section = self._made(name)
            found = section.filter(self._wanted)
            frame.setVisible(found)
            has_any = has_any or found
        self.empty.setVisible(not has_any)
        self.list.check("")
        self.verticalScrollBar().setValue(0)
        self.expect()

    def _mark(self) -> None:
        """Mark the section with the setting that pauses lending now."""
        snapshot = self.model.snapshot
        name = section_with(deciding_field(snapshot.decision)) if snapshot else ""
        why = ""
        if snapshot is not None and name:
            why = snooze.words_reason(snapshot.decision, self.means.now_ms())
        self.list.mark(name, why)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settle()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == event.Type.LayoutDirectionChange:
            self._settle()

    def _settle(self) -> None:
        is_narrow = self.width() < NARROW
        left, top, right, bottom = style.PAGE_MARGINS
        room = self.viewport().size()
        self.list.fold(is_narrow=is_narrow, margins=(left, top, right, BELOW))
        if is_narrow:
            high = top + self.list.line + BELOW
            self.list.setGeometry(0, 0, room.width(), high)
            self.body.setContentsMargins(left, high + 4, right, bottom)
            return
        wide = left + LIST + BESIDE
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        at = room.width() - left - LIST if is_mirrored else left
        self.list.setGeometry(at, top, LIST, room.height() - top)
        rest = max(right, room.width() - wide - WIDEST)
        sides = (rest, wide) if is_mirrored else (wide, rest)
        self.body.setContentsMargins(sides[0], top, sides[1], bottom)
