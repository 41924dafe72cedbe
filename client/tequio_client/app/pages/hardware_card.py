"""The card of one device: whether it is lent, what it does now, and how much may be taken of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from tequio_client.app import words
from tequio_client.app.pages.devices import is_used
from tequio_client.app.pages.hardware_benchmark import BenchmarkRow
from tequio_client.app.pages.hardware_limits import Limits
from tequio_client.app.pages.hardware_readings import Readings
from tequio_client.app.pages.settings_table import deciding_device, deciding_field
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.segmented import Segmented
from tequio_client.app.widgets.setting_row import SettingRow
from tequio_client.app.widgets.stat_card import Tile
from tequio_client.app.widgets.switch import Switch
from tequio_client.app.widgets.text import Line, tip

if TYPE_CHECKING:
    from tequio_client.app.pages.devices import Device, History
    from tequio_client.app.pages.edits import Edits
    from tequio_client.app.pages.page import Means
    from tequio_client.link.snapshot import Snapshot

BETWEEN = "  ·  "


class DeviceCard(Card):
    """One device."""

    switched = Signal(str, bool)
    """The device's name, and whether it was switched on, by hand."""

    def __init__(self, device: Device, means: Means, edits: Edits, history: History) -> None:
        super().__init__()
        self._means, self._edits, self._history = means, edits, history
        self.device = device
        self.name, self.note = Line("", Type.HEADING), Line("", Type.CAPTION, "sub")
        self.state = Chip()
        self.stops = Chip("", "circle-pause", "warn")
        self.switch = Switch(self.tr("Lend {device}").format(device=device.name or device.id))
        self.readings = Readings(is_processor=device.is_processor)
        self.limits = Limits(device, edits)
        self.role = Segmented(
            self.tr("Role"),
            {
                "auto": self.tr("Automatic"),
                "trainer": self.tr("Trainer"),
                "witness": self.tr("Witness"),
            },
        )
        self.role_row = SettingRow(
            self.tr("Role"),
            self.tr(
                "Trainers train the model; witnesses check their work. Automatic does both. "
                "Default: automatic."
            ),
            self.role,
        )
        self.benchmark = BenchmarkRow(means.model, device.id)
        self.switch.clicked.connect(self._switch)
        self.role.chosen.connect(lambda role: edits.change_device(device.id, {"role": role}))
        self.body.setSpacing(12)
        self.body.addLayout(self._head())
        self.body.addWidget(self.readings)
        self.body.addWidget(_rule())
        self.body.addWidget(self.limits)
        self.body.addWidget(_rule())
        for row in (self.role_row, self.benchmark):
            self.body.addWidget(row)

    def show_device(self, device: Device, snapshot: Snapshot) -> None:
        """Show what it is and does now."""
        self.device = device
        chosen = self._edits.current
        use = is_used(device, snapshot.machine, chosen)
        self.name.setText(device.name or self.tr("Processor"))
        self.note.setText(self._what())
        self.switch.setChecked(use)
        self._show_state(snapshot, is_used_now=use)
        self.readings.show_device(device, self._history)
        choice = chosen.device(device.id)
        self.limits.show_choice(choice)
        self.limits.setEnabled(use)
        self.role.choose(choice.role)
        self.role.setEnabled(use)
        self.benchmark.show_snapshot(snapshot)
        self._show_decider(snapshot)

    def show_nothing(self) -> None:
        """There is no worker: nothing can be told, and the choices wait."""
        self.state.show_as(self.tr("Unknown"), "circle-question-mark")
        self.benchmark.show_snapshot(None)

    def _switch(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        self._edits.change_device(self.device.id, {"use": is_on})
        self.switched.emit(self.device.id, is_on)

    def _what(self) -> str:
        device = self.device
        parts = [device.id]
        if device.is_processor:
            parts = [self.tr("%n core(s)", "", device.cores)]
            if device.memory_mb:
                parts.append(
                    self.tr("{memory} of memory").format(memory=figures.memory(device.memory_mb))
                )
            return BETWEEN.join(parts)
        if device.memory_mb:
            parts.insert(0, figures.memory(device.memory_mb))
        if device.driver:
            parts.append(self.tr("driver {version}").format(version=device.driver))
        return BETWEEN.join(parts)

    def _show_state(self, snapshot: Snapshot, *, is_used_now: bool) -> None:
        trainer = next((one for one in snapshot.trainers if one.device == self.device.id), None)
        state = trainer.state if trainer else "off"
        share = trainer.share_percent if trainer else 0
        computing = self.tr("Computing")
        if 0 < share < 100:  # noqa: PLR2004  # percent
            computing = self.tr("Computing, {share} of the time").format(
                share=figures.percent(share)
            )
        shown = {
            "computing": (computing, "activity", "ok"),
            "idle": (self.tr("Between rounds"), "hourglass", "accent"),
            "starting": (self.tr("Starting"), "hourglass", "accent"),
            "stopping": (self.tr("Stopping"), "hourglass", ""),
            "broken": (self.tr("Failed"), "octagon-x", "danger"),
        }
        ready = (self.tr("Ready"), "circle-check", "")
        switched_off = (self.tr("Not lent"), "circle-slash", "")
        self.state.show_as(*shown.get(state, ready if is_used_now else switched_off))

    def _show_decider(self, snapshot: Snapshot) -> None:
        field, about = deciding_field(snapshot.decision), deciding_device(snapshot.decision)
        is_ours = not about or about == self.device.name
        said = self.tr("Stops lending now")
        why = words.reason(snapshot.decision, self._means.now_ms())
        for name, limit in (
            ("memory_mb", self.limits.memory),
            ("temperature_c", self.limits.temperature),
        ):
            if limit is not None:
                limit.say_stops(said if is_ours and field == name else "", why)
        self.stops.show_as(said, "circle-pause", "warn")
        self.stops.setToolTip(tip(why))
        self.stops.setVisible(is_ours and field == "use")

    def _head(self) -> QHBoxLayout:
        row, names = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(12)
        names.setSpacing(1)
        names.addWidget(self.name)
        names.addWidget(self.note)
        row.addWidget(Tile("cpu" if self.device.is_processor else "gpu"))
        row.addLayout(names, 1)
        for part in (self.stops, self.state, self.switch):
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        return row


def _rule() -> QFrame:
    made = QFrame()
    made.setProperty("kind", "rule")
    return made
