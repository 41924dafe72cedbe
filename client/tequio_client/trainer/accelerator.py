"""The accelerator's engine: the outer step in torch, on any device that adds int64 (not MPS).

Integers make the order of atomic additions irrelevant, so scatters give the same bits every time.
DisTrO's transform and the down link's top-k, both rare, run the reference on the host.

Shapes: P members, c chunks of a block, k entries of a record, R bytes of a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tequio_shared.head import head
from tequio_shared.head.aggregate import STEP_SHIFT
from tequio_shared.head.contribution import LEVELS
from tequio_shared.head.layout import CHUNK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tequio_client.trainer.engines import Block
    from tequio_shared.head.head import OuterParams
    from tequio_shared.head.layout import Padding

_INT32 = torch.iinfo(torch.int32)
_BYTE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoded:
    """Entries of P members: scales int64[P, c], positions and levels int64[P, c, k].

    Entries of empty chunks and at padding have level 0.
    """

    scales: torch.Tensor
    positions: torch.Tensor
    levels: torch.Tensor


class AcceleratorEngine:
    """Torch on one device; a block takes about 100 bytes for each entry of all members there."""

    def __init__(self, params: OuterParams, device: str | torch.device) -> None:
        self.leaves = 1 if params.shape.is_dense else 4
        self._params = params
        self._device = torch.device(device)
        self._table = torch.from_numpy(head.scale_values(params)).to(self._device)

    def agreement(self, records: NDArray[np.uint8], padding: Padding) -> NDArray[np.int64]:
        decoded = self._decode(records, padding)
        sign = decoded.levels.sign()
        total = _scatter(decoded.positions, sign, records.shape[1] * CHUNK)
        rest = (total[decoded.positions] - sign).sign() * sign
        measured = torch.stack([rest.sum((1, 2)), (rest != 0).sum((1, 2))], dim=1)
        return np.asarray(measured.cpu().numpy(), np.int64)

    def move(
        self, block: Block, factors: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        params = self._params
        total = self._total(block, factors)
        if params.down_k or params.algorithm == "distro":
            step, aux = head.outer_step(params, total.cpu().numpy(), block.aux, block.padding)
            weights = head.apply_move(block.weights, step, params.lambda_q, block.matrix_elements)
            return weights, aux
        move = (total + (1 << (STEP_SHIFT - 1))) >> STEP_SHIFT
        new_aux: NDArray[Any] | None = None
        if params.mu_q and block.aux is not None:
            velocity = self._on_device(block.aux).long()
            velocity = (_slowed(velocity, params.mu_q) + move).clamp(_INT32.min, _INT32.max)
            move += _slowed(velocity, params.mu_q)
            new_aux = velocity.int().cpu().numpy()
        return self._update(block, move), new_aux

    def _update(self, block: Block, move: torch.Tensor) -> NDArray[np.int32]:
        wide = self._on_device(block.weights).long()
        matrix = wide[: block.matrix_elements]
        matrix -= (matrix * self._params.lambda_q + (1 << 29)) >> 30
        limited = (wide - move).clamp(_INT32.min, _INT32.max)
        return np.asarray(limited.int().cpu().numpy(), np.int32)

    def _total(self, block: Block, factors: Sequence[int]) -> torch.Tensor:
        decoded = self._decode(block.records, block.padding)
        scales = decoded.scales
        if self._params.algorithm != "distro":
            median = scales.sort(dim=0).values[(len(scales) - 1) // 2]
            limit = (median + self._params.delta).clamp(max=self._params.shape.largest_scale)
            scales = torch.minimum(scales, torch.where(median > 0, limit, 0))
        weights = torch.tensor(list(factors), dtype=torch.int64, device=self._device)
        units = self._table[scales] * weights[:, None]
        return _scatter(decoded.positions, decoded.levels * units[:, :, None], block.weights.size)

    def _decode(self, records: NDArray[np.uint8], padding: Padding) -> _Decoded:
        shape = self._params.shape
        members, chunks, _ = records.shape
        rows = self._on_device(records)
        scales = rows[:, :, 0].long()
        if shape.is_dense:
            index = torch.arange(CHUNK, device=self._device).expand(members, chunks, CHUNK)
            levels = rows[:, :, 1:].contiguous().view(torch.int8).long()
        else:
            index = self._indices(rows)
            table = torch.from_numpy(LEVELS[shape.bits]).to(self._device).long()
            levels = table[_fields(rows, shape.codes_at, shape.bits, shape.k)]
        positions = torch.arange(chunks, device=self._device)[None, :, None] * CHUNK + index
        live = (scales > 0)[:, :, None] & self._counts(padding, chunks)[positions]
        return _Decoded(scales=scales, positions=positions, levels=levels * live)

    def _indices(self, rows: torch.Tensor) -> torch.Tensor:
        """The ascending indices int64[P, c, k] of sparse records uint8[P, c, R]."""
        shape = self._params.shape
        bitmap = rows[:, :, shape.high_at : shape.codes_at]
        bits = (bitmap[..., None] >> torch.arange(_BYTE, device=self._device)) & 1
        where = bits.reshape(-1).nonzero()[:, 0].reshape(*rows.shape[:2], shape.k)
        high = where % (2 * shape.k) - torch.arange(shape.k, device=self._device)
        return (high << shape.low_bits) | _fields(rows, 1, shape.low_bits, shape.k)

    def _counts(self, padding: Padding, chunks: int) -> torch.Tensor:
        """The mask of positions that count: bool[c * 4096]."""
        counts = np.ones((chunks, CHUNK), np.bool_)
        where = head.entry_padding(self._params, padding)
        counts[where.chunks] = ~where.masks
        return self._on_device(counts.reshape(-1))

    def _on_device(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)


def _scatter(positions: torch.Tensor, values: torch.Tensor, elements: int) -> torch.Tensor:
    total = torch.zeros(elements, dtype=torch.int64, device=values.device)
    return total.index_add_(0, positions.reshape(-1), values.reshape(-1))


def _fields(rows: torch.Tensor, at: int, bits: int, count: int) -> torch.Tensor:
    """Read `count` numbers of `bits` bits (at most 9) from byte `at` of each record."""
    first = torch.arange(count, device=rows.device) * bits
    byte, shift = at + first // _BYTE, first % _BYTE
    wide = (shift + bits > _BYTE).long()  # the record may end after the first byte
    pair = rows[:, :, byte].long() | (rows[:, :, byte + wide].long() << _BYTE)
    return (pair >> shift) & ((1 << bits) - 1)


def _slowed(velocity: torch.Tensor, mu_q: int) -> torch.Tensor:
    return (velocity * mu_q + (1 << 14)) >> 15
