"""Tensors that an optimiser carries from step to step, in 32 bits for each number or in about 8.

The rules of a run say which (`inner.state_bits`), so that a repeated training rounds in the same
places. Blocks of eight-bit numbers never reach over a row, so that the parts of a matrix that
`sharding` cuts between rows are rounded as the whole is.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from tequio_client.ipc.cell_division import STATE_BLOCK

BLOCK = STATE_BLOCK
"""Neighbours in a row that share a scale."""
_LEVELS = 127
_LEAST = torch.finfo(torch.float32).tiny
_FULL = 32
_MATRIX = 2
"""Dimensions below which a tensor is small, and stays as it is."""


class Moment(Protocol):
    def load(self) -> Tensor:
        """The tensor in float32, which may be changed in place if it is stored afterwards."""

    def store(self, value: Tensor) -> None: ...


def signed_moment(like: Tensor, bits: int) -> Moment:
    """A moment of zeros for numbers of either sign, such as a momentum; `bits` is 32 or 8."""
    return _Full(like) if _is_full(like, bits) else _EightBits(like)


def positive_moment(like: Tensor, bits: int) -> Moment:
    """A moment of zeros for numbers that something is divided by; 16 bits where `bits` is 8.

    Eight bits of one scale would turn the smallest of a block into zeros.
    """
    return _Full(like) if _is_full(like, bits) else _Half(like)


def _is_full(like: Tensor, bits: int) -> bool:
    return bits == _FULL or like.dim() < _MATRIX


class _Full:
    def __init__(self, like: Tensor) -> None:
        self._value = torch.zeros_like(like, dtype=torch.float32)

    def load(self) -> Tensor:
        return self._value

    def store(self, value: Tensor) -> None:
        self._value = value


class _Half:
    """Numbers in bfloat16, which has the range of float32."""

    def __init__(self, like: Tensor) -> None:
        self._value = torch.zeros_like(like, dtype=torch.bfloat16)

    def load(self) -> Tensor:
        return self._value.float()

    def store(self, value: Tensor) -> None:
        self._value = value.to(torch.bfloat16)


class _EightBits:
    """Each block is a scale in float32 and a whole number from -127 to 127 for each entry.

    Linear steps serve Muon's momentum (arXiv 2509.23106), and AdamW's first moment.
    """

    def __init__(self, like: Tensor) -> None:
        self._shape = like.shape
        flat = like.flatten(1)
        self._columns = flat.shape[1]
        self._levels = torch.zeros_like(flat, dtype=torch.int8)
        self._scales = self._in_blocks(self._levels.float()).amax(2)

    def load(self) -> Tensor:
        blocks = self._in_blocks(self._levels.float()) * self._scales[..., None]
        return blocks.flatten(1)[:, : self._columns].reshape(self._shape)

    def store(self, value: Tensor) -> None:
        blocks = self._in_blocks(value.reshape(self._levels.shape))
        self._scales = blocks.abs().amax(2) / _LEVELS
        # A block of zeros has no scale: its levels are zeros.
        levels = (blocks / self._scales.clamp(min=_LEAST)[..., None]).round_()
        self._levels = levels.flatten(1)[:, : self._columns].to(torch.int8)

    def _in_blocks(self, rows: Tensor) -> Tensor:
        """Rows as [rows, blocks, BLOCK], with zeros at the end."""
        padded = functional.pad(rows, (0, -self._columns % BLOCK))
        return padded.reshape(len(rows), padded.shape[1] // BLOCK, BLOCK)
