"""The shape of a state, in the colours in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtWidgets import QWidget

from tequio_client.app.theme.look import tokens
from tequio_client.app.theme.marks import SHAPES, Shape, draw_logo, draw_shape
from tequio_client.app.widgets.painting import painted
from tequio_client.link.decision import State

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

COLOURS = {
    Shape.DISC: "ok",
    Shape.RING: "accent",
    Shape.BARS: "text_sub",
    Shape.TRIANGLE: "warn",
}


class StateMark(QWidget):
    """Decoration beside the state's word."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._state = State.PAUSED
        self.setFixedSize(QSize(size, size))

    def show_state(self, state: State) -> None:
        """Show the shape of that one."""
        self._state = state
        self.update()

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw it."""
        shape = SHAPES[self._state]
        draw_shape(painter, shape, getattr(tokens(), COLOURS[shape]), QRectF(self.rect()))


class Logo(QWidget):
    """The logo; decoration."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.setFixedSize(QSize(size, size))

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw it."""
        draw_logo(painter, QRectF(self.rect()))
