"""One section of the settings, built from the table: cards of rows, each with its control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from tequio_client.app import snooze
from tequio_client.app.pages import settings_app, settings_lending
from tequio_client.app.pages.setting_specs import CustomSpec, PercentSpec
from tequio_client.app.pages.settings_control import Field, build, text, with_default
from tequio_client.app.pages.settings_table import deciding_field
from tequio_client.app.theme import style
from tequio_client.app.widgets.base import Card
from tequio_client.app.widgets.inputs import SettingRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.app.pages.setting_specs import SectionSpec, SettingSpec
    from tequio_client.app.pages.settings_control import SettingControl, SettingsContext
    from tequio_client.ipc.snapshot import Snapshot

CUSTOM: Mapping[str, Callable[[SettingsContext], SettingControl | None]] = {
    "preset": settings_lending.PresetPicker,
    "while_used": settings_lending.UsedSwitch,
    "week": settings_lending.WeekEditor,
    "exclusive": settings_lending.ExclusiveList,
    "month_used": settings_lending.TrafficMeter,
    "disk_used": settings_lending.StoreMeter,
    "disk_left": settings_lending.FreeSpace,
    "peer": settings_app.PeerLine,
    "key": settings_app.KeyLine,
    "standing": settings_app.StandingChip,
    "backup": settings_app.key_backup,
    "first-run": settings_app.SetupButton,
    "nickname": settings_app.NicknameField,
    "login": settings_app.LoginSwitch,
    "ledger": settings_app.LedgerField,
    "folder": settings_app.FolderLine,
    "listen": settings_app.ListenField,
    "reset": settings_app.ResetButton,
}
"""The controls of `CustomSpec`, by field; a factory that returns None leaves its row out."""


class SettingsSection(QWidget):
    """A section; `rows` by the field that each changes, `controls` those of `CUSTOM`."""

    def __init__(self, spec: SectionSpec, context: SettingsContext) -> None:
        super().__init__()
        self._spec, self._context = spec, context
        self.rows: dict[str, SettingRow] = {}
        self.controls: dict[str, SettingControl] = {}
        self._cards: list[tuple[Card, list[tuple[QFrame, SettingRow]]]] = []
        self._refreshes: list[Callable[[], None]] = []
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(style.GAP)
        for card in spec.cards:
            self._add_card(text(card.heading))
            for one in card.settings:
                self._add(one)

    def refresh(self, snapshot: Snapshot | None) -> None:
        for refresh in self._refreshes:
            refresh()
        for control in self.controls.values():
            control.refresh(snapshot)
        decider = deciding_field(snapshot.decision) if snapshot else ""
        for field, row in self.rows.items():
            stops, why = "", ""
            if snapshot is not None and field == decider:
                stops = QCoreApplication.translate("settings", "Stops lending now")
                why = snooze.words_reason(snapshot.decision, self._context.means.now_ms())
            row.say_stops(stops, why)

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
        if isinstance(spec.control, CustomSpec):
            self._add_custom(spec, is_wide=spec.control.is_wide)
            return
        built = build(spec, Field.of(spec, self._spec, self._context))
        if isinstance(spec.control, PercentSpec) and built is not None:
            # the slider shows title and note itself, beside its value
            row = SettingRow("", "", built.widget, is_wide=True)
            row.also(text(spec.title))
        else:
            default, widget = (built.default, built.widget) if built is not None else ("", None)
            row = SettingRow(text(spec.title), _note(spec, default), widget)
        if built is not None:
            self._refreshes.append(built.refresh)
        self._add_row(spec, row)

    def _add_custom(self, spec: SettingSpec, *, is_wide: bool) -> None:
        control = CUSTOM[spec.field](self._context)
        if control is None:
            return
        note = _note(spec, control.default)
        row = SettingRow(text(spec.title), note, control, is_wide=is_wide)
        control.noted.connect(lambda words, tone: row.show_note(words or note, tone or "sub"))
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
            row.also(text(spec.found_by))
        self.rows[spec.field] = row


def _note(spec: SettingSpec, default: str) -> str:
    shown = text(spec.default) or default
    return with_default(text(spec.note), shown) if shown else text(spec.note)
