"""On or off, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Property, QEasingCurve, QPropertyAnimation, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QApplication, QCheckBox, QSizePolicy

from tequio_client.app.theme.look import is_still, tokens
from tequio_client.app.widgets.painting import focus_ring, painted

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QPainter

TRACK = (38, 22)
ROUND = 8.0
ROOM = 3
"""Around the track, for the focus ring."""
SLIDE_MS = 120


class Switch(QCheckBox):
    """A switch; what it switches stands beside it, and is its accessible name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._place = 0.0
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._slide = QPropertyAnimation(self, b"place", self)
        self._slide.setDuration(SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.toggled.connect(self._move)

    def sizeHint(self) -> QSize:
        """Always the same."""
        return QSize(TRACK[0] + 2 * ROOM, TRACK[1] + 2 * ROOM)

    def hitButton(self, at: QPoint) -> bool:
        """All of it can be clicked."""
        return self.rect().contains(at)

    def _move(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        app = QApplication.instance()
        goal = 1.0 if is_on else 0.0
        self._slide.stop()
        if self.isVisible() and isinstance(app, QApplication) and not is_still(app):
            self._slide.setStartValue(self._place)
            self._slide.setEndValue(goal)
            self._slide.start()
        else:
            self._set_place(goal)

    def _get_place(self) -> float:
        return self._place

    def _set_place(self, place: float) -> None:
        self._place = place
        self.update()

    place = Property(float, _get_place, _set_place)

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw track and thumb."""
        colours = tokens()
        track = QRectF(ROOM, ROOM, *TRACK)
        on, off = self._colours()
        painter.setPen(QPen(QColor(on if self.isChecked() else colours.edge), 1))
        painter.setBrush(QColor(on if self.isChecked() else colours.card))
        painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), TRACK[1] / 2, TRACK[1] / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.on_button if self.isChecked() else off))
        way = TRACK[0] - TRACK[1]
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        place = 1 - self._place if is_mirrored else self._place
        thumb = QRectF(0, 0, 2 * ROUND, 2 * ROUND)
        middle = track.topLeft().toPoint()
        thumb.moveCenter(track.center())
        thumb.moveLeft(middle.x() + (TRACK[1] - 2 * ROUND) / 2 + way * place)
        painter.drawEllipse(thumb)
        if self.hasFocus():
            focus_ring(painter, QRectF(self.rect()), TRACK[1] / 2 + ROOM)

    def _colours(self) -> tuple[str, str]:
        colours = tokens()
        if not self.isEnabled():
            return colours.text_off, colours.text_off
        return colours.button, colours.text_sub
