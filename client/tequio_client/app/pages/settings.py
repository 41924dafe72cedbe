"""The Settings page: sections beside a list of them, and a search over all settings.

The list and the search stay in place while a section scrolls; in a narrow window they move above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QWidget

from tequio_client.app import worker_texts
from tequio_client.app.keys.account import KeyAccount
from tequio_client.app.pages import settings_account, settings_control, settings_lending
from tequio_client.app.pages.page import Page, PageContext
from tequio_client.app.pages.settings_account import account_control
from tequio_client.app.pages.settings_control import (
    Field,
    PreferenceEdits,
    SettingControl,
    SettingsContext,
    build_control,
    translated,
    with_default,
)
from tequio_client.app.pages.settings_table import SECTIONS, field_pausing, section_pausing
from tequio_client.app.pages.settings_table_app import (
    CustomSpec,
    PercentSpec,
    SectionSpec,
    SettingSpec,
)
from tequio_client.app.theme import style
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import Card, Label, caption, fill, vbox
from tequio_client.app.widgets.cards import SectionEntry, SectionList
from tequio_client.app.widgets.inputs import SettingRow
from tequio_client.app.widgets.messages import EmptyState, UndoToast
from tequio_client.ipc.snapshot import Snapshot

LIST = 196
"""Width of the list of sections, in pixels."""
LIST_GAP = 22
LIST_GAP_NARROW = 10
"""Space between list and section."""
NARROW = 740
"""Width below which the list moves above the section."""
SECTION_WIDTH = 720
"""Maximum width of a section: longer lines are hard to read."""
CUSTOM: Mapping[str, Callable[[SettingsContext], SettingControl | None]] = {
    "preset": settings_lending.PresetPicker,
    "while_used": settings_lending.UsedSwitch,
    "week": settings_lending.WeekEditor,
    "exclusive": settings_lending.ExclusiveList,
    "reach": settings_lending.ReachabilityChip,
    "month_used": partial(settings_lending.UsageMeter, resource="traffic", title="Used this month"),
    "disk_used": partial(settings_lending.UsageMeter, resource="disk", title="Used by Tequio"),
    "disk_left": settings_lending.FreeSpace,
    "peer": partial(settings_control.StatusLine, field="peer", title="Peer id"),
    "key": partial(settings_control.StatusLine, field="key", title="Key fingerprint"),
    "standing": settings_control.StandingChip,
    "backup": settings_control.key_backup,
    "appeal": account_control(settings_account.AppealControl),
    "recovery": account_control(settings_account.RecoveryControl),
    "replace-key": account_control(settings_account.ReplaceControl),
    "lost-key": account_control(settings_account.LostKeyControl),
    "first-run": settings_control.SetupButton,
    "name": account_control(settings_account.NameControl),
    "connect": account_control(settings_account.ConnectControl),
    "team": account_control(settings_account.TeamControl),
    "login": settings_control.LoginSwitch,
    "ledger": settings_control.ledger_field,
    "folder": settings_control.FolderLine,
    "listen": settings_control.ListenField,
    "reset": settings_control.ResetButton,
}
"""The controls of `CustomSpec`, by field; a factory that returns None leaves its row out."""


class SettingsPage(Page):
    """`location` is the name of the open section."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self.edits, self.toast = PreferenceEdits(self.model, self), UndoToast(self)
        self.account = KeyAccount(self.model, context.now_ms, self)
        self._context = SettingsContext(
            page=context, edits=self.edits, toast=self.toast, account=self.account
        )
        self._specs = {
            one.name: one for one in SECTIONS if context.program is not None or not one.is_of_app
        }
        self._sections: dict[str, SettingsSection] = {}
        self.location = next(iter(self._specs))
        self._was_searched = False
        entries = [
            SectionEntry(one.name, translated(one.title), one.picture)
            for one in self._specs.values()
        ]
        self.list = SectionList(
            self.tr("Sections"), self.tr("Search settings"), entries, self.viewport()
        )
        self.search = self.list.search
        self.search.setPlaceholderText(self.tr("Search"))
        self.empty = EmptyState(
            "search",
            self.tr("No results"),
            self.tr("No setting mentions these words."),
        )
        fill(self.body, self.empty, None)
        self.empty.hide()
        self.list.chosen.connect(self.open_section)
        self.search.textChanged.connect(self._find)
        finding = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        finding.activated.connect(self.search.setFocus)
        self.edits.changed.connect(self.request_refresh)
        self.account.changed.connect(self.request_refresh)
        if context.program is not None:
            context.program.settings.changed.connect(self.request_refresh)
        self._show_section()

    def open_section(self, name: str) -> None:
        """Show that section in place of search results."""
        self.location = name
        self.search.clear()
        self._show_section()
        self.verticalScrollBar().setValue(0)

    def restore_location(self, location: str) -> None:
        if location in self._specs:
            self.open_section(location)

    def refresh(self) -> None:
        snapshot = self.model.snapshot
        for section in self._sections.values():
            if not section.isHidden():
                section.refresh(snapshot)
        self._mark()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.edits.flush()

    def section_of(self, name: str) -> SettingsSection:
        """The section of that name, built on first use."""
        if name not in self._sections:
            section = self._sections[name] = SettingsSection(self._specs[name], self._context)
            section.filter([])
            section.refresh(self.model.snapshot)
            section.hide()
            built = [one for one in self._specs if one in self._sections]
            self.body.insertWidget(built.index(name), section)
        return self._sections[name]

    def _show_section(self) -> None:
        self.section_of(self.location)
        for name, section in self._sections.items():
            if self._was_searched:
                section.filter([])
            section.setVisible(name == self.location)
        self._was_searched = False
        self.empty.hide()
        self.list.select(self.location)
        self.request_refresh()

    def _find(self, text: str) -> None:
        """Show the settings whose name or note contains all of these words."""
        wanted = text.casefold().split()
        if not wanted:
            self._show_section()
            return
        self._was_searched, is_empty = True, True
        for section in map(self.section_of, self._specs):
            found = section.filter(wanted)
            section.setVisible(found)
            is_empty = is_empty and not found
        self.empty.setVisible(is_empty)
        self.list.select("")
        self.verticalScrollBar().setValue(0)
        self.request_refresh()

    def _mark(self) -> None:
        """Mark the section with the setting that pauses lending now."""
        snapshot = self.model.snapshot
        name = section_pausing(field_pausing(snapshot.decision)) if snapshot else ""
        why = ""
        if snapshot is not None and name:
            why = worker_texts.decision_reason(snapshot.decision, self.context.now_ms())
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
        self.list.fold(is_narrow=is_narrow, margins=(left, top, right, LIST_GAP_NARROW))
        if is_narrow:
            high = top + self.list.line + LIST_GAP_NARROW
            self.list.setGeometry(0, 0, room.width(), high)
            self.body.setContentsMargins(left, high + 4, right, bottom)
            return
        wide = left + LIST + LIST_GAP
        is_mirrored = self.isRightToLeft()
        at = room.width() - left - LIST if is_mirrored else left
        self.list.setGeometry(at, top, LIST, room.height() - top)
        rest = max(right, room.width() - wide - SECTION_WIDTH)
        sides = (rest, wide) if is_mirrored else (wide, rest)
        self.body.setContentsMargins(sides[0], top, sides[1], bottom)


class SettingsSection(QWidget):
    """A section; `rows` by the field that each changes, `controls` those of `CUSTOM`."""

    def __init__(self, spec: SectionSpec, context: SettingsContext) -> None:
        super().__init__()
        self._spec, self._context = spec, context
        self.rows: dict[str, SettingRow] = {}
        self.controls: dict[str, SettingControl] = {}
        self._cards: list[tuple[Card, list[tuple[QFrame, SettingRow]]]] = []
        self._refreshes: list[Callable[[], None]] = []
        title = Label(translated(spec.title), TextStyle.TITLE)
        head = vbox(title, caption(translated(spec.note)), spacing=2)
        self.body = vbox(head, spacing=style.GAP, parent=self)
        for card in spec.cards:
            self._add_card(translated(card.heading))
            for one in card.settings:
                self._add(one)

    def refresh(self, snapshot: Snapshot | None) -> None:
        for refresh in self._refreshes:
            refresh()
        for control in self.controls.values():
            control.refresh(snapshot)
        decider = field_pausing(snapshot.decision) if snapshot else ""
        for field, row in self.rows.items():
            stops, why = "", ""
            if snapshot is not None and field == decider:
                stops = QCoreApplication.translate("settings", "Stops lending now")
                why = worker_texts.decision_reason(snapshot.decision, self._context.page.now_ms())
            row.mark_stopping(stops, why)

    def filter(self, wanted: list[str]) -> bool:
        """Show only the rows with all of these words; return false if there are none."""
        found = False
        for card, rows in self._cards:
            has_any = False
            for rule, row in rows:
                is_shown = row.matches(wanted)
                row.setVisible(is_shown)
                rule.setVisible(is_shown and has_any)
                has_any = has_any or is_shown
            card.setVisible(has_any)
            found = found or has_any
        return found

    def _add_card(self, heading: str) -> None:
        made = Card(heading)
        made.body.setSpacing(0)
        if heading:
            made.body.addSpacing(4)
        self._cards.append((made, []))
        self.body.addWidget(made)

    def _add(self, spec: SettingSpec) -> None:
        if spec.field == "looks_for_updates" and self._context.app.releases is None:
            return
        if isinstance(spec.control, CustomSpec):
            self._add_custom(spec, is_wide=spec.control.is_wide)
            return
        built = build_control(
            spec, Field(name=spec.field, is_of_app=self._spec.is_of_app, context=self._context)
        )
        if isinstance(spec.control, PercentSpec) and built is not None:
            # the slider shows title and note itself, beside its value
            row = SettingRow("", "", built.widget, is_wide=True)
            row.add_search_words(translated(spec.title))
        else:
            default, widget = (built.default, built.widget) if built is not None else ("", None)
            row = SettingRow(translated(spec.title), _note_of(spec, default), widget)
        if built is not None:
            self._refreshes.append(built.refresh)
        self._add_row(spec, row)

    def _add_custom(self, spec: SettingSpec, *, is_wide: bool) -> None:
        control = CUSTOM[spec.field](self._context)
        if control is None:
            return
        note = _note_of(spec, control.default)
        row = SettingRow(translated(spec.title), note, control, is_wide=is_wide)
        control.note_changed.connect(lambda words, tone: row.set_note(words or note, tone or "sub"))
        self.controls[spec.field] = control
        self._add_row(spec, row)
        if control.below is not None:
            card, _ = self._cards[-1]
            card.body.addWidget(control.below)

    def _add_row(self, spec: SettingSpec, row: SettingRow) -> None:
        card, rows = self._cards[-1]
        rule = QFrame()
        rule.setProperty("kind", "rule")
        card.body.addWidget(rule)
        rule.setVisible(bool(rows))
        rows.append((rule, row))
        card.body.addWidget(row)
        if spec.found_by:
            row.add_search_words(translated(spec.found_by))
        self.rows[spec.field] = row


def _note_of(spec: SettingSpec, default: str) -> str:
    shown = translated(spec.default) or default
    return with_default(translated(spec.note), shown) if shown else translated(spec.note)
