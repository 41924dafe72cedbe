"""What a witness measures about contributions, from their bytes and its own work alone.

First the rules of contribution validity; a broken one is the reason. Then, among the valid ones:
the norm against the median norm (a scaled-up update), the cosine on its support with the witness's
own pseudo-gradient from the same head (a flipped, random or foreign update), and how many indices
two contributions share (a copy). What a trainer says about itself has no part in it.

Measured on models of 1M parameters, four trainers: honest ones share 0.11 to 0.17 of their indices,
a copy 1.0; norms lie within 3 % of the median unless scaled; cosines fell from 0.5 in round 4 to
0.2 in round 20, and noise has 1 / sqrt(entries), that is 0.004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared import contribution
from tequio_shared.layout import CHUNK
from tequio_shared.records import SCALES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_shared.contribution import Expected
    from tequio_shared.records import RecordShape

NORM_RATIO_MOST = 2.0
"""Times the lower median norm. Above it an update shouts; honest ones stay within 1.3."""
COSINE_LEAST = 0.02
"""Below it an update does not point where the witness's own points: five deviations of noise."""
OVERLAP_MOST = 0.6
"""Share of indices in common with an earlier contribution. Above it the later one is a copy."""
_BLOCK = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A contribution to screen, and the round's demands with its author's own assignment."""

    slot: int
    header: bytes
    payload: Path
    expected: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The outcome for one candidate: reason ("" for none), and measures (None: not taken)."""

    slot: int
    contribution: bytes
    reason: str
    norm_ratio: float | None = None
    cosine: float | None = None
    overlap: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A valid contribution: squared norm, cosine, and one bit for each flat position."""

    norm: float
    cosine: float | None
    positions: NDArray[np.uint8]
    entries: int


def screen(
    candidates: Sequence[Candidate], own_delta: NDArray[np.float32] | None
) -> tuple[Measured, ...]:
    """Measure candidates, in the order of their commitments: of two alike the later is the copy.

    Work and memory grow with the bytes of the candidates; the copy check compares every pair.
    """
    rules = [_broken_rule(candidate) for candidate in candidates]
    read = [
        None if rule else _read(candidate, own_delta)
        for candidate, rule in zip(candidates, rules, strict=True)
    ]
    median = _lower_median([one.norm for one in read if one is not None])
    return tuple(
        _judged(candidate, rule, one, median, _overlap(one, read, at))
        for at, (candidate, rule, one) in enumerate(zip(candidates, rules, read, strict=True))
    )


def reason_of(norm_ratio: float | None, cosine: float | None, overlap: float | None) -> str:
    """Name what the measures speak against, the gravest first; empty if nothing."""
    if overlap is not None and overlap > OVERLAP_MOST:
        return "copy"
    if cosine is not None and cosine < COSINE_LEAST:
        return "cosine"
    if norm_ratio is not None and norm_ratio > NORM_RATIO_MOST:
        return "norm"
    return ""


def _broken_rule(candidate: Candidate) -> str:
    try:
        payload = candidate.payload.read_bytes()
    except OSError:
        return "unreadable"
    return contribution.validate(candidate.header, payload, candidate.expected) or ""


def _read(candidate: Candidate, own_delta: NDArray[np.float32] | None) -> _Read:
    shape = candidate.expected.shape
    payload = np.memmap(candidate.payload, np.uint8, "r")
    sums = np.zeros(3)
    positions = np.zeros((candidate.expected.chunks, CHUNK // 8), np.uint8)
    entries = 0
    for first in range(0, candidate.expected.chunks, _BLOCK):
        stop = min(first + _BLOCK, candidate.expected.chunks)
        rows = payload[first * shape.record_bytes : stop * shape.record_bytes]
        own = None if own_delta is None else own_delta[first * CHUNK : stop * CHUNK]
        block_sums, positions[first:stop] = _block(rows, shape, own)
        sums += block_sums
        entries += int(np.bitwise_count(positions[first:stop]).sum())
    sent, own_square, product = sums.tolist()
    scale = (sent * own_square) ** 0.5
    cosine = product / scale if own_delta is not None and scale > 0 else None
    return _Read(norm=sent**0.5, cosine=cosine, positions=positions, entries=entries)


def _block(
    rows: NDArray[np.uint8], shape: RecordShape, own: NDArray[np.float32] | None
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Sum sent^2, own^2 and sent * own over the entries of some chunks; mark their positions."""
    records = contribution.decode_records(rows.tobytes(), shape)
    values = records.levels * SCALES[records.scales][:, None].astype(np.float64)
    index = records.indices.astype(np.int64)
    mask = np.zeros((len(values), CHUNK), np.bool_)
    np.put_along_axis(mask, index, values != 0, axis=1)
    sums = np.array([np.square(values).sum(), 0.0, 0.0])
    if own is not None:
        there = np.take_along_axis(own.reshape(-1, CHUNK), index, axis=1).astype(np.float64)
        sums[1:] = np.square(there[values != 0]).sum(), (values * there).sum()
    return sums, np.packbits(mask, axis=1)


def _lower_median(norms: Sequence[float]) -> float:
    return sorted(norms)[(len(norms) - 1) // 2] if norms else 0.0


def _overlap(one: _Read | None, read: Sequence[_Read | None], at: int) -> float | None:
    """Largest share of positions in common with an earlier candidate; None for dense records."""
    if one is None or one.entries in (0, one.positions.size * 8):
        return None
    earlier = [other for other in read[:at] if other is not None]
    common = [int(np.bitwise_count(one.positions & other.positions).sum()) for other in earlier]
    return max(common, default=0) / one.entries


def _judged(
    candidate: Candidate, rule: str, one: _Read | None, median: float, overlap: float | None
) -> Measured:
    name = contribution.contribution_id(candidate.header)
    if one is None:
        return Measured(slot=candidate.slot, contribution=name, reason=rule)
    ratio = one.norm / median if median else None
    return Measured(
        slot=candidate.slot,
        contribution=name,
        reason=reason_of(ratio, one.cosine, overlap),
        norm_ratio=ratio,
        cosine=one.cosine,
        overlap=overlap,
    )
