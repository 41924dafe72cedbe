"""What evaluators say of the entrants, who of them is off, and how entrants compare.

Once organisers stated the outcome, its document tells; until then the evaluators' totals alone do,
and nobody is ranked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import figures, placing
from tequio_shared.scoring import MILLIBITS, NANOBITS, TOTAL_TOLERANCE, is_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tequio_ledger.web.competition_now import CompetitionNow, Scored
    from tequio_ledger.web.pages.placing import Placing
    from tequio_shared.evaluations import Compared, Judged, Outcome

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
class Cell:
    """The row's entrant against the column's, in bits per byte."""

    word: str
    tone: str
    interval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One entrant against all; None where it meets itself."""

    name: str
    cells: tuple[Cell | None, ...]


def score_rows(now: CompetitionNow, outcome: Outcome | None) -> tuple[ScoreRow, ...]:
    """List every result, entrant by entrant."""
    judged = _judged(outcome)
    middles = _middles(now)
    order = {one.name: at for at, one in enumerate(now.entrants)}
    rows = [_row(one, judged.get((one.entrant, one.evaluator)), middles) for one in now.results]
    return tuple(sorted(rows, key=lambda row: (order[row.entrant], row.index)))


def picture(now: CompetitionNow, outcome: Outcome | None) -> Placing | None:
    """Draw the ranking, or what evaluators have said so far."""
    return placing.placing(_ranked(outcome) if outcome else _so_far(now))


def leaders(outcome: Outcome) -> str:
    """Who is ahead of everybody, in a sentence."""
    first = [one for one in outcome.places if one.rank == 1]
    if not first:
        return "Nobody could be ranked."
    names = " and ".join(one.entrant for one in first)
    value = figures.decimal(first[0].nanobits_per_byte / _NANO, 4)
    return f"{'Shared first: ' if len(first) > 1 else 'First: '}{names}, at {value} bits per byte."


def unranked(outcome: Outcome | None) -> tuple[str, ...]:
    """Entrants that the outcome names without a rank."""
    return tuple(one.entrant for one in outcome.places if not one.rank) if outcome else ()


def pair_rows(outcome: Outcome | None) -> tuple[PairRow, ...]:
    """Hold the first entrants against each other."""
    if outcome is None or not outcome.pairs:
        return ()
    names = [one.entrant for one in outcome.places if one.rank][:PAIRED]
    pairs = {(one.first, one.other): one for one in outcome.pairs}
    return tuple(
        PairRow(name=name, cells=tuple(_cell(name, other, pairs) for other in names))
        for name in names
    )


def _judged(outcome: Outcome | None) -> dict[tuple[str, str], Judged]:
    places = outcome.places if outcome else ()
    return {(place.entrant, one.evaluator): one for place in places for one in place.evaluators}


def _row(one: Scored, judged: Judged | None, middles: dict[str, int]) -> ScoreRow:
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


def _ranked(outcome: Outcome) -> list[placing.Placed]:
    return [
        placing.Placed(
            name=one.entrant,
            rank=one.rank,
            value=one.nanobits_per_byte / _NANO,
            interval=(one.low / _NANO, one.high / _NANO),
            words=tuple(
                placing.Word(
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


def _so_far(now: CompetitionNow) -> list[placing.Placed]:
    middles = _middles(now)
    found = [
        placing.Placed(
            name=name,
            rank=0,
            value=_bits(_middle([one.millibits for one in said]), said[0].size_bytes),
            interval=None,
            words=tuple(
                placing.Word(
                    evaluator=one.evaluator,
                    value=_bits(one.millibits, one.size_bytes),
                    is_outlier=_row(one, None, middles).is_outlier,
                )
                for one in said
            ),
        )
        for name, said in _heard(now.results).items()
    ]
    return sorted(found, key=lambda one: (one.value, one.name))


def _cell(name: str, other: str, pairs: dict[tuple[str, str], Compared]) -> Cell | None:
    straight, turned = pairs.get((name, other)), pairs.get((other, name))
    if straight is not None:
        return _told(straight.winner, name, straight.low, straight.high)
    if turned is not None:
        return _told(turned.winner, name, -turned.high, -turned.low)
    return None


def _told(winner: str, name: str, low: int, high: int) -> Cell:
    ends = (f"{one / _NANO:+.4f}" for one in (low, high))
    interval = _minus(" to ".join(ends))
    if not winner:
        return Cell(word="no difference", tone="wait", interval=interval)
    if winner == name:
        return Cell(word="ahead", tone="ok", interval=interval)
    return Cell(word="behind", tone="off", interval=interval)


def _bits(millibits: int, size_bytes: int) -> float:
    return millibits / (MILLIBITS * size_bytes) if size_bytes else 0.0


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
