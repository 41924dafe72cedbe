"""A word on a soft ground, with a picture before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme import icons
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import painted

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

ICON = 13
PADDING = 9
GAP = 5
GROUNDS = {
    "": ("hover", "text_sub"),
    "accent": ("accent_soft", "text_accent"),
    "ok": ("ok_soft", "ok"),
    "warn": ("warn_soft", "warn"),
    "danger": ("danger_soft", "danger"),
}


class Chip(QWidget):
    """A chip of one tone (none, `accent`, `ok`, `warn`, `danger`)."""

    def __init__(self, words: str = "", picture: str = "", tone: str = "") -> None:
        super().__init__()
        self._words, self._picture, self._tone = words, picture, tone
        self.setFont(font(Type.LABEL))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(words)

    def show_as(self, words: str, picture: str = "", tone: str = "") -> None:
        """Say this from now on."""
        self._words, self._picture, self._tone = words, picture, tone
        self.setAccessibleName(words)
        self.updateGeometry()
        self.update()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words

    def sizeHint(self) -> QSize:
        """Room for all of it."""
        metrics = self.fontMetrics()
        picture = ICON + GAP if self._picture else 0
        width = metrics.horizontalAdvance(self._words) + picture + 2 * PADDING
        return QSize(width, metrics.height() + 7)

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw ground, picture and word."""
        room = QRectF(self.rect())
        ground, ink = (getattr(tokens(), name) for name in GROUNDS[self._tone])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(room, room.height() / 2, room.height() / 2)
        words = room.adjusted(PADDING, 0, -PADDING, 0)
        if self._picture:
            is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            left = words.right() - ICON if is_mirrored else words.left()
            place = QRectF(left, (room.height() - ICON) / 2, ICON, ICON)
            icons.draw(painter, self._picture, ink, place)
            step = ICON + GAP
            words = words.adjusted(0, 0, -step, 0) if is_mirrored else words.adjusted(step, 0, 0, 0)
        painter.setFont(self.font())
        painter.setPen(QColor(ink))
        painter.drawText(words, Qt.AlignmentFlag.AlignCenter, self._words)
