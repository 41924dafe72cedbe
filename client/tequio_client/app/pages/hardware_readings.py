"""What a device does now: load, memory, warmth and power, each with its last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.pages.devices import READINGS
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.sparkline import Sparkline
from tequio_client.app.widgets.text import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_client.app.pages.devices import Device, History

LEAST = 104
WARM_C = 100.0
"""Top of a temperature's line."""
WATTS = 100.0
"""Top of a power's line, where the card does not tell its limit."""


class Readings(Columns):
    """The readings of one device; those that a device of its kind never has are left out."""

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
        self.hold(self.tiles)

    def show_device(self, device: Device, history: History) -> None:
        """Show what is read now."""

        def past(kind: str) -> Sequence[float | None]:
            return history.of(device.id, kind)

        self.others.show_reading(_percent(device.others), past("others"), 1.0)
        self.memory.show_reading(
            _memory(device), past("used_mb"), float(device.memory_mb or 1), short=_of(device)
        )
        self.temperature.show_reading(
            _or_dash(figures.temperature, device.temperature_c), past("temperature_c"), WARM_C
        )
        if not self._is_processor:
            self.load.show_reading(_percent(device.load), past("load"), 1.0)
            top = device.watts_limit or WATTS
            self.watts.show_reading(_or_dash(figures.power, device.watts), past("watts"), top)


class ReadingTile(QWidget):
    """One reading."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._figure = Line(name, Type.CAPTION, "sub"), Line("", Type.HEADING)
        self.line = Sparkline(READINGS)
        self.setMinimumWidth(LEAST)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._name)
        column.addWidget(self._figure)
        column.addSpacing(2)
        column.addWidget(self.line)

    def show_reading(
        self, words: str, past: Sequence[float | None], top: float, short: str = ""
    ) -> None:
        """Show that, and what it was before; `short` is what is seen of longer words."""
        self._figure.setText(short or words)
        self.line.show_values(past, top)
        self.setAccessibleName(f"{self._name.text()}: {words}")

    @property
    def words(self) -> str:
        """What it shows."""
        return self._figure.text()


def _percent(part: float | None) -> str:
    return figures.ABSENT if part is None else figures.percent(part * 100)


def _or_dash(write: Callable[[float], str], value: float | None) -> str:
    return figures.ABSENT if value is None else write(value)


def _memory(device: Device) -> str:
    used, most = device.used_mb, device.memory_mb
    if used is None or most is None:
        return figures.ABSENT
    return figures.translate("figures", "{used} of {most}").format(
        used=figures.memory(used), most=figures.memory(most)
    )


def _of(device: Device) -> str:
    used, most = device.used_mb, device.memory_mb
    if used is None or most is None:
        return figures.ABSENT
    number, _, unit = figures.memory(used).rpartition(" ")
    whole = figures.memory(most)
    return f"{number if whole.endswith(f' {unit}') else figures.memory(used)} / {whole}"
