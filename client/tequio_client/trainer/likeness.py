"""How alike contributions are: positions in common, and equal signs there, in a sample of chunks.

Signs rather than values: a copy that was scaled, or requantised, still has them. The sample is
drawn for each round and told to nobody, so the author of a copy cannot know where to alter it.
Shares of equal positions are about the same in every sample, so witnesses with different samples
still agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tequio_client.trainer.pacing import FULL_PACE, Pacing
from tequio_shared.head.contribution import RecordShape, decode_records
from tequio_shared.head.layout import CHUNK, WeightLayout

SAMPLE_CHUNKS = 1_024
"""Most chunks in a sample: at k 16, the fewest entries, an overlap is then known to 1 %."""
SAMPLE_BYTES = 1 << 18
"""Most bytes of records in a sample, but always at least 64 chunks: dense records are large."""
_LEAST_CHUNKS = 64
_LANE = 64  # chunks of a thread
_CROWDED = 4  # times k: a chunk with fewer positions shares many of them by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """Entries of a contribution in a sample: indices uint16[m, k], signs int8[m, k], 0 for none."""

    indices: NDArray[np.uint16]
    signs: NDArray[np.int8]

    @property
    def entries(self) -> int:
        return int(np.count_nonzero(self.signs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Share of positions in common, of the sketch with fewer; share of those with equal signs."""

    overlap: float
    agreement: float


NO_LIKENESS = Likeness(overlap=0.0, agreement=0.5)


def draw_sample(chunks: int, shape: RecordShape, chance: np.random.Generator) -> NDArray[np.int64]:
    """Draw a sample of `chunks` chunks: int64[m], ascending."""
    most = min(SAMPLE_CHUNKS, max(SAMPLE_BYTES // shape.record_bytes, _LEAST_CHUNKS))
    return np.sort(chance.choice(chunks, min(chunks, most), replace=False)).astype(np.int64)


def sketch(
    rows: NDArray[np.uint8], shape: RecordShape, layout: WeightLayout, sample: NDArray[np.int64]
) -> Sketch:
    """Sketch a contribution from the records of the sample's chunks, uint8[m, R].

    Raises MalformedError for records that cannot be decoded.
    """
    records = decode_records(rows.tobytes(), shape)
    live = (records.levels != 0) & (records.scales > 0)[:, None] & (records.indices < CHUNK)
    if shape.algorithm != "distro":  # coefficients have no padding
        # Sparse records pick k positions: in a chunk with hardly more than k of them, two honest
        # updates would look like copies. Dense records always have all positions.
        least = 0 if shape.is_dense else _CROWDED * shape.k
        _, mine, theirs = np.intersect1d(sample, layout.padded_chunks, return_indices=True)
        masks = np.unpackbits(layout.padding_bits[theirs], axis=1, bitorder="little").view(np.bool_)
        places = np.minimum(records.indices[mine], CHUNK - 1).astype(np.int64)
        is_crowded = masks.sum(1, keepdims=True) > CHUNK - least
        live[mine] &= ~(np.take_along_axis(masks, places, 1) | is_crowded)
    return Sketch(indices=records.indices, signs=np.sign(records.levels) * live)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likenesses:
    """Candidates, in the order of their commitments, among themselves and with earlier work.

    `shared` and `same` are positions in common and those with equal signs, int64[P, P + E]: first
    the candidates, then the earlier contributions. `entries` int64[P + E].
    """

    shared: NDArray[np.int64]
    same: NDArray[np.int64]
    entries: NDArray[np.int64]

    def pair(self, one: int, other: int) -> Likeness:
        """One without entries is like no other."""
        shared = int(self.shared[one, other])
        if not shared:
            return NO_LIKENESS
        # Of the one with fewer entries: adding entries of its own to a copy must not dilute it.
        fewer = int(min(self.entries[one], self.entries[other]))
        return Likeness(overlap=shared / fewer, agreement=int(self.same[one, other]) / shared)

    def closest(self, one: int) -> Likeness:
        """The likeness to that original which it shares most positions with."""
        # Only earlier ones can be originals: the author of a copy must have seen one.
        count = len(self.shared)
        originals = np.r_[0:one, count : len(self.entries)]
        if not originals.size:
            return NO_LIKENESS
        fewer = np.minimum(self.entries[one], self.entries[originals])
        overlaps = self.shared[one, originals] / np.maximum(fewer, 1)
        return self.pair(one, int(originals[overlaps.argmax()]))

    def company(self, one: int, others: Sequence[int]) -> float | None:
        """Share of equal signs at all positions shared with others; None if there are none."""
        shared = int(self.shared[one, others].sum())
        return int(self.same[one, others].sum()) / shared if shared else None

    def usual_overlap(self) -> float:
        """The overlap of two candidates of the round: an upper median over upper medians."""
        # Whatever a minority sends, it cannot make honest work look like copies.
        every = range(len(self.shared))
        return _upper_median(
            [
                _upper_median([self.pair(one, other).overlap for other in every if other != one])
                for one in every
            ]
        )


def _upper_median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 1.0


def compare(
    candidates: Sequence[Sketch],
    earlier: Sequence[Sketch],
    pool: ThreadPoolExecutor | None = None,
    pacing: Pacing = FULL_PACE,
) -> Likenesses:
    """Compare candidates of one sample with each other and with earlier contributions.

    With a pool, in machine code: it takes time for the positions in common, not for each pair.
    """
    every = (*earlier, *candidates)
    counts = np.zeros((2, len(candidates), len(every)), np.int64)
    if candidates and pool:
        counts = _counted_together(every, len(candidates), pool, pacing)
    else:
        for at, one in enumerate(candidates):
            pacing.rest()
            counts[:, at, : len(earlier) + at] = _counted(one, every[: len(earlier) + at])
    # Counted with those before it only; with those after it, the same.
    shared, same = (
        np.concatenate([own + own.T, count[:, : len(earlier)]], axis=1)
        for count in counts
        for own in [count[:, len(earlier) :]]
    )
    entries = [one.entries for one in (*candidates, *earlier)]
    return Likenesses(shared=shared, same=same, entries=np.array(entries, np.int64))


def _counted(one: Sketch, others: Sequence[Sketch]) -> NDArray[np.int64]:
    """Positions in common with each other, and those with equal signs: int64[2, others]."""
    signs = np.zeros((len(one.indices), CHUNK), np.int8)
    row, entry = np.nonzero(one.signs)
    signs[row, one.indices[row, entry]] = one.signs[row, entry]
    found = np.zeros((2, len(others)), np.int64)
    for at, other in enumerate(others):
        row, entry = np.nonzero(other.signs)
        products = signs[row, other.indices[row, entry]] * other.signs[row, entry]
        found[:, at] = np.count_nonzero(products), np.count_nonzero(products > 0)
    return found


def _counted_together(
    every: Sequence[Sketch], candidates: int, pool: ThreadPoolExecutor, pacing: Pacing
) -> NDArray[np.int64]:
    from tequio_client.trainer import record_kernels  # noqa: PLC0415 - brings numba

    chunks, k = len(every[0].signs), max(one.signs.shape[1] for one in every)
    indices = np.zeros((len(every), chunks, k), np.uint16)
    signs = np.zeros((len(every), chunks, k), np.int8)  # 0 beyond a record's own k
    for at, one in enumerate(every):
        indices[at, :, : one.signs.shape[1]] = one.indices
        signs[at, :, : one.signs.shape[1]] = one.signs

    def lane(first: int) -> NDArray[np.int64]:
        pacing.rest()
        inside = slice(first, first + _LANE)
        return record_kernels.count_common(indices[:, inside], signs[:, inside], candidates)

    counts: NDArray[np.int64] = np.sum(list(pool.map(lane, range(0, chunks, _LANE))), axis=0)
    return counts
