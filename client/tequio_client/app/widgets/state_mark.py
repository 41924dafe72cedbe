"""The shape of a state, in the colours in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtWidgets import QWidget

from tequio_client.app.theme.look import tokens
from tequio_client.app.theme.marks import SHAPES, Shape, draw_logo, draw_shape
from tequio_client.app.widgets.painting import painter_of
from tequio_client.link.decision import State

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

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

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        shape, painter = SHAPES[self._state], painter_of(self)
        draw_shape(painter, shape, getattr(tokens(), COLOURS[shape]), QRectF(self.rect()))
        painter.end()


class Logo(QWidget):
    """The logo; decoration."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.setFixedSize(QSize(size, size))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        painter = painter_of(self)
        draw_logo(painter, QRectF(self.rect()))
        painter.end()
