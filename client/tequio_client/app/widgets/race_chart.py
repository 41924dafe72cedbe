"""A chart of several series over the same steps, as lines that bear their names.

The mouse or the arrow keys select a step whose values are then shown. The accessible description
holds a summary in words.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.theme import style
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets.base import focus_ring, paint_event, translucent
from tequio_client.app.widgets.charts import STEPS, smooth_path, step_for_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

LINES = 4
"""Intervals between the horizontal lines."""
LABELS_HEIGHT, LABELS_GAP, DOT = 20, 10, 4.0
NAME_HEIGHT = 15
"""Height of a line's name."""
FAR_PX = 9.0
"""Distance in pixels from its line's end at which a name gets a dot of its own."""
MOST_PLACES = 12
NAME_WIDTH = 110
"""Maximum width of a name in pixels."""
INKS = ("accent", "accent2", "warn", "ok", "danger", "text_sub")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2.5), (1.2, 2.2), (7, 2.5, 1.2, 2.5))
WriteValue: TypeAlias = "Callable[[float], str]"
WriteStep: TypeAlias = "Callable[[int], str]"
WriteAxis: TypeAlias = "Callable[[float, int], str]"
"""Writes a value with the given number of decimals."""


def axis_ends_and_step(lowest: float, highest: float, intervals: int) -> tuple[float, float, float]:
    """Ends and step, with about `steps` steps, of an axis that need not begin at 0."""
    span = highest - lowest or max(abs(highest), 1.0) / 10
    least = span / intervals
    power = 10.0 ** math.floor(math.log10(least))
    step = next(step for step in STEPS if step * power >= least * (1 - 1e-9)) * power
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


class RaceChart(QWidget):
    """Racers as lines told apart by colour, dashes and name; without values it shows `empty`."""

    def __init__(
        self, name: str, *, write: WriteValue, write_axis: WriteAxis, write_step: WriteStep
    ) -> None:
        super().__init__()
        self._racers: tuple[RaceLine, ...] = ()
        self._steps: tuple[int, ...] = ()
        self._empty, self._summary = "", ""
        self._write, self._write_axis, self._write_step = write, write_axis, write_step
        self._at: int | None = None
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumSize(QSize(220, 190))

    def set_lines(self, racers: Iterable[RaceLine], summary: str) -> None:
        shown = tuple(one for one in racers if one.points)
        if (shown, summary) == (self._racers, self._summary):
            return
        self._racers, self._summary, self._at = shown, summary, None
        self._steps = tuple(sorted({step for one in shown for step, _ in one.points}))
        self.setAccessibleDescription(summary if shown else self._empty)
        self.update()

    def set_empty_text(self, words: str) -> None:
        if words != self._empty:
            self._empty = words
            if not self._racers:
                self.setAccessibleDescription(words)
                self.update()

    @property
    def selected_step(self) -> int | None:
        """The selected step."""
        return None if self._at is None else self._steps[self._at]

    def sizeHint(self) -> QSize:
        return QSize(460, 200)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._racers:
            place, x = self._place(), event.position().x()
            spots = [abs(self._x(place, step) - x) for step in self._steps]
            self._choose(spots.index(min(spots)))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._choose(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at = step_for_key(event, self._at, len(self._steps) if self._racers else 0)
        if at is None:
            super().keyPressEvent(event)
        else:
            self._choose(at)

    def _choose(self, at: int | None) -> None:
        if at == self._at or not self._racers:
            return
        self._at = at
        words = self._summary if at is None else ", ".join(self._step_texts())
        self.setAccessibleDescription(words)
        self.update()

    def _step_texts(self) -> list[str]:
        """The selected step, and each line's value there."""
        step = self._steps[self._at or 0]
        values = [(one.name, _value_at(one, step)) for one in self._racers]
        said = [f"{name} {self._write(value)}" for name, value in values if value is not None]
        return [self._write_step(step), *said]

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        painter.setFont(font(TextStyle.SMALL))
        if self._racers:
            place = self._place()
            self._draw_axis(painter, place)
            for racer in self._racers:
                self._draw_line(painter, racer, place)
            self._draw_names(painter, place)
            if self._at is not None:
                self._draw_chosen(painter, place)
        else:
            self._draw_empty(painter)
        if self.hasFocus():
            focus_ring(painter, QRectF(self.rect()), style.BUTTON_RADIUS)

    def _span(self) -> tuple[float, float, float]:
        values = [value for one in self._racers for _, value in one.points]
        return axis_ends_and_step(min(values), max(values), LINES)

    def _axis(self) -> list[tuple[float, str]]:
        bottom, top, step = self._span()
        places = _decimals(step)
        values = [bottom + step * at for at in range(round((top - bottom) / step) + 1)]
        return [(value, self._write_axis(value, places)) for value in values]

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

    def _draw_axis(self, painter: QPainter, place: QRectF) -> None:
        dashes = QPen(QColor(current_tokens().hairline), 1)
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for at, (value, label) in enumerate(self._axis()):
            y = round(self._y(place, value)) + 0.5
            dashes.setStyle(Qt.PenStyle.DashLine if at else Qt.PenStyle.SolidLine)
            if at:
                dashes.setDashPattern([4, 4])
            painter.setPen(dashes)
            painter.drawLine(QPointF(place.left(), y), QPointF(place.right(), y))
            painter.setPen(QColor(current_tokens().text_sub))
            painter.drawText(QRectF(0, y - 8, place.left() - LABELS_GAP, 16), side, label)
        for step, flag in self._ends():
            spot = QRectF(place.left(), place.bottom() + 8, place.width(), LABELS_HEIGHT - 4)
            painter.drawText(spot, flag, self._write_step(step))

    def _ends(self) -> list[tuple[int, Qt.AlignmentFlag]]:
        ends = [(self._steps[-1], Qt.AlignmentFlag.AlignRight)]
        if len(self._steps) > 1:
            ends.append((self._steps[0], Qt.AlignmentFlag.AlignLeft))
        return ends

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
            painter.drawEllipse(
                QPointF(spot.left() + DOT, spot.center().y()),
                DOT - 1,
                DOT - 1,
            )
        painter.setPen(QColor(current_tokens().text))
        left = 2 * DOT + 3 if name.is_far else 3
        painter.drawText(spot.adjusted(left, 0, 9, 0), Qt.AlignmentFlag.AlignVCenter, name.words)

    def _draw_chosen(self, painter: QPainter, place: QRectF) -> None:
        colours, step = current_tokens(), self._steps[self._at or 0]
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
        colours, said = current_tokens(), self._step_texts()
        metrics = QFontMetricsF(painter.font())
        width = max(metrics.horizontalAdvance(one) for one in said) + 20
        height = NAME_HEIGHT * len(said) + 12
        left = x + 12 if x + 12 + width <= self.width() else x - 12 - width
        bubble = QRectF(max(left, 0.0), place.top(), width, height)
        painter.setPen(QPen(QColor(colours.edge), 1))
        painter.setBrush(QColor(colours.card))
        painter.drawRoundedRect(bubble.translated(0.5, 0.5), 7, 7)
        for at, one in enumerate(said):
            painter.setPen(QColor(colours.text if at else colours.text_sub))
            line = QRectF(
                bubble.left() + 10, bubble.top() + 6 + NAME_HEIGHT * at, width - 20, NAME_HEIGHT
            )
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, one)

    def _draw_empty(self, painter: QPainter) -> None:
        painter.setFont(font(TextStyle.BODY))
        painter.setPen(QColor(current_tokens().text_sub))
        room = QRectF(self.rect()).adjusted(24, 8, -24, -8)
        wrapped = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(room, int(wrapped), self._empty)


def line_colour(place: int) -> str:
    """The colour of the line at that place."""
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
