"""The devices of a machine, accelerators first and the processor last, with their history."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Columns, ElidedLabel, caption_line, vbox
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.charts import Sparkline
from tequio_client.app.widgets.indicators import Meter
from tequio_client.app.widgets.inputs import SettingRow
from tequio_client.ipc.control import AskBenchmark, BenchmarkReply, Question, Reply
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import Snapshot

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDevice:
    """One device now; None: unknown."""

    id: str
    name: str
    memory_mb: int | None = None
    free_mb: int | None = None
    load: float | None = None
    others: float | None = None
    temperature_c: float | None = None
    watts: float | None = None
    watts_limit: float | None = None
    driver: str = ""
    cores: int = 0
    """Processor cores; 0 for an accelerator."""

    @property
    def is_processor(self) -> bool:
        return self.id == CPU

    @property
    def used_mb(self) -> int | None:
        if self.memory_mb is None or self.free_mb is None:
            return None
        return max(self.memory_mb - self.free_mb, 0)


def shown_devices(machine: MachineFacts) -> tuple[ShownDevice, ...]:
    cards = [_card(gpu) for gpu in machine.gpus or () if gpu.id != CPU]
    return (*cards, _processor(machine))


def may_compute(device: ShownDevice, machine: MachineFacts, preferences: Preferences) -> bool:
    """Return true if the device may compute: by default the processor only where it is alone."""
    has_choice = any(one.id == device.id for one in preferences.devices)
    if device.is_processor and not has_choice:
        return not any(gpu.id != CPU for gpu in machine.gpus or ())
    return preferences.device(device.id).use


def _card(gpu: AcceleratorFacts) -> ShownDevice:
    return ShownDevice(
        id=gpu.id,
        name=gpu.name,
        memory_mb=gpu.memory_mb,
        free_mb=gpu.free_mb,
        load=gpu.load,
        others=gpu.others_load,
        temperature_c=gpu.temperature_c,
        watts=gpu.watts,
        watts_limit=gpu.watts_limit,
        driver=gpu.driver,
    )


def _processor(machine: MachineFacts) -> ShownDevice:
    listed = next((gpu for gpu in machine.gpus or () if gpu.id == CPU), None)
    return ShownDevice(
        id=CPU,
        name=machine.cpu_name,
        memory_mb=machine.memory_mb,
        free_mb=machine.free_memory_mb,
        load=listed.load if listed else None,
        others=machine.others_cpu,
        temperature_c=machine.cpu_temperature_c,
        watts=listed.watts if listed else None,
        cores=machine.cores,
    )


class ReadingsHistory:
    """The last readings of each device."""

    def __init__(self) -> None:
        self._readings: dict[tuple[str, str], deque[float | None]] = {}

    def record(self, machine: MachineFacts) -> None:
        for device in shown_devices(machine):
            for kind in ("load", "others", "used_mb", "temperature_c", "watts"):
                readings = self._readings.setdefault((device.id, kind), deque(maxlen=READINGS))
                readings.append(getattr(device, kind))

    def readings(self, device: str, kind: str) -> Sequence[float | None]:
        return tuple(self._readings.get((device, kind), ()))


def short_name(name: str) -> str:
    """The name of a card without its vendor: RTX 4070."""
    return VENDOR.sub("", name) or name


class BenchmarkRow(SettingRow):
    """The benchmark of a device; it runs on request while the device is not lent."""

    def __init__(self, model: AppModel, device: str) -> None:
        self.button = Button("", picture="gauge")
        super().__init__("", "", self.button)
        self.set_name(self.tr("Benchmark"))
        self._model, self._question = model, AskBenchmark(device=device)
        self._is_running, self._why, self._is_lent = False, "", False
        self._is_there = False
        reply = model.reply(self._question)
        self._result = reply if isinstance(reply, BenchmarkReply) else None
        self.button.clicked.connect(self._ask)
        model.replied.connect(self._receive)
        model.refused.connect(self._handle_refusal)
        self._refresh()

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        self._is_there = snapshot is not None
        self._is_lent = snapshot is not None and (
            snapshot.decision.may_compute
            or any(trainer.state not in ("off", "broken") for trainer in snapshot.trainers)
        )
        self._refresh()

    def _ask(self) -> None:
        self._is_running, self._why = True, ""
        self._refresh()
        self._model.ask(self._question)

    def _receive(self, question: Question, reply: Reply) -> None:
        if question == self._question and isinstance(reply, BenchmarkReply):
            self._is_running, self._why, self._result = False, "", reply
            self._refresh()

    def _handle_refusal(self, question: Question, why: str) -> None:
        if question == self._question:
            self._is_running, self._why = False, why
            self._refresh()

    def _refresh(self) -> None:
        is_first = self._result is None and not self._why
        words = self.tr("Measure") if is_first else self.tr("Measure again")
        self.button.set_label(self.tr("Measuring") if self._is_running else words, "gauge")
        self.button.setAccessibleName(f"{self.tr('Benchmark')}: {self.button.text()}")
        self.button.setEnabled(self._is_there and not self._is_running and not self._is_lent)
        self.set_note(self._note_text(), "danger" if self._why and not self._is_running else "sub")

    def _note_text(self) -> str:
        if self._is_running:
            return self.tr("Trains a small model for a few seconds.")
        if self._why:
            return self.tr("Not measured: {why}.").format(why=self._why.rstrip("."))
        said = [self._result_text(self._result)] if self._result else []
        if self._is_lent:
            said.append(self.tr("Pause first to get a meaningful result."))
        elif not said:
            said.append(
                self.tr("Trains a small model for a few seconds and says how fast this device is.")
            )
        return " ".join(said)

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
        self.load = ReadingTile(self.tr("Load"))
        self.others = ReadingTile(self.tr("Other programs"))
        self.memory = ReadingTile(self.tr("Memory") if is_processor else self.tr("VRAM"))
        self.temperature = ReadingTile(self.tr("Temperature"))
        self.watts = ReadingTile(self.tr("Power"))
        card = (self.load, self.others, self.memory, self.temperature, self.watts)
        processor = (self.others, self.memory, self.temperature)
        self._is_processor = is_processor
        self.tiles = processor if is_processor else card
        self.set_parts(self.tiles)

    def show_device(self, device: ShownDevice, history: ReadingsHistory) -> None:
        def past(kind: str) -> Sequence[float | None]:
            return history.readings(device.id, kind)

        self.others.show_reading(_percent(device.others), past("others"), 1.0)
        self.memory.show_reading(
            _memory(device), past("used_mb"), float(device.memory_mb or 1), short=_of(device)
        )
        self.temperature.show_reading(
            _or_dash(figures.temperature, device.temperature_c), past("temperature_c"), CHART_TOP_C
        )
        if not self._is_processor:
            self.load.show_reading(_percent(device.load), past("load"), 1.0)
            top = device.watts_limit or CHART_TOP_W
            self.watts.show_reading(_or_dash(figures.power, device.watts), past("watts"), top)


class ReadingTile(QWidget):
    """One reading with its last minute."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = caption_line(name)
        self._figure = ElidedLabel("", TextStyle.HEADING)
        self.line = Sparkline(READINGS)
        self.setMinimumWidth(READING_WIDTH)
        vbox(self._name, self._figure, 2, self.line, spacing=2, parent=self)

    def show_reading(
        self, words: str, past: Sequence[float | None], top: float, short: str = ""
    ) -> None:
        """`short` is shown where the full words do not fit."""
        self._figure.setText(short or words)
        self.line.show_values(past, top)
        self.setAccessibleName(f"{self._name.text()}: {words}")

    @property
    def text(self) -> str:
        return self._figure.text()


def _percent(part: float | None) -> str:
    return figures.ABSENT if part is None else figures.percent(part * 100)


def _or_dash(write: Callable[[float], str], value: float | None) -> str:
    return figures.ABSENT if value is None else write(value)


def _memory(device: ShownDevice) -> str:
    used, most = device.used_mb, device.memory_mb
    if used is None or most is None:
        return figures.ABSENT
    return figures.translate("figures", "{used} of {most}").format(
        used=figures.memory(used), most=figures.memory(most)
    )


def _of(device: ShownDevice) -> str:
    used, most = device.used_mb, device.memory_mb
    if used is None or most is None:
        return figures.ABSENT
    number, _, unit = figures.memory(used).rpartition(" ")
    whole = figures.memory(most)
    return f"{number if whole.endswith(f' {unit}') else figures.memory(used)} / {whole}"


class UsageMeters(Columns):
    """The use of memory, connection and disk beside the limits."""

    def __init__(self) -> None:
        super().__init__(folded=2, gap=20)
        self.memory = Meter(self.tr("VRAM"))
        self.upload = Meter(self.tr("Upload"))
        self.month = Meter(self.tr("Month"))
        self.disk = Meter(self.tr("Disk"))
        self.set_parts((self.memory, self.upload, self.month, self.disk))

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._show_memory(snapshot)
        line, disk, preferences = snapshot.line, snapshot.disk, snapshot.preferences
        up_mbit, cap_mbit = line.up_bytes_per_s * BITS / MEGA, preferences.upload_mbit
        up = figures.decimal(up_mbit, 1)
        if cap_mbit is None:
            self.upload.show_use(figures.rate(line.up_bytes_per_s), None)
        else:
            limit = figures.rate(cap_mbit * MEGA / BITS)
            self.upload.show_use(self._of(up, limit), up_mbit / cap_mbit)
        self._show_bytes(self.month, line.month_bytes, line.month_cap_bytes)
        self._show_bytes(self.disk, disk.store_bytes, disk.cap_bytes)
        self.fold()

    def _show_bytes(self, meter: Meter, used: int, most: int) -> None:
        if most:
            meter.show_use(self._of(figures.data(used), figures.data(most)), used / most)
        else:
            meter.show_use(figures.data(used), None)

    def _show_memory(self, snapshot: Snapshot) -> None:
        card = lent_card(snapshot)
        if card is not None and card.memory_mb and card.free_mb is not None:
            used = card.memory_mb - card.free_mb
            self.memory.set_name(self.tr("VRAM"))
            words = self._of(figures.memory(used), figures.memory(card.memory_mb))
            self.memory.show_use(words, used / card.memory_mb)
            return
        self.memory.set_name(self.tr("Memory"))
        used = sum(trainer.resident_mb for trainer in snapshot.trainers)
        most = snapshot.machine.memory_mb
        if most:
            words = self._of(figures.memory(used), figures.memory(most))
            self.memory.show_use(words, used / most)
        else:
            self.memory.show_use(figures.memory(used), None)

    def _of(self, used: str, most: str) -> str:
        number, _, unit = used.rpartition(" ")
        is_same = bool(number) and most.endswith(f" {unit}")
        return self.tr("{used} of {most}").format(used=number if is_same else used, most=most)


def lent_card(snapshot: Snapshot) -> AcceleratorFacts | None:
    """The accelerator being lent, or else the first one."""
    cards = snapshot.machine.gpus or ()
    lent = {trainer.device for trainer in snapshot.trainers}
    return next((card for card in cards if card.id in lent), cards[0] if cards else None)
