"""The draw and the result of a competition: integers only, and nothing but the log.

The score of a document is the median over the evaluators, so a lying one moves nothing while most
are honest; it is named all the same. An evaluation of other texts than the drawn ones is named too,
and does not count. Ranks follow from a bootstrap over the documents, seeded by the competition's
beacon. docs/protocol.md, section 19.6.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.competition.rules import (
    LEAST_EVALUATORS,
    ComparedEntrants,
    CompetitionOutcome,
    Evaluation,
    JudgedEvaluation,
    RankedEntrant,
)
from tequio_shared.ids import Digest, PeerKey, sha256, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.scoring import (
    DOCUMENT_TOLERANCE,
    LEAST_DOCUMENTS,
    TOTAL_TOLERANCE,
    DocumentScore,
    Refusal,
    ScoreTotals,
    is_within,
    nanobits_per_byte,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


REPLICATES = 10_000
MOST_COMPARED = 22
"""Models that these replicates can tell apart, by Holm's procedure over all their pairs."""
_DOMAIN = b"tequio/v1/boot\x00"
_BEACON_BYTES = 32
_TAIL = 40  # 1 / 2.5 %: the part outside at each end of an interval of 95 %
_MARGIN = TOTAL_TOLERANCE // 10
_MOST_UNITS = 1 << 32
_INT64 = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceInterval:
    """Confidence interval of 95 %, both ends included, in nanobits per byte."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPair:
    """Two models: `interval` is the first's bits per byte less the other's.

    `against` counts replicates that contradict the sign of the difference, ties
    included; p = min(1, 2 (against + 1) / (replicates + 1)). `winner` is empty for a tie.
    """

    first: str
    other: str
    interval: ConfidenceInterval
    against: int
    winner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """A model in the ranking; `nanobits_per_byte` is its score."""

    name: str
    rank: int
    nanobits_per_byte: int
    interval: ConfidenceInterval


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRanking:
    """Models by rank, then by score and name; pairs in the order of the names."""

    places: tuple[RankedModel, ...]
    pairs: tuple[ModelPair, ...]


def rank_models(
    millibits: Mapping[str, Sequence[int]],
    sizes: Sequence[int],
    *,
    beacon: bytes,
    replicates: int = REPLICATES,
) -> ModelRanking:
    """Rank models by their millibits for the same documents of these sizes in bytes.

    A paired bootstrap over documents. Replicate b draws as many documents as there are, with
    replacement, from SHAKE-256 over the beacon and b; all models meet the same draws. Sums are
    integers, each quotient is one division that rounds down, and the generator is a hash function:
    anybody gets the same numbers in any language on any machine.

    A beats B iff Holm's procedure over all pairs finds their difference significant at 5 %, the
    difference exceeds ten times what honest evaluators may differ by, and there are
    `LEAST_DOCUMENTS`. A rank is one more than the
    number of models that beat the model, so ties share a rank. Only the `MOST_COMPARED` with the
    best totals are compared, as more would leave no difference significant; the others share the
    rank after these (docs/protocol.md, scoring). Raises ValueError when there is nothing to
    compare, or the documents differ.
    """
    names = sorted(millibits)
    # Sorted names fix the order of models and pairs, so that ties break the same way everywhere.
    table = _table(names, millibits, sizes, beacon, replicates)
    sums = _replicated(table, beacon, replicates)
    totals = [sum(millibits[name]) for name in names]
    best = sorted(range(len(names)), key=totals.__getitem__)[:MOST_COMPARED]
    pairs = [_pair(one, other, names, totals, sums) for one, other in combinations(sorted(best), 2)]
    judged = tuple(pairs)
    if len(sizes) >= LEAST_DOCUMENTS:
        judged = _judged(pairs, dict(zip(names, totals, strict=True)), replicates)
    beaten = Counter(
        pair.other if pair.winner == pair.first else pair.first for pair in judged if pair.winner
    )
    places = [
        RankedModel(
            name=name,
            # Else copies of one model, which tie, would leave everybody rank 1.
            rank=1 + (beaten[name] if at in best else len(best)),
            nanobits_per_byte=nanobits_per_byte(totals[at], sum(sizes)),
            interval=_interval(_quotients(sums[at], sums[-1])),
        )
        for at, name in enumerate(names)
    ]
    places.sort(key=lambda place: (place.rank, place.nanobits_per_byte, place.name))
    return ModelRanking(places=tuple(places), pairs=judged)


def replicate_draw(beacon: bytes, replicate: int, units: int) -> NDArray[np.int64]:
    """Documents of one replicate: u32 big-endian numbers, scaled to below `units`."""
    raw = hashlib.shake_256(_DOMAIN + beacon + replicate.to_bytes(4, "big")).digest(4 * units)
    scaled = np.frombuffer(raw, ">u4").astype(np.uint64) * np.uint64(units) >> np.uint64(32)
    return scaled.astype(np.int64)


def _table(
    names: Sequence[str],
    millibits: Mapping[str, Sequence[int]],
    sizes: Sequence[int],
    beacon: bytes,
    replicates: int,
) -> NDArray[np.int64]:
    """Rows of models in the order of their names, then the sizes."""
    rows = [*(millibits[name] for name in names), sizes]
    if len(beacon) != _BEACON_BYTES:
        raise ValueError(f"a beacon has {_BEACON_BYTES} bytes, not {len(beacon)}")
    if not names or {len(row) for row in rows} != {len(sizes)} or not sizes:
        raise ValueError("every model needs a score for each document, and at least one document")
    if min(sizes) < 1 or min(map(min, rows)) < 0:
        raise ValueError("a document must have at least one byte, and a score of 0 or more")
    if replicates < _TAIL or not len(sizes) < _MOST_UNITS:
        raise ValueError(f"{replicates} replicates of {len(sizes)} documents are out of range")
    if max(map(max, rows)) * len(sizes) >= _INT64:
        raise ValueError("the scores are too large to be added")
    return np.array(rows, np.int64)


def _replicated(table: NDArray[np.int64], beacon: bytes, replicates: int) -> list[list[int]]:
    sums = np.empty((len(table), replicates), np.int64)
    for replicate in range(replicates):
        # One replicate at a time: all of them at once would need gigabytes for a large set.
        drawn = replicate_draw(beacon, replicate, table.shape[1])
        sums[:, replicate] = table[:, drawn].sum(axis=1)
    # Python integers from here on: quotients multiply by a million, which would overflow int64.
    return [[int(one) for one in row] for row in sums]


def _pair(
    one: int, other: int, names: Sequence[str], totals: Sequence[int], sums: list[list[int]]
) -> ModelPair:
    # Paired: both models meet the same documents, whose difficulty then cancels out.
    differences = [a - b for a, b in zip(sums[one], sums[other], strict=True)]
    whole = totals[one] - totals[other]
    below, above = sum(d <= 0 for d in differences), sum(d >= 0 for d in differences)
    return ModelPair(
        first=names[one],
        other=names[other],
        interval=_interval(_quotients(differences, sums[-1])),
        against=above if whole < 0 else below if whole > 0 else max(above, below),
        winner="",
    )


def _judged(
    pairs: Sequence[ModelPair], totals: Mapping[str, int], replicates: int
) -> tuple[ModelPair, ...]:
    """Determine the winners: Holm's procedure at 5 %, and a difference beyond the margin."""
    winners: dict[tuple[str, str], str] = {}
    for done, pair in enumerate(sorted(pairs, key=lambda one: (one.against, one.first, one.other))):
        # Holm: the first difference that is not significant ends it, for all the weaker ones too.
        if _TAIL * (pair.against + 1) * (len(pairs) - done) > replicates + 1:
            break
        # Significant is not enough: differences that rounding can make must not win.
        best, worst = sorted((pair.first, pair.other), key=lambda name: totals[name])
        if (totals[worst] - totals[best]) * _MARGIN > totals[worst]:
            winners[pair.first, pair.other] = best
    return tuple(replace(pair, winner=winners.get((pair.first, pair.other), "")) for pair in pairs)


def _quotients(sums: Sequence[int], sizes: Sequence[int]) -> list[int]:
    return [nanobits_per_byte(bits, size) for bits, size in zip(sums, sizes, strict=True)]


def _interval(values: Sequence[int]) -> ConfidenceInterval:
    """Drop one in 40 less one at each end: 249 of 10,000, so that p <= 5 % iff 0 is outside."""
    ordered = sorted(values)
    tail = len(ordered) // _TAIL - 1
    return ConfidenceInterval(low=ordered[tail], high=ordered[-1 - tail])


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorDeviation:
    """One evaluator against the medians; `outside` are the documents beyond the tolerance."""

    outside: tuple[int, ...]
    is_outlier: bool


def medians(evaluations: Sequence[Sequence[DocumentScore]]) -> tuple[DocumentScore, ...]:
    """Take each document's median; raises ValueError when the documents differ.

    Per document, the upper one of an even number, and only then summed up: a lying evaluator moves
    nothing while most are honest, even if it lies about a single document. One that is further off
    than honest computers can be is named, and nothing is dropped because of it.
    """
    documents = {tuple(one.document for one in scores) for scores in evaluations}
    if len(documents) != 1 or documents == {()}:
        raise ValueError("the evaluations are for different documents")
    # Of an even number the upper one: the worse score counts.
    middle = len(evaluations) // 2
    columns = zip(*evaluations, strict=True)
    return tuple(sorted(column, key=_order)[middle] for column in columns)


def deviations(evaluations: Mapping[str, Sequence[DocumentScore]]) -> dict[str, EvaluatorDeviation]:
    """Compare every evaluator with the medians of all."""
    middle = medians(tuple(evaluations.values()))
    return {name: _deviation(scores, middle) for name, scores in sorted(evaluations.items())}


def _deviation(
    scores: Sequence[DocumentScore], middle: Sequence[DocumentScore]
) -> EvaluatorDeviation:
    outside = tuple(
        at
        for at, (one, other) in enumerate(zip(scores, middle, strict=True))
        if not is_within(one.millibits, other.millibits, DOCUMENT_TOLERANCE)
        # A charged document costs the same for all; reading it or not is a different claim.
        or one.refusal is not other.refusal
    )
    total, whole = (sum(one.millibits for one in each) for each in (scores, middle))
    return EvaluatorDeviation(
        outside=outside,
        is_outlier=bool(outside) or not is_within(total, whole, TOTAL_TOLERANCE),
    )


def _order(score: DocumentScore) -> tuple[int, Refusal, int, int, int]:
    """By millibits; the rest only breaks ties."""
    return (score.millibits, score.refusal, score.tokens, score.size_bytes, score.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnText:
    """A drawn document: its digest in scores, and its size, 0 if it is not text and left out."""

    document: str
    size_bytes: int

    @classmethod
    def of(cls, raw: bytes) -> DrawnText:
        return cls(document=to_text(sha256(raw)), size_bytes=len(raw) if _is_text(raw) else 0)

    def is_in(self, score: DocumentScore) -> bool:
        """Return whether a score is for this document, and leaves it out exactly if it must."""
        if (score.document, score.size_bytes) != (self.document, self.size_bytes):
            return False
        if self.size_bytes:
            return score.refusal is not Refusal.EMPTY
        return score.refusal is Refusal.EMPTY and not score.millibits


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEntrant:
    """An entrant whose submission counts, with all evaluations of it in the log."""

    entrant: str
    author: PeerKey
    submission: Digest
    evaluations: tuple[Evaluation, ...]


def compute_outcome(
    competition: Digest,
    beacon: bytes,
    texts: Sequence[DrawnText],
    contenders: Iterable[JudgedEntrant],
) -> CompetitionOutcome:
    """Compute the outcome of a competition from the drawn texts, in their order."""
    # A document without text is left out for all models alike.
    kept = [at for at, text in enumerate(texts) if text.size_bytes]
    judged = {one.entrant: _EntrantScores(one, texts) for one in contenders}
    millibits = {
        name: [one.middle[at].millibits for at in kept]
        for name, one in judged.items()
        if kept and one.middle and not one.refusal
    }
    sizes = [texts[at].size_bytes for at in kept]
    places: tuple[RankedModel, ...] = ()
    pairs: tuple[ModelPair, ...] = ()
    if millibits:
        ranking = rank_models(millibits, sizes, beacon=beacon)
        places, pairs = ranking.places, ranking.pairs
    return CompetitionOutcome(
        competition=to_text(competition),
        beacon=to_text(beacon),
        documents=len(kept),
        places=(
            *(judged[one.name].row(one, sum(millibits[one.name]), sum(sizes)) for one in places),
            *(judged[name].row(None, 0, 0) for name in sorted(judged.keys() - millibits.keys())),
        ),
        pairs=tuple(_compared(pair) for pair in pairs),
    )


def judging_medians(
    contender: JudgedEntrant, texts: Sequence[DrawnText]
) -> tuple[DocumentScore, ...] | None:
    """Scores by text that count for an entrant; None where it cannot be ranked."""
    return _EntrantScores(contender, texts).middle


class _EntrantScores:
    """The evaluators of one entrant; `middle` are their medians, None where there are none.

    `refusal` is the reason against its model that at least half of them state, if they do.
    """

    def __init__(self, contender: JudgedEntrant, texts: Sequence[DrawnText]) -> None:
        self._contender = contender
        self._texts = texts
        # By key in order, so that the outcome has one spelling.
        by_key = {one.evaluator: one for one in contender.evaluations}
        self._evaluations = dict(sorted(by_key.items()))
        fitting = {key: one for key, one in by_key.items() if not self._undrawn(one)}
        self.middle = _medians(tuple(one.documents for one in fitting.values()))
        self.refusal = _refusal(tuple(fitting.values())) if self.middle else Refusal.NONE
        scores = {key: one.documents for key, one in fitting.items()}
        self._deviations = deviations(scores) if self.middle else {}

    def row(self, place: RankedModel | None, millibits: int, size_bytes: int) -> RankedEntrant:
        """Row of the entrant in the ranking; without a place it is listed, but not ranked."""
        contender = self._contender
        return RankedEntrant(
            entrant=contender.entrant,
            author=to_text(contender.author),
            submission=to_text(contender.submission),
            rank=place.rank if place else 0,
            millibits=millibits,
            size_bytes=size_bytes,
            nanobits_per_byte=place.nanobits_per_byte if place else 0,
            low=place.interval.low if place else 0,
            high=place.interval.high if place else 0,
            refusal=self.refusal,
            evaluators=tuple(self._one(key, one) for key, one in self._evaluations.items()),
        )

    def _one(self, key: str, evaluation: Evaluation) -> JudgedEvaluation:
        """Compare with the medians; one for other texts is an outlier by its wrong documents."""
        total = evaluation.total.millibits
        found, undrawn = self._deviations.get(key), self._undrawn(evaluation)
        middle = ScoreTotals.of(self.middle).millibits if self.middle else total
        return JudgedEvaluation(
            evaluator=key,
            scores=to_text(sha256(evaluation.encode())),
            millibits=total,
            off=total - middle,
            outside=len(found.outside) if found else undrawn,
            is_outlier=found.is_outlier if found else bool(undrawn),
        )

    def _undrawn(self, evaluation: Evaluation) -> int:
        """Count the documents in it that were not drawn."""
        # Counted instead of refused: the evaluation is in the log, and the outcome has to name it.
        reasons = evaluation.refusals
        fits = sum(
            text.is_in(score) and (not reasons or score.refusal in {*reasons, Refusal.EMPTY})
            for text, score in zip(self._texts, evaluation.documents, strict=False)
        )
        return max(len(self._texts), len(evaluation.documents)) - (0 if len(reasons) > 1 else fits)


def _compared(pair: ModelPair) -> ComparedEntrants:
    return ComparedEntrants(
        first=pair.first,
        other=pair.other,
        low=pair.interval.low,
        high=pair.interval.high,
        against=pair.against,
        winner=pair.winner,
    )


def _medians(scores: Sequence[Sequence[DocumentScore]]) -> tuple[DocumentScore, ...] | None:
    """Medians of enough evaluators; None too where an integer of the outcome could not hold them.

    A model may be arbitrarily bad, even on purpose: that must not cost the others their ranks.
    """
    if len(scores) < LEAST_EVALUATORS:
        return None
    found = medians(scores)
    most = max(one.millibits for one in found)
    worst = max(nanobits_per_byte(one.millibits, one.size_bytes) for one in found)
    is_countable = max(worst, ScoreTotals.of(found).millibits) <= JSON_INTEGER
    return found if is_countable and most * len(found) < _INT64 else None


def _refusal(evaluations: Sequence[Evaluation]) -> Refusal:
    """The reason that most evaluators state, if at least half of all state one."""
    stated = Counter(reason for one in evaluations for reason in one.refusals)
    if 2 * stated.total() < len(evaluations):
        return Refusal.NONE
    return max(Refusal, key=lambda one: stated[one])


def _is_text(raw: bytes) -> bool:
    try:
        return bool(raw.decode())
    except UnicodeDecodeError:
        return False
