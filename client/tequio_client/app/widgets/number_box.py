"""A number with its unit, that can be typed or stepped; what is out of range cannot be entered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QSizePolicy

from tequio_client.app.theme.fonts import Type, font

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent

WIDTH = 132


class NumberBox(QDoubleSpinBox):
    """A box for one number; `nothing` is what the least value is called, if it has a name."""

    chosen = Signal(float)
    """The number that was entered by hand: on Enter, on leaving the box, and on each step."""

    def __init__(
        self,
        name: str,
        least: float,
        most: float,
        unit: str = "",
        *,
        places: int = 0,
        nothing: str = "",
    ) -> None:
        super().__init__()
        self._is_told = False
        self.setAccessibleName(name)
        self.setFont(font(Type.BODY))
        self.setDecimals(places)
        self.setRange(least, most)
        self.setSuffix(f" {unit}" if unit else "")
        self.setSpecialValueText(nothing)
        self.setKeyboardTracking(False)
        self.setGroupSeparatorShown(True)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(WIDTH)
        self.lineEdit().setTextMargins(9, 0, 9, 0)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.valueChanged.connect(self._tell)

    def choose(self, value: float) -> None:
        """Show that number, unless a hand is typing."""
        if self.hasFocus() and self.lineEdit().isModified():
            return
        self._is_told = True
        self.setValue(value)
        self._is_told = False

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page, unless this box was chosen."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _tell(self, value: float) -> None:
        if not self._is_told:
            self.chosen.emit(value)
