"""The swarms of a competition over their rounds, a curve for each, on one scale.

What members drawn by lot measured on held-out text, where heads of all swarms were measured;
otherwise what trainers claim of their training loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import curve, figures
from tequio_ledger.web.pages.chart import INTERVALS, Reading, Tick, scale, thin
from tequio_shared import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_ledger.store.history import PastRound
    from tequio_ledger.store.measured import MeasuredHead

MOST = 6
"""Curves in one picture: there are no more looks that eyes keep apart."""
_SIZES = (("wide", 940, 270), ("narrow", 336, 230))
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 16, 14, 26
_COLUMNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Swarm:
    """One side of a competition, and what its run shows, by round."""

    entrant: str
    run: str
    name: str
    rounds: Sequence[PastRound]
    heads: Sequence[MeasuredHead]
    tokens_per_byte: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One curve in pixels, and its last point."""

    look: int
    path: str
    x: float
    y: float
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The picture at one size."""

    kind: str
    width: int
    height: int
    left: float
    right: float
    base: float
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One swarm in the legend; `look` is that of its curve."""

    look: int
    entrant: str
    run: str
    name: str
    readings: tuple[Reading, ...]

    @property
    def said(self) -> str:
        """Where it stands."""
        return self.readings[-1].said if self.readings else "no closed round yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideCurves:
    """The picture, its legend, and how many swarms are not in it."""

    unit: str
    is_measured: bool
    """On held-out text, rather than claimed."""
    sides: tuple[Side, ...]
    left_out: int
    layouts: tuple[Layout, ...]

    @property
    def summary(self) -> str:
        """What it shows, for who cannot see it."""
        return "; ".join(f"{one.entrant}: {one.said}" for one in self.sides)


def side_curves(swarms: Sequence[Swarm], *, left_out: int) -> SideCurves:
    """Lay the swarms out; in bits per byte where that can be said of all."""
    is_measured = bool(swarms) and all(len(one.heads) > 1 for one in swarms)
    is_in_bytes = is_measured or all(one.tokens_per_byte for one in swarms)
    unit = "bits per byte" if is_in_bytes else "nats a token"
    sides = tuple(
        Side(
            look=look,
            entrant=one.entrant,
            run=one.run,
            name=one.name,
            readings=tuple(
                _measured(one) if is_measured else _claimed(one, unit, is_in_bytes=is_in_bytes)
            ),
        )
        for look, one in enumerate(swarms)
    )
    drawn = [one for one in sides if len(one.readings) > 1]
    layouts = tuple(_layout(*size, drawn) for size in _SIZES) if drawn else ()
    return SideCurves(
        unit=unit, is_measured=is_measured, sides=sides, left_out=left_out, layouts=layouts
    )


def _measured(swarm: Swarm) -> list[Reading]:
    """The medians of what members measured of a swarm's heads."""
    return thin(
        [
            Reading(
                at=one.round,
                value=(bits := measures.bits_per_byte(one.median)),
                label=str(one.round),
                said=f"round {one.round}: {bits:.4f} bits per byte",
            )
            for one in swarm.heads
        ]
    )


def _claimed(swarm: Swarm, unit: str, *, is_in_bytes: bool) -> list[Reading]:
    """The median loss that trainers claim, round by round."""
    factor = (swarm.tokens_per_byte or 1.0) / math.log(2) if is_in_bytes else 1.0
    return thin(
        [
            Reading(
                at=one.round,
                value=nats * factor,
                label=str(one.round),
                said=f"round {one.round}: {nats * factor:.4f} {unit}",
            )
            for one in swarm.rounds
            if (nats := figures.loss(one.loss_q16)) is not None and nats > 0
        ]
    )


def _layout(kind: str, width: int, height: int, drawn: Sequence[Side]) -> Layout:
    every = [one for side in drawn for one in side.readings]
    bounds = scale([one.value for one in every], from_zero=False)
    span = min(one.at for one in every), max(one.at for one in every)
    right, base = width - _RIGHT, height - _BOTTOM

    def place(one: Reading) -> tuple[float, float]:
        (low, high), (first, last) = bounds, span
        x = _LEFT + (one.at - first) / ((last - first) or 1.0) * (right - _LEFT)
        return x, base - (one.value - low) / (high - low) * (base - _TOP)

    return Layout(
        kind=kind,
        width=width,
        height=height,
        left=_LEFT,
        right=right,
        base=base,
        rows=_rows(bounds, base),
        columns=_columns(span, right),
        lines=tuple(_line(side, [place(one) for one in side.readings]) for side in drawn),
    )


def _line(side: Side, points: list[tuple[float, float]]) -> Line:
    x, y = points[-1]
    said = f"{side.entrant}, {side.said}"
    return Line(look=side.look, path=curve.smooth(points), x=round(x, 1), y=round(y, 1), said=said)


def _rows(bounds: tuple[float, float], base: float) -> tuple[Tick, ...]:
    low, high = bounds
    return tuple(
        Tick(
            at=round(base - at / INTERVALS * (base - _TOP), 1),
            text=figures.brief(low + at * (high - low) / INTERVALS),
        )
        for at in range(INTERVALS + 1)
    )


def _columns(span: tuple[float, float], right: float) -> tuple[Tick, ...]:
    """Rounds below the curves, evenly, none twice."""
    first, last = (int(one) for one in span)
    wanted = {first + (last - first) * at // (_COLUMNS - 1) for at in range(_COLUMNS)}
    return tuple(
        Tick(at=round(_LEFT + (one - first) / max(last - first, 1) * (right - _LEFT), 1),
             text=str(one))
        for one in sorted(wanted)
    )  # fmt: skip
