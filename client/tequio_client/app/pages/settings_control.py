"""The controls that are built from the table of settings: switches, numbers, sliders, choices.

Every control shows the current value and changes it at once; typing and dragging are sent after a
moment of rest. `settings_lending` and `settings_app` have the controls with classes of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from tequio_client.app.pages.setting_specs import (
    ChipSpec,
    ChoiceSpec,
    NumberSpec,
    PercentSpec,
    SwitchSpec,
)
from tequio_client.app.pages.settings_table import CONTEXT
from tequio_client.app.settings_file import AppSettings
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import flush_column
from tequio_client.app.widgets.buttons import Dropdown, Segmented, Switch
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.inputs import NumberBox, SliderRow
from tequio_client.ipc.preferences import PRESETS, DeviceChoice, LendingPreset, Preferences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.app.model import AppModel
    from tequio_client.app.pages.page import PageContext, ProgramContext
    from tequio_client.app.pages.setting_specs import SectionSpec, SettingSpec
    from tequio_client.app.widgets.messages import UndoToast
    from tequio_client.ipc.snapshot import Snapshot

DEFAULTS, APP_DEFAULTS = Preferences(), AppSettings()
"""The defaults."""
SEND_DELAY_MS = 250
_PRESET_FIELDS = {field for fixed in PRESETS.values() for field in fixed}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsContext:
    """The model, the edits and the program that the controls work with."""

    means: PageContext
    edits: PreferenceEdits
    toast: UndoToast

    @property
    def app(self) -> ProgramContext:
        """The program around the window; sections about it are built only where there is one."""
        if self.means.program is None:
            raise RuntimeError("settings of the app in a window without an app")
        return self.means.program


@dataclass(frozen=True, kw_only=True)  # no slots: Qt refers weakly to the owner of a method
class Field:
    """One field of the preferences or of the app's settings: its value, default and change."""

    name: str
    is_of_app: bool
    context: SettingsContext

    @classmethod
    def of(cls, spec: SettingSpec, section: SectionSpec, context: SettingsContext) -> Field:
        return cls(name=spec.field, is_of_app=section.is_of_app, context=context)

    @property
    def value(self) -> Any:  # noqa: ANN401  # of any type that a setting has
        """The current value, including changes that were not sent yet."""
        held = self.context.app.settings.settings if self.is_of_app else self.context.edits.current
        return getattr(held, self.name)

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
        self.column = flush_column(self, 10)

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
    default = (
        QCoreApplication.translate("settings", "on")
        if field.default
        else QCoreApplication.translate("settings", "off")
    )
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
    default = nothing.lower() if is_nothing else f"{figures.count(usual)} {unit}"
    return BuiltControl(widget=box, refresh=refresh, default=default)


def _percent(title: str, note: str, spec: PercentSpec, field: Field) -> BuiltControl:
    whole = with_default(note, figures.percent(field.default))
    slider = SliderRow(title, spec.least, 100, figures.percent, whole)
    slider.set_step(spec.step)
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

    default = choices[field.default]
    return BuiltControl(widget=made, refresh=refresh, default=default[:1].lower() + default[1:])


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
        self._fields: dict[str, Any] = {}
        self._devices: dict[str, dict[str, Any]] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SEND_DELAY_MS)
        self._timer.timeout.connect(self.flush)

    @property
    def current(self) -> Preferences:
        """The model's preferences with the changes that were not sent yet."""
        made = replace(self._model.preferences, **self._fields)
        for name, fields in self._devices.items():
            made = replace(made, devices=_with_device(made, name, fields))
        return replace(made, preset=preset_of(made)) if _PRESET_FIELDS & set(self._fields) else made

    def change(self, fields: Mapping[str, Any]) -> None:
        self._fields.update(fields)
        self.flush()

    def change_soon(self, fields: Mapping[str, Any]) -> None:
        """Change these fields; they are sent after `REST_MS` without a change."""
        self._fields.update(fields)
        self._send_later()

    def change_device(self, name: str, fields: Mapping[str, Any]) -> None:
        self._devices.setdefault(name, {}).update(fields)
        self.flush()

    def change_device_soon(self, name: str, fields: Mapping[str, Any]) -> None:
        """Change these fields of the device; they are sent after `REST_MS` without a change."""
        self._devices.setdefault(name, {}).update(fields)
        self._send_later()

    def flush(self) -> None:
        self._timer.stop()
        if not self._fields and not self._devices:
            return
        made = self.current
        self._fields, self._devices = {}, {}
        if made != self._model.preferences:
            self._model.set_preferences(made)
        self.changed.emit()

    def _send_later(self) -> None:
        self._timer.start()
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
