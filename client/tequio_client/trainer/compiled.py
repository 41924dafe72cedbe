"""The compiled engine: for models where numpy would be slow.

Importing this module loads numba (70 MB of memory, 110 MB once a kernel ran), so the trainer does
it only for large models. Kernels are kept in NUMBA_CACHE_DIR, which the program's main sets to a
folder that only this user writes (numba trusts what it finds there). Without it
numba keeps them beside the source, or in the user's cache folder, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tequio_client.trainer import kernels
from tequio_shared import head
from tequio_shared.records import LEVELS, SCALES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tequio_client.trainer.blocks import Block
    from tequio_shared.head import OuterParams
    from tequio_shared.layout import Padding


class CompiledEngine:
    """Sparseloco and diloco in compiled code. The down link's top-k is the reference's."""

    leaves = 2

    def __init__(self, params: OuterParams) -> None:
        self._params = params
        shape = params.shape
        self._dense = shape.is_dense
        self._limits = np.array([params.delta, shape.largest_scale], np.int64)
        if not self._dense:
            self._fields = np.array(
                [shape.k, shape.low_bits, shape.high_at, shape.codes_at, shape.bits], np.int64
            )
            self._levels = LEVELS[shape.bits].astype(np.int64)

    def agreement(self, records: NDArray[np.uint8], padding: Padding) -> NDArray[np.int64]:
        """See Engine."""
        measured = np.zeros((len(records), 2), np.int64)
        if self._dense:
            kernels.agree_dense(records, padding.chunks, padding.masks, measured)
        else:
            signs = np.sign(self._levels)
            kernels.agree_sparse(
                records, self._fields, signs, padding.chunks, padding.masks, measured
            )
        return measured

    def move(
        self, block: Block, factors: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        """See Engine."""
        params, pad = self._params, block.padding
        weights = np.array(factors, np.int64)
        if params.down_k or self._dense:
            total = np.empty(block.weights.size, np.int64)
            self._sum(block, weights, total)
            return self._apply(block, total)
        out = np.empty_like(block.weights)
        kernels.move_sparse(
            block.records,
            (self._fields, self._levels, SCALES, self._limits, weights),
            (pad.chunks, pad.masks),
            (block.weights, out),
            (block.matrix_elements, params.lambda_q),
        )
        return out, None

    def _sum(self, block: Block, weights: NDArray[np.int64], total: NDArray[np.int64]) -> None:
        pad = block.padding
        if self._dense:
            tables = (SCALES, self._limits, weights)
            kernels.sum_dense(block.records, tables, (pad.chunks, pad.masks), total)
        else:
            sparse = (self._fields, self._levels, SCALES, self._limits, weights)
            kernels.sum_sparse(block.records, sparse, (pad.chunks, pad.masks), total)

    def _apply(
        self, block: Block, total: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        params = self._params
        if params.down_k:
            step, aux = head.outer_step(params, total, block.aux, block.padding)
            weights = head.update(block.weights, step, params.lambda_q, block.matrix_elements)
            return weights, aux
        out = np.empty_like(block.weights)
        scalars = (block.matrix_elements, params.lambda_q)
        if block.aux is None:
            kernels.apply_sum(total, (block.weights, out), scalars)
            return out, None
        velocity = np.empty_like(block.aux)
        kernels.apply_momentum(
            total, (block.weights, out), (block.aux, velocity), scalars, params.mu_q
        )
        return out, velocity
