"""How far something has come: as a ring, as a bar, and as a bar beside its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QConicalGradient, QFontMetricsF, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from tequio_client.app.theme import sizes
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.painting import across, painted
from tequio_client.app.widgets.text import Line, Text

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

SIXTEENTHS = 16
"""Qt's angles are counted in sixteenths of a degree."""
INSIDE = 62
"""Pixels of a ring that a word has."""
NEARLY_FULL = 90
"""Percent from which on a meter warns."""


class Ring(QWidget):
    """Percents of a whole, as an arc from the top; None: nobody knows how far it is."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._caption = name, ""
        self._percent: int | None = None
        self.setFixedSize(QSize(sizes.RING, sizes.RING))
        self.show_percent(None)

    def show_percent(self, percent: int | None, caption: str = "") -> None:
        """Show so many percent, with a word below the figure."""
        self._percent, self._caption = percent, caption
        shown = figures.ABSENT if percent is None else figures.percent(percent)
        self.setAccessibleName(f"{self._name}: {shown}")
        self.update()

    @property
    def percent(self) -> int | None:
        """What it shows."""
        return self._percent

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw track, arc and figure."""
        colours, inset = tokens(), sizes.RING_STROKE / 2 + 1
        place = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        painter.setPen(QPen(QColor(colours.track), sizes.RING_STROKE))
        painter.drawEllipse(place)
        if self._percent:
            turn = QConicalGradient(place.center(), 90)
            turn.setColorAt(1, QColor(colours.accent))
            turn.setColorAt(0.03, QColor(colours.accent2))
            turn.setColorAt(0, QColor(colours.accent))
            pen = QPen(turn, sizes.RING_STROKE)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            angle = round(360 * self._percent / 100 * SIXTEENTHS)
            painter.drawArc(place, 90 * SIXTEENTHS, -angle)
        self._write(painter, place)

    def _write(self, painter: QPainter, place: QRectF) -> None:
        shown = figures.ABSENT if self._percent is None else figures.percent(self._percent)
        middle = Qt.AlignmentFlag.AlignCenter
        small = QFontMetricsF(font(Type.SMALL))
        fits = small.horizontalAdvance(self._caption) < INSIDE
        lift = 7 if self._caption and fits else 0
        painter.setPen(QColor(tokens().text))
        painter.setFont(font(Type.TITLE))
        painter.drawText(place.translated(0, -lift), middle, shown)
        painter.setPen(QColor(tokens().text_sub))
        painter.setFont(font(Type.SMALL))
        if fits:
            painter.drawText(place.translated(0, 13), middle, self._caption)


class RoundBar(QWidget):
    """A part of one, as a bar with round ends."""

    def __init__(self, name: str, thickness: int = sizes.BAR) -> None:
        super().__init__()
        self._name, self._part, self._is_full = name, 0.0, False
        self.setFixedHeight(thickness)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(120, self.height())

    def show_part(self, part: float, *, warns: bool = False) -> None:
        """Show that part, from 0 to 1; in the warning colour on demand."""
        self._part, self._is_full = min(max(part, 0.0), 1.0), warns
        self.setAccessibleName(f"{self._name}: {figures.percent(self._part * 100)}")
        self.update()

    @property
    def part(self) -> float:
        """What it shows."""
        return self._part

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw track and bar."""
        room, radius = QRectF(self.rect()), self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().track))
        painter.drawRoundedRect(room, radius, radius)
        if self._part > 0:
            width = max(room.height(), room.width() * self._part)
            left = room.width() - width if self._is_mirrored() else 0.0
            ends = (room.width(), 0.0) if self._is_mirrored() else (0.0, room.width())
            painter.setBrush(QColor(tokens().warn) if self._is_full else across(*ends))
            painter.drawRoundedRect(QRectF(left, 0, width, room.height()), radius, radius)

    def _is_mirrored(self) -> bool:
        return self.layoutDirection() is Qt.LayoutDirection.RightToLeft


class Meter(QWidget):
    """Something used beside its limit: a name, the figures, and a thin bar."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = Line(name, Type.CAPTION, "sub")
        self._figures = Text("", Type.LABEL)
        self._bar = RoundBar(name, 4)
        column, row = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row.setSpacing(8)
        row.addWidget(self._name, 1)
        row.addWidget(self._figures)
        keeps = self._bar.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(keeps)
        column.addLayout(row)
        column.addWidget(self._bar)

    def rename(self, name: str) -> None:
        """Measure something else from now on."""
        self._name.setText(name)

    def show_use(self, words: str, part: float | None) -> None:
        """Show those figures; None: there is no limit, and no bar."""
        self._figures.setText(words)
        self._bar.show_part(part or 0.0, warns=part is not None and part * 100 >= NEARLY_FULL)
        self._bar.setVisible(part is not None)
        self.setAccessibleName(f"{self._name.text()}: {words}")

    @property
    def words(self) -> str:
        """What it says."""
        return self._figures.text()
