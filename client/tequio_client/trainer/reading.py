"""What a witness reads from one valid contribution: how long it is, and where it points.

Both count what moves the head: entries of empty chunks and at padding are nothing. The cosine is
taken on the contribution's support, the positions that it has an entry for: elsewhere it says
nothing, and nothing is held against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.agreement import entries
from tequio_shared.contribution import decode_records
from tequio_shared.layout import CHUNK, NO_PADDING
from tequio_shared.records import SCALES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tequio_shared.layout import Layout
    from tequio_shared.records import RecordShape

_BLOCK = 2_048  # chunks at a time: bounds the memory, whatever the model's size


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Euclidean norm in contribution units; cosine with our own pseudo-gradient, if we have one.

    There is no cosine of a contribution without entries, nor of one whose entries are coefficients
    (distro) and not places in the model.
    """

    norm: float
    cosine: float | None


def read(
    rows: NDArray[np.uint8],
    shape: RecordShape,
    layout: Layout,
    own_delta: NDArray[np.float32] | None,
) -> Reading:
    """Read a valid payload's records, uint8[n, R]; `own_delta` is float32 in flat order."""
    is_distro = shape.algorithm == "distro"
    own = None if is_distro else own_delta
    sums = np.zeros(3)
    for first in range(0, len(rows), _BLOCK):
        stop = min(first + _BLOCK, len(rows))
        padding = NO_PADDING if is_distro else layout.padding(first, stop)
        records = decode_records(rows[first:stop].tobytes(), shape)
        sent = entries(records, padding)
        values = sent.levels * SCALES[sent.scales[sent.positions // CHUNK]].astype(np.float64)
        sums[0] += values @ values
        if own is not None:
            there = own[first * CHUNK : stop * CHUNK][sent.positions].astype(np.float64)
            sums[1:] += there @ there, values @ there
    scale = float(np.sqrt(sums[0] * sums[1]))
    return Reading(norm=float(np.sqrt(sums[0])), cosine=float(sums[2]) / scale if scale > 0 else None)
