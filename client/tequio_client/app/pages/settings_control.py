"""The controls that are built from the table of settings, and the app's own with their own classes.

Every control shows the current value and changes it at once; typing and dragging are sent after a
moment of rest. `settings_lending` has the controls for lending that have classes of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QWidget

from tequio_client.app import worker_texts
from tequio_client.app.keys.account import KeyAccount
from tequio_client.app.keys.card import KeyCard
from tequio_client.app.pages.devices import CPU
from tequio_client.app.pages.settings_table import CONTEXT
from tequio_client.app.pages.settings_table_app import (
    ChipSpec,
    ChoiceSpec,
    NumberSpec,
    PercentSpec,
    SettingSpec,
    SwitchSpec,
)
from tequio_client.app.settings_file import LISTEN_CHARS, AppSettings
from tequio_client.app.theme import icons
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import caption, fill, vbox
from tequio_client.app.widgets.buttons import Button, Dropdown, Segmented, Switch
from tequio_client.app.widgets.cards import CopyLine
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.inputs import NumberBox, SliderRow
from tequio_client.app.widgets.messages import UndoToast
from tequio_client.cli import LISTEN_EVERYWHERE
from tequio_client.ipc.preferences import PRESETS, DeviceChoice, LendingPreset, Preferences
from tequio_client.ipc.snapshot import Snapshot
from tequio_shared.network.standing import ENDED, EXCLUDED, Standing

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel
    from tequio_client.app.pages.page import PageContext, ProgramContext


DEFAULTS, APP_DEFAULTS = Preferences(), AppSettings()
SEND_DELAY_MS = 250
FIELD_WIDTH = 240
LISTEN = re.compile(
    r"/ip4/(\d{1,3}(?:\.\d{1,3}){3})/tcp/(\d{1,5})|/ip6/([0-9a-fA-F:.]+)/tcp/(\d{1,5})"
)
PORTS = 65_535
MAX_BYTE = 255
KEPT_PREFERENCES = {"version", "consent", "run"}
"""Preferences that a reset keeps, beside each device's run: consents, or chosen on other pages."""
KEPT_APP_SETTINGS = {
    "version",
    "ledger",
    "knows_hiding",
    "knows_points",
    "knows_competitions",
    "competitions_told",
    "knows_runs",
    "runs_told",
    "run_news",
    "notices_read",
    "announcement_told",
    "week",
    "week_rank",
    "page",
    "geometry",
}
"""App settings that a reset keeps: the network and remembered state."""
_PRESET_FIELDS = {field for fixed in PRESETS.values() for field in fixed}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsContext:
    page: PageContext
    edits: PreferenceEdits
    toast: UndoToast
    account: KeyAccount

    @property
    def app(self) -> ProgramContext:
        """The program around the window; sections about it are built only where there is one."""
        if self.page.program is None:
            raise RuntimeError("settings of the app in a window without an app")
        return self.page.program


@dataclass(frozen=True, kw_only=True)  # no slots: Qt refers weakly to the owner of a method
class Field:
    """One field of the preferences or of the app's settings: its value, default and change."""

    name: str
    is_of_app: bool
    context: SettingsContext

    @property
    def value(self) -> Any:  # noqa: ANN401  # of any type that a setting has
        """The current value, including changes that were not sent yet."""
        context = self.context
        settings = context.app.settings.settings if self.is_of_app else context.edits.current
        return getattr(settings, self.name)

    @property
    def default(self) -> Any:  # noqa: ANN401  # of any type that a setting has
        """The default value; None for a row without a field."""
        return getattr(APP_DEFAULTS if self.is_of_app else DEFAULTS, self.name, None)

    def change(self, value: object) -> None:
        if self.is_of_app:
            self.context.app.settings.change(**{self.name: value})
        else:
            self.context.edits.change({self.name: value})

    def change_soon(self, value: object) -> None:
        """Change it after a moment of rest; preferences only."""
        self.context.edits.change_soon({self.name: value})


class SettingControl(QWidget):
    """A control with a class of its own; subclasses fill `column` and implement `refresh`."""

    note_changed = Signal(str, str)
    """Replaces the table's note, with a tone; an empty text restores it."""

    def __init__(self, context: SettingsContext) -> None:
        super().__init__()
        self.context = context
        self.below: QWidget | None = None
        """A widget below the row, on the same card."""
        self.default = ""
        """The default in words, where the table cannot know it."""
        self.column = vbox(spacing=10, parent=self)

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltControl:
    """A control from the table, with the function that shows its current value."""

    widget: QWidget
    refresh: Callable[[], None]
    default: str = ""
    """The field's default, in words."""


def translated(source: str) -> str:
    """The translation of a text of the table."""
    return QCoreApplication.translate(CONTEXT, source) if source else ""


def build_control(spec: SettingSpec, field: Field) -> BuiltControl | None:
    """The control of a row that needs no class of its own; None: the row has none."""
    title = translated(spec.title)
    match spec.control:
        case SwitchSpec():
            return _switch(title, field)
        case NumberSpec() as number:
            return _number(title, number, field)
        case PercentSpec() as percent:
            return _percent(title, translated(spec.note), percent, field)
        case ChoiceSpec() as choice:
            return _choice(title, choice, field)
        case ChipSpec() as chip:
            shown = Chip(translated(chip.words), chip.picture, chip.tone)
            return BuiltControl(widget=shown, refresh=lambda: None)
    return None


def _switch(title: str, field: Field) -> BuiltControl:
    made = Switch(title)
    made.clicked.connect(field.change)
    on = QCoreApplication.translate("settings", "on")
    off = QCoreApplication.translate("settings", "off")
    default = on if field.default else off
    return BuiltControl(widget=made, refresh=lambda: made.setChecked(field.value), default=default)


def _number(title: str, spec: NumberSpec, field: Field) -> BuiltControl:
    unit, nothing = translated(spec.unit), translated(spec.nothing)
    box = NumberBox(title, spec.least, spec.most, unit, nothing=nothing, places=spec.places)

    def change(value: float) -> None:
        chosen = value if spec.places else round(value)
        field.change_soon(None if spec.is_optional and value == spec.least else chosen)

    def refresh() -> None:
        value = field.value
        box.set_number(spec.least if value is None else value)

    box.chosen.connect(change)
    usual = field.default
    is_nothing = usual is None or (nothing and usual == spec.least)
    # The number and its unit stay on one line.
    number = (figures.count(usual) + figures.unit_suffix(unit)).replace(" ", "\u00a0")
    default = nothing if is_nothing else number
    return BuiltControl(widget=box, refresh=refresh, default=default)


def _percent(title: str, note: str, spec: PercentSpec, field: Field) -> BuiltControl:
    whole = with_default(note, figures.percent(field.default))
    slider = SliderRow(title, spec.least, 100, figures.percent, whole)
    slider.round_to(spec.step)
    slider.chosen.connect(field.change_soon)

    def refresh() -> None:
        slider.set_value(field.value)
        slider.setEnabled(getattr(field.context.edits.current, spec.enabled_by))

    return BuiltControl(widget=slider, refresh=refresh)


def _choice(title: str, spec: ChoiceSpec, field: Field) -> BuiltControl:
    choices = {key: translated(words) for key, words in spec.choices.items()} | dict(spec.names)
    made = (Dropdown if spec.is_list else Segmented)(title, choices)
    made.chosen.connect(field.change)

    def refresh() -> None:
        # a file of another version may hold a value that this one has no choice for
        made.select(field.value if field.value in choices else next(iter(choices)))

    # As the choice is written: many languages write some of these words with a capital letter.
    return BuiltControl(widget=made, refresh=refresh, default=choices[field.default])


def with_default(note: str, default: str) -> str:
    """The note of a setting with its default appended."""
    return QCoreApplication.translate("settings", "{note} Default: {default}.").format(
        note=note, default=default
    )


class PreferenceEdits(QObject):
    """The pending changes of one page."""

    changed = Signal()
    """`current` is another."""

    def __init__(self, model: AppModel, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._pending: dict[str, dict[str, Any]] = {}  # by device; "": fields of no device
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SEND_DELAY_MS)
        self._timer.timeout.connect(self.flush)

    @property
    def current(self) -> Preferences:
        """The model's preferences with the changes that were not sent yet."""
        made = self._model.preferences
        for device, fields in self._pending.items():
            if device:
                made = replace(made, devices=_with_device(made, device, fields))
            else:
                made = replace(made, **fields)
        is_of_preset = not _PRESET_FIELDS.isdisjoint(self._pending.get("", ()))
        return replace(made, preset=preset_of(made)) if is_of_preset else made

    def change(self, fields: Mapping[str, Any], *, device: str = "") -> None:
        """Change these fields of the preferences, or of one device."""
        self._pending.setdefault(device, {}).update(fields)
        self.flush()

    def change_soon(self, fields: Mapping[str, Any], *, device: str = "") -> None:
        """Change these fields; sent after `SEND_DELAY_MS` without another change."""
        self._pending.setdefault(device, {}).update(fields)
        self._timer.start()
        self.changed.emit()

    def flush(self) -> None:
        self._timer.stop()
        if not self._pending:
            return
        made = self.current
        self._pending = {}
        if made != self._model.preferences:
            self._model.set_preferences(made)
        self.changed.emit()


def preset_of(preferences: Preferences) -> LendingPreset:
    """The preset with exactly these values; custom if there is none."""
    for preset, fixed in PRESETS.items():
        if all(getattr(preferences, field) == value for field, value in fixed.items()):
            return preset
    return LendingPreset.CUSTOM


def _with_device(
    preferences: Preferences, name: str, fields: Mapping[str, Any]
) -> tuple[DeviceChoice, ...]:
    changed = replace(preferences.device(name), **fields)
    others = tuple(one for one in preferences.devices if one.id != name)
    at = next((at for at, one in enumerate(preferences.devices) if one.id == name), len(others))
    return (*others[:at], changed, *others[at:])


class StatusLine(SettingControl):
    def __init__(self, context: SettingsContext, field: Literal["peer", "key"], title: str) -> None:
        super().__init__(context)
        self._field, self.line = field, CopyLine(translated(title))
        self.column.addWidget(self.line)

    def refresh(self, snapshot: Snapshot | None) -> None:
        status = snapshot.status if snapshot else None
        self.line.show_text(getattr(status, self._field) if status else "")


class StandingChip(SettingControl):
    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.chip = Chip()
        self.column.addWidget(self.chip)

    def refresh(self, snapshot: Snapshot | None) -> None:
        self.context.account.poll()
        account = self.context.account.reply
        if account is None or not account.standing:
            self.chip.set_label(self.tr("Not known yet"), "hourglass")
            self.note_changed.emit(self.tr("Shown once this computer has joined the network."), "")
        elif account.standing in ENDED:
            self.chip.set_label(self.tr("Ended"), "octagon-x", "danger")
            words = self.tr("Log entry {entry} ended this key: it can do nothing more.")
            self.note_changed.emit(words.format(entry=account.since), "danger")
        elif account.standing in EXCLUDED:
            self.chip.set_label(self.tr("Excluded"), "octagon-x", "danger")
            words = self.tr(
                "No round accepts your key now ({why}). Activity explains what you can do."
            )
            why = QCoreApplication.translate(worker_texts.CONTEXT, account.why or account.standing)
            self.note_changed.emit(words.format(why=why), "danger")
        elif account.standing == Standing.NEWCOMER:
            self.chip.set_label(self.tr("New"), "circle-check", "ok")
            words = self.tr("Ten accepted contributions make your key a full member.")
            self.note_changed.emit(words, "")
        elif account.standing == Standing.ACTIVE:
            self.chip.set_label(self.tr("Good"), "circle-check", "ok")
            self.note_changed.emit("", "")
        else:
            self.chip.set_label(self.tr("Changed"), "triangle-alert", "warn")
            self.note_changed.emit(self.tr("Activity explains what has happened."), "")


def key_backup(context: SettingsContext) -> SettingControl | None:
    """The key's card without a frame; None in a window that does not manage the key."""
    keys = context.app.keys
    if keys is None:
        return None
    made = SettingControl(context)
    made.column.addWidget(KeyCard(keys, is_framed=False))
    return made


class SetupButton(SettingControl):
    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        button = Button(self.tr("Open setup"), picture=icons.forward())
        button.clicked.connect(lambda: context.page.open_page("first-run"))
        self.column.addWidget(button)


class LoginSwitch(SettingControl):
    """Start at login, as the system itself reports it."""

    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self._problem, self._is_read = "", False
        self.switch = Switch(self.tr("Start at login"))
        self.switch.clicked.connect(self._switch)
        self.column.addWidget(self.switch)

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Ask the system once per opening of the section: the answer may read a file."""
        if not self._is_read:
            self._read_back()

    def _read_back(self) -> None:
        self._is_read = True
        self.switch.setChecked(self.context.app.autostart.is_on())
        self.note_changed.emit(self._problem, "danger" if self._problem else "")

    def _switch(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        autostart, self._problem = self.context.app.autostart, ""
        try:
            (autostart.turn_on if is_on else autostart.turn_off)()
        except OSError as err:
            why = f"{err.strerror or err}".rstrip(".")
            self._problem = self.tr(
                "The system refused the change: {why}. Add Tequio to its startup programs by hand."
            ).format(why=why)
        self._read_back()
        if not self._problem and self.switch.isChecked() != is_on:
            self._problem = self.tr(
                "The system accepted the change but does not report it. Check its own list of "
                "startup programs."
            )
            self._read_back()


def ledger_field(context: SettingsContext) -> SettingControl | None:
    return LedgerField(context) if context.page.program is not None else None


class LedgerField(SettingControl):
    """The network in use, by its ledger's address, and the way to another."""

    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.line = CopyLine(self.tr("Ledger's address"))
        self.change = Button(self.tr("Join a network…"))
        self.change.clicked.connect(lambda: context.page.open_page("join"))
        self.line.row.addWidget(self.change)
        self.result = caption()
        self.column.setSpacing(6)
        fill(self.column, self.line, self.result)

    def refresh(self, snapshot: Snapshot | None) -> None:
        url = self.context.app.ledger()
        self.line.show_text(url)
        ledger = snapshot.ledger if snapshot else None
        words, tone = self.tr("Connecting…"), "sub"
        if not url:
            words = self.tr("No network was chosen yet.")
        elif ledger is not None and ledger.url == url and ledger.since_ms:
            words, tone = self.tr("Not answering now. Tequio keeps trying."), "warn"
            if ledger.is_reached:
                words, tone = self.tr("Connected."), "ok"
        self.result.setText(words)
        self.result.set_tone(tone)


def _text_field(name: str, placeholder: str, width: int) -> QLineEdit:
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(placeholder)
    made.setMinimumWidth(width)
    return made


class FolderLine(SettingControl):
    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.line = CopyLine(self.tr("Folder"))
        self.open = Button(self.tr("Open"), "quiet", "folder-open")
        self.open.setAccessibleName(self.tr("Open the folder"))
        folder = str(context.app.folder)
        self.open.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder)))
        self.line.row.addWidget(self.open)
        self.line.show_text(folder)
        self.column.addWidget(self.line)


class ListenField(SettingControl):
    """The addresses that the worker listens on, by spaces; invalid ones are not used."""

    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.address = _text_field(
            self.tr("Listen address"), " ".join(LISTEN_EVERYWHERE), FIELD_WIDTH
        )
        self.address.setMaxLength(LISTEN_CHARS)
        self.address.editingFinished.connect(self._apply)
        self.column.addWidget(self.address)

    def refresh(self, snapshot: Snapshot | None) -> None:
        if not (self.address.hasFocus() and self.address.isModified()):
            self.address.setText(self.context.app.settings.settings.listen)

    def _apply(self) -> None:
        address = self.address.text().strip()
        if not are_listen_addresses(address):
            words = self.tr(
                "{address} is not a valid listen address: write /ip4/0.0.0.0/tcp/4001, or leave it "
                "empty."
            )
            self.note_changed.emit(words.format(address=address), "danger")
            return
        self.address.setModified(False)
        self.note_changed.emit("", "")
        self.context.app.settings.change(listen=address)


def are_listen_addresses(text: str) -> bool:
    """Return true for multiaddrs of TCP on IPv4 or IPv6, separated by spaces, or none."""
    return all(map(_is_listen_address, text.split()))


def _is_listen_address(address: str) -> bool:
    found = LISTEN.fullmatch(address)
    if found is None:
        return False
    parts = [int(part) for part in (found[1] or "0").split(".")]
    return max(parts) <= MAX_BYTE and int(found[2] or found[4]) <= PORTS


class ResetButton(SettingControl):
    def __init__(self, context: SettingsContext) -> None:
        super().__init__(context)
        self.button = Button(self.tr("Reset all settings"), "danger", "rotate-ccw")
        self.button.clicked.connect(self._reset)
        self.column.addWidget(self.button)

    def _reset(self) -> None:
        edits, app = self.context.edits, self.context.app.settings
        fields = set(DEFAULTS.__struct_fields__) - KEPT_PREFERENCES
        app_fields = set(APP_DEFAULTS.__struct_fields__) - KEPT_APP_SETTINGS
        before = {field: getattr(edits.current, field) for field in fields}
        app_before = {field: getattr(app.settings, field) for field in app_fields}
        defaults = {field: getattr(DEFAULTS, field) for field in fields}
        # A choice for the processor, whatever it is, would lend it beside a card.
        devices = [one for one in edits.current.devices if one.run and one.id != CPU]
        defaults["devices"] = tuple(DeviceChoice(id=one.id, run=one.run) for one in devices)
        edits.change(defaults)
        app.change(**{field: getattr(APP_DEFAULTS, field) for field in app_fields})

        def undo() -> None:
            edits.change(before)
            app.change(**app_before)

        self.context.toast.open_with_undo(self.tr("All settings have their defaults again."), undo)
