"""The losses of several runs by round, as lines that bear their names."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from tequio_client.app.theme import style
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import ALWAYS_LEFT, ALWAYS_RIGHT, translucent
from tequio_client.app.widgets.charts import (
    LABELS_GAP,
    LABELS_HEIGHT,
    LINES,
    StepChart,
    draw_bubble,
    round_step,
    smooth_path,
)

DOT = 4.0
NAME_HEIGHT = 15
"""Height of a line's name."""
FAR_PX = 9.0
"""Distance in pixels from its line's end at which a name gets a dot of its own."""
MOST_PLACES = 12
NAME_WIDTH = 110
"""Maximum width of a name in pixels."""
INKS = ("accent", "accent2", "warn", "ok", "danger", "text_sub")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2.5), (1.2, 2.2), (7, 2.5, 1.2, 2.5))
LOSS_PLACES = 3


def format_loss(loss: float) -> str:
    return figures.decimal(loss, LOSS_PLACES)


def axis_ends_and_step(lowest: float, highest: float, intervals: int) -> tuple[float, float, float]:
    """Ends and step, with about as many intervals, of an axis that need not begin at 0."""
    span = highest - lowest or max(abs(highest), 1.0) / 10
    step = round_step(span / intervals)
    bottom = math.floor(lowest / step + 1e-9) * step
    top = math.ceil(highest / step - 1e-9) * step
    return bottom, max(top, bottom + step), step


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceLine:
    """One line: its name and its values by step, which rise."""

    name: str
    points: tuple[tuple[int, float], ...]
    place: int = 0
    """Decides colour and dashes."""


@dataclass(frozen=True, slots=True)
class LineLabel:
    """The position of a line's name; `is_far`: not beside the end of its line."""

    spot: QRectF
    words: str
    ink: str
    is_far: bool = field(kw_only=True)


class RaceChart(StepChart):
    """Losses by round, as lines told apart by colour, dashes and name."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "", QSize(220, 190))
        self._racers: tuple[RaceLine, ...] = ()
        self._steps: tuple[int, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_lines(self, racers: Iterable[RaceLine], summary: str) -> None:
        shown = tuple(one for one in racers if one.points)
        if (shown, summary) != (self._racers, self._summary):
            self._racers = shown
            self._steps = tuple(sorted({step for one in shown for step, _ in one.points}))
            self._renew(summary)

    def sizeHint(self) -> QSize:
        return QSize(460, 200)

    def _has_values(self) -> bool:
        return bool(self._racers)

    def _step_places(self) -> list[float]:
        place = self._place()
        return [self._x(place, step) for step in self._steps]

    def _step_text(self) -> str:
        return ", ".join(self._step_texts())

    def _step_texts(self) -> list[str]:
        """The selected step, and each line's value there."""
        step = self._steps[self.selected or 0]
        values = [(one.name, _value_at(one, step)) for one in self._racers]
        losses = [f"{name} {format_loss(value)}" for name, value in values if value is not None]
        return [self._round_name(step), *losses]

    def _round_name(self, step: int) -> str:
        return self.tr("Round {number}").format(number=figures.count(step))

    def _draw(self, painter: QPainter) -> None:
        place = self._place()
        levels = [(self._y(place, value), label) for value, label in self._axis()]
        self._draw_levels(painter, place, levels)
        self._draw_ends(painter, place)
        for racer in self._racers:
            self._draw_line(painter, racer, place)
        self._draw_names(painter, place)
        if self.selected is not None:
            self._draw_selected(painter, place)

    def _span(self) -> tuple[float, float, float]:
        values = [value for one in self._racers for _, value in one.points]
        return axis_ends_and_step(min(values), max(values), LINES)

    def _axis(self) -> list[tuple[float, str]]:
        bottom, top, step = self._span()
        places = _decimals(step)
        values = [bottom + step * at for at in range(round((top - bottom) / step) + 1)]
        return [(value, figures.decimal(value, places)) for value in values]

    def _place(self) -> QRectF:
        metrics = QFontMetricsF(font(TextStyle.SMALL))
        left = max(metrics.horizontalAdvance(label) for _, label in self._axis())
        right = max(metrics.horizontalAdvance(one.name) for one in self._racers)
        room = QRectF(self.rect())
        return room.adjusted(left + LABELS_GAP, 8, -min(right, NAME_WIDTH) - 22, -LABELS_HEIGHT - 4)

    def _x(self, place: QRectF, step: int) -> float:
        first, last = self._steps[0], self._steps[-1]
        return place.left() + place.width() * (step - first) / max(last - first, 1)

    def _y(self, place: QRectF, value: float) -> float:
        bottom, top, _ = self._span()
        return place.bottom() - place.height() * (value - bottom) / (top - bottom)

    def _points(self, racer: RaceLine, place: QRectF) -> list[QPointF]:
        return [QPointF(self._x(place, at), self._y(place, value)) for at, value in racer.points]

    def _draw_ends(self, painter: QPainter, place: QRectF) -> None:
        """Write the first and the last step below the axis."""
        spot = QRectF(place.left(), place.bottom() + 8, place.width(), LABELS_HEIGHT - 4)
        painter.drawText(spot, ALWAYS_RIGHT, self._round_name(self._steps[-1]))
        if len(self._steps) > 1:
            painter.drawText(spot, ALWAYS_LEFT, self._round_name(self._steps[0]))

    def _draw_line(self, painter: QPainter, racer: RaceLine, place: QRectF) -> None:
        points = self._points(racer, place)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.strokePath(smooth_path(points), line_pen(racer.place))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(line_colour(racer.place)))
        painter.drawEllipse(points[-1], DOT - 1, DOT - 1)

    def _draw_names(self, painter: QPainter, place: QRectF) -> None:
        """Write each name where its line ends: beside the plot, or inside it for a shorter line."""
        metrics = QFontMetricsF(painter.font())
        names: list[LineLabel] = []
        for racer in self._racers:
            words = metrics.elidedText(racer.name, Qt.TextElideMode.ElideRight, NAME_WIDTH)
            end, width = self._points(racer, place)[-1], metrics.horizontalAdvance(words) + 6
            is_within = end.x() + 6 + width <= place.right()
            left = end.x() + 6 if is_within else place.right() + 6
            spot = QRectF(left, end.y() - NAME_HEIGHT / 2, width, NAME_HEIGHT)
            names.append(
                LineLabel(spot, words, line_colour(racer.place), is_far=left - end.x() > FAR_PX)
            )
        for name in _without_overlap(names, self.height() - LABELS_HEIGHT):
            self._draw_name(painter, name)

    def _draw_name(self, painter: QPainter, name: LineLabel) -> None:
        """A name far from its line's end gets a dot in the line's colour."""
        spot = name.spot
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(translucent(current_tokens().card, 0.8))
        painter.drawRoundedRect(spot, 4, 4)
        if name.is_far:
            painter.setBrush(QColor(name.ink))
            dot = QPointF(spot.left() + DOT, spot.center().y())
            painter.drawEllipse(dot, DOT - 1, DOT - 1)
        painter.setPen(QColor(current_tokens().text))
        left = 2 * DOT + 3 if name.is_far else 3
        side = ALWAYS_LEFT | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(spot.adjusted(left, 0, 9, 0), side, name.words)

    def _draw_selected(self, painter: QPainter, place: QRectF) -> None:
        colours, step = current_tokens(), self._steps[self.selected or 0]
        x = self._x(place, step)
        painter.setPen(QPen(translucent(colours.text_sub, 0.5), 1))
        painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()))
        for racer in self._racers:
            value = _value_at(racer, step)
            if value is not None:
                painter.setPen(QPen(QColor(colours.card), 2))
                painter.setBrush(QColor(line_colour(racer.place)))
                painter.drawEllipse(QPointF(x, self._y(place, value)), DOT, DOT)
        self._draw_bubble(painter, x, place)

    def _draw_bubble(self, painter: QPainter, x: float, place: QRectF) -> None:
        colours, lines = current_tokens(), self._step_texts()
        metrics = QFontMetricsF(painter.font())
        width = max(map(metrics.horizontalAdvance, lines)) + 20
        height = NAME_HEIGHT * len(lines) + 12
        left = x + 12 if x + 12 + width <= self.width() else x - 12 - width
        bubble = QRectF(max(left, 0.0), place.top(), width, height)
        draw_bubble(painter, bubble)
        for at, line in enumerate(lines):
            painter.setPen(QColor(colours.text if at else colours.text_sub))
            top = bubble.top() + 6 + NAME_HEIGHT * at
            spot = QRectF(bubble.left() + 10, top, width - 20, NAME_HEIGHT)
            painter.drawText(spot, Qt.AlignmentFlag.AlignVCenter, line)


def line_colour(place: int) -> str:
    return str(getattr(current_tokens(), INKS[place % len(INKS)]))


def line_pen(place: int) -> QPen:
    """The colour and dashes of the line at that place."""
    made = QPen(QColor(line_colour(place)), style.LINE)
    made.setCapStyle(Qt.PenCapStyle.FlatCap)
    made.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if dashes := DASHES[place % len(DASHES)]:
        made.setDashPattern(list(dashes))
    return made


def _decimals(step: float) -> int:
    """Decimals needed to write the step."""
    exact = (some for some in range(MOST_PLACES) if math.isclose(round(step, some), step))
    return next(exact, MOST_PLACES)


def _value_at(racer: RaceLine, step: int) -> float | None:
    """The value at that step or the last one before it; None: not begun, or ended."""
    steps = [at for at, _ in racer.points]
    found = bisect_left(steps, step + 1) - 1
    return racer.points[found][1] if found >= 0 and step <= steps[-1] else None


def _without_overlap(names: list[LineLabel], lowest: float) -> list[LineLabel]:
    """Move overlapping names apart, keeping all of them visible."""
    moved: list[LineLabel] = []
    for name in sorted(names, key=lambda one: one.spot.top()):
        spot, taken = QRectF(name.spot), [other.spot for other in moved]
        spot.moveBottom(min(spot.bottom(), lowest))
        for other in taken:
            if spot.intersects(other):
                spot.moveTop(other.bottom())
        while spot.bottom() > lowest or any(map(spot.intersects, taken)):
            spot.moveBottom(spot.bottom() - 1)
        is_far = name.is_far or abs(spot.top() - name.spot.top()) > FAR_PX
        moved.append(LineLabel(spot, name.words, name.ink, is_far=is_far))
    return moved
