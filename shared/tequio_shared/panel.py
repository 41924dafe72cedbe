"""What several evaluators of one model say together: the median of each document, and who is off.

The median is taken for each document by itself, the upper one of an even number, and only then
added up: a lying evaluator moves nothing while most are honest, also if it lies about one document
alone. Whoever is further off than honest computers can be is named; nothing is dropped for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.scoring import (
    DOCUMENT_TOLERANCE,
    TOTAL_TOLERANCE,
    DocumentScore,
    Refusal,
    is_within,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
