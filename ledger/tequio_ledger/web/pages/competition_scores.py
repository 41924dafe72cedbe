"""Scores by evaluators: their progress, outliers, and comparisons of entrants.

Once organisers stated the outcome, its document is the source. Until then there are only the totals
of the evaluators, and nobody is ranked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages.competition_charts import (
    EntrantScores,
    EvaluatorScore,
    RankingChart,
    in_bits,
    ranking_chart,
)
from tequio_shared.competition.rules import (
    CompetitionOutcome,
    JudgedEvaluation,
)
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.scoring import MILLIBITS, NANOBITS, TOTAL_TOLERANCE, is_within

if TYPE_CHECKING:
    from tequio_shared.api.competitions import ScoredAnswer
    from tequio_shared.served.competitions import CompetitionSnapshot

LISTED_ENTRANTS = 16
"""Entrants whose pairs are listed, at most."""
REVEALED, COMMITTED, WITHHELD = "revealed", "committed", "withheld"
PENDING, SILENT = "due", "silent"
_TONES = {REVEALED: "ok", COMMITTED: "busy", WITHHELD: "danger", PENDING: "wait", SILENT: "warn"}
_NANO = MILLIBITS * NANOBITS
_LEAST_TO_DOUBT = 3
_TOO_FEW = "too few evaluators scored them"
"""If two evaluators differ, nobody knows which of them is off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressCell:
    word: str
    tone: str
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringProgress:
    """Drawn evaluators, each with a cell for every entrant that submitted."""

    entrants: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ProgressCell, ...]], ...]

    def count(self, word: str) -> int:
        return sum(cell.word == word for _, cells in self.rows for cell in cells)


def progress(now: CompetitionSnapshot, now_ms: int) -> ScoringProgress:
    """List which evaluators committed to scores of which entrants, and which revealed them."""
    committed = {(one.entrant, one.evaluator): one.index for one in now.commits}
    revealed = {(one.entrant, one.evaluator): one.index for one in now.results}
    opened = {entrant for entrant, _ in revealed}
    names = tuple(one.name for one in now.entrants if one.submission is not None)
    is_over, dates = now.phase is CompetitionPhase.DECIDED, now.rules.dates

    def cell(name: str, evaluator: str) -> ProgressCell:
        spot = name, evaluator
        if spot in revealed:
            word = REVEALED
        elif spot in committed:
            word = WITHHELD if is_over or now_ms > dates.reveal_until else COMMITTED
        else:
            # an entrant's scores are revealed only once nobody else may commit to any
            is_late = is_over or now_ms > dates.scored or name in opened
            word = SILENT if is_late else PENDING
        index = revealed.get(spot, committed.get(spot))
        return ProgressCell(word=word, tone=_TONES[word], index=index)

    rows = ((key, tuple(cell(name, key) for name in names)) for key in now.evaluators)
    return ScoringProgress(entrants=names, rows=tuple(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    scored: ScoredAnswer
    bits_per_byte: float
    off: str
    """Deviation of its total from the median, in millionths; empty without a median."""
    outside: int | None
    """Texts whose scores are further off than honest computers can be; None before the outcome."""
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCell:
    """The row's entrant compared with the column's, in bits per byte."""

    word: str
    tone: str
    interval: str


def score_rows(now: CompetitionSnapshot, outcome: CompetitionOutcome | None) -> list[ScoreRow]:
    """List every result, entrant by entrant."""
    places = outcome.places if outcome else ()
    judged = {(place.entrant, one.evaluator): one for place in places for one in place.evaluators}
    middles = _middles(now)
    order = {one.name: at for at, one in enumerate(now.entrants)}
    return [
        _score_row(one, judged.get((one.entrant, one.evaluator)), middles.get(one.entrant))
        for one in sorted(now.results, key=lambda one: (order[one.entrant], one.index))
    ]


def ranking(now: CompetitionSnapshot, outcome: CompetitionOutcome | None) -> RankingChart | None:
    """Draw the ranking, or the scores so far before there is an outcome."""
    return ranking_chart(_ranked(outcome) if outcome else _so_far(now))


def leaders(outcome: CompetitionOutcome) -> str:
    """Name the entrants of rank 1 in a sentence."""
    first = [one for one in outcome.places if one.rank == 1]
    if not first:
        return "Nobody could be ranked."
    names = " and ".join(one.entrant for one in first)
    value = in_bits(first[0].nanobits_per_byte / _NANO)
    return f"{'Shared first: ' if len(first) > 1 else 'First: '}{names}, at {value}."


def unranked(outcome: CompetitionOutcome) -> dict[str, list[str]]:
    """Names of the entrants without a rank, by the reason in words."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in outcome.places:
        if not one.rank:
            found[one.refusal.sentence if one.refusal else _TOO_FEW].append(one.entrant)
    return found


def pair_rows(
    outcome: CompetitionOutcome | None,
) -> list[tuple[str, list[PairCell | None]]]:
    """Compare the first entrants with each other; None where one meets itself."""
    if outcome is None or not outcome.pairs:
        return []
    names = [one.entrant for one in outcome.places if one.rank][:LISTED_ENTRANTS]
    cells = {
        (one.other, one.first): _pair_cell(one.winner, one.other, -one.high, -one.low)
        for one in outcome.pairs
    } | {
        (one.first, one.other): _pair_cell(one.winner, one.first, one.low, one.high)
        for one in outcome.pairs
    }
    return [(name, [cells.get((name, other)) for other in names]) for name in names]


def _pair_cell(winner: str, name: str, low: int, high: int) -> PairCell:
    ends = (f"{one / _NANO:+.4f}" for one in (low, high))
    interval = _minus(" to ".join(ends))
    word, tone = ("ahead", "ok") if winner == name else ("behind", "off")
    if not winner:
        word, tone = "no difference", "wait"
    return PairCell(word=word, tone=tone, interval=interval)


def _score_row(one: ScoredAnswer, judged: JudgedEvaluation | None, middle: int | None) -> ScoreRow:
    if judged:
        middle = one.millibits - judged.off
    return ScoreRow(
        scored=one,
        bits_per_byte=_bits(one.millibits, one.size_bytes),
        off=_minus(f"{(one.millibits - middle) / middle * 1e6:+,.1f}") if middle else "",
        outside=judged.outside if judged else None,
        is_outlier=judged.is_outlier if judged else _is_off(one, middle),
    )


def _is_off(one: ScoredAnswer, middle: int | None) -> bool:
    return middle is not None and not is_within(one.millibits, middle, TOTAL_TOLERANCE)


def _middles(now: CompetitionSnapshot) -> dict[str, int]:
    """Give the median total of each entrant that has enough results."""
    totals = {
        name: [one.millibits for one in results]
        for name, results in _by_entrant(now.results).items()
    }
    return {name: _middle(found) for name, found in totals.items() if len(found) >= _LEAST_TO_DOUBT}


def _by_entrant(results: Sequence[ScoredAnswer]) -> dict[str, list[ScoredAnswer]]:
    found: defaultdict[str, list[ScoredAnswer]] = defaultdict(list)
    for one in results:
        found[one.entrant].append(one)
    return found


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def _ranked(outcome: CompetitionOutcome) -> list[EntrantScores]:
    return [
        EntrantScores(
            name=one.entrant,
            rank=one.rank,
            value=one.nanobits_per_byte / _NANO,
            interval=(one.low / _NANO, one.high / _NANO),
            scores=tuple(
                EvaluatorScore(
                    evaluator=judged.evaluator,
                    value=_bits(judged.millibits, one.size_bytes),
                    is_outlier=judged.is_outlier,
                )
                for judged in one.evaluators
            ),
        )
        for one in outcome.places
        if one.rank
    ]


def _so_far(now: CompetitionSnapshot) -> list[EntrantScores]:
    middles = _middles(now)
    found = [
        EntrantScores(
            name=name,
            rank=0,
            value=_bits(_middle([one.millibits for one in results]), results[0].size_bytes),
            interval=None,
            scores=tuple(
                EvaluatorScore(
                    evaluator=one.evaluator,
                    value=_bits(one.millibits, one.size_bytes),
                    is_outlier=_is_off(one, middles.get(name)),
                )
                for one in results
            ),
        )
        for name, results in _by_entrant(now.results).items()
    ]
    return sorted(found, key=lambda one: (one.value, one.name))


def _bits(millibits: int, size_bytes: int) -> float:
    return millibits / (MILLIBITS * size_bytes) if size_bytes else 0.0


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
