"""How far one has come: a mark for each step, and the steps' count in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import across, painted

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

MARK = (22, 6)
HERE = 40
GAP = 7


class StepMarks(QWidget):
    """Decoration with an accessible name."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count, self._at = count, 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_step(self, at: int, words: str) -> None:
        """Mark that step, counted from 0."""
        self._at = at
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        """Room for all marks."""
        return QSize(HERE + (MARK[0] + GAP) * (self._count - 1), MARK[1])

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw them."""
        painter.setPen(Qt.PenStyle.NoPen)
        left, radius = 0.0, MARK[1] / 2
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        for at in range(self._count):
            width = HERE if at == self._at else MARK[0]
            x = self.width() - left - width if is_mirrored else left
            if at == self._at:
                painter.setBrush(across(x, x + width))
            else:
                painter.setBrush(QColor(tokens().accent if at < self._at else tokens().track))
            painter.drawRoundedRect(QRectF(x, 0, width, MARK[1]), radius, radius)
            left += width + GAP
