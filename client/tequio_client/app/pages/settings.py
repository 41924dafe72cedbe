"""Settings: sections beside a list of them, and a search over all that can be set.

The list and the search stay where they are while a section scrolls; where there is little room
they stand above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app import snooze
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.settings_lending import LendingSection
from tequio_client.app.pages.settings_section import Edits, deciding
from tequio_client.app.pages.settings_sections import (
    AccountSection,
    AdvancedSection,
    AppearanceSection,
    NetworkSection,
    NotificationsSection,
    PrivacySection,
    StartupSection,
    StorageSection,
)
from tequio_client.app.theme import style
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets.base import Paragraph, Text
from tequio_client.app.widgets.cards import SectionList
from tequio_client.app.widgets.messages import EmptyState, UndoToast

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QHideEvent, QResizeEvent

    from tequio_client.app.pages.page import Means
    from tequio_client.app.pages.settings_section import Section

LIST = 196
"""Width of the list of sections."""
BESIDE = 22
BELOW = 10
"""Between the list and the section."""
NARROW = 740
"""Width below which it stands above them."""
WIDEST = 720
"""Of a section: longer lines are hard to read."""
DECIDERS = {
    "lending": {
        "idle_minutes",
        "week",
        "pause_for_games",
        "pause_for_films",
        "exclusive",
        "on_battery",
        "while_saving_power",
        "others_gpu_percent",
        "others_cpu_percent",
    },
    "network": {"month_gb", "on_metered"},
    "storage": {"disk_gib", "disk_free_gib"},
    "advanced": {"ledger"},
}
"""The fields of each section that can stop lending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A section before it is made."""

    name: str
    title: str
    note: str
    picture: str
    make: Callable[[], Section]


class Settings(Page):
    """The page."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self.edits, self.toast = Edits(means.model, self), UndoToast(self)
        self._chapters = {one.name: one for one in self._contents()}
        self._sections: dict[str, tuple[QWidget, Section]] = {}
        self._name = next(iter(self._chapters))
        self._wanted: list[str] = []
        self._was_searched = False
        self.list = SectionList(
            self.tr("Sections"), tuple(self._chapters.values()), self.viewport()
        )
        self.search = self.list.search
        self.search.setAccessibleName(self.tr("Search settings"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.empty = EmptyState(
            "search",
            self.tr("Nothing found"),
            self.tr("No setting has these words in its name or its explanation."),
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
    def section(self) -> Section:
        """The section that is open."""
        return self._made(self._name)[1]

    def section_of(self, name: str) -> Section:
        """The section of that name, made now if need be."""
        return self._made(name)[1]

    def open_section(self, name: str) -> None:
        """Show that section, instead of what was found."""
        self._name = name
        self.search.clear()
        self._wanted = []
        self._show_section()
        self.verticalScrollBar().setValue(0)

    @property
    def place(self) -> str:
        """The section."""
        return self._name

    def go_to(self, place: str) -> None:
        """Open that section."""
        if place in self._chapters:
            self.open_section(place)

    def refresh(self) -> None:
        """Show what holds, in what is seen."""
        snapshot = self.model.snapshot
        for frame, section in self._sections.values():
            if not frame.isHidden():
                section.refresh(snapshot)
        self._mark()

    def hideEvent(self, event: QHideEvent) -> None:
        """Send what was not sent yet."""
        super().hideEvent(event)
        self.edits.flush()

    # --- sections

    def _made(self, name: str) -> tuple[QWidget, Section]:
        if name not in self._sections:
            chapter = self._chapters[name]
            section = chapter.make()
            frame = QWidget()
            column = QVBoxLayout(frame)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(style.GAP)
            head = QVBoxLayout()
            head.setSpacing(2)
            head.addWidget(Text(chapter.title, Type.TITLE))
            head.addWidget(Paragraph(chapter.note, Type.CAPTION, "sub"))
            column.addLayout(head)
            column.addWidget(section)
            self._sections[name] = frame, section
            section.filter([])
            section.refresh(self.model.snapshot)
            frame.hide()
            before = list(self._chapters)[: list(self._chapters).index(name)]
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
        """Show each setting that has all of these words."""
        self._wanted = text.casefold().split()
        if not self._wanted:
            self._show_section()
            return
        has_any, self._was_searched = False, True
        for name in self._chapters:
            frame, section = self._made(name)
            found = section.filter(self._wanted)
            frame.setVisible(found)
            has_any = has_any or found
        self.empty.setVisible(not has_any)
        self.list.check("")
        self.verticalScrollBar().setValue(0)
        self.expect()

    def _mark(self) -> None:
        """Point to the section with the setting that stops lending now."""
        snapshot = self.model.snapshot
        field = deciding(snapshot.decision) if snapshot else ""
        name = next((name for name, fields in DECIDERS.items() if field in fields), "")
        why = ""
        if snapshot is not None and name:
            why = snooze.words_reason(snapshot.decision, self.means.now_ms())
        self.list.mark(name, why)

    # --- the list beside

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the list beside or above."""
        super().resizeEvent(event)
        self._settle()

    def changeEvent(self, event: QEvent) -> None:
        """The other way round where lines begin on the right."""
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

    def _contents(self) -> tuple[Chapter, ...]:
        means, edits, toast = self.means, self.edits, self.toast
        own = means.own
        made = [
            Chapter(
                name="lending",
                title=self.tr("When to lend"),
                picture="calendar-clock",
                note=self.tr("The first rule that says no decides; every change holds at once."),
                make=lambda: LendingSection(means, edits, toast),
            ),
            Chapter(
                name="network",
                title=self.tr("Network"),
                picture="wifi",
                note=self.tr("How much of your line is taken."),
                make=lambda: NetworkSection(means, edits, toast),
            ),
            Chapter(
                name="storage",
                title=self.tr("Storage"),
                picture="hard-drive",
                note=self.tr("How much of your disk is taken."),
                make=lambda: StorageSection(means, edits, toast),
            ),
        ]
        if own is not None:
            made += [
                Chapter(
                    name="notifications",
                    title=self.tr("Notifications"),
                    picture="bell",
                    note=self.tr("What you are told when the window is closed."),
                    make=lambda: NotificationsSection(means, edits, toast, own),
                ),
                Chapter(
                    name="appearance",
                    title=self.tr("Appearance"),
                    picture="palette",
                    note=self.tr("How the app looks and speaks."),
                    make=lambda: AppearanceSection(means, edits, toast, own),
                ),
                Chapter(
                    name="account",
                    title=self.tr("Account and keys"),
                    picture="key-round",
                    note=self.tr("Who this computer is in the network."),
                    make=lambda: AccountSection(means, edits, toast, own),
                ),
                Chapter(
                    name="startup",
                    title=self.tr("Startup"),
                    picture="power",
                    note=self.tr("Whether Tequio is there when you log in."),
                    make=lambda: StartupSection(means, edits, toast, own),
                ),
            ]
        made.append(
            Chapter(
                name="privacy",
                title=self.tr("Privacy"),
                picture="shield-check",
                note=self.tr("Everything that leaves this computer, and to whom."),
                make=lambda: PrivacySection(means, edits, toast),
            )
        )
        if own is not None:
            made.append(
                Chapter(
                    name="advanced",
                    title=self.tr("Advanced"),
                    picture="wrench",
                    note=self.tr("What hardly anybody needs."),
                    make=lambda: AdvancedSection(means, edits, toast, own),
                )
            )
        return tuple(made)
