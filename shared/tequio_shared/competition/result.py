"""What a competition came to, from what its evaluators said: integers, and nothing but the log.

The score of a document is the median of the evaluators', so one that lies moves nothing while most
are honest; it is named all the same. An evaluation of other texts than those that were drawn is
named too, and counts for nothing. Ranks follow from a bootstrap over the documents that the
competition's beacon seeds. docs/protocol.md, section 19.6.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.competition.rules import LEAST_EVALUATORS, Compared, Judged, Outcome, Placed
from tequio_shared.ids import Digest, PeerKey, sha256, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.scoring import (
    DOCUMENT_TOLERANCE,
    TOTAL_TOLERANCE,
    DocumentScore,
    Refusal,
    Score,
    is_within,
    nanobits_per_byte,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tequio_shared.competition.rules import Evaluation

# --- Which of several scored models is better, beyond the chance of which documents were drawn.
#
# A paired bootstrap over documents. Replicate b draws as many documents as there are, with
# replacement, from SHAKE-256 over the beacon and b; all models meet the same draws. Sums are
# integers, each quotient is one division that rounds down, and the generator is a hash function:
# a stranger gets the same numbers in any language on any machine.
#
# A beats B iff Holm's procedure over all pairs finds their difference significant at 5 %, and the
# difference is more than ten times what honest evaluators may differ by. A rank is one more than
# the number of models that beat the model, so that ties share a rank. docs/protocol.md, scoring.

REPLICATES = 10_000
_DOMAIN = b"tequio/v1/boot\x00"
_BEACON_BYTES = 32
_TAIL = 40  # 1 / 2.5 %: what lies outside at each end of an interval of 95 %
_MARGIN = TOTAL_TOLERANCE // 10
_MOST_UNITS = 1 << 32
_INT64 = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """95 %, both ends included, in nanobits per byte."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models: `interval` is of the first's bits per byte less the other's.

    `against` is the number of replicates that speak against the sign of the difference, ties
    included; p = min(1, 2 (against + 1) / (replicates + 1)). `winner` is empty for a tie.
    """

    first: str
    other: str
    interval: Interval
    against: int
    winner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A model in the ranking; `nanobits_per_byte` is its score."""

    name: str
    rank: int
    nanobits_per_byte: int
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Models by rank, then by score and name; pairs in the order of the names."""

    places: tuple[Place, ...]
    pairs: tuple[Pair, ...]


def rank(
    millibits: Mapping[str, Sequence[int]],
    sizes: Sequence[int],
    *,
    beacon: bytes,
    replicates: int = REPLICATES,
) -> Ranking:
    """Rank models by what each needs for the same documents of these sizes in bytes.

    Raises ValueError when there is nothing to compare, or it is not the same documents.
    """
    names = sorted(millibits)
    table = _table(names, millibits, sizes, beacon, replicates)
    sums = _replicated(table, beacon, replicates)
    totals = [sum(millibits[name]) for name in names]
    pairs = [
        _pair(one, other, names, totals, sums) for one, other in combinations(range(len(names)), 2)
    ]
    judged = _judged(pairs, dict(zip(names, totals, strict=True)), replicates)
    beaten = [{pair.first, pair.other} - {pair.winner} for pair in judged if pair.winner]
    places = [
        Place(
            name=name,
            rank=1 + sum(name in losers for losers in beaten),
            nanobits_per_byte=nanobits_per_byte(totals[at], sum(sizes)),
            interval=_interval(_quotients(sums[at], sums[-1])),
        )
        for at, name in enumerate(names)
    ]
    places.sort(key=lambda place: (place.rank, place.nanobits_per_byte, place.name))
    return Ranking(places=tuple(places), pairs=judged)


def draws(beacon: bytes, replicate: int, units: int) -> NDArray[np.int64]:
    """List the documents of one replicate: u32 big-endian numbers, scaled to below `units`."""
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
    """Rows of models in the order of their names, and below them the sizes."""
    rows = [*(millibits[name] for name in names), sizes]
    if len(beacon) != _BEACON_BYTES:
        raise ValueError(f"a beacon has {_BEACON_BYTES} bytes, not {len(beacon)}")
    if not names or {len(row) for row in rows} != {len(sizes)} or not sizes:
        raise ValueError("every model needs a score for each of the documents, one at least")
    if min(sizes) < 1 or min(map(min, rows)) < 0:
        raise ValueError("a document has bytes, and needs bits, that count from 0")
    if replicates < _TAIL or not len(sizes) < _MOST_UNITS:
        raise ValueError(f"{replicates} replicates of {len(sizes)} documents are out of range")
    if max(map(max, rows)) * len(sizes) >= _INT64:
        raise ValueError("the scores are too large to be added")
    return np.array(rows, np.int64)


def _replicated(table: NDArray[np.int64], beacon: bytes, replicates: int) -> list[list[int]]:
    """Sums of every row in every replicate."""
    sums = np.empty((len(table), replicates), np.int64)
    for replicate in range(replicates):
        drawn = draws(beacon, replicate, table.shape[1])
        sums[:, replicate] = table[:, drawn].sum(axis=1)
    return [[int(one) for one in row] for row in sums]


def _pair(
    one: int, other: int, names: Sequence[str], totals: Sequence[int], sums: list[list[int]]
) -> Pair:
    differences = [a - b for a, b in zip(sums[one], sums[other], strict=True)]
    whole = totals[one] - totals[other]
    below, above = sum(d <= 0 for d in differences), sum(d >= 0 for d in differences)
    return Pair(
        first=names[one],
        other=names[other],
        interval=_interval(_quotients(differences, sums[-1])),
        against=above if whole < 0 else below if whole > 0 else max(above, below),
        winner="",
    )


def _judged(pairs: Sequence[Pair], totals: Mapping[str, int], replicates: int) -> tuple[Pair, ...]:
    """Name the winners: Holm's procedure at 5 %, and a difference beyond the margin."""
    winners: dict[tuple[str, str], str] = {}
    for done, pair in enumerate(sorted(pairs, key=lambda one: (one.against, one.first, one.other))):
        if _TAIL * (pair.against + 1) * (len(pairs) - done) > replicates + 1:
            break
        best, worst = sorted((pair.first, pair.other), key=lambda name: totals[name])
        if (totals[worst] - totals[best]) * _MARGIN > totals[worst]:
            winners[pair.first, pair.other] = best
    return tuple(replace(pair, winner=winners.get((pair.first, pair.other), "")) for pair in pairs)


def _quotients(sums: Sequence[int], sizes: Sequence[int]) -> list[int]:
    return [nanobits_per_byte(bits, size) for bits, size in zip(sums, sizes, strict=True)]


def _interval(values: Sequence[int]) -> Interval:
    """Drop one in 40 less one at each end: 249 of 10,000, so that p <= 5 % iff 0 is outside."""
    ordered = sorted(values)
    tail = len(ordered) // _TAIL - 1
    return Interval(low=ordered[tail], high=ordered[-1 - tail])


# --- Which documents are scored, and who scores them: a draw that nobody could know or steer.
#
# The beacon comes out of the archive's key, which those who entered and offered did not have; of
# the secrets of all who offered, which whoever has the key did not have while they chose; and of
# the submissions themselves. All of it is public before anything is scored, so that everybody
# draws again. docs/protocol.md, section 19.

_NUMBER_BYTES = 4
_NUMBERS = 1 << 8 * _NUMBER_BYTES
_SPARE = 64
"""Numbers beyond those that are needed if none is skipped."""


def commitment(competition: Digest, author: PeerKey, secret: bytes) -> Digest:
    """What an offer commits to: nobody else can open it, nor use it for another competition."""
    return sha256(b"tequio/v1/eval\0", competition, author, secret)


def beacon(
    competition: Digest,
    key: bytes,
    secrets: Mapping[PeerKey, bytes],
    submissions: Mapping[str, Digest],
) -> Digest:
    """Join the archive's key, the opened secrets by author, and the submissions by entrant."""
    return sha256(
        b"tequio/v1/comp\0",
        competition,
        key,
        *(secrets[author] for author in sorted(secrets)),
        *(submissions[entrant] for entrant in sorted(submissions)),
    )


def documents(beacon_value: Digest, count: int, total: int) -> tuple[int, ...]:
    """Draw the numbers, below `total`, of so many documents, ascending; all if there are no more.

    The first steps of a shuffle: step i swaps what stands at i with what stands at i + u mod
    (total - i), where u is the next number of the stream that favours no remainder.
    """
    if count >= total:
        return tuple(range(total))
    stream = _numbers(b"tequio/v1/docs\0" + beacon_value, count)
    moved: dict[int, int] = {}
    drawn = []
    for step in range(count):
        at = step + _below(total - step, stream)
        drawn.append(moved.get(at, at))
        moved[at] = moved.get(step, step)
    return tuple(sorted(drawn))


def evaluators(
    beacon_value: Digest, candidates: Mapping[PeerKey, Digest], count: int
) -> tuple[PeerKey, ...]:
    """Draw so many keys, each of another owner, in the order of the lot; fewer if there are none.

    `candidates` are keys and whose they are.
    """
    drawn: dict[Digest, PeerKey] = {}
    for key in sorted(candidates, key=lambda one: _lot(beacon_value, one)):
        drawn.setdefault(candidates[key], key)
    return tuple(drawn.values())[:count]


def _lot(beacon_value: Digest, key: PeerKey) -> Digest:
    return sha256(b"tequio/v1/evaluator\0", beacon_value, key)


def _below(end: int, stream: Iterator[int]) -> int:
    """The next number that says something below `end` without favouring any."""
    fair = _NUMBERS - _NUMBERS % end
    return next(number for number in stream if number < fair) % end


def _numbers(seed: bytes, count: int) -> Iterator[int]:
    """The u32 of SHAKE-256, without end."""
    state, done, many = hashlib.shake_256(seed), 0, count + _SPARE
    while True:
        raw = state.digest(_NUMBER_BYTES * many)
        for at in range(_NUMBER_BYTES * done, len(raw), _NUMBER_BYTES):
            yield int.from_bytes(raw[at : at + _NUMBER_BYTES], "big")
        done, many = many, 2 * many


# --- What several evaluators of one model say together: the median of each document, and who is
# off.
#
# The median is taken for each document by itself, the upper one of an even number, and only then
# added up: a lying evaluator moves nothing while most are honest, also if it lies about one
# document alone. Whoever is further off than honest computers can be is named; nothing is dropped
# for it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One evaluator against the medians, in millibits: `total` is its sum less theirs.

    `outside` are the documents, by number, that are further off than the tolerance allows; `worst`
    is the one that is off by most, -1 where all are equal.
    """

    total: int
    outside: tuple[int, ...]
    worst: int
    is_outlier: bool


def medians(evaluations: Sequence[Sequence[DocumentScore]]) -> tuple[DocumentScore, ...]:
    """Take each document's median; raises ValueError when they are not of the same documents."""
    _check_same(evaluations)
    found = []
    for column in zip(*evaluations, strict=True):
        ordered = sorted(column, key=_order)
        found.append(ordered[len(ordered) // 2])
    return tuple(found)


def deviations(
    evaluations: Mapping[str, Sequence[DocumentScore]],
) -> dict[str, Deviation]:
    """Hold every evaluator against the medians of all."""
    middle = medians(tuple(evaluations.values()))
    return {name: _deviation(scores, middle) for name, scores in sorted(evaluations.items())}


def _deviation(scores: Sequence[DocumentScore], middle: Sequence[DocumentScore]) -> Deviation:
    off = [one.millibits - other.millibits for one, other in zip(scores, middle, strict=True)]
    outside = tuple(
        at
        for at, (one, other) in enumerate(zip(scores, middle, strict=True))
        if not is_within(one.millibits, other.millibits, DOCUMENT_TOLERANCE)
        or one.refusal is not other.refusal
    )
    whole = sum(one.millibits for one in middle)
    worst = max(range(len(off)), key=lambda at: (abs(off[at]), -at))
    return Deviation(
        total=sum(off),
        outside=outside,
        worst=worst if off[worst] else -1,
        is_outlier=bool(outside) or not is_within(whole + sum(off), whole, TOTAL_TOLERANCE),
    )


def _check_same(evaluations: Sequence[Sequence[DocumentScore]]) -> None:
    asked = {tuple(one.document for one in scores) for scores in evaluations}
    if len(asked) != 1 or asked == {()}:
        raise ValueError("the evaluations are not of the same documents")


def _order(score: DocumentScore) -> tuple[int, Refusal, int, int, int]:
    """By millibits; the rest only decides which of two equal ones is taken."""
    return (score.millibits, score.refusal, score.tokens, score.size_bytes, score.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A drawn document: its name in scores, and its size, 0 if it is no text and left out."""

    document: str
    size_bytes: int

    @classmethod
    def of(cls, raw: bytes) -> Text:
        """Name a document of the sealed set."""
        return cls(document=to_text(sha256(raw)), size_bytes=len(raw) if _is_text(raw) else 0)

    def is_in(self, score: DocumentScore) -> bool:
        """Whether a score is of this document, and left it out if that is due."""
        if (score.document, score.size_bytes) != (self.document, self.size_bytes):
            return False
        if self.size_bytes:
            return score.refusal is not Refusal.EMPTY
        return score.refusal is Refusal.EMPTY and not score.millibits


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """An entrant whose submission counts, and all evaluations of it that are in the log."""

    entrant: str
    author: PeerKey
    submission: Digest
    evaluations: tuple[Evaluation, ...]


def outcome(
    competition: Digest, beacon: bytes, texts: Sequence[Text], contenders: Iterable[Contender]
) -> Outcome:
    """Judge a competition by the drawn texts, in their order."""
    kept = [at for at, text in enumerate(texts) if text.size_bytes]
    bench = {one.entrant: _Bench(one, texts) for one in contenders}
    millibits = {
        name: [one.middle[at].millibits for at in kept]
        for name, one in bench.items()
        if kept and one.middle
    }
    sizes = [texts[at].size_bytes for at in kept]
    places: tuple[Place, ...] = ()
    pairs: tuple[Pair, ...] = ()
    if millibits:
        ranking = rank(millibits, sizes, beacon=beacon)
        places, pairs = ranking.places, ranking.pairs
    return Outcome(
        competition=to_text(competition),
        beacon=to_text(beacon),
        documents=len(kept),
        places=(
            *(bench[one.name].placed(one, sum(millibits[one.name]), sum(sizes)) for one in places),
            *(bench[name].unranked() for name in sorted(bench.keys() - millibits.keys())),
        ),
        pairs=tuple(_compared(pair) for pair in pairs),
    )


def judging_medians(
    contender: Contender, texts: Sequence[Text]
) -> tuple[DocumentScore, ...] | None:
    """The score of each text that counts for an entrant; None where it cannot be ranked."""
    return _Bench(contender, texts).middle


class _Bench:
    """The evaluators of one entrant; `middle` are its medians, None where they cannot be ranked."""

    def __init__(self, contender: Contender, texts: Sequence[Text]) -> None:
        self._contender = contender
        self._texts = texts
        by_key = {one.evaluator: one for one in contender.evaluations}
        self._evaluations = dict(sorted(by_key.items()))
        heard = {key: one.documents for key, one in by_key.items() if not self._strange(one)}
        self.middle = _medians(tuple(heard.values()))
        self._deviations = deviations(heard) if self.middle else {}

    def placed(self, place: Place, millibits: int, size_bytes: int) -> Placed:
        """Its row in the ranking."""
        contender = self._contender
        return Placed(
            entrant=contender.entrant,
            author=to_text(contender.author),
            submission=to_text(contender.submission),
            rank=place.rank,
            millibits=millibits,
            size_bytes=size_bytes,
            nanobits_per_byte=place.nanobits_per_byte,
            low=place.interval.low,
            high=place.interval.high,
            evaluators=self._judged(),
        )

    def unranked(self) -> Placed:
        """Its row where there is no number to go by."""
        contender = self._contender
        return Placed(
            entrant=contender.entrant,
            author=to_text(contender.author),
            submission=to_text(contender.submission),
            rank=0,
            millibits=0,
            size_bytes=0,
            nanobits_per_byte=0,
            low=0,
            high=0,
            evaluators=self._judged(),
        )

    def _judged(self) -> tuple[Judged, ...]:
        return tuple(self._one(key, one) for key, one in self._evaluations.items())

    def _one(self, key: str, evaluation: Evaluation) -> Judged:
        """Hold one against the medians; one of other texts is an outlier by what is strange."""
        total = evaluation.total.millibits
        found, strange = self._deviations.get(key), self._strange(evaluation)
        middle = Score.of(self.middle).millibits if self.middle else total
        return Judged(
            evaluator=key,
            scores=to_text(sha256(evaluation.encode())),
            millibits=total,
            off=total - middle,
            outside=len(found.outside) if found else strange,
            is_outlier=found.is_outlier if found else bool(strange),
        )

    def _strange(self, evaluation: Evaluation) -> int:
        """How many of its documents are not those that were drawn."""
        fits = sum(
            text.is_in(score)
            for text, score in zip(self._texts, evaluation.documents, strict=False)
        )
        return max(len(self._texts), len(evaluation.documents)) - fits


def _compared(pair: Pair) -> Compared:
    return Compared(
        first=pair.first,
        other=pair.other,
        low=pair.interval.low,
        high=pair.interval.high,
        against=pair.against,
        winner=pair.winner,
    )


def _medians(heard: Sequence[Sequence[DocumentScore]]) -> tuple[DocumentScore, ...] | None:
    """The medians of enough evaluators; None too where no integer of the outcome could hold them.

    A model may be bad without end, and on purpose: that must not cost the others their ranks.
    """
    if len(heard) < LEAST_EVALUATORS or not heard[0]:
        return None
    found = medians(heard)
    most = max(one.millibits for one in found)
    worst = max(nanobits_per_byte(one.millibits, one.size_bytes) for one in found)
    is_countable = max(worst, Score.of(found).millibits) <= JSON_INTEGER
    return found if is_countable and most * len(found) < _INT64 else None


def _is_text(raw: bytes) -> bool:
    try:
        return bool(raw.decode())
    except UnicodeDecodeError:
        return False
