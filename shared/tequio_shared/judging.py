"""What a competition came to, from what its evaluators said: integers, and nothing but the log.

The score of a document is the median of the evaluators', so one that lies moves nothing while most
are honest; it is named all the same. An evaluation of other texts than those that were drawn is
named too, and counts for nothing. Ranks follow from a bootstrap over the documents that the
competition's beacon seeds. docs/protocol.md, section 19.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared import bootstrap, panel
from tequio_shared.competition_rules import LEAST_EVALUATORS
from tequio_shared.evaluations import Compared, Judged, Outcome, Placed
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.scoring import DocumentScore, Refusal, Score, nanobits_per_byte

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tequio_shared.bootstrap import Pair, Place
    from tequio_shared.evaluations import Evaluation
    from tequio_shared.ids import Digest, PeerKey

_INT64 = 1 << 63


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
        ranking = bootstrap.rank(millibits, sizes, beacon=beacon)
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


def medians(contender: Contender, texts: Sequence[Text]) -> tuple[DocumentScore, ...] | None:
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
        self._deviations = panel.deviations(heard) if self.middle else {}

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
    found = panel.medians(heard)
    most = max(one.millibits for one in found)
    worst = max(nanobits_per_byte(one.millibits, one.size_bytes) for one in found)
    is_countable = max(worst, Score.of(found).millibits) <= JSON_INTEGER
    return found if is_countable and most * len(found) < _INT64 else None


def _is_text(raw: bytes) -> bool:
    try:
        return bool(raw.decode())
    except UnicodeDecodeError:
        return False
