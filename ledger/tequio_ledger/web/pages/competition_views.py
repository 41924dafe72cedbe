"""What evaluators say of the entrants, who of them is off, and how entrants compare.

Once organisers stated the outcome, its document tells; until then the evaluators' totals alone do,
and nobody is ranked.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import charts, text
from tequio_ledger.web.pages import text as pages_text
from tequio_ledger.web.pages.charts import INTERVALS, Reading, Tick, scale, thin
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.round import measures
from tequio_shared.scoring import MILLIBITS, NANOBITS, TOTAL_TOLERANCE, is_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tequio_ledger.store.queries import MeasuredHead, PastRound
    from tequio_ledger.web.competitions import CompetitionNow, Scored
    from tequio_shared.competition.rules import (
        ComparedEntrants,
        CompetitionOutcome,
        JudgedEvaluation,
    )

# --- Which evaluator committed to scores of which entrant, and who showed what it committed to.


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One evaluator's part for one entrant, and the entry that says so."""

    word: str
    tone: str
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One evaluator, with a cell for each entrant that submitted."""

    evaluator: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All who were drawn, against all that they have to score."""

    entrants: tuple[str, ...]
    rows: tuple[Row, ...]

    def count(self, word: str) -> int:
        """How many cells say so."""
        return sum(cell.word == word for row in self.rows for cell in row.cells)


SHOWN, COMMITTED, WITHHELD, PENDING, SILENT = "shown", "committed", "held back", "due", "silent"
_TONES = {SHOWN: "ok", COMMITTED: "busy", WITHHELD: "danger", PENDING: "wait", SILENT: "warn"}


def parts(now: CompetitionNow, now_ms: int) -> Parts:
    """Tell it as it is at that time."""
    committed = {(one.entrant, one.evaluator): one.index for one in now.commits}
    shown = {(one.entrant, one.evaluator): one.index for one in now.results}
    opened = {entrant for entrant, _ in shown}
    names = tuple(one.name for one in now.entrants if one.submission is not None)

    def cell(name: str, evaluator: str) -> Cell:
        spot = name, evaluator
        if spot in shown:
            return _cell(SHOWN, shown[spot])
        is_over = now.phase is CompetitionPhase.DECIDED
        if spot in committed:
            is_late = is_over or now_ms > now.rules.dates.reveal_until
            return _cell(WITHHELD if is_late else COMMITTED, committed[spot])
        is_late = is_over or now_ms > now.rules.dates.scored or name in opened
        return _cell(SILENT if is_late else PENDING, None)

    return Parts(
        entrants=names,
        rows=tuple(
            Row(evaluator=key, cells=tuple(cell(name, key) for name in names))
            for key in now.evaluators
        ),
    )


def _cell(word: str, index: int | None) -> Cell:
    return Cell(word=word, tone=_TONES[word], index=index)


# --- A ranking as a template draws it: each entrant's interval on one scale of bits per byte.
#
# Under the bar stands what every evaluator got; whoever is off by more than honest computers can
# be has a shape of its own, and at the edge where it is off the scale too. Laid out twice, for a
# wide and for a narrow screen.

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
            low, high = (text.decimal(one, 4) for one in self.interval)
            low_high = f", 95 % between {low} and {high}"
        return f"{self.name}: {rank}{text.decimal(self.value, 4)} bits per byte{low_high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """An evaluator's number, in pixels."""

    x: float
    y: float
    is_outlier: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingRow:
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
    rows: tuple[PlacingRow, ...]


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


def _row(size: _Size, bounds: tuple[float, float], at: int, one: Placed) -> PlacingRow:
    top = _TOP + at * size.row
    low, high = one.interval or (one.value, one.value)
    left = _at(size, bounds, low)
    return PlacingRow(
        name=one.name,
        name_y=top + size.name,
        rank=str(one.rank) if one.rank else "",
        value=text.decimal(one.value, 4),
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
    told = f"{text.short_key(word.evaluator)} got {text.decimal(word.value, 4)}"
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


_NANO = MILLIBITS * NANOBITS
PAIRED = 16
"""Entrants whose pairs are shown."""
_LEAST_TO_DOUBT = 3
"""Of two who differ nobody knows which is off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """One evaluator's word on one entrant."""

    entrant: str
    evaluator: str
    bits_per_byte: float
    off: str
    """Its total against the medians', in millionths; empty while there is nothing to hold it to."""
    outside: int | None
    """Texts that are further off than honest computers can be; None before the outcome."""
    is_outlier: bool
    scores: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionScoresCell:
    """The row's entrant against the column's, in bits per byte."""

    word: str
    tone: str
    interval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One entrant against all; None where it meets itself."""

    name: str
    cells: tuple[CompetitionScoresCell | None, ...]


def score_rows(now: CompetitionNow, outcome: CompetitionOutcome | None) -> tuple[ScoreRow, ...]:
    """List every result, entrant by entrant."""
    judged = _judged(outcome)
    middles = _middles(now)
    order = {one.name: at for at, one in enumerate(now.entrants)}
    rows = [
        _competition_scores_row(one, judged.get((one.entrant, one.evaluator)), middles)
        for one in now.results
    ]
    return tuple(sorted(rows, key=lambda row: (order[row.entrant], row.index)))


def picture(now: CompetitionNow, outcome: CompetitionOutcome | None) -> Placing | None:
    """Draw the ranking, or what evaluators have said so far."""
    return placing(_ranked(outcome) if outcome else _so_far(now))


def leaders(outcome: CompetitionOutcome) -> str:
    """Who is ahead of everybody, in a sentence."""
    first = [one for one in outcome.places if one.rank == 1]
    if not first:
        return "Nobody could be ranked."
    names = " and ".join(one.entrant for one in first)
    value = pages_text.decimal(first[0].nanobits_per_byte / _NANO, 4)
    return f"{'Shared first: ' if len(first) > 1 else 'First: '}{names}, at {value} bits per byte."


def unranked(outcome: CompetitionOutcome | None) -> tuple[str, ...]:
    """Entrants that the outcome names without a rank."""
    return tuple(one.entrant for one in outcome.places if not one.rank) if outcome else ()


def pair_rows(outcome: CompetitionOutcome | None) -> tuple[PairRow, ...]:
    """Hold the first entrants against each other."""
    if outcome is None or not outcome.pairs:
        return ()
    names = [one.entrant for one in outcome.places if one.rank][:PAIRED]
    pairs = {(one.first, one.other): one for one in outcome.pairs}
    return tuple(
        PairRow(
            name=name, cells=tuple(_competition_scores_cell(name, other, pairs) for other in names)
        )
        for name in names
    )


def _judged(outcome: CompetitionOutcome | None) -> dict[tuple[str, str], JudgedEvaluation]:
    places = outcome.places if outcome else ()
    return {(place.entrant, one.evaluator): one for place in places for one in place.evaluators}


def _competition_scores_row(
    one: Scored, judged: JudgedEvaluation | None, middles: dict[str, int]
) -> ScoreRow:
    middle = one.millibits - judged.off if judged else middles.get(one.entrant)
    is_off = middle is not None and not is_within(one.millibits, middle, TOTAL_TOLERANCE)
    return ScoreRow(
        entrant=one.entrant,
        evaluator=one.evaluator,
        bits_per_byte=_bits(one.millibits, one.size_bytes),
        off=_minus(f"{(one.millibits - middle) / middle * 1e6:+,.1f}") if middle else "",
        outside=judged.outside if judged else None,
        is_outlier=judged.is_outlier if judged else is_off,
        scores=one.scores,
        index=one.index,
    )


def _middles(now: CompetitionNow) -> dict[str, int]:
    """The median total of each entrant that enough have scored."""
    totals = {name: [one.millibits for one in said] for name, said in _heard(now.results).items()}
    return {name: _middle(found) for name, found in totals.items() if len(found) >= _LEAST_TO_DOUBT}


def _heard(results: Iterable[Scored]) -> dict[str, list[Scored]]:
    heard: defaultdict[str, list[Scored]] = defaultdict(list)
    for one in results:
        heard[one.entrant].append(one)
    return heard


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def _ranked(outcome: CompetitionOutcome) -> list[Placed]:
    return [
        Placed(
            name=one.entrant,
            rank=one.rank,
            value=one.nanobits_per_byte / _NANO,
            interval=(one.low / _NANO, one.high / _NANO),
            words=tuple(
                Word(
                    evaluator=said.evaluator,
                    value=_bits(said.millibits, one.size_bytes),
                    is_outlier=said.is_outlier,
                )
                for said in one.evaluators
            ),
        )
        for one in outcome.places
        if one.rank
    ]


def _so_far(now: CompetitionNow) -> list[Placed]:
    middles = _middles(now)
    found = [
        Placed(
            name=name,
            rank=0,
            value=_bits(_middle([one.millibits for one in said]), said[0].size_bytes),
            interval=None,
            words=tuple(
                Word(
                    evaluator=one.evaluator,
                    value=_bits(one.millibits, one.size_bytes),
                    is_outlier=_competition_scores_row(one, None, middles).is_outlier,
                )
                for one in said
            ),
        )
        for name, said in _heard(now.results).items()
    ]
    return sorted(found, key=lambda one: (one.value, one.name))


def _competition_scores_cell(
    name: str, other: str, pairs: dict[tuple[str, str], ComparedEntrants]
) -> CompetitionScoresCell | None:
    straight, turned = pairs.get((name, other)), pairs.get((other, name))
    if straight is not None:
        return _told(straight.winner, name, straight.low, straight.high)
    if turned is not None:
        return _told(turned.winner, name, -turned.high, -turned.low)
    return None


def _told(winner: str, name: str, low: int, high: int) -> CompetitionScoresCell:
    ends = (f"{one / _NANO:+.4f}" for one in (low, high))
    interval = _minus(" to ".join(ends))
    if not winner:
        return CompetitionScoresCell(word="no difference", tone="wait", interval=interval)
    if winner == name:
        return CompetitionScoresCell(word="ahead", tone="ok", interval=interval)
    return CompetitionScoresCell(word="behind", tone="off", interval=interval)


def _bits(millibits: int, size_bytes: int) -> float:
    return millibits / (MILLIBITS * size_bytes) if size_bytes else 0.0


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


# --- The swarms of a competition over their rounds, a curve for each, on one scale.
#
# What members drawn by lot measured on held-out text, where heads of all swarms were measured;
# otherwise what trainers claim of their training loss.

MOST = 6
"""Curves in one picture: there are no more looks that eyes keep apart."""
_SIDE_CURVES_SIZES = (("wide", 940, 270), ("narrow", 336, 230))
_LEFT, _RIGHT, _SIDE_CURVES_TOP, _BOTTOM = 48, 16, 14, 26
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
class SideCurvesLayout:
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
    layouts: tuple[SideCurvesLayout, ...]

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
    layouts = (
        tuple(_side_curves_layout(*size, drawn) for size in _SIDE_CURVES_SIZES) if drawn else ()
    )
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
            if (nats := text.loss(one.loss_q16)) is not None and nats > 0
        ]
    )


def _side_curves_layout(
    kind: str, width: int, height: int, drawn: Sequence[Side]
) -> SideCurvesLayout:
    every = [one for side in drawn for one in side.readings]
    bounds = scale([one.value for one in every], from_zero=False)
    span = min(one.at for one in every), max(one.at for one in every)
    right, base = width - _RIGHT, height - _BOTTOM

    def place(one: Reading) -> tuple[float, float]:
        (low, high), (first, last) = bounds, span
        x = _LEFT + (one.at - first) / ((last - first) or 1.0) * (right - _LEFT)
        return x, base - (one.value - low) / (high - low) * (base - _SIDE_CURVES_TOP)

    return SideCurvesLayout(
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
    return Line(look=side.look, path=charts.smooth(points), x=round(x, 1), y=round(y, 1), said=said)


def _rows(bounds: tuple[float, float], base: float) -> tuple[Tick, ...]:
    low, high = bounds
    return tuple(
        Tick(
            at=round(base - at / INTERVALS * (base - _SIDE_CURVES_TOP), 1),
            text=text.brief(low + at * (high - low) / INTERVALS),
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
