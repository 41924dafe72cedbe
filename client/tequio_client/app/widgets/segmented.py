"""One of a few choices, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QSizePolicy, QWidget

from tequio_client.app.theme import sizes
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import focus_ring, painted

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QPainter

PADDING = (14, 7)


class Segmented(QWidget):
    """A row of segments, one of which is chosen; arrow keys go from one to the next."""

    chosen = Signal(str)
    """The name of the segment that was chosen by hand."""

    def __init__(self, name: str, segments: dict[str, str]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 3, 3, 3)
        row.setSpacing(2)
        self._segments = {key: Segment(words, name) for key, words in segments.items()}
        for key, segment in self._segments.items():
            row.addWidget(segment)
            segment.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
        self.choose(next(iter(segments)))

    def choose(self, key: str) -> None:
        """Show that one as chosen."""
        self._segments[key].setChecked(True)

    @property
    def choice(self) -> str:
        """The name of the one that is chosen."""
        return next(key for key, segment in self._segments.items() if segment.isChecked())

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw the common ground."""
        painter.setPen(QPen(QColor(tokens().hairline), 1))
        painter.setBrush(QColor(tokens().page))
        room = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(room, sizes.BUTTON_RADIUS, sizes.BUTTON_RADIUS)


class Segment(QRadioButton):
    """One choice."""

    def __init__(self, words: str, group: str) -> None:
        super().__init__(words)
        self.setAccessibleName(words)
        self.setAccessibleDescription(group)
        self.setFont(font(Type.LABEL))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """The words, with room around."""
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.text()) + 2 * PADDING[0]
        return QSize(width, metrics.height() + 2 * PADDING[1] - 4)

    def minimumSizeHint(self) -> QSize:
        """The words are never cut."""
        return self.sizeHint()

    def hitButton(self, at: QPoint) -> bool:
        """All of it can be clicked."""
        return self.rect().contains(at)

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw ground and words."""
        colours, room = tokens(), QRectF(self.rect())
        radius = sizes.BUTTON_RADIUS - 3
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_soft if self.isChecked() else colours.hover))
            painter.drawRoundedRect(room, radius, radius)
        painter.setFont(self.font())
        ink = colours.text_accent if self.isChecked() else colours.text_sub
        painter.setPen(QColor(ink if self.isEnabled() else colours.text_off))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, self.text())
        if self.hasFocus():
            focus_ring(painter, room, radius)
