"""Charts: the base of those with steps, points over time, and sparklines.

The mouse or the arrow keys select a step whose values are then shown. The accessible description
holds a summary in words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme import style
from tequio_client.app.theme.look import current_tokens, has_focus_ring
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    ALWAYS_LEFT,
    ALWAYS_RIGHT,
    accent_gradient,
    focus_ring,
    paint_event,
    round_pen,
    translucent,
)
from tequio_shared import curve

STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
LINES = 4
"""Intervals between the horizontal lines."""
LABELS_HEIGHT = 20
"""Height of the labels below."""
LABELS_GAP = 10
"""Space between the labels and the plot."""
DOT = 4.5
LABELS_APART = 18
HEIGHT = 26
LINE = 1.6
SPARKLINE_DOT = 2.2
BAR_SHARE, WIDEST_BAR, BAR_RADIUS = 0.68, 26.0, 3.0
"""Of a step's width, and in pixels."""


def smooth_path(points: Sequence[QPointF]) -> QPainterPath:
    """The smooth line through points with rising x; empty without points."""
    if not points:
        return QPainterPath()
    path = QPainterPath(points[0])
    for piece in curve.smooth([(point.x(), point.y()) for point in points]):
        path.cubicTo(QPointF(*piece.first), QPointF(*piece.second), QPointF(*piece.end))
    return path


def axis_top_and_step(highest: float, intervals: int) -> tuple[float, float]:
    """A round top of an axis that holds the highest value, and its step.

    For a highest value of 0 or less the axis ends at 1.
    """
    if highest <= 0:
        return 1.0, 1.0 / intervals
    step = round_step(highest / intervals)
    return step * intervals, step


def round_step(least: float) -> float:
    """The round step of an axis that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step for step in STEPS if step * power >= least * (1 - 1e-9)) * power


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """GFLOP and a label for each step, oldest first."""

    values: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    summary: str = ""
    """The accessible description."""


class StepChart(QWidget):
    """A chart over steps, one of which can be selected; without values it shows why it is empty.

    Steps run from left to right in every language, as readers of Arabic expect of charts, too.
    """

    def __init__(self, name: str, empty: str, smallest: QSize) -> None:
        super().__init__()
        self._empty, self._summary = empty, ""
        self.selected: int | None = None
        """The index of the selected step."""
        self.setAccessibleName(name)
        self.setAccessibleDescription(empty)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumSize(smallest)

    def set_empty_text(self, words: str) -> None:
        if words == self._empty:
            return
        self._empty = words
        if not self._has_values():
            self.setAccessibleDescription(words)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._has_values():
            distances = [abs(x - event.position().x()) for x in self._step_places()]
            self._choose(distances.index(min(distances)))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._choose(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """An arrow key moves by a step, from the last one if none is selected."""
        last = len(self._step_places()) - 1 if self._has_values() else -1
        at = last if self.selected is None else self.selected
        goals = {
            Qt.Key.Key_Left: max(at - 1, 0),
            Qt.Key.Key_Right: min(at + 1, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        goal = goals.get(Qt.Key(event.key())) if last >= 0 else None
        if goal is None:
            super().keyPressEvent(event)
        else:
            self._choose(goal)

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        painter.setFont(font(TextStyle.SMALL))
        if self._has_values():
            self._draw(painter)
        else:
            painter.setFont(font(TextStyle.BODY))
            painter.setPen(QColor(current_tokens().text_sub))
            room = QRectF(self.rect()).adjusted(24, 8, -24, -8)
            wrapped = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(room, int(wrapped), self._empty)
        if has_focus_ring(self):
            focus_ring(painter, QRectF(self.rect()), style.BUTTON_RADIUS)

    def _has_values(self) -> bool:
        raise NotImplementedError

    def _step_places(self) -> list[float]:
        """The x coordinate of each step."""
        raise NotImplementedError

    def _step_text(self) -> str:
        """The values of the selected step."""
        raise NotImplementedError

    def _draw(self, painter: QPainter) -> None:
        raise NotImplementedError

    def _renew(self, summary: str) -> None:
        """Show other values, with no step selected."""
        self._summary, self.selected = summary, None
        self.setAccessibleDescription(summary if self._has_values() else self._empty)
        self.update()

    def _choose(self, at: int | None) -> None:
        if at == self.selected or not self._has_values():
            return
        self.selected = at
        self.setAccessibleDescription(self._summary if at is None else self._step_text())
        self.update()

    def _draw_levels(
        self, painter: QPainter, place: QRectF, levels: Sequence[tuple[float, str]]
    ) -> None:
        """Draw a labelled line at each y coordinate, the lowest of which is the axis."""
        pen = QPen(QColor(current_tokens().hairline), 1)
        side = ALWAYS_RIGHT | Qt.AlignmentFlag.AlignVCenter
        for at, (level, label) in enumerate(levels):
            y = round(level) + 0.5
            if at:
                pen.setDashPattern([4, 4])
            painter.setPen(pen)
            painter.drawLine(QPointF(place.left(), y), QPointF(place.right(), y))
            painter.setPen(QColor(current_tokens().text_sub))
            painter.drawText(QRectF(0, y - 8, place.left() - LABELS_GAP, 16), side, label)


def draw_bubble(painter: QPainter, bubble: QRectF) -> None:
    """Draw the ground of a text over a chart."""
    painter.setPen(QPen(QColor(current_tokens().edge), 1))
    painter.setBrush(QColor(current_tokens().card))
    painter.drawRoundedRect(bubble.translated(0.5, 0.5), 7, 7)


class PointsChart(StepChart):
    """Points as a bar for each step."""

    def __init__(self, name: str, empty: str) -> None:
        super().__init__(name, empty, QSize(220, 96))
        self._plot = ChartData()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_data(self, plot: ChartData) -> None:
        if plot != self._plot:
            self._plot = plot
            self._renew(plot.summary)

    def sizeHint(self) -> QSize:
        return QSize(460, 210)

    def _has_values(self) -> bool:
        return any(value > 0 for value in self._plot.values)

    def _step_places(self) -> list[float]:
        return [point.x() for point in self._points(self._place())]

    def _step_text(self, between: str = ": ") -> str:
        at = self.selected or 0
        return f"{self._plot.labels[at]}{between}{figures.short_points(self._plot.values[at])}"

    def _draw(self, painter: QPainter) -> None:
        place = self._place()
        levels = [place.bottom() - place.height() * at / LINES for at in range(LINES + 1)]
        self._draw_levels(painter, place, list(zip(levels, self._axis(), strict=True)))
        self._draw_labels(painter, place)
        points = self._points(place)
        self._draw_bars(painter, points, place)
        if self.selected is not None:
            self._draw_dot(painter, points[self.selected], place)

    def _place(self) -> QRectF:
        metrics = QFontMetricsF(font(TextStyle.SMALL))
        left = max(metrics.horizontalAdvance(label) for label in self._axis())
        return QRectF(self.rect()).adjusted(
            left + LABELS_GAP, DOT + 4, -DOT - 2, -LABELS_HEIGHT - 4
        )

    def _axis(self) -> list[str]:
        _, step = axis_top_and_step(max(self._plot.values), LINES)
        return [figures.exact_points(int(step * at)) for at in range(LINES + 1)]

    def _points(self, place: QRectF) -> list[QPointF]:
        values = self._plot.values
        top, _ = axis_top_and_step(max(values), LINES)
        step = place.width() / len(values)
        return [
            QPointF(place.left() + (at + 0.5) * step, place.bottom() - place.height() * value / top)
            for at, value in enumerate(values)
        ]

    def _draw_labels(self, painter: QPainter, place: QRectF) -> None:
        labels = self._plot.labels
        metrics = QFontMetricsF(painter.font())
        widest = max(metrics.horizontalAdvance(label) for label in labels) + LABELS_APART
        room = max(int(place.width() // widest), 1)
        every = max(-(-(len(labels) - 1) // max(room - 1, 1)), 1)
        step = place.width() / len(labels)
        for at in range(len(labels) - 1, -1, -every):
            width = metrics.horizontalAdvance(labels[at])
            left = place.left() + (at + 0.5) * step - width / 2
            left = min(max(left, 0.0), self.width() - width)
            spot = QRectF(left, place.bottom() + 8, width + 1, LABELS_HEIGHT - 4)
            painter.drawText(spot, ALWAYS_LEFT, labels[at])

    def _draw_bars(self, painter: QPainter, points: list[QPointF], place: QRectF) -> None:
        width = min(place.width() / len(points) * BAR_SHARE, WIDEST_BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(accent_gradient(place.left(), place.right()))
        for point in points:
            height = place.bottom() - point.y()
            radius = min(BAR_RADIUS, width / 2, height / 2)
            bar = QRectF(point.x() - width / 2, point.y(), width, height)
            painter.drawRoundedRect(bar, radius, radius)

    def _draw_dot(self, painter: QPainter, point: QPointF, place: QRectF) -> None:
        colours = current_tokens()
        painter.setPen(QPen(translucent(colours.text_sub, 0.5), 1))
        painter.drawLine(QPointF(point.x(), place.top()), QPointF(point.x(), place.bottom()))
        painter.setPen(QPen(QColor(colours.card), 2))
        painter.setBrush(QColor(colours.text_accent))
        painter.drawEllipse(point, DOT, DOT)
        self._draw_bubble(painter, point, self._step_text("   "))

    def _draw_bubble(self, painter: QPainter, point: QPointF, words: str) -> None:
        width = QFontMetricsF(painter.font()).horizontalAdvance(words) + 18
        left = min(max(point.x() - width / 2, 0.0), self.width() - width)
        top = point.y() - 36 if point.y() >= 38 else point.y() + 12  # noqa: PLR2004  # its height
        bubble = QRectF(left, top, width, 24)
        draw_bubble(painter, bubble)
        painter.setPen(QColor(current_tokens().text))
        painter.drawText(bubble, Qt.AlignmentFlag.AlignCenter, words)


class Sparkline(QWidget):
    """A small line without an axis; a missing reading (None) leaves a gap.

    The newest reading is at the right end; `room` readings fill the width.
    """

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room
        self.values: tuple[float | None, ...] = ()
        self._top = 1.0
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_values(self, values: Sequence[float | None], top: float) -> None:
        """Oldest first; a value above `top` raises the top."""
        self.values = tuple(values)[-self._room :]
        self._top = max([top, *(value for value in self.values if value is not None)])
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(80, HEIGHT)

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours, foot = current_tokens(), self.height() - 1.5
        painter.setPen(QPen(QColor(colours.hairline), 1))
        painter.drawLine(QPointF(0, foot), QPointF(self.width(), foot))
        for piece in self._pieces():
            self._draw(painter, piece, foot)
        newest = self._points()[-1] if self.values else None
        if newest is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent2))
            painter.drawEllipse(newest, SPARKLINE_DOT, SPARKLINE_DOT)

    def _points(self) -> list[QPointF | None]:
        step = (self.width() - 2 * SPARKLINE_DOT) / max(self._room - 1, 1)
        high, first = self.height() - 2 * SPARKLINE_DOT - 3, self._room - len(self.values)

        def point(at: int, value: float) -> QPointF:
            part = max(value, 0.0) / self._top if self._top else 0.0
            return QPointF(
                SPARKLINE_DOT + (first + at) * step, SPARKLINE_DOT + 1 + high * (1 - part)
            )

        values = enumerate(self.values)
        return [None if value is None else point(at, value) for at, value in values]

    def _pieces(self) -> list[list[QPointF]]:
        pieces: list[list[QPointF]] = [[]]
        for point in self._points():
            if point is None:
                pieces.append([])
            else:
                pieces[-1].append(point)
        return [piece for piece in pieces if len(piece) > 1]

    def _draw(self, painter: QPainter, piece: list[QPointF], foot: float) -> None:
        line = QPainterPath(piece[0])
        for point in piece[1:]:
            line.lineTo(point)
        ground = QPainterPath(line)
        ground.lineTo(piece[-1].x(), foot)
        ground.lineTo(piece[0].x(), foot)
        fade = QLinearGradient(0, 0, 0, foot)
        fade.setColorAt(0, translucent(current_tokens().accent, 0.28))
        fade.setColorAt(1, translucent(current_tokens().accent, 0.0))
        painter.fillPath(ground, fade)
        painter.strokePath(line, round_pen(QColor(current_tokens().accent), LINE))
