"""Charts of a competition: the ranking with its intervals, and the swarms over their rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import charts, text
from tequio_ledger.web.pages.charts import (
    BOTTOM,
    TITLE_HEIGHT,
    AxisTick,
    AxisTitles,
    ChartAxis,
    ChartCurve,
    ChartLayout,
    ChartReading,
    ChartSpot,
    downsample,
    value_axis,
)
from tequio_shared.round import measures

if TYPE_CHECKING:
    from tequio_shared.served.rows import MeasuredHead, RoundRow

# --- The ranking: each entrant's interval on one scale of bits per byte.
#
# Below each bar are the results of its evaluators. One that is further off than honest computers
# can be has a shape of its own, and sits at the edge if it is off the scale. The chart is laid out
# twice, for wide and for narrow screens.

_TOP, _AXIS = 6, 26
_SPOT = 15
"""Pixels from the bar of a row down to its evaluators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorScore:
    """One evaluator's result for one entrant, in bits per byte."""

    evaluator: str
    value: float
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantScores:
    """One entrant in bits per byte; rank 0 and no interval before the outcome."""

    name: str
    rank: int
    value: float
    interval: tuple[float, float] | None
    scores: tuple[EvaluatorScore, ...]

    @property
    def caption(self) -> str:
        rank = f"rank {self.rank}, " if self.rank else ""
        low_high = ""
        if self.interval:
            low, high = (text.decimal(one, 4) for one in self.interval)
            low_high = f", 95 % between {low} and {high}"
        return f"{self.name}: {rank}{in_bits(self.value)}{low_high}"


def in_bits(value: float) -> str:
    """Write bits per byte with the byte perplexity that they are."""
    perplexity = text.perplexity(text.byte_perplexity(value), 4)
    return f"{text.decimal(value, 4)} bits per byte (byte perplexity {perplexity})"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantBar:
    """One entrant, in pixels; a bar of width 0 has no interval."""

    name: str
    name_y: float
    rank: str
    value: str
    perplexity: str
    perplexity_y: float
    y: float
    x: float
    left: float
    width: float
    is_first: bool
    spots: tuple[ChartSpot, ...]
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBand:
    """Background of rows that share a rank, in pixels."""

    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingSize:
    """Sizes on one kind of screen, in pixels; `name` and `bar` count from the top of a row."""

    kind: str
    width: int
    row: int
    left: int
    right: int
    name: int
    bar: int
    name_x: int

    @property
    def below(self) -> int:
        """Height of the byte perplexity, which is written below the score."""
        return self.name + 15


_SIZES = (
    RankingSize(kind="wide", width=940, row=50, left=250, right=816, name=23, bar=22, name_x=46),
    RankingSize(kind="narrow", width=336, row=80, left=12, right=324, name=20, bar=52, name_x=40),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingLayout:
    size: RankingSize
    height: float
    base: float
    ticks: tuple[AxisTick, ...]
    bands: tuple[RankBand, ...]
    rows: tuple[EntrantBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingChart:
    summary: str
    layouts: tuple[RankingLayout, ...]


def ranking_chart(placed: Sequence[EntrantScores]) -> RankingChart | None:
    """Lay out a ranking in this order; None without entrants."""
    if not placed:
        return None
    ends = [end for one in placed for end in one.interval or ()]
    # outliers may lie beyond the scale
    honest = [score.value for one in placed for score in one.scores if not score.is_outlier]
    axis = value_axis([*ends, *honest, *(one.value for one in placed)], from_zero=False)
    layouts = tuple(_layout(size, placed, axis) for size in _SIZES)
    return RankingChart(summary="; ".join(one.caption for one in placed), layouts=layouts)


def _layout(size: RankingSize, placed: Sequence[EntrantScores], axis: ChartAxis) -> RankingLayout:
    scale = (size.right - size.left) / (axis.high - axis.low)

    def place(value: float) -> float:
        return round(size.left + (value - axis.low) * scale, 1)

    base = _TOP + size.row * len(placed)
    return RankingLayout(
        size=size,
        height=base + _AXIS,
        base=base,
        ticks=tuple(AxisTick(at=place(value), text=label) for value, label in axis.ticks()),
        bands=_bands(size, placed),
        rows=tuple(_row(size, place, at, one) for at, one in enumerate(placed)),
    )


def _row(
    size: RankingSize, place: Callable[[float], float], at: int, one: EntrantScores
) -> EntrantBar:
    top = _TOP + at * size.row
    low, high = one.interval or (one.value, one.value)
    left = place(low)
    return EntrantBar(
        name=one.name,
        name_y=top + size.name,
        rank=str(one.rank) if one.rank else "",
        value=text.decimal(one.value, 4),
        perplexity=text.perplexity(text.byte_perplexity(one.value), 4),
        perplexity_y=top + size.below,
        y=top + size.bar,
        x=place(one.value),
        left=left,
        width=round(place(high) - left, 1),
        is_first=one.rank == 1,
        spots=tuple(_spot(size, place(score.value), top, score) for score in one.scores),
        caption=one.caption,
    )


def _spot(size: RankingSize, x: float, top: float, score: EvaluatorScore) -> ChartSpot:
    is_beyond = not size.left <= x <= size.right
    result = f"{text.short_key(score.evaluator)} got {in_bits(score.value)}"
    odd = ", further off than honest computers can be" if score.is_outlier else ""
    return ChartSpot(
        x=min(max(x, size.left), size.right),
        y=top + size.bar + _SPOT,
        is_outlier=score.is_outlier,
        caption=f"{result}{odd}{', off the scale' if is_beyond else ''}",
    )


def _bands(size: RankingSize, placed: Sequence[EntrantScores]) -> tuple[RankBand, ...]:
    """Give a background to each rank that several entrants share."""
    bands, at = [], 0
    for rank, held in groupby(placed, key=lambda one: one.rank):
        many = len(list(held))
        if rank and many > 1:
            bands.append(RankBand(y=_TOP + at * size.row + 2, height=many * size.row - 4))
        at += many
    return tuple(bands)


# --- The swarms over their rounds: a curve for each, on one scale.
#
# If heads of all swarms were measured, the curves are the measurements on held-out text by drawn
# members; otherwise the training loss that trainers claim.

MAX_CURVES = 6
"""Curves in one chart: the number of line styles that people can tell apart."""
_CURVE_SIZES = (("wide", 940, 270), ("narrow", 336, 230))
_RIGHT = 16
_BITS = "bits per byte"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmHistory:
    """One side of a competition, with the rounds and measured heads of its run."""

    entrant: str
    run: str
    name: str
    rounds: Sequence[RoundRow]
    heads: Sequence[MeasuredHead]
    tokens_per_byte: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideCurve:
    """One swarm in the legend; `look` is the style of its curve."""

    look: int
    swarm: SwarmHistory
    readings: tuple[ChartReading, ...]
    """The curve as it is drawn; see `downsample`."""
    last: ChartReading | None

    @property
    def caption(self) -> str:
        return self.last.caption if self.last else "no closed round yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideCurves:
    """The chart, its legend, and the number of swarms left out."""

    unit: str
    is_measured: bool
    """Measured on held-out text, rather than claimed."""
    sides: tuple[SideCurve, ...]
    left_out: int
    layouts: tuple[ChartLayout, ...]

    @property
    def summary(self) -> str:
        """The chart in words, for people who cannot see it."""
        return "; ".join(f"{one.swarm.entrant}: {one.caption}" for one in self.sides)


def side_curves(swarms: Sequence[SwarmHistory], *, left_out: int) -> SideCurves:
    """Lay the swarms out, in bits per byte if that is known of all of them."""
    is_measured = bool(swarms) and all(len(one.heads) > 1 for one in swarms)
    is_in_bytes = is_measured or all(one.tokens_per_byte for one in swarms)
    unit = _BITS if is_in_bytes else "nats per token"
    values = [
        [(head.round, measures.bits_per_byte(head.median)) for head in one.heads]
        if is_measured
        else _claimed(one, is_in_bytes=is_in_bytes)
        for one in swarms
    ]
    sides = tuple(
        _side(look, one, _readings(values[look], unit)) for look, one in enumerate(swarms)
    )
    drawn = [one for one in sides if len(one.readings) > 1]
    layouts = tuple(_curves_layout(*size, drawn, unit) for size in _CURVE_SIZES) if drawn else ()
    return SideCurves(
        unit=unit, is_measured=is_measured, sides=sides, left_out=left_out, layouts=layouts
    )


def _claimed(swarm: SwarmHistory, *, is_in_bytes: bool) -> list[tuple[int, float]]:
    """List the median loss that trainers claim, by round."""
    factor = (swarm.tokens_per_byte or 1.0) / math.log(2) if is_in_bytes else 1.0
    losses = ((one.round, text.loss(one.loss_q16) or 0) for one in swarm.rounds)
    return [(number, nats * factor) for number, nats in losses if nats > 0]


def _in_unit(value: float, unit: str) -> str:
    return in_bits(value) if unit == _BITS else f"{value:.4f} {unit}"


def _side(look: int, swarm: SwarmHistory, readings: Sequence[ChartReading]) -> SideCurve:
    return SideCurve(
        look=look,
        swarm=swarm,
        readings=tuple(downsample(readings)),
        last=readings[-1] if readings else None,
    )


def _readings(values: Sequence[tuple[int, float]], unit: str) -> list[ChartReading]:
    return [
        ChartReading(
            at=number,
            value=value,
            label=str(number),
            caption=f"round {number}: {_in_unit(value, unit)}",
            figure=partial(_in_unit, unit=unit),
        )
        for number, value in values
    ]


def _curves_layout(
    kind: str, width: int, height: int, drawn: Sequence[SideCurve], unit: str
) -> ChartLayout:
    every = [one for side in drawn for one in side.readings]
    axis = value_axis([one.value for one in every], from_zero=False)
    first, last = min(one.at for one in every), max(one.at for one in every)
    left, right, base = axis.gutter, width - _RIGHT, height - BOTTOM - TITLE_HEIGHT

    def place(one: ChartReading) -> tuple[float, float]:
        x = left + (one.at - first) / (last - first) * (right - left)
        return x, base - (one.value - axis.low) / (axis.high - axis.low) * (base - charts.TOP)

    return ChartLayout(
        kind=kind,
        width=width,
        height=height,
        left=left,
        right=right,
        base=base,
        titles=AxisTitles(unit, "round"),
        rows=charts.value_ticks(axis, base),
        columns=charts.position_ticks((first, last), left, right),
        curves=tuple(_curve(side, [place(one) for one in side.readings]) for side in drawn),
    )


def _curve(side: SideCurve, points: list[tuple[float, float]]) -> ChartCurve:
    x, y = points[-1]
    return ChartCurve(
        look=side.look,
        path=charts.smooth_path(points),
        x=round(x, 1),
        y=round(y, 1),
        caption=f"{side.swarm.entrant}, {side.caption}",
    )
