"""A ranking as a template draws it: each entrant's interval on one scale of bits per byte.

Under the bar stands what every evaluator got; whoever is off by more than honest computers can be
has a shape of its own, and at the edge where it is off the scale too. Laid out twice, for a wide
and for a narrow screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import figures
from tequio_ledger.web.pages.chart import INTERVALS, Tick, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOP, _AXIS = 6, 26
_SPOT = 15
"""Below the middle of a row: where its evaluators stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What one evaluator got for one entrant, in bits per byte."""

    evaluator: str
    value: float
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One entrant in bits per byte; rank 0 and no interval while nothing is decided."""

    name: str
    rank: int
    value: float
    interval: tuple[float, float] | None
    words: tuple[Word, ...]

    @property
    def said(self) -> str:
        """The row in words."""
        rank = f"rank {self.rank}, " if self.rank else ""
        low_high = ""
        if self.interval:
            low, high = (figures.decimal(one, 4) for one in self.interval)
            low_high = f", 95 % between {low} and {high}"
        return f"{self.name}: {rank}{figures.decimal(self.value, 4)} bits per byte{low_high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """An evaluator's number, in pixels."""

    x: float
    y: float
    is_outlier: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entrant, in pixels; a bar of no width has no interval."""

    name: str
    name_y: float
    rank: str
    value: str
    y: float
    x: float
    left: float
    width: float
    is_first: bool
    spots: tuple[Spot, ...]
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Rows that share a rank, in pixels."""

    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The picture at one size."""

    kind: str
    width: int
    height: float
    left: float
    right: float
    base: float
    name_x: float
    ticks: tuple[Tick, ...]
    bands: tuple[Band, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """The picture, and what it says."""

    summary: str
    layouts: tuple[Layout, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """How a kind of screen is laid out: in pixels."""

    kind: str
    width: int
    row: int
    left: int
    right: int
    name: int
    bar: int
    """From a row's top to its name and to its bar."""
    name_x: int


_SIZES = (
    _Size(kind="wide", width=940, row=50, left=250, right=840, name=27, bar=22, name_x=46),
    _Size(kind="narrow", width=336, row=66, left=12, right=324, name=20, bar=38, name_x=40),
)


def placing(placed: Sequence[Placed]) -> Placing | None:
    """Lay out a ranking, in this order; None where there is nothing to show."""
    if not placed:
        return None
    bounds = scale(list(_values(placed)), from_zero=False)
    layouts = tuple(_layout(size, placed, bounds) for size in _SIZES)
    return Placing(summary="; ".join(one.said for one in placed), layouts=layouts)


def _values(placed: Sequence[Placed]) -> list[float]:
    """All that the scale has to hold: liars may be anywhere."""
    ends = [end for one in placed for end in one.interval or ()]
    honest = [word.value for one in placed for word in one.words if not word.is_outlier]
    return [*ends, *honest, *(one.value for one in placed)]


def _layout(size: _Size, placed: Sequence[Placed], bounds: tuple[float, float]) -> Layout:
    base = _TOP + size.row * len(placed)
    low, high = bounds
    steps = [low + at * (high - low) / INTERVALS for at in range(INTERVALS + 1)]
    rows = tuple(_row(size, bounds, at, one) for at, one in enumerate(placed))
    return Layout(
        kind=size.kind,
        width=size.width,
        height=base + _AXIS,
        left=size.left,
        right=size.right,
        base=base,
        name_x=size.name_x,
        ticks=tuple(Tick(at=_at(size, bounds, one), text=f"{one:.4g}") for one in steps),
        bands=_bands(size, placed),
        rows=rows,
    )


def _row(size: _Size, bounds: tuple[float, float], at: int, one: Placed) -> Row:
    top = _TOP + at * size.row
    low, high = one.interval or (one.value, one.value)
    left = _at(size, bounds, low)
    return Row(
        name=one.name,
        name_y=top + size.name,
        rank=str(one.rank) if one.rank else "",
        value=figures.decimal(one.value, 4),
        y=top + size.bar,
        x=_at(size, bounds, one.value),
        left=left,
        width=round(_at(size, bounds, high) - left, 1),
        is_first=one.rank == 1,
        spots=tuple(_spot(size, bounds, top, word) for word in one.words),
        said=one.said,
    )


def _spot(size: _Size, bounds: tuple[float, float], top: float, word: Word) -> Spot:
    x = _at(size, bounds, word.value)
    is_beyond = not size.left <= x <= size.right
    told = f"{figures.short_key(word.evaluator)} got {figures.decimal(word.value, 4)}"
    odd = ", further off than honest computers can be" if word.is_outlier else ""
    return Spot(
        x=min(max(x, size.left), size.right),
        y=top + size.bar + _SPOT,
        is_outlier=word.is_outlier,
        said=f"{told}{odd}{', off the scale' if is_beyond else ''}",
    )


def _bands(size: _Size, placed: Sequence[Placed]) -> tuple[Band, ...]:
    """Grounds for the ranks that more than one holds."""
    bands, at = [], 0
    for rank, held in groupby(placed, key=lambda one: one.rank):
        many = len(list(held))
        if rank and many > 1:
            bands.append(Band(y=_TOP + at * size.row + 2, height=many * size.row - 4))
        at += many
    return tuple(bands)


def _at(size: _Size, bounds: tuple[float, float], value: float) -> float:
    low, high = bounds
    return round(size.left + (value - low) / (high - low) * (size.right - size.left), 1)
