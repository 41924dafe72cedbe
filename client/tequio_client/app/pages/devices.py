"""The devices of a machine, accelerators first and the processor last, with their history."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tequio_client.app.language import join_sentences, without_period
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.pages.page import PageContext
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Columns, ElidedLabel, caption_line, vbox
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.charts import Sparkline
from tequio_client.app.widgets.indicators import Meter
from tequio_client.app.widgets.inputs import SettingRow
from tequio_client.ipc.control import AskBenchmark, BenchmarkReply
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import Decision, Snapshot, TrainerView

CPU = "cpu"
READINGS = 60
"""Readings remembered of each kind: one minute."""
VENDOR = re.compile(r"^(NVIDIA |AMD |Intel\(R\) )?(GeForce |Radeon )?")
"""Vendor and family, left out where space is short."""
READING_WIDTH = 104
CHART_TOP_C = 100.0
"""Top of a temperature chart."""
CHART_TOP_W = 100.0
"""Top of a power chart if the card does not report its limit."""
BITS = 8
MEGA = 1_000_000
N = TypeVar("N", int, float)


def shown_devices(machine: MachineFacts) -> tuple[AcceleratorFacts, ...]:
    """Every device; the processor comes last, with what the machine reports about it."""
    gpus = machine.gpus or ()
    listed = next((gpu for gpu in gpus if gpu.id == CPU), AcceleratorFacts(id=CPU, name=""))
    processor = replace(
        listed,
        name=machine.cpu_name,
        memory_mb=machine.memory_mb,
        free_mb=machine.free_memory_mb,
        others_load=machine.others_cpu,
        temperature_c=machine.cpu_temperature_c,
    )
    return (*(gpu for gpu in gpus if gpu.id != CPU), processor)


def trainer_of(device: AcceleratorFacts, snapshot: Snapshot) -> TrainerView | None:
    """The trainer of a device; None if it was not lent since the worker started."""
    return next((one for one in snapshot.trainers if one.device == device.id), None)


def decision_on(device: AcceleratorFacts, snapshot: Snapshot) -> Decision:
    trainer = trainer_of(device, snapshot)
    return trainer.decision if trainer else snapshot.decision


def may_compute(device: AcceleratorFacts, machine: MachineFacts, preferences: Preferences) -> bool:
    """Return true if the device may compute: by default the processor only where it is alone."""
    has_choice = any(one.id == device.key for one in preferences.devices)
    if device.id == CPU and not has_choice:
        return not any(gpu.id != CPU for gpu in machine.gpus or ())
    return preferences.device(device.key).use


class ReadingsHistory:
    """The last readings of each device, oldest first."""

    def __init__(self) -> None:
        self._readings: dict[str, deque[AcceleratorFacts]] = {}
        self.thermometers: set[str] = set()
        """Devices that have ever reported their temperature, here or to the worker."""

    def record(self, machine: MachineFacts) -> None:
        for device in shown_devices(machine):
            self._readings.setdefault(device.id, deque(maxlen=READINGS)).append(device)
            if device.temperature_c is not None:
                self.thermometers.add(device.id)

    def of(self, device: str) -> tuple[AcceleratorFacts, ...]:
        return tuple(self._readings.get(device, ()))


def short_name(name: str) -> str:
    """The name of a card without its vendor: RTX 4070."""
    return VENDOR.sub("", name) or name


class BenchmarkRow(SettingRow):
    """The benchmark of a device; it runs on request while the device is not lent."""

    measured = Signal()

    def __init__(self, context: PageContext, device: str) -> None:
        self.button = Button("", picture="gauge")
        super().__init__(self.tr("Benchmark"), "", self.button)
        self._device = device
        self._benchmark = PeriodicQuestion(
            context.model, context.now_ms, BenchmarkReply, parent=self
        )
        question = AskBenchmark(device=device)
        self._benchmark.set_question(question)
        known = context.model.reply(question)
        if isinstance(known, BenchmarkReply):
            self._benchmark.reply = known
        self.is_lent = False
        self.button.clicked.connect(self.measure)
        self._benchmark.changed.connect(self._handle_reply)
        self._refresh()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.is_lent = any(
            trainer.decision.may_compute or trainer.state not in ("off", "broken")
            for trainer in snapshot.trainers
            if trainer.device == self._device
        )
        self._refresh()

    @property
    def is_measuring(self) -> bool:
        return self._benchmark.is_asking

    def measure(self) -> None:
        self._benchmark.ask()
        self._refresh()

    def _handle_reply(self) -> None:
        self._refresh()
        if not self._benchmark.is_asking and not self._benchmark.problem:
            self.measured.emit()

    def _refresh(self) -> None:
        is_running, problem = self._benchmark.is_asking, self._benchmark.problem
        is_first = self._benchmark.reply is None and not problem
        words = self.tr("Measure") if is_first else self.tr("Measure again")
        self.button.set_label(self.tr("Measuring") if is_running else words, "gauge")
        self.button.setAccessibleName(f"{self.tr('Benchmark')}: {self.button.text()}")
        self.button.setEnabled(not is_running and not self.is_lent)
        self.set_note(self._note_text(), "danger" if problem and not is_running else "sub")

    def _note_text(self) -> str:
        if self._benchmark.is_asking:
            return self.tr("Trains a small model for a few seconds.")
        if self._benchmark.problem:
            why = without_period(self._benchmark.problem)
            return self.tr("Not measured: {why}.").format(why=why)
        result = self._benchmark.reply
        if result is None and not self.is_lent:
            return self.tr(
                "Trains a small model for a few seconds and says how fast this device is."
            )
        notes = [self._result_text(result)] if result else []
        if self.is_lent:
            notes.append(self.tr("Switch the device off first to get a meaningful result."))
        return join_sentences(*notes)

    def _result_text(self, result: BenchmarkReply) -> str:
        tokens = figures.count(round(result.tokens_per_s))
        parts = [self.tr("{tokens} tokens per second").format(tokens=tokens)]
        if result.watts is not None:
            parts.append(figures.power(result.watts))
        if result.memory_mb:
            memory = figures.memory(result.memory_mb)
            parts.append(self.tr("{memory} of memory").format(memory=memory))
        return self.tr("{figures}.").format(figures=", ".join(parts))


class Readings(Columns):
    """The readings of one device, without those that its kind never has."""

    def __init__(self, *, is_processor: bool) -> None:
        super().__init__(folded=3, gap=18)
        self.load = ReadingTile(self.tr("Load"), self)
        self.others = ReadingTile(self.tr("Other programs"), self)
        self.memory = ReadingTile(self.tr("Memory") if is_processor else self.tr("VRAM"), self)
        self.temperature = ReadingTile(self.tr("Temperature"), self)
        self.watts = ReadingTile(self.tr("Power"), self)
        card = (self.load, self.others, self.memory, self.temperature, self.watts)
        processor = (self.others, self.memory, self.temperature)
        self.tiles = processor if is_processor else card
        for tile in card:
            tile.setVisible(tile in self.tiles)
        self.set_parts(self.tiles)

    def show_device(self, device: AcceleratorFacts, past: Sequence[AcceleratorFacts]) -> None:
        """`past` are its last readings, oldest first."""
        others = [one.others_load for one in past]
        self.others.show_reading(_percent(device.others_load), others, 1.0)
        memory, short = _memory_texts(device)
        used = [_used_mb(one) for one in past]
        self.memory.show_reading(memory, used, float(device.memory_mb or 1), short)
        degrees = _or_dash(figures.temperature, device.temperature_c)
        self.temperature.show_reading(degrees, [one.temperature_c for one in past], CHART_TOP_C)
        self.load.show_reading(_percent(device.load), [one.load for one in past], 1.0)
        watts, top = [one.watts for one in past], device.watts_limit or CHART_TOP_W
        self.watts.show_reading(_or_dash(figures.power, device.watts), watts, top)


class ReadingTile(QWidget):
    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = caption_line(name)
        self.figure = ElidedLabel("", TextStyle.HEADING)
        self.line = Sparkline(READINGS)
        self.setMinimumWidth(READING_WIDTH)
        vbox(self._name, self.figure, 2, self.line, spacing=2, parent=self)

    def show_reading(
        self, words: str, past: Sequence[float | None], top: float, short: str = ""
    ) -> None:
        """`short` is shown where the full words do not fit."""
        self.figure.setText(short or words)
        self.line.show_values(past, top)
        self.setAccessibleName(f"{self._name.text()}: {words}")


def _percent(part: float | None) -> str:
    return figures.ABSENT if part is None else figures.percent(part * 100)


def _or_dash(write: Callable[[float], str], value: float | None) -> str:
    return figures.ABSENT if value is None else write(value)


def _used_mb(device: AcceleratorFacts) -> int | None:
    if device.memory_mb is None or device.free_mb is None:
        return None
    return max(device.memory_mb - device.free_mb, 0)


def _memory_texts(device: AcceleratorFacts) -> tuple[str, str]:
    """The memory in use and all of it, in words and in short."""
    used_mb = _used_mb(device)
    if used_mb is None or device.memory_mb is None:
        return figures.ABSENT, figures.ABSENT
    used, most = figures.memory(used_mb), figures.memory(device.memory_mb)
    words = figures.translate("figures", "{used} of {most}").format(used=used, most=most)
    return words, f"{_without_shared_unit(used, most)} / {most}"


def _without_shared_unit(amount: str, limit: str) -> str:
    """The amount without its unit where the limit after it has the same one."""
    number, _, unit = amount.rpartition(" ")
    return number if number and limit.endswith(f" {unit}") else amount


class UsageMeters(Columns):
    def __init__(self) -> None:
        super().__init__(folded=2, gap=20)
        self.memory = Meter(self.tr("VRAM"))
        self.upload = Meter(self.tr("Upload"))
        self.month = Meter(self.tr("Traffic"))
        self.month.setToolTip(self.tr("Downloaded and uploaded this month, of your monthly limit"))
        self.disk = Meter(self.tr("Disk"))
        self.set_parts((self.memory, self.upload, self.month, self.disk))

    def show_snapshot(self, snapshot: Snapshot) -> None:
        line, disk = snapshot.line, snapshot.disk
        self._show_memory(snapshot)
        upload_cap = (snapshot.preferences.upload_mbit or 0) * MEGA / BITS
        self._show_use(self.upload, line.up_bytes_per_s, upload_cap, figures.rate)
        self._show_use(self.month, line.month_bytes, line.month_cap_bytes, figures.data)
        self._show_use(self.disk, disk.store_bytes, disk.cap_bytes, figures.storage)
        self.fold()

    def _show_memory(self, snapshot: Snapshot) -> None:
        card = lent_card(snapshot)
        if card is not None and card.memory_mb and card.free_mb is not None:
            name, used, most = self.tr("VRAM"), card.memory_mb - card.free_mb, card.memory_mb
        else:
            name, most = self.tr("Memory"), snapshot.machine.memory_mb or 0
            used = sum(trainer.resident_mb for trainer in snapshot.trainers)
        self.memory.set_name(name)
        self._show_use(self.memory, used, most, figures.memory)

    def _show_use(self, meter: Meter, used: N, most: N, write: Callable[[N], str]) -> None:
        """Show an amount beside its limit; 0: there is none."""
        words, limit = write(used), write(most)
        if most:
            amount = _without_shared_unit(words, limit)
            words = self.tr("{used} of {most}").format(used=amount, most=limit)
        meter.show_use(words, used / most if most else None)


def lent_card(snapshot: Snapshot) -> AcceleratorFacts | None:
    """The accelerator being lent, or else the first one."""
    cards = snapshot.machine.gpus or ()
    lent = {trainer.device for trainer in snapshot.trainers if trainer.pid}
    return next((card for card in cards if card.id in lent), cards[0] if cards else None)
