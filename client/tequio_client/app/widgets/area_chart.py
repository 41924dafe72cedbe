"""A series over time, as a curve above a fading ground.

The hand of the mouse or the arrow keys choose a step, whose value is then shown; a summary in
words stands in the accessible description.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainterPath, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme import sizes
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.curve import smooth
from tequio_client.app.widgets.painting import across, focus_ring, painted, see_through
from tequio_client.app.widgets.scale import top_and_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

LINES = 4
"""Intervals between the hairlines."""
AXIS = 20
"""Height of the labels below."""
BESIDE = 10
"""Between the labels and the plot."""
DOT = 4.5
LABELS_APART = 18
Write: TypeAlias = "Callable[[float], str]"
"""Says a value in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """What a chart shows: one value and one label for each step, oldest first."""

    values: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    summary: str = ""
    """For who cannot see the curve."""


class AreaChart(QWidget):
    """Draws a plot, writing its values as told; while it has none, its words say why."""

    def __init__(self, name: str, empty: str, write: Write, write_axis: Write) -> None:
        super().__init__()
        self._plot, self._empty = Plot(), empty
        self._write, self._write_axis = write, write_axis
        self._at: int | None = None
        self.setAccessibleName(name)
        self.setAccessibleDescription(empty)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSize(220, 140))

    def show_plot(self, plot: Plot) -> None:
        """Show that from now on."""
        if plot == self._plot:
            return
        self._plot, self._at = plot, None
        self.setAccessibleDescription(plot.summary if self._has_values() else self._empty)
        self.update()

    def say_empty(self, words: str) -> None:
        """Say that while there is nothing to draw."""
        if words == self._empty:
            return
        self._empty = words
        if not self._has_values():
            self.setAccessibleDescription(words)
            self.update()

    @property
    def chosen(self) -> int | None:
        """The step whose value is shown."""
        return self._at

    def sizeHint(self) -> QSize:
        """A calm proportion."""
        return QSize(460, 260)

    # --- choosing a step

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Choose the step below the hand."""
        self._choose(self._nearest(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        """Choose none."""
        super().leaveEvent(event)
        self._choose(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the step before or after, the first or the last."""
        last = len(self._plot.values) - 1
        at = last if self._at is None else self._at
        goals = {
            Qt.Key.Key_Left: at - 1,
            Qt.Key.Key_Right: at + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        goal = goals.get(Qt.Key(event.key()))
        if goal is None or not self._has_values():
            super().keyPressEvent(event)
        else:
            self._choose(min(max(goal, 0), last))

    def _choose(self, at: int | None) -> None:
        if at == self._at or not self._has_values():
            return
        self._at = at
        plot = self._plot
        words = plot.summary if at is None else self._words(at, ": ")
        self.setAccessibleDescription(words)
        self.update()

    def _words(self, at: int, between: str) -> str:
        return f"{self._plot.labels[at]}{between}{self._write(self._plot.values[at])}"

    def _nearest(self, x: float) -> int | None:
        if not self._has_values():
            return None
        points = self._points(self._place())
        return min(range(len(points)), key=lambda at: abs(points[at].x() - x))

    # --- drawing

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw lines, labels, curve and the chosen dot; or the words of an empty chart."""
        painter.setFont(font(Type.SMALL))
        if self._has_values():
            place = self._place()
            self._draw_axis(painter, place)
            points = self._points(place)
            self._draw_curve(painter, points, place)
            if self._at is not None:
                self._draw_dot(painter, points[self._at], place)
        else:
            self._draw_empty(painter)
        if self.hasFocus():
            focus_ring(painter, QRectF(self.rect()), sizes.BUTTON_RADIUS)

    def _has_values(self) -> bool:
        return any(value > 0 for value in self._plot.values)

    def _place(self) -> QRectF:
        metrics = QFontMetricsF(font(Type.SMALL))
        left = max(metrics.horizontalAdvance(label) for label in self._axis())
        return QRectF(self.rect()).adjusted(left + BESIDE, DOT + 4, -DOT - 2, -AXIS - 4)

    def _axis(self) -> list[str]:
        _, step = top_and_step(max(self._plot.values), LINES)
        return [self._write_axis(step * at) for at in range(LINES + 1)]

    def _points(self, place: QRectF) -> list[QPointF]:
        values = self._plot.values
        top, _ = top_and_step(max(values), LINES)
        step = place.width() / max(len(values) - 1, 1)
        return [
            QPointF(place.left() + at * step, place.bottom() - place.height() * value / top)
            for at, value in enumerate(values)
        ]

    def _draw_axis(self, painter: QPainter, place: QRectF) -> None:
        dashes = QPen(QColor(tokens().hairline), 1)
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for at, label in enumerate(self._axis()):
            y = round(place.bottom() - place.height() * at / LINES) + 0.5
            dashes.setStyle(Qt.PenStyle.DashLine if at else Qt.PenStyle.SolidLine)
            if at:
                dashes.setDashPattern([4, 4])
            painter.setPen(dashes)
            painter.drawLine(QPointF(place.left(), y), QPointF(place.right(), y))
            painter.setPen(QColor(tokens().text_sub))
            painter.drawText(QRectF(0, y - 8, place.left() - BESIDE, 16), side, label)
        self._draw_labels(painter, place)

    def _draw_labels(self, painter: QPainter, place: QRectF) -> None:
        labels = self._plot.labels
        metrics = QFontMetricsF(painter.font())
        widest = max(metrics.horizontalAdvance(label) for label in labels) + LABELS_APART
        room = max(int(place.width() // widest), 1)
        every = max(-(-(len(labels) - 1) // max(room - 1, 1)), 1)
        step = place.width() / max(len(labels) - 1, 1)
        for at in range(len(labels) - 1, -1, -every):
            width = metrics.horizontalAdvance(labels[at])
            left = place.left() + at * step - width / 2
            left = min(max(left, 0.0), self.width() - width)
            spot = QRectF(left, place.bottom() + 8, width + 1, AXIS - 4)
            painter.drawText(spot, Qt.AlignmentFlag.AlignLeft, labels[at])

    def _draw_curve(self, painter: QPainter, points: list[QPointF], place: QRectF) -> None:
        line = smooth(points)
        ground = QPainterPath(line)
        ground.lineTo(points[-1].x(), place.bottom())
        ground.lineTo(points[0].x(), place.bottom())
        ground.closeSubpath()
        fade = QLinearGradient(0, place.top(), 0, place.bottom())
        fade.setColorAt(0, see_through(tokens().accent, 0.38))
        fade.setColorAt(1, see_through(tokens().accent, 0.0))
        painter.fillPath(ground, fade)
        pen = QPen(across(place.left(), place.right()), sizes.LINE)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(line, pen)
        if len(points) == 1:
            painter.setBrush(QColor(tokens().accent))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(points[0], DOT, DOT)

    def _draw_dot(self, painter: QPainter, point: QPointF, place: QRectF) -> None:
        colours, at = tokens(), self._at or 0
        painter.setPen(QPen(see_through(colours.text_sub, 0.5), 1))
        painter.drawLine(QPointF(point.x(), place.top()), QPointF(point.x(), place.bottom()))
        painter.setPen(QPen(QColor(colours.card), 2))
        painter.setBrush(QColor(colours.text_accent))
        painter.drawEllipse(point, DOT, DOT)
        self._draw_bubble(painter, point, self._words(at, "   "))

    def _draw_bubble(self, painter: QPainter, point: QPointF, words: str) -> None:
        colours = tokens()
        width = QFontMetricsF(painter.font()).horizontalAdvance(words) + 18
        left = min(max(point.x() - width / 2, 0.0), self.width() - width)
        top = point.y() - 36 if point.y() >= 38 else point.y() + 12  # noqa: PLR2004  # its height
        bubble = QRectF(left, top, width, 24)
        painter.setPen(QPen(QColor(colours.edge), 1))
        painter.setBrush(QColor(colours.card))
        painter.drawRoundedRect(bubble.translated(0.5, 0.5), 7, 7)
        painter.setPen(QColor(colours.text))
        painter.drawText(bubble, Qt.AlignmentFlag.AlignCenter, words)

    def _draw_empty(self, painter: QPainter) -> None:
        painter.setFont(font(Type.BODY))
        painter.setPen(QColor(tokens().text_sub))
        room = QRectF(self.rect()).adjusted(24, 8, -24, -8)
        wrapped = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(room, int(wrapped), self._empty)
