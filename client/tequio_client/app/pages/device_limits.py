"""The limits of one device: sliders for memory, power, temperature, time and threads."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QWidget

from tequio_client.app.pages.devices import CPU
from tequio_client.app.pages.settings_control import PreferenceEdits
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import LEADING, TRAILING, Columns, tool_tip
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.inputs import SliderRow
from tequio_client.ipc.facts import AcceleratorFacts
from tequio_client.ipc.preferences import DeviceChoice, usable_memory_mb

STEP_MB = 256
LEAST_MB = 1_024
STEP_W = 5
STEP_PERCENT = 5
MIN_POWER_SHARE = 0.3
"""Lowest share of a card's power limit that can be chosen: below it hardly any work gets done."""
MIN_C, MAX_C = 40, 110
LIMIT_WIDTH = 280
DEFAULT_C = 80


class LimitSlider(QWidget):
    """One limit, with a button that restores its default."""

    def __init__(self, slider: SliderRow, back: str) -> None:
        super().__init__()
        self.slider = slider
        self.reset = Button(back, "quiet", "rotate-ccw")
        self.reset.setAccessibleName(f"{slider.name}: {back}")
        self.chip = Chip("", "circle-pause", "warn")
        self.chip.hide()
        self.setMinimumWidth(LIMIT_WIDTH)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        grid.addWidget(slider, 0, 0, 1, 2)
        grid.addWidget(self.chip, 1, 0, LEADING)
        grid.addWidget(self.reset, 1, 1, TRAILING)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(2, 1)

    def show_value(self, value: int, *, is_usual: bool, usual: str = "") -> None:
        """While the default holds, the reset button is hidden and `usual` is its text, if any."""
        self.slider.set_value(value, usual if is_usual else "")
        self.reset.setVisible(not is_usual)

    def mark_stopping(self, words: str, why: str) -> None:
        """Mark this limit as the reason why lending is paused; empty words remove the mark."""
        self.chip.set_label(words, "circle-pause", "warn")
        self.chip.setToolTip(tool_tip(why))
        self.chip.setVisible(bool(words))


class DeviceLimits(Columns):
    def __init__(
        self,
        device: AcceleratorFacts,
        cores: int,
        edits: PreferenceEdits,
        *,
        has_thermometer: bool,
    ) -> None:
        """`cores` are those of the processor.

        `has_thermometer`: the device has reported its temperature, now or before. While it is
        silent, the limit on its temperature stays as it was.
        """
        super().__init__(folded=2, gap=24)
        self._edits, self._device, self._cores = edits, device, cores
        self._grid.setVerticalSpacing(14)
        is_processor = device.id == CPU
        self.memory = None if is_processor else self._memory_limit(device)
        self.watts = None if is_processor else self._watts_limit(device)
        self.temperature = self._temperature_limit() if has_thermometer else None
        share = SliderRow(
            self.tr("Share of the time"),
            STEP_PERCENT,
            100,
            figures.percent,
            self.tr("How much of the time this device works."),
        )
        share.round_to(STEP_PERCENT)
        self.share = self._limit(share, self.tr("Usual"), "share_percent", 100)
        self.threads = self._threads_limit() if is_processor else None
        card = (self.memory, self.watts, self.temperature, self.share)
        processor = (self.threads, self.share, self.temperature)
        limits = processor if is_processor else card
        self.set_parts([one for one in limits if one is not None])

    def show_choice(self, device: AcceleratorFacts, choice: DeviceChoice) -> None:
        """Show the choice as far as this device supports it; its power limit may change."""
        if self.memory is not None and device.memory_mb:
            usable = _rounded(usable_memory_mb(device.memory_mb, choice.memory_mb), STEP_MB)
            usual = self.tr("{memory}, automatic").format(memory=figures.memory(usable))
            self.memory.show_value(usable, is_usual=choice.memory_mb == 0, usual=usual)
        if self.watts is not None and device.watts_limit:
            self._show_power_limit(self.watts.slider, device.watts_limit)
            watts = min(choice.watts or device.watts_limit, device.watts_limit)
            is_usual, watts = choice.watts == 0, _rounded(watts, STEP_W)
            self.watts.show_value(watts, is_usual=is_usual, usual=self.tr("No goal"))
        if self.threads is not None:
            threads = min(choice.threads, self._cores) or max(self._cores - 1, 1)
            usual = self.tr("{threads}, automatic").format(threads=figures.count(threads))
            self.threads.show_value(threads, is_usual=choice.threads == 0, usual=usual)
        if self.temperature is not None:
            is_usual = choice.temperature_c == DEFAULT_C
            self.temperature.show_value(choice.temperature_c, is_usual=is_usual)
        self.share.show_value(
            _rounded(choice.share_percent, STEP_PERCENT),
            is_usual=choice.share_percent == 100,  # noqa: PLR2004  # percent
        )

    def _memory_limit(self, device: AcceleratorFacts) -> LimitSlider | None:
        total = device.memory_mb
        if not total or usable_memory_mb(total) < STEP_MB:
            return None
        free = self.tr("Left to the desktop: 2 GB at least, unless you choose more here.")
        note = self.tr("{free} This card has {total}.").format(
            free=free, total=figures.memory(total)
        )
        # The automatic value of a small card may be below the least that is worth choosing.
        least = min(LEAST_MB, _rounded(usable_memory_mb(total), STEP_MB))
        most = total - total % STEP_MB
        slider = SliderRow(self.tr("VRAM"), least, most, figures.memory, note)
        slider.round_to(STEP_MB)
        return self._limit(slider, self.tr("Automatic"), "memory_mb", 0)

    def _watts_limit(self, device: AcceleratorFacts) -> LimitSlider | None:
        if not device.watts_limit:
            return None
        slider = SliderRow(self.tr("Power goal"), 0, 1, figures.power)
        slider.round_to(STEP_W)
        return self._limit(slider, self.tr("No goal"), "watts", 0)

    def _show_power_limit(self, slider: SliderRow, most: float) -> None:
        slider.set_range(_rounded(most * MIN_POWER_SHARE, STEP_W), _rounded(most, STEP_W))
        note = self.tr("Kept by resting between steps; the card's own limit is {most}.")
        slider.set_note(note.format(most=figures.power(most)))

    def _temperature_limit(self) -> LimitSlider:
        goal = self.tr("Slows down to stay below this; stops at 5 °C above it.")
        slider = SliderRow(self.tr("Temperature goal"), MIN_C, MAX_C, figures.temperature, goal)
        return self._limit(slider, self.tr("Usual"), "temperature_c", DEFAULT_C)

    def _threads_limit(self) -> LimitSlider:
        note = self.tr("Of {cores} cores; one stays free unless you choose otherwise.").format(
            cores=figures.count(self._cores)
        )
        most = max(self._cores, 1)
        slider = SliderRow(self.tr("Threads"), 1, most, figures.count, note)
        return self._limit(slider, self.tr("Automatic"), "threads", 0)

    def _limit(self, slider: SliderRow, back: str, field: str, usual: int) -> LimitSlider:
        made, edits, name = LimitSlider(slider, back), self._edits, self._device.key
        slider.chosen.connect(lambda value: edits.change_soon({field: value}, device=name))
        made.reset.clicked.connect(lambda: edits.change({field: usual}, device=name))
        return made


def _rounded(value: float, step: int) -> int:
    return round(value / step) * step
