"""One figure with its name and what there is to say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from tequio_client.app.theme import icons, sizes
from tequio_client.app.theme.fonts import Type
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import painted
from tequio_client.app.widgets.text import Line

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

TILE = 28
TILE_RADIUS = 8


class StatCard(QFrame):
    """A card for one figure."""

    def __init__(self, name: str, picture: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._name = Line(name, Type.CAPTION, "sub")
        self._figure = Line("", Type.FIGURE)
        self._note = Line("", Type.CAPTION, "sub")
        grid = QGridLayout(self)
        grid.setContentsMargins(*sizes.CARD_MARGINS)
        grid.setVerticalSpacing(2)
        grid.addWidget(self._name, 0, 0)
        grid.addWidget(Tile(picture), 0, 1, 2, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._figure, 1, 0)
        grid.addWidget(self._note, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)

    def show_figure(self, figure: str, note: str = "", exact: str = "") -> None:
        """Show that figure; `exact` is what a tool tip adds."""
        self._figure.setText(figure)
        self._note.setText(note)
        self.setToolTip(exact)
        self.setAccessibleName(f"{self._name.text()}: {exact or figure}")
        self.setAccessibleDescription(note)

    @property
    def figure(self) -> str:
        """What it shows."""
        return self._figure.text()

    @property
    def note(self) -> str:
        """What it says about that."""
        return self._note.text()


class Tile(QWidget):
    """A small icon on a soft ground: decoration."""

    def __init__(self, picture: str) -> None:
        super().__init__()
        self._picture = picture
        self.setFixedSize(QSize(TILE, TILE))

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw ground and icon."""
        room = QRectF(self.rect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().accent_soft))
        painter.drawRoundedRect(room, TILE_RADIUS, TILE_RADIUS)
        inset = (TILE - sizes.ICON + 2) / 2
        icons.draw(
            painter,
            self._picture,
            tokens().text_accent,
            room.adjusted(inset, inset, -inset, -inset),
        )
