"""Blocks of a model, and the reference engine that computes their next weights.

Everything in the outer step except the filter's verdict is local to a chunk, so a head of any size
is computed block by block. There are three engines, this one, `device.AcceleratorEngine` and
`kernels`: they give the same bits and differ in speed and in the libraries they load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tequio_shared.head import head
from tequio_shared.head.aggregate import ContributionEntries, agreement, effective_entries
from tequio_shared.head.contribution import Algorithm, Records, decode_records
from tequio_shared.head.head import OuterParams
from tequio_shared.head.layout import CHUNK, Padding, WeightLayout

COMPILED_FROM = {"sparseloco": 8 << 20, "diloco": 2 << 20}
"""Elements from which kernels that numba compiles pay off. Below, numpy is quick enough, and numba
would add 110 MB to a process that may have little. DisTrO has no kernels."""


def pays_off(algorithm: Algorithm, layout: WeightLayout) -> bool:
    """True if `kernels` and `record_kernels` are worth their memory for a model of this size."""
    return algorithm in COMPILED_FROM and layout.elements >= COMPILED_FROM[algorithm]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """c chunks of P members: records uint8[P, c, R], weights int32[c * 4096], aux alike or None.

    The first `matrix_elements` of the weights decay.
    """

    records: NDArray[np.uint8]
    weights: NDArray[np.int32]
    aux: NDArray[Any] | None
    padding: Padding
    matrix_elements: int


class Engine(Protocol):
    """One implementation, created for the parameters of a round; safe to use from many threads."""

    leaves: int
    """Leaves of the weights, 64 chunks each, in an efficient block."""

    def agreement(self, records: NDArray[np.uint8], padding: Padding) -> NDArray[np.int64]:
        """Measure (a, t) of the members within a block: int64[P, 2], to be added up over blocks."""

    def move(
        self, block: Block, factors: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        """Compute the block's next weights and aux; `factors` are the members' multipliers."""


class ReferenceEngine:
    """The functions of `tequio_shared.head`: vectorised numpy, no further library to load."""

    leaves = 1

    def __init__(self, params: OuterParams) -> None:
        self._params = params

    def agreement(self, records: NDArray[np.uint8], padding: Padding) -> NDArray[np.int64]:
        members = self._members(records, padding)
        elements = records.shape[1] * CHUNK
        return np.array(agreement(members, elements), np.int64)

    def move(
        self, block: Block, factors: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        params = self._params
        members = self._members(block.records, block.padding)
        clipped = head.clip_scales(block.records[:, :, 0], params)
        total = head.aggregate(params, members, clipped, factors, block.weights.size)
        step, aux = head.outer_step(params, total, block.aux, block.padding)
        return head.apply_move(block.weights, step, params.lambda_q, block.matrix_elements), aux

    def _members(self, records: NDArray[np.uint8], padding: Padding) -> list[ContributionEntries]:
        where = head.entry_padding(self._params, padding)
        members, chunks, _ = records.shape
        every = decode_records(records.reshape(-1), self._params.shape)
        rows = (slice(at * chunks, (at + 1) * chunks) for at in range(members))
        own = (
            Records(scales=every.scales[row], indices=every.indices[row], levels=every.levels[row])
            for row in rows
        )
        return [effective_entries(one, where) for one in own]
