"""Indicators: chips, intervals, milestones, rings, bars and marks."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QConicalGradient, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from tequio_client.app.theme import icons, style
from tequio_client.app.theme.icons import STATE_SHAPES, StateShape, draw_logo, draw_shape
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Label,
    WrappedLabel,
    accent_gradient,
    caption_line,
    hbox,
    paint_event,
    round_pen,
    vbox,
)
from tequio_client.ipc.snapshot import LendingState

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
DOT = 4.5
BAR = 4.0
SIDE = 6.0
HEIGHT = 22
MILESTONES_DOT = 5.0
TRACK = 24
"""Height of the line and the dots."""
LINE = 4.0
SIXTEENTHS = 16
"""Qt counts angles in sixteenths of a degree."""
WORD_WIDTH = 62
"""Width in pixels for a word inside the ring."""
WARN_PERCENT = 90
"""Percentage from which a meter warns."""
COLOURS = {
    StateShape.DISC: "ok",
    StateShape.RING: "accent",
    StateShape.BARS: "text_sub",
    StateShape.TRIANGLE: "warn",
}


class Chip(QWidget):
    """A label with an icon, in one tone (none, `accent`, `ok`, `warn`, `danger`)."""

    def __init__(self, words: str = "", picture: str = "", tone: str = "") -> None:
        super().__init__()
        self.text, self._picture, self._tone = words, picture, tone
        self.setFont(font(TextStyle.LABEL))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(words)

    def set_label(self, words: str, picture: str = "", tone: str = "") -> None:
        self.text, self._picture, self._tone = words, picture, tone
        self.setAccessibleName(words)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        picture = ICON + GAP if self._picture else 0
        width = metrics.horizontalAdvance(self.text) + picture + 2 * PADDING
        return QSize(width, metrics.height() + 7)

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        room = QRectF(self.rect())
        ground, ink = (getattr(current_tokens(), name) for name in GROUNDS[self._tone])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(room, room.height() / 2, room.height() / 2)
        words = room.adjusted(PADDING, 0, -PADDING, 0)
        if self._picture:
            is_mirrored = self.isRightToLeft()
            left = words.right() - ICON if is_mirrored else words.left()
            place = QRectF(left, (room.height() - ICON) / 2, ICON, ICON)
            icons.draw_icon(painter, self._picture, ink, place)
            step = ICON + GAP
            words = words.adjusted(0, 0, -step, 0) if is_mirrored else words.adjusted(step, 0, 0, 0)
        painter.setFont(self.font())
        painter.setPen(QColor(ink))
        painter.drawText(words, Qt.AlignmentFlag.AlignCenter, self.text)


class IntervalBar(QWidget):
    """Draws the interval as a bar and the figure as a dot; better is where the line begins."""

    def __init__(self) -> None:
        super().__init__()
        self._interval: tuple[float, float, float] | None = None
        self._from, self._to, self._is_ours = 0.0, 1.0, False
        self.setMinimumWidth(70)
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_interval(
        self, interval: tuple[float, float, float], scale: tuple[float, float], *, is_ours: bool
    ) -> None:
        """Show low end, figure and high end on that scale, which rows below each other share."""
        self._interval, self._is_ours = interval, is_ours
        self._from, self._to = scale
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(140, HEIGHT)

    def place(self, value: float) -> float:
        """The x coordinate of a value in pixels."""
        span = self._to - self._from
        part = (value - self._from) / span if span > 0 else 0.5
        x = SIDE + (self.width() - 2 * SIDE) * part
        return self.width() - x if self.isRightToLeft() else x

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours, y = current_tokens(), self.height() / 2
        painter.setPen(QPen(QColor(colours.hairline), 1))
        painter.drawLine(QPointF(0, y), QPointF(self.width(), y))
        if self._interval is None:
            return
        ink = QColor(colours.accent if self._is_ours else colours.edge)
        painter.setPen(round_pen(ink, BAR))
        low, value, high = (QPointF(self.place(one), y) for one in self._interval)
        painter.drawLine(low, high)
        painter.setPen(QPen(QColor(colours.card), 2))
        painter.setBrush(QColor(colours.text_accent if self._is_ours else colours.text))
        painter.drawEllipse(value, DOT, DOT)


class Milestones(QWidget):
    """A dot with name and date for each milestone, on one line that shows the progress."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.progress, self._is_over = 0.0, False
        self._dates = [WrappedLabel("", TextStyle.SMALL, "sub") for _ in names]
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, TRACK, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        for at, name in enumerate(names):
            grid.setColumnStretch(at, 1)
            for line, part in enumerate((WrappedLabel(name, TextStyle.SMALL), self._dates[at])):
                part.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
                part.setMinimumWidth(1)
                grid.addWidget(part, line, at)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def show_dates(
        self, dates: Sequence[str], progress: float, summary: str, *, is_over: bool
    ) -> None:
        """`progress` is -1 before the first date, 0 at it, 1 at the second, and so on."""
        for label, date in zip(self._dates, dates, strict=True):
            label.setText(date)
        self.setAccessibleName(summary)
        self.progress, self._is_over = progress, is_over
        self.update()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours, y = current_tokens(), TRACK / 2
        spots = [QPointF(label.geometry().center().x() + 0.5, y) for label in self._dates]
        painter.setPen(round_pen(QColor(colours.track), LINE))
        painter.drawLine(spots[0], spots[-1])
        end = self._end(spots)
        if end != spots[0]:
            left, right = sorted((spots[0].x(), spots[-1].x()))
            ink = QColor(colours.ok) if self._is_over else accent_gradient(left, right)
            painter.setPen(round_pen(ink, LINE))
            # a level line has no area, so a gradient along it would not be drawn
            painter.drawLine(spots[0], end + QPointF(0, 0.01))
        for at, spot in enumerate(spots):
            self._draw_dot(painter, spot, is_reached=at <= self.progress)

    def _end(self, spots: list[QPointF]) -> QPointF:
        """The end of the line, for the dots at `spots`."""
        done = max(self.progress, 0.0)
        at = min(int(done), len(spots) - 1)
        part, last = done - at, min(at + 1, len(spots) - 1)
        return spots[at] + (spots[last] - spots[at]) * part

    def _draw_dot(self, painter: QPainter, spot: QPointF, *, is_reached: bool) -> None:
        colours = current_tokens()
        ink = (colours.ok if self._is_over else colours.accent) if is_reached else colours.edge
        painter.setPen(QPen(QColor(ink), 2))
        painter.setBrush(QColor(ink if is_reached else colours.card))
        painter.drawEllipse(spot, MILESTONES_DOT, MILESTONES_DOT)


class PercentRing(QWidget):
    """A percentage as an arc from the top; None: unknown."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._caption = name, ""
        self.percent: int | None = None
        self.setFixedSize(QSize(style.RING, style.RING))
        self.show_percent(None)

    def show_percent(self, percent: int | None, caption: str = "") -> None:
        """Show a percentage with a word below the figure."""
        self.percent, self._caption = percent, caption
        self.setAccessibleName(f"{self._name}: {self._figure()}")
        self.update()

    def _figure(self) -> str:
        return figures.ABSENT if self.percent is None else figures.percent(self.percent)

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours, inset = current_tokens(), style.RING_STROKE / 2 + 1
        place = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        painter.setPen(QPen(QColor(colours.track), style.RING_STROKE))
        painter.drawEllipse(place)
        if self.percent:
            turn = QConicalGradient(place.center(), 90)
            turn.setColorAt(1, QColor(colours.accent))
            turn.setColorAt(0.03, QColor(colours.accent2))
            turn.setColorAt(0, QColor(colours.accent))
            painter.setPen(round_pen(turn, style.RING_STROKE))
            angle = round(360 * self.percent / 100 * SIXTEENTHS)
            painter.drawArc(place, 90 * SIXTEENTHS, -angle)
        self._write(painter, place)

    def _write(self, painter: QPainter, place: QRectF) -> None:
        middle = Qt.AlignmentFlag.AlignCenter
        small = QFontMetricsF(font(TextStyle.SMALL))
        fits = small.horizontalAdvance(self._caption) < WORD_WIDTH
        lift = 7 if self._caption and fits else 0
        painter.setPen(QColor(current_tokens().text))
        painter.setFont(font(TextStyle.TITLE))
        painter.drawText(place.translated(0, -lift), middle, self._figure())
        painter.setPen(QColor(current_tokens().text_sub))
        painter.setFont(font(TextStyle.SMALL))
        if fits:
            painter.drawText(place.translated(0, 13), middle, self._caption)


class ProgressBar(QWidget):
    """A share from 0 to 1, as a bar with round ends."""

    def __init__(self, name: str, thickness: int = style.BAR) -> None:
        super().__init__()
        self._name, self.share, self._is_full = name, 0.0, False
        self.setFixedHeight(thickness)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(120, self.height())

    def set_share(self, share: float, *, warns: bool = False) -> None:
        self.share, self._is_full = min(max(share, 0.0), 1.0), warns
        self.setAccessibleName(f"{self._name}: {figures.percent(self.share * 100)}")
        self.update()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        room, radius = QRectF(self.rect()), self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current_tokens().track))
        painter.drawRoundedRect(room, radius, radius)
        if self.share > 0:
            width = max(room.height(), room.width() * self.share)
            is_mirrored = self.isRightToLeft()
            left = room.width() - width if is_mirrored else 0.0
            ends = (room.width(), 0.0) if is_mirrored else (0.0, room.width())
            warning = QColor(current_tokens().warn)
            painter.setBrush(warning if self._is_full else accent_gradient(*ends))
            painter.drawRoundedRect(QRectF(left, 0, width, room.height()), radius, radius)


class Meter(QWidget):
    """Usage beside its limit: a name, the figures, and a thin bar."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = caption_line(name)
        self.figures = Label("", TextStyle.LABEL)
        self._bar = ProgressBar(name, 4)
        row = hbox((self._name, 1), self.figures, spacing=8)
        keeps = self._bar.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(keeps)
        vbox(row, self._bar, spacing=6, parent=self)

    def set_name(self, name: str) -> None:
        self._name.setText(name)

    def show_use(self, words: str, part: float | None) -> None:
        """A share of None means unlimited: the bar is hidden."""
        self.figures.setText(words)
        self._bar.set_share(part or 0.0, warns=part is not None and part * 100 >= WARN_PERCENT)
        self._bar.setVisible(part is not None)
        self.setAccessibleName(f"{self._name.text()}: {words}")


class StateIcon(QWidget):
    def __init__(self, size: int) -> None:
        super().__init__()
        self._state = LendingState.PAUSED
        self.setFixedSize(QSize(size, size))

    def show_state(self, state: LendingState) -> None:
        self._state = state
        self.update()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        shape = STATE_SHAPES[self._state]
        draw_shape(painter, shape, getattr(current_tokens(), COLOURS[shape]), QRectF(self.rect()))


class Logo(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(QSize(24, 24))

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        draw_logo(painter, QRectF(self.rect()))
