"""What a witness reads from one valid contribution: how long it is, and where it points.

Both count what moves the head: entries of empty chunks and at padding are nothing. The cosine is
taken on the contribution's support, the positions that it has an entry for: elsewhere it says
nothing, and nothing is held against it. It is the mean over chunks of the cosine within each: a few
weights that swing far, now one way and now the other, would else outweigh all the rest and speak
against honest work (seen in training, in a model that had learnt its data).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tequio_shared.agreement import entries
from tequio_shared.contribution import decode_records
from tequio_shared.layout import CHUNK, NO_PADDING
from tequio_shared.records import SCALES

if TYPE_CHECKING:
    from tequio_shared.layout import Layout
    from tequio_shared.records import RecordShape

_BLOCK = 2_048  # chunks at a time: bounds the memory, whatever the model's size


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Euclidean norm in contribution units; mean cosine with our own pseudo-gradient, if there.

    There is no cosine of a contribution without entries, nor of one whose entries are coefficients
    (distro) and not places in the model. `error` is the standard error of that mean, infinite when
    it is the cosine of a single chunk.
    """

    norm: float
    cosine: float | None
    error: float


def read(
    rows: NDArray[np.uint8],
    shape: RecordShape,
    layout: Layout,
    own_delta: NDArray[np.float32] | None,
) -> Reading:
    """Read a valid payload's records, uint8[n, R]; `own_delta` is float32 in flat order."""
    is_distro = shape.algorithm == "distro"
    own = None if is_distro else own_delta
    square, cosines = 0.0, list[NDArray[np.float64]]()
    for first in range(0, len(rows), _BLOCK):
        stop = min(first + _BLOCK, len(rows))
        padding = NO_PADDING if is_distro else layout.padding(first, stop)
        sent = entries(decode_records(rows[first:stop].tobytes(), shape), padding)
        at = sent.positions // CHUNK
        values = np.asarray(sent.levels * SCALES[sent.scales[at]], np.float64)
        square += float(values @ values)
        if own is not None:
            there = own[first * CHUNK : stop * CHUNK][sent.positions].astype(np.float64)
            cosines.append(_cosines(at, values, there, stop - first))
    found = np.concatenate(cosines) if cosines else np.empty(0)
    return Reading(
        norm=float(np.sqrt(square)),
        cosine=float(found.mean()) if len(found) else None,
        error=float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else np.inf,
    )


def _cosines(
    at: NDArray[np.int64], values: NDArray[np.float64], there: NDArray[np.float64], chunks: int
) -> NDArray[np.float64]:
    """The cosine within each chunk that has one; `at` is each entry's chunk."""
    products, squares, ours = (
        np.bincount(at, weights, chunks)
        for weights in (values * there, values * values, there * there)
    )
    scale = np.sqrt(squares * ours)
    live = scale > 0
    return np.asarray(products[live] / scale[live], np.float64)
