"""A chart as a template draws it: pure geometry, worked out before anything is written.

Every chart is laid out twice, for a wide and for a narrow screen, so that its letters are as large
as all others on either; the style sheet shows one of the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from tequio_shared import curve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_shared.curve import Point

# --- The charts' smooth line as an SVG path.


def smooth(points: Sequence[Point]) -> str:
    """The line through the points, whose x must rise; none: an empty path."""
    if not points:
        return ""
    pieces = ("C" + " ".join(map(_pair, piece)) for piece in curve.smooth(points))
    return f"M{_pair(points[0])}" + "".join(pieces)


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


WIDE, NARROW = (540, 220), (336, 200)
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 14, 14, 26
INTERVALS = 4
_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_GAP, _MOST_GAP = 0.3, 6.0
"""Between two bars: a share of their place, and no more pixels than these."""
_LABEL_PX = 64
"""Least distance between two labels of the lower axis."""
MOST_STEPS = 160
"""More values than these are drawn as means of neighbours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One of the values that a reading sums up; an outlier may lie beyond the axis."""

    value: float
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One step of a series: its place on the axis, its value, and how both are said."""

    at: float
    value: float
    label: str
    said: str
    is_open: bool = False
    """Its time is not over: the value still grows."""
    singles: tuple[Single, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One value as a bar, in pixels."""

    x: float
    y: float
    width: float
    height: float
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of an axis, in pixels, and what is written at it."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One value in pixels; `left` and `width` are the strip in which the pointer shows it."""

    x: float
    y: float
    left: float
    width: float
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A single value in pixels, at the edge if it lies beyond the axis."""

    x: float
    y: float
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A chart at one size."""

    kind: str
    width: int
    height: int
    left: float
    right: float
    base: float
    line: str
    area: str
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    dots: tuple[Dot, ...]
    bars: tuple[Bar, ...] = ()
    """Instead of line and area."""
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A series over time or rounds, with its summary for who cannot see it."""

    name: str
    title: str
    summary: str
    readings: tuple[Reading, ...]
    layouts: tuple[Layout, ...]


def chart(
    name: str,
    title: str,
    summary: str,
    readings: Sequence[Reading],
    write: Callable[[float], str],
    *,
    from_zero: bool,
) -> Chart:
    """Lay a series out; `name` must be the only one on its page. Fewer than two: no layouts."""
    shown = thin(readings)
    bounds = scale(_values(shown), from_zero=from_zero) if shown else (0.0, 1.0)
    kinds = (("wide", *WIDE), ("narrow", *NARROW))
    layouts = tuple(_layout(*kind, shown, bounds, write) for kind in kinds)
    return Chart(
        name=name,
        title=title,
        summary=summary,
        readings=tuple(shown),
        layouts=layouts if len(shown) > 1 else (),
    )


def _values(readings: Sequence[Reading]) -> list[float]:
    """All that the axis has to hold."""
    singles = (each for one in readings for each in one.singles if not each.is_outlier)
    return [*(one.value for one in readings), *(each.value for each in singles)]


def as_bars(chart_: Chart) -> Chart:
    """Draw each value as a bar of its own: for amounts, between which there is nothing."""
    layouts = tuple(_with_bars(one, chart_.readings) for one in chart_.layouts)
    return replace(chart_, layouts=layouts)


def _with_bars(layout: Layout, readings: Sequence[Reading]) -> Layout:
    width = (layout.right - layout.left) / len(readings)
    lefts = [layout.left + at * width for at in range(len(readings))]
    dots = tuple(
        replace(dot, x=round(left + width / 2, 1), left=round(left, 1), width=round(width, 1))
        for dot, left in zip(layout.dots, lefts, strict=True)
    )
    gap = min(width * _GAP, _MOST_GAP)
    bars = tuple(
        Bar(
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


def scale(values: Sequence[float], *, from_zero: bool) -> tuple[float, float]:
    """The round ends of an axis that holds all values."""
    lowest, highest = (0.0 if from_zero else min(values)), max(values)
    spread = highest - lowest or abs(highest) or 1.0
    step = _step(spread / INTERVALS)
    bottom = math.floor(lowest / step + 1e-9) * step
    while bottom + INTERVALS * step < highest - step * 1e-9:
        step = _step(step * 1.01)
        bottom = math.floor(lowest / step + 1e-9) * step
    return bottom, bottom + INTERVALS * step


def thin(readings: Sequence[Reading]) -> list[Reading]:
    """At most `MOST_STEPS` of them: each the mean of neighbours, said as the last of these."""
    if len(readings) <= MOST_STEPS:
        return list(readings)
    size = -(-len(readings) // MOST_STEPS)
    groups = [readings[at : at + size] for at in range(0, len(readings), size)]
    return [
        Reading(
            at=group[-1].at,
            value=sum(one.value for one in group) / len(group),
            label=group[-1].label,
            said=f"mean of {len(group)} up to {group[-1].said}",
        )
        for group in groups
    ]


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step for step in _STEPS if step * power >= least * (1 - 1e-9)) * power


def _layout(
    kind: str,
    width: int,
    height: int,
    readings: Sequence[Reading],
    bounds: tuple[float, float],
    write: Callable[[float], str],
) -> Layout:
    right, base = width - _RIGHT, height - _BOTTOM
    low, high = bounds
    xs = _places([one.at for one in readings], right)

    def place(value: float) -> float:
        return base - (value - low) / (high - low) * (base - _TOP)

    ys = [place(one.value) for one in readings]
    points = list(zip(xs, ys, strict=True))
    line = smooth(points)
    rows = tuple(
        Tick(
            at=round(base - at / INTERVALS * (base - _TOP), 1),
            text=write(low + at * (high - low) / INTERVALS),
        )
        for at in range(INTERVALS + 1)
    )
    return Layout(
        kind=kind,
        width=width,
        height=height,
        left=_LEFT,
        right=right,
        base=base,
        line=line,
        area=f"{line}V{base}H{xs[0]:.1f}Z" if points else "",
        rows=rows,
        columns=_columns(xs, readings),
        dots=_dots(points, readings, right),
        spots=tuple(
            Spot(
                x=round(x, 1),
                y=round(min(max(place(single.value), _TOP), base), 1),
                is_outlier=single.is_outlier,
            )
            for x, one in zip(xs, readings, strict=True)
            for single in one.singles
        ),
    )


def _places(ats: Sequence[float], right: float) -> list[float]:
    if not ats:
        return []
    first, span = ats[0], (ats[-1] - ats[0]) or 1.0
    return [_LEFT + (at - first) / span * (right - _LEFT) for at in ats]


def _columns(xs: Sequence[float], readings: Sequence[Reading]) -> tuple[Tick, ...]:
    """Labels from the last one backwards, as many as there is room for."""
    ticks: list[Tick] = []
    for x, one in zip(reversed(xs), reversed(readings), strict=True):
        if not ticks or (ticks[-1].at - x >= _LABEL_PX and ticks[-1].text != one.label):
            ticks.append(Tick(at=round(x, 1), text=one.label))
    return tuple(reversed(ticks))


def _dots(
    points: Sequence[tuple[float, float]], readings: Sequence[Reading], right: float
) -> tuple[Dot, ...]:
    edges = [_LEFT, *((a[0] + b[0]) / 2 for a, b in pairwise(points)), right]
    return tuple(
        Dot(
            x=round(x, 1),
            y=round(y, 1),
            left=round(edges[at], 1),
            width=round(edges[at + 1] - edges[at], 1),
            said=readings[at].said,
        )
        for at, (x, y) in enumerate(points)
    )
