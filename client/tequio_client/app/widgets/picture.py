"""An icon beside words: decoration, in a colour of those in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from tequio_client.app.theme import icons
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import painted

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

SMALL = QSize(16, 16)


class Picture(QWidget):
    """An icon of one size; `ink` names its colour among the tokens."""

    def __init__(self, name: str, size: QSize = SMALL, ink: str = "text_sub") -> None:
        super().__init__()
        self._name, self._ink = name, ink
        self.setFixedSize(size)

    def show_as(self, name: str, ink: str) -> None:
        """Show that icon in that colour from now on."""
        self._name, self._ink = name, ink
        self.update()

    @property
    def name(self) -> str:
        """Which icon it shows."""
        return self._name

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw it."""
        icons.draw(painter, self._name, getattr(tokens(), self._ink), self.rect().toRectF())
