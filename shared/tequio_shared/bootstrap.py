"""Which of several scored models is better, beyond the chance of which documents were drawn.

A paired bootstrap over documents. Replicate b draws as many documents as there are, with
replacement, from SHAKE-256 over the beacon and b; all models meet the same draws. Sums are
integers, each quotient is one division that rounds down, and the generator is a hash function: a
stranger gets the same numbers in any language on any machine.

A beats B iff Holm's procedure over all pairs finds their difference significant at 5 %, and the
difference is more than ten times what honest evaluators may differ by. A rank is one more than the
number of models that beat the model, so that ties share a rank. docs/protocol.md, scoring.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.scoring import TOTAL_TOLERANCE, nanobits_per_byte

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

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
