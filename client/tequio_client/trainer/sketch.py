"""A sketch: the signs of a contribution in a sample of chunks, to find copies of it by.

Which chunks are in the sample is drawn by the witness and told to nobody, so whoever alters a copy
cannot alter it in the right places. Two contributions are alike by how many positions they share
and by how often they have the same sign there: both are shares of the bytes, not of what anybody
says, so witnesses with other samples come to the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.contribution import decode_records
from tequio_shared.layout import CHUNK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tequio_shared.layout import Layout
    from tequio_shared.records import RecordShape

SAMPLE_CHUNKS = 1_024
"""Most chunks in a sample: at k 16, the fewest entries, an overlap is then known to 1 %."""
SAMPLE_BYTES = 1 << 18
"""Most bytes of records in a sample, but 64 chunks always: dense records are large."""
_LEAST_CHUNKS = 64
_CROWDED = 4  # times k: a chunk with fewer positions has many in common by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """Where a contribution is positive and where negative: bits, uint8[m, 512] each."""

    plus: NDArray[np.uint8]
    minus: NDArray[np.uint8]
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Share of positions in common, of the one with fewer; share of those with the same sign."""

    overlap: float
    agreement: float


UNLIKE = Likeness(overlap=0.0, agreement=0.5)


def draw(chunks: int, shape: RecordShape, chance: np.random.Generator) -> NDArray[np.int64]:
    """Draw the sample of a model with so many chunks: int64[m], ascending."""
    most = min(SAMPLE_CHUNKS, max(SAMPLE_BYTES // shape.record_bytes, _LEAST_CHUNKS))
    return np.sort(chance.choice(chunks, min(chunks, most), replace=False)).astype(np.int64)


def sketch(
    rows: NDArray[np.uint8],
    shape: RecordShape,
    layout: Layout,
    sample: NDArray[np.int64],
) -> Sketch:
    """Sketch a valid contribution from the records of the sample's chunks, uint8[m, R]."""
    records = decode_records(rows.tobytes(), shape)
    live = (records.levels != 0) & (records.scales > 0)[:, None]
    signs = np.zeros((len(rows), CHUNK), np.int8)
    np.put_along_axis(signs, records.indices.astype(np.int64), np.sign(records.levels) * live, 1)
    if shape.algorithm != "distro":
        _blank_padding(signs, layout, sample, 0 if shape.is_dense else _CROWDED * shape.k)
    plus, minus = np.packbits(signs > 0, axis=1), np.packbits(signs < 0, axis=1)
    return Sketch(plus=plus, minus=minus, entries=int(np.count_nonzero(signs)))


def likeness(one: Sketch, other: Sketch) -> Likeness:
    """Compare two sketches of the same sample; what has no entries is like nothing."""
    shared, same = _common(one, other)
    if not shared:
        return UNLIKE
    return Likeness(overlap=shared / min(one.entries, other.entries), agreement=same / shared)


def agreement(one: Sketch, others: Sequence[Sketch]) -> float | None:
    """Share of equal signs, of all the positions shared with others; None where there are none."""
    common = [_common(one, other) for other in others]
    shared = sum(count for count, _ in common)
    return sum(same for _, same in common) / shared if shared else None


def most_alike(one: Sketch, others: Sequence[Sketch]) -> Likeness:
    """The likeness to the other that shares most positions with it."""
    return max(
        (likeness(one, other) for other in others), key=lambda like: like.overlap, default=UNLIKE
    )


def _common(one: Sketch, other: Sketch) -> tuple[int, int]:
    """Positions in both, and those of them with the same sign."""
    shared = _count((one.plus | one.minus) & (other.plus | other.minus))
    return shared, _count(one.plus & other.plus) + _count(one.minus & other.minus)


def _blank_padding(
    signs: NDArray[np.int8], layout: Layout, sample: NDArray[np.int64], least: int
) -> None:
    """Count no padding, and nothing of a chunk that has fewer than `least` positions beside it."""
    _, mine, theirs = np.intersect1d(sample, layout.padded_chunks, return_indices=True)
    masks = np.unpackbits(layout.padding_bits[theirs], axis=1, bitorder="little").view(np.bool_)
    signs[mine] = np.where(masks | (masks.sum(1, keepdims=True) > CHUNK - least), 0, signs[mine])


def _count(bits: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(bits).sum())
