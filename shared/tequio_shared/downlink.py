"""The down link: the aggregate of a round, compressed once for everybody.

With `down_k` above 0 the weights move by T, a sparse step with 5-bit magnitudes, and what T leaves
out waits in a residual that belongs to the head. A light trainer applies the records of T and
compares the weights root; it needs no contributions. (docs/protocol.md, down link)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.layout import CHUNK
from tequio_shared.records import RecordShape, pack_entries

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP_SHIFT = 28
"""From contribution units times multiplier units (2^-52) to weight units (2^-24)."""
_LARGEST_MAGNITUDE = 15
_RESIDUAL_LIMIT = 1 << 61
_CODE_BITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DownLink:
    """What moves now and what waits: step T int64[N] and residual R' int64[N].

    `quanta` int64[n], `indices` uint16[n, k] and `signed` int64[n, k] (sign times m) are the
    records' content.
    """

    step: NDArray[np.int64]
    residual: NDArray[np.int64]
    quanta: NDArray[np.int64]
    indices: NDArray[np.uint16]
    signed: NDArray[np.int64]

    def encode(self) -> bytes:
        """Write the records for light trainers, one per chunk: q as u32, indices, 5-bit codes."""
        codes = (np.abs(self.signed) | np.where(self.signed < 0, 16, 0)).astype(np.uint16)
        quanta = self.quanta.astype("<u4").view(np.uint8).reshape(-1, 4)
        entries = pack_entries(self.indices, codes, _CODE_BITS)
        return np.concatenate([quanta, entries], axis=1).tobytes()


def down_record_bytes(down_k: int) -> int:
    """Size of one record of the down link."""
    low = RecordShape(algorithm="sparseloco", k=down_k, bits=1).low_bits
    return 4 + down_k * (low + 2 + _CODE_BITS) // 8


def down_link(residual: NDArray[np.int64], aggregated: NDArray[np.int64], down_k: int) -> DownLink:
    """Split residual + aggregate (int64[N] each) into a sparse step and the next residual."""
    waiting = (residual + aggregated).reshape(-1, CHUNK)
    indices = _largest(waiting, down_k)
    picked = np.take_along_axis(waiting, indices, axis=1)
    whole = (picked + (1 << (STEP_SHIFT - 1))) >> STEP_SHIFT
    most = np.abs(whole).max(axis=1, keepdims=True)
    quanta = np.maximum(1, (most + _LARGEST_MAGNITUDE - 1) // _LARGEST_MAGNITUDE)
    magnitude = np.minimum((np.abs(whole) + quanta // 2) // quanta, _LARGEST_MAGNITUDE)
    signed = np.sign(whole) * magnitude
    step = np.zeros_like(waiting)
    np.put_along_axis(step, indices, signed * quanta, axis=1)
    left = np.clip(waiting - (step << STEP_SHIFT), -_RESIDUAL_LIMIT, _RESIDUAL_LIMIT)
    return DownLink(
        step=step.reshape(-1),
        residual=left.reshape(-1),
        quanta=quanta[:, 0],
        indices=indices.astype(np.uint16),
        signed=signed,
    )


def _largest(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Positions of the `count` largest magnitudes of each row, ascending; of equals the lower."""
    magnitude = np.abs(values)
    least = np.partition(magnitude, CHUNK - count, axis=1)[:, CHUNK - count, None]
    above = magnitude > least
    equal = magnitude == least
    room = count - above.sum(axis=1, keepdims=True)
    chosen = above | (equal & (np.cumsum(equal, axis=1) <= room))
    return (np.flatnonzero(chosen) % CHUNK).reshape(-1, count)
