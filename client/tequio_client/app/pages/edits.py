"""The preferences while they are being edited.

A page shows `current`, which includes changes at once. Only the fields changed here override the
worker's preferences, so a choice made elsewhere meanwhile is kept. Clicks are sent at once;
sliders and numbers after `REST_MS` without a change, and always before the page is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from tequio_client.ipc.preferences import PRESETS, DeviceChoice, Preferences, Preset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_client.app.model import Model

REST_MS = 250
_FIXED = {field for fixed in PRESETS.values() for field in fixed}


class Edits(QObject):
    """The pending changes of one page."""

    changed = Signal()
    """`current` is another."""

    def __init__(self, model: Model, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._fields: dict[str, Any] = {}
        self._devices: dict[str, dict[str, Any]] = {}
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.flush)

    @property
    def current(self) -> Preferences:
        """The model's preferences with the changes that were not sent yet."""
        made = replace(self._model.preferences, **self._fields)
        for name, fields in self._devices.items():
            made = replace(made, devices=_with_device(made, name, fields))
        return replace(made, preset=preset_of(made)) if _FIXED & set(self._fields) else made

    def change(self, fields: Mapping[str, Any]) -> None:
        self._fields.update(fields)
        self.flush()

    def change_soon(self, fields: Mapping[str, Any]) -> None:
        """Change these fields; they are sent after `REST_MS` without a change."""
        self._fields.update(fields)
        self._wait()

    def change_device(self, name: str, fields: Mapping[str, Any]) -> None:
        self._devices.setdefault(name, {}).update(fields)
        self.flush()

    def change_device_soon(self, name: str, fields: Mapping[str, Any]) -> None:
        """Change these fields of the device; they are sent after `REST_MS` without a change."""
        self._devices.setdefault(name, {}).update(fields)
        self._wait()

    def flush(self) -> None:
        self._rest.stop()
        if not self._fields and not self._devices:
            return
        made = self.current
        self._fields, self._devices = {}, {}
        if made != self._model.preferences:
            self._model.choose(made)
        self.changed.emit()

    def _wait(self) -> None:
        self._rest.start()
        self.changed.emit()


def preset_of(preferences: Preferences) -> Preset:
    """The preset with exactly these values; custom if there is none."""
    for preset, fixed in PRESETS.items():
        if all(getattr(preferences, field) == value for field, value in fixed.items()):
            return preset
    return Preset.CUSTOM


def _with_device(
    preferences: Preferences, name: str, fields: Mapping[str, Any]
) -> tuple[DeviceChoice, ...]:
    changed = replace(preferences.device(name), **fields)
    others = tuple(one for one in preferences.devices if one.id != name)
    at = next((at for at, one in enumerate(preferences.devices) if one.id == name), len(others))
    return (*others[:at], changed, *others[at:])
