"""How much of a device may be taken: memory, power, warmth, time and threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from tequio_client.app.widgets import figures
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.slider_row import SliderRow
from tequio_client.app.widgets.text import tip
from tequio_client.link.preferences import most_memory_mb

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.devices import Device
    from tequio_client.app.pages.edits import Edits
    from tequio_client.link.preferences import DeviceChoice

STEP_MB = 256
STEP_W = 5
STEP_PERCENT = 5
LEAST_PART = 0.3
"""Of a card's power: below it hardly anything gets done."""
LEAST_C, MOST_C = 40, 110
LEAST_PERCENT = 5
LEAST_WIDTH = 290
USUAL_C = 80


class Limit(QWidget):
    """One limit, with the way back to what usually holds."""

    chosen = Signal(int)
    """What the hand chose, in steps."""
    given_back = Signal()

    def __init__(self, slider: SliderRow, back: str) -> None:
        super().__init__()
        self.slider = slider
        self.back = Button(back, "quiet", "rotate-ccw")
        self.back.setAccessibleName(f"{slider.name}: {back}")
        self.chip = Chip("", "circle-pause", "warn")
        self.chip.hide()
        self.setMinimumWidth(LEAST_WIDTH)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        grid.addWidget(slider, 0, 0, 1, 2)
        grid.addWidget(self.chip, 1, 0, Qt.AlignmentFlag.AlignLeading)
        grid.addWidget(self.back, 1, 1, Qt.AlignmentFlag.AlignTrailing)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(2, 1)
        slider.chosen.connect(self.chosen)
        self.back.clicked.connect(self.given_back)

    def show_value(self, value: int, *, is_usual: bool) -> None:
        """Show that; the way back is there unless it is what usually holds."""
        self.slider.choose(value)
        self.back.setVisible(not is_usual)

    def say_stops(self, words: str, why: str) -> None:
        """Name this limit as what decides now; no words: it is not."""
        self.chip.show_as(words, "circle-pause", "warn")
        self.chip.setToolTip(tip(why))
        self.chip.setVisible(bool(words))


class Limits(Columns):
    """The limits of one device."""

    def __init__(self, device: Device, edits: Edits) -> None:
        super().__init__(folded=2, gap=24)
        self._edits, self._device = edits, device
        self._is_usual = True
        self._grid.setVerticalSpacing(14)
        self.memory = self._memory_limit(device)
        self.watts = self._watts_limit(device)
        self.temperature = self._limit(
            SliderRow(
                self.tr("Temperature goal"),
                LEAST_C,
                MOST_C,
                figures.temperature,
                self.tr("Slows down to stay below this; stops at 5 °C above it."),
            ),
            self.tr("Usual"),
            "temperature_c",
            lambda c: c,
            USUAL_C,
        )
        self.share = self._limit(
            SliderRow(
                self.tr("Share of the time"),
                1,
                100 // STEP_PERCENT,
                lambda steps: figures.percent(steps * STEP_PERCENT),
                self.tr("How much of the time this device works."),
            ),
            self.tr("Usual"),
            "share_percent",
            lambda steps: steps * STEP_PERCENT,
            100,
        )
        self.threads = self._threads_limit(device)
        card = (self.memory, self.watts, self.temperature, self.share)
        processor = (self.threads, self.share, self.temperature)
        self.parts = tuple(
            one for one in (processor if device.is_processor else card) if one is not None
        )
        self.hold(self.parts)

    def show_choice(self, choice: DeviceChoice) -> None:
        """Show what was chosen, as far as this device can do it."""
        device = self._device
        if self.memory is not None and device.memory_mb:
            chosen = most_memory_mb(device.memory_mb, choice.memory_mb)
            self._show(self.memory, round(chosen / STEP_MB), is_usual=choice.memory_mb == 0)
        if self.watts is not None and device.watts_limit:
            watts = min(choice.watts or device.watts_limit, device.watts_limit)
            self._show(self.watts, round(watts / STEP_W), is_usual=choice.watts == 0)
        if self.threads is not None:
            threads = min(choice.threads, device.cores) or max(device.cores - 1, 1)
            self._show(self.threads, threads, is_usual=choice.threads == 0)
        self.temperature.show_value(choice.temperature_c, is_usual=choice.temperature_c == USUAL_C)
        self.share.show_value(
            max(round(choice.share_percent / STEP_PERCENT), 1),
            is_usual=choice.share_percent == 100,  # noqa: PLR2004  # percent
        )

    def _show(self, limit: Limit, steps: int, *, is_usual: bool) -> None:
        """Show what was chosen, or by its own word what holds without a choice."""
        self._is_usual = is_usual
        limit.show_value(steps, is_usual=is_usual)
        self._is_usual = False

    # --- each limit

    def _memory_limit(self, device: Device) -> Limit | None:
        total = device.memory_mb
        if device.is_processor or not total or most_memory_mb(total) < STEP_MB:
            return None
        free = self.tr("Left to the desktop: 2 GiB at least, unless you choose more here.")
        note = self.tr("{free} This card has {total}.").format(
            free=free, total=figures.memory(total)
        )
        return self._limit(
            SliderRow(self.tr("VRAM"), 4, total // STEP_MB, self._memory_words, note),
            self.tr("Automatic"),
            "memory_mb",
            lambda steps: steps * STEP_MB,
            0,
        )

    def _memory_words(self, steps: int) -> str:
        shown = figures.memory(steps * STEP_MB)
        if not self._is_usual:
            return shown
        return self.tr("{memory}, automatic").format(memory=shown)

    def _watts_limit(self, device: Device) -> Limit | None:
        most = device.watts_limit
        if device.is_processor or not most:
            return None
        least = round(most * LEAST_PART / STEP_W)
        return self._limit(
            SliderRow(
                self.tr("Power goal"),
                least,
                round(most / STEP_W),
                self._watts_words,
                self.tr("Kept by resting between steps; the card's own limit is {most}.").format(
                    most=figures.power(most)
                ),
            ),
            self.tr("No goal"),
            "watts",
            lambda steps: steps * STEP_W,
            0,
        )

    def _watts_words(self, steps: int) -> str:
        return self.tr("No goal") if self._is_usual else figures.power(steps * STEP_W)

    def _threads_limit(self, device: Device) -> Limit | None:
        if not device.is_processor:
            return None
        return self._limit(
            SliderRow(
                self.tr("Threads"),
                1,
                max(device.cores, 1),
                self._threads_words,
                self.tr("Of {cores} cores; one stays free unless you choose otherwise.").format(
                    cores=figures.count(device.cores)
                ),
            ),
            self.tr("Automatic"),
            "threads",
            lambda threads: threads,
            0,
        )

    def _threads_words(self, threads: int) -> str:
        shown = figures.count(threads)
        if not self._is_usual:
            return shown
        return self.tr("{threads}, automatic").format(threads=shown)

    def _limit(
        self, slider: SliderRow, back: str, field: str, value: Callable[[int], int], usual: int
    ) -> Limit:
        made, name = Limit(slider, back), self._device.id

        def choose(steps: int) -> None:
            fields: dict[str, Any] = {field: value(steps)}
            self._edits.change_device_soon(name, fields)

        made.chosen.connect(choose)
        made.given_back.connect(lambda: self._edits.change_device(name, {field: usual}))
        return made
