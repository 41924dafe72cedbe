"""One section of the settings: cards of rows that show what holds, and change it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from tequio_client.app import snooze
from tequio_client.app.theme import style
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card
from tequio_client.app.widgets.buttons import Switch
from tequio_client.app.widgets.inputs import NumberBox, SettingRow
from tequio_client.ipc.preferences import PRESETS, DeviceChoice, Preferences, Preset
from tequio_client.ipc.snapshot import Reason, State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.app.model import Model
    from tequio_client.app.pages.page import Means
    from tequio_client.app.widgets.messages import UndoToast
    from tequio_client.ipc.snapshot import Decision, Snapshot

# --- Which setting makes the decision of now: the one beside which it is named.

FIELDS = {
    Reason.IN_USE: "idle_minutes",
    Reason.SCHEDULE: "week",
    Reason.GAME: "pause_for_games",
    Reason.FULLSCREEN: "pause_for_games",
    Reason.AFTER_GAME: "pause_for_games",
    Reason.FILM: "pause_for_films",
    Reason.EXCLUSIVE: "exclusive",
    Reason.BATTERY: "on_battery",
    Reason.BATTERY_UNKNOWN: "on_battery",
    Reason.SAVING_POWER: "while_saving_power",
    Reason.OTHERS_GPU: "others_gpu_percent",
    Reason.GPU_UNKNOWN: "others_gpu_percent",
    Reason.SLOWED: "others_gpu_percent",
    Reason.OTHERS_CPU: "others_cpu_percent",
    Reason.QUOTA: "month_gb",
    Reason.METERED: "on_metered",
    Reason.DISK: "disk_free_gib",
    Reason.HOT: "temperature_c",
    Reason.NO_DEVICE: "use",
    Reason.GPU_MEMORY: "memory_mb",
    Reason.LEDGER_UNKNOWN: "ledger",
    Reason.CANNOT_TELL: "idle_minutes",
}
BY_FACT = {
    (Reason.CANNOT_TELL, "fullscreen"): "pause_for_games",
    (Reason.CANNOT_TELL, "game"): "pause_for_games",
    (Reason.CANNOT_TELL, "programs"): "exclusive",
    (Reason.BATTERY_UNKNOWN, "saver"): "while_saving_power",
    (Reason.BATTERY_UNKNOWN, "probe"): "",
    (Reason.DISK, "store"): "disk_gib",
    (Reason.NO_DEVICE, "small"): "memory_mb",
    (Reason.GPU_UNKNOWN, "memory"): "",
}
STOPS = (State.WAITING, State.ATTENTION)


def deciding(decision: Decision) -> str:
    """The field of the preferences that stops lending now; empty: none does."""
    if decision.state not in STOPS:
        return ""
    fact = str(decision.values.get("fact", ""))
    return BY_FACT.get((decision.reason, fact), FIELDS.get(decision.reason, ""))


def device_of(decision: Decision) -> str:
    """The name of the device that the decision is about; empty: of none, or of all."""
    return str(decision.values.get("device", ""))


translate = QCoreApplication.translate
USUAL = Preferences()
"""What holds by default."""


class Section(QWidget):
    """A section; `rows` by the field that each changes."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__()
        self.means, self.edits, self.toast = means, edits, toast
        self.rows: dict[str, SettingRow] = {}
        self._cards: list[tuple[Card, list[tuple[QFrame, SettingRow]]]] = []
        self._shows: list[Callable[[Preferences], None]] = []
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(style.GAP)

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds now, and which of it stops lending."""
        current = self.edits.current
        for show in self._shows:
            show(current)
        decider = deciding(snapshot.decision) if snapshot else ""
        for field, row in self.rows.items():
            stops = snapshot is not None and field == decider
            why = ""
            if snapshot is not None and stops:
                why = snooze.words_reason(snapshot.decision, self.means.now_ms())
            row.say_stops(translate("settings", "Stops lending now") if stops else "", why)

    def filter(self, wanted: list[str]) -> bool:
        """Show only the rows with all of these words; says whether there are any."""
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

    # --- what a section is made of

    def card(self, heading: str = "") -> Card:
        """Begin another card."""
        made = Card(heading)
        made.body.setSpacing(0)
        if heading:
            made.body.addSpacing(4)
        self._cards.append((made, []))
        self.body.addWidget(made)
        return made

    def add(self, field: str, row: SettingRow) -> SettingRow:
        """Add a row to the card that was begun last."""
        card, rows = self._cards[-1]
        rule = QFrame()
        rule.setProperty("kind", "rule")
        card.body.addWidget(rule)
        rule.setVisible(bool(rows))
        rows.append((rule, row))
        card.body.addWidget(row)
        self.rows[field] = row
        return row

    def follow(self, show: Callable[[Preferences], None]) -> None:
        """Have this called with what holds, now and at every change."""
        self._shows.append(show)

    def switch(self, field: str, name: str, note: str) -> Switch:
        """Add a switch for that field of the preferences."""
        usual = bool(getattr(USUAL, field))
        switch = Switch(name)
        switch.clicked.connect(lambda is_on: self.edits.change({field: is_on}))
        self.follow(lambda chosen: switch.setChecked(getattr(chosen, field)))
        self.add(field, SettingRow(name, with_default(note, on_or_off(is_on=usual)), switch))
        return switch

    def number(  # noqa: PLR0913  # one a property of the number
        self,
        field: str,
        name: str,
        note: str,
        span: tuple[float, float],
        unit: str,
        *,
        nothing: str = "",
        places: int = 0,
        is_optional: bool = False,
    ) -> NumberBox:
        """Add a number for that field; one that is optional is None at its least value."""
        box = NumberBox(name, *span, unit, nothing=nothing, places=places)

        def change(value: float) -> None:
            chosen: Any = value if places else round(value)
            self.edits.change_soon({field: None if is_optional and value == span[0] else chosen})

        def show(chosen: Preferences) -> None:
            value = getattr(chosen, field)
            box.choose(span[0] if value is None else value)

        box.chosen.connect(change)
        self.follow(show)
        usual = getattr(USUAL, field)
        is_nothing = usual is None or (nothing and usual == span[0])
        written = nothing.lower() if is_nothing else f"{figures.count(usual)} {unit}"
        self.add(field, SettingRow(name, with_default(note, written), box))
        return box


def with_default(note: str, default: str) -> str:
    """The note of a setting, and what holds by default."""
    return translate("settings", "{note} Default: {default}.").format(note=note, default=default)


def on_or_off(*, is_on: bool) -> str:
    """The word of a switch's place."""
    return translate("settings", "on") if is_on else translate("settings", "off")


# --- The preferences as they are being edited: what a hand changes is sent when it has come to
# rest.
#
# A page shows `current`, in which a change counts at once. What others choose meanwhile holds
# beside it: only the fields that were changed here are ours. Deeds such as a click are sent at
# once; sliders and numbers when nothing has moved for a moment, and in any case before the page
# is left.

REST_MS = 250
_FIXED = {field for fixed in PRESETS.values() for field in fixed}


class Edits(QObject):
    """The changes of one page."""

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
        """What holds, with the changes that were not sent yet."""
        made = replace(self._model.preferences, **self._fields)
        for name, fields in self._devices.items():
            made = replace(made, devices=_with_device(made, name, fields))
        return replace(made, preset=preset_of(made)) if _FIXED & set(self._fields) else made

    def change(self, fields: Mapping[str, Any]) -> None:
        """Change these fields of the preferences, and send them now."""
        self._fields.update(fields)
        self.flush()

    def change_soon(self, fields: Mapping[str, Any]) -> None:
        """Change these fields, and send them when the hand has come to rest."""
        self._fields.update(fields)
        self._wait()

    def change_device(self, name: str, fields: Mapping[str, Any]) -> None:
        """Change these fields of the device's choice, and send them now."""
        self._devices.setdefault(name, {}).update(fields)
        self.flush()

    def change_device_soon(self, name: str, fields: Mapping[str, Any]) -> None:
        """The same, when the hand has come to rest."""
        self._devices.setdefault(name, {}).update(fields)
        self._wait()

    def flush(self) -> None:
        """Send what was not sent yet."""
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
    """The preset that fixes just what these preferences say; custom if there is none."""
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
