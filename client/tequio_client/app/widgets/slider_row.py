"""A limit to choose, with its value in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSlider, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.text import Line, Paragraph, Text

if TYPE_CHECKING:
    from collections.abc import Callable


class SliderRow(QWidget):
    """A name, the value in words as `write` has it, a slider, and a note if there is one."""

    chosen = Signal(int)
    """The value that was chosen by hand: when the hand lets go, and on each key."""

    def __init__(
        self, name: str, least: int, most: int, write: Callable[[int], str], note: str = ""
    ) -> None:
        super().__init__()
        self._write, self._words = write, Text("", Type.STRONG)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(least, most)
        self._slider.setAccessibleName(name)
        self._slider.setTracking(False)
        self._slider.sliderMoved.connect(self._say)
        self._slider.valueChanged.connect(self._settle)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        grid.addWidget(Line(name), 0, 0)
        grid.addWidget(self._words, 0, 1)
        grid.addWidget(self._slider, 1, 0, 1, 2)
        if note:
            grid.addWidget(Paragraph(note, Type.CAPTION, "sub"), 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        self._is_told = False
        self.choose(least)

    def choose(self, value: int) -> None:
        """Show that value, unless a hand is on the slider."""
        if not self._slider.isSliderDown():
            self._is_told = True
            self._slider.setValue(value)
            self._is_told = False
            self._say(self._slider.value())

    @property
    def value(self) -> int:
        """What is chosen."""
        return self._slider.value()

    @property
    def words(self) -> str:
        """What is chosen, in words."""
        return self._words.text()

    @property
    def name(self) -> str:
        """What is limited."""
        return self._slider.accessibleName()

    def set_step(self, step: int) -> None:
        """Let keys go so far."""
        self._slider.setSingleStep(step)
        self._slider.setPageStep(step * 5)

    def _say(self, value: int) -> None:
        self._words.setText(self._write(value))
        self._slider.setAccessibleDescription(self._words.text())

    def _settle(self, value: int) -> None:
        self._say(value)
        if not self._is_told:
            self.chosen.emit(value)
