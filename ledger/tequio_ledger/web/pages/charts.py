"""Geometry of charts, for templates to draw.

Every chart is laid out twice, for wide and for narrow screens, so that its text has the same size
as the text of the page on both; the style sheet displays one of the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise

from tequio_ledger.web.pages.text import axis_number
from tequio_shared import curve
from tequio_shared.curve import Point

WIDE, NARROW = (540, 220), (336, 200)
TOP, BOTTOM = 30, 26
"""Room above the plot, for the title of the values, and below it, for the labels."""
TITLE_HEIGHT = 18
"""Further room below, for the title of the lower axis."""
_RIGHT = 14
MAX_INTERVALS = 5
_STEPS = (1.0, 2.0, 5.0, 10.0)
_LETTER_PX = 7.6
"""Width of the widest digit of an axis."""
_LABEL_GAP = 8
_GAP, _MOST_GAP = 0.3, 6.0
"""Gap between two bars, as a share of their width, and at most in pixels."""
_LABEL_PX = 64
"""Least distance of two labels on the lower axis."""
MAX_SMOOTH = 60
MAX_STEPS = 100
"""A longer series is drawn as means of neighbours, about as many."""


def smooth_path(points: Sequence[Point]) -> str:
    """Give the SVG path of a smooth line; x must rise. Empty without points.

    Many points are so close together that straight lines look the same, and need less text.
    """
    if not points:
        return ""
    if len(points) > MAX_SMOOTH:
        return "M" + "L".join(map(_pair, points))
    pieces = ("C" + " ".join(map(_pair, piece)) for piece in curve.smooth(points))
    return f"M{_pair(points[0])}" + "".join(pieces)


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleValue:
    value: float
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartReading:
    """One step of a series: its position, its value, and both in words."""

    at: float
    value: float
    label: str
    caption: str
    figure: Callable[[float], str]
    """Writes such a value, for the captions of means."""
    is_open: bool = False
    """The value may still grow: its period is not over."""
    singles: tuple[SingleValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartBreak:
    """A position between two readings where a series begins again, and why."""

    at: float
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartBar:
    """One value as a bar, in pixels."""

    x: float
    y: float
    width: float
    height: float
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartAxis:
    """Round ends of an axis, and the distance of its ticks: 1, 2 or 5 times a power of ten."""

    low: float
    high: float
    step: float

    def ticks(self) -> list[tuple[float, str]]:
        """List each tick's value and label."""
        most = max(abs(self.low), abs(self.high))
        count = round((self.high - self.low) / self.step)
        values = (self.low + at * self.step for at in range(count + 1))
        return [(one, axis_number(one, self.step, most)) for one in values]

    @property
    def gutter(self) -> float:
        """Width of the labels, in pixels."""
        return _LABEL_GAP + math.ceil(max(len(label) for _, label in self.ticks()) * _LETTER_PX)


@dataclass(frozen=True, slots=True)
class AxisTitles:
    """The unit of the values, and what positions count, such as rounds.

    Without the latter, positions are labelled as their readings are.
    """

    values: str
    positions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisTick:
    """A tick of an axis, in pixels, with its label."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartDot:
    """One value in pixels; `left` and `width` are the strip that reveals it on hover."""

    x: float
    y: float
    left: float
    width: float
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpot:
    """A single value in pixels; at the edge if it lies beyond the axis."""

    x: float
    y: float
    is_outlier: bool
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartCurve:
    """One of several curves, and its last point in pixels; `look` is its style."""

    look: int
    path: str
    x: float
    y: float
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRule:
    """A vertical line in pixels."""

    x: float
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLayout:
    """A chart at one size: a line with its area, or bars, or several curves."""

    kind: str
    width: int
    height: int
    left: float
    right: float
    base: float
    rows: tuple[AxisTick, ...]
    columns: tuple[AxisTick, ...]
    titles: AxisTitles
    line: str = ""
    area: str = ""
    dots: tuple[ChartDot, ...] = ()
    bars: tuple[ChartBar, ...] = ()
    spots: tuple[ChartSpot, ...] = ()
    curves: tuple[ChartCurve, ...] = ()
    rules: tuple[ChartRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A series over time or rounds, with a summary for people who cannot see it."""

    name: str
    title: str
    summary: str
    readings: tuple[ChartReading, ...]
    """The series as it is drawn; see `downsample`."""
    last: ChartReading | None
    """The last step itself, which `readings` may contain as part of a mean."""
    layouts: tuple[ChartLayout, ...]


def chart(  # noqa: PLR0913 - a series, and how it is drawn
    name: str,
    title: str,
    summary: str,
    readings: Sequence[ChartReading],
    titles: AxisTitles,
    *,
    from_zero: bool,
    breaks: Sequence[ChartBreak] = (),
) -> Chart:
    """Lay a series out; `name` must be unique on its page. Fewer than two readings: no layouts.

    `breaks` ascend; each begins a new line.
    """
    shown = downsample(readings, breaks)
    singles = (each for one in shown for each in one.singles if not each.is_outlier)
    values = [*(one.value for one in shown), *(each.value for each in singles)]
    kinds = (("wide", *WIDE), ("narrow", *NARROW)) if len(shown) > 1 else ()
    axis = value_axis(values or [0.0], from_zero=from_zero)
    layouts = tuple(_layout(*kind, shown, axis, titles, breaks) for kind in kinds)
    return Chart(
        name=name,
        title=title,
        summary=summary,
        readings=tuple(shown),
        last=readings[-1] if readings else None,
        layouts=layouts,
    )


def as_bars(chart_: Chart) -> Chart:
    """Draw each value as a bar: for amounts per period, which have no values in between."""
    layouts = tuple(_with_bars(one, chart_.readings) for one in chart_.layouts)
    return replace(chart_, layouts=layouts)


def _with_bars(layout: ChartLayout, readings: Sequence[ChartReading]) -> ChartLayout:
    width = (layout.right - layout.left) / len(readings)
    lefts = [layout.left + at * width for at in range(len(readings))]
    dots = tuple(
        replace(dot, x=round(left + width / 2, 1), left=round(left, 1), width=round(width, 1))
        for dot, left in zip(layout.dots, lefts, strict=True)
    )
    gap = min(width * _GAP, _MOST_GAP)
    bars = tuple(
        ChartBar(
            x=round(dot.left + gap / 2, 1),
            y=dot.y,
            width=round(width - gap, 1),
            height=round(layout.base - dot.y, 1),
            is_open=reading.is_open,
        )
        for dot, reading in zip(dots, readings, strict=True)
    )
    columns = _columns([dot.x for dot in dots], readings)
    return replace(layout, line="", area="", dots=dots, bars=bars, columns=columns)


def value_axis(values: Sequence[float], *, from_zero: bool) -> ChartAxis:
    """Give an axis that includes all values."""
    lowest, highest = (min(0.0, *values) if from_zero else min(values)), max(values)
    step = _step((highest - lowest or abs(highest) or 1.0) / MAX_INTERVALS)
    while True:
        low = math.floor(lowest / step + 1e-9) * step
        high = max(math.ceil(highest / step - 1e-9) * step, low + step)
        if round((high - low) / step) <= MAX_INTERVALS:
            return ChartAxis(low=low, high=high, step=step)
        step = _step(step * 1.01)


def downsample(
    readings: Sequence[ChartReading], breaks: Sequence[ChartBreak] = ()
) -> list[ChartReading]:
    """Reduce a series to about `MAX_STEPS` means of neighbours with no break between them."""
    if len(readings) <= MAX_STEPS:
        return list(readings)
    size = -(-len(readings) // MAX_STEPS)
    return [
        _mean(line[at : at + size])
        for line in _lines(readings, breaks)
        for at in range(0, len(line), size)
    ]


def _mean(group: Sequence[ChartReading]) -> ChartReading:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return last
    value = sum(one.value for one in group) / len(group)
    return ChartReading(
        at=last.at,
        value=value,
        label=last.label,
        caption=f"mean of rounds {first.label} to {last.label}: {last.figure(value)}",
        figure=last.figure,
    )


def _lines(
    readings: Sequence[ChartReading], breaks: Sequence[ChartBreak]
) -> list[list[ChartReading]]:
    """Split a series where it begins again."""
    passed = groupby(readings, lambda one: sum(each.at <= one.at for each in breaks))
    return [list(line) for _, line in passed]


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step for step in _STEPS if step * power >= least * (1 - 1e-9)) * power


def _layout(  # noqa: PLR0913, PLR0917 - a size, and what is drawn in it
    kind: str,
    width: int,
    height: int,
    readings: Sequence[ChartReading],
    axis: ChartAxis,
    titles: AxisTitles,
    breaks: Sequence[ChartBreak],
) -> ChartLayout:
    left, right = axis.gutter, width - _RIGHT
    base = height - BOTTOM - (TITLE_HEIGHT if titles.positions else 0)
    first, last = readings[0].at, readings[-1].at
    scale = (right - left) / (last - first)
    xs = [left + (one.at - first) * scale for one in readings]

    def place(value: float) -> float:
        return base - (value - axis.low) / (axis.high - axis.low) * (base - TOP)

    points = [(x, place(one.value)) for x, one in zip(xs, readings, strict=True)]
    rest = iter(points)
    groups = [list(islice(rest, len(line))) for line in _lines(readings, breaks)]
    lines = [smooth_path(group) for group in groups]
    return ChartLayout(
        kind=kind,
        width=width,
        height=height,
        left=left,
        right=right,
        base=base,
        line="".join(lines),
        area="".join(
            f"{line}V{base}H{group[0][0]:.1f}Z" for line, group in zip(lines, groups, strict=True)
        ),
        rows=value_ticks(axis, base),
        titles=titles,
        columns=position_ticks((first, last), left, right)
        if titles.positions
        else _columns(xs, readings),
        dots=_dots(points, readings, left, right),
        spots=tuple(
            ChartSpot(
                x=round(x, 1),
                y=round(min(max(place(single.value), TOP), base), 1),
                is_outlier=single.is_outlier,
            )
            for x, one in zip(xs, readings, strict=True)
            for single in one.singles
        ),
        # A break after the last reading is at the edge: it is news until the next one.
        rules=tuple(
            ChartRule(x=round(min(left + (one.at - first) * scale, right), 1), caption=one.caption)
            for one in breaks
            if one.at > first
        ),
    )


def value_ticks(axis: ChartAxis, base: float) -> tuple[AxisTick, ...]:
    """Label the vertical axis, whose lower end is at `base`."""
    scale = (base - TOP) / (axis.high - axis.low)
    return tuple(
        AxisTick(at=round(base - (value - axis.low) * scale, 1), text=label)
        for value, label in axis.ticks()
    )


def position_ticks(span: tuple[float, float], left: float, right: float) -> tuple[AxisTick, ...]:
    """Label round whole numbers between two positions, as many as there is room for."""
    first, last = span
    scale = (right - left) / ((last - first) or 1.0)
    step = max(_step(_LABEL_PX / scale), 1.0)
    marks = range(math.ceil(first / step), math.floor(last / step) + 1)
    return tuple(
        AxisTick(at=round(left + (at * step - first) * scale, 1), text=f"{at * step:,.0f}")
        for at in marks
    )


def _columns(xs: Sequence[float], readings: Sequence[ChartReading]) -> tuple[AxisTick, ...]:
    """Label as many readings as there is room for, from the last one backwards."""
    ticks: list[AxisTick] = []
    for x, one in zip(reversed(xs), reversed(readings), strict=True):
        if not ticks or (ticks[-1].at - x >= _LABEL_PX and ticks[-1].text != one.label):
            ticks.append(AxisTick(at=round(x, 1), text=one.label))
    return tuple(reversed(ticks))


def _dots(
    points: Sequence[tuple[float, float]],
    readings: Sequence[ChartReading],
    left: float,
    right: float,
) -> tuple[ChartDot, ...]:
    edges = [left, *((a[0] + b[0]) / 2 for a, b in pairwise(points)), right]
    return tuple(
        ChartDot(
            x=round(x, 1),
            y=round(y, 1),
            left=round(edges[at], 1),
            width=round(edges[at + 1] - edges[at], 1),
            caption=readings[at].caption,
        )
        for at, (x, y) in enumerate(points)
    )
