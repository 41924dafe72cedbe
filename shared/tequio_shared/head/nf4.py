"""NF4: matrices in 4 bits (QLoRA, Dettmers et al. 2023, arXiv:2305.14314, section 3).

Each row is cut into blocks of 64 columns, the last one padded with zeros. A block's scale is its
largest magnitude; a number x becomes the code of the value that is nearest to x / scale, and stands
for value * scale. The sixteen values are quantiles of a normal distribution, -1, 0 and 1 among
them.

Everyone who computes with a base in 4 bits makes it from the base's published files, so everyone
has to get the same bytes. Each step is therefore one binary32 operation with one result: a largest
magnitude, a division, comparisons, a multiplication. A quotient has to exceed the middle between
two values to get the upper code. Scales below 2^-100 count as zero, so nothing depends on a
device's subnormal numbers. (docs/protocol.md, a frozen base)

Shapes: R rows, C columns, K = ceil(C / 64) blocks of a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 64
"""Numbers that share a scale."""
VALUES = np.array(
    [
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
        -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
        0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
        0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
    ],
    np.float32,
)  # fmt: skip  # a table
"""Value of each code, as published with QLoRA."""
LEAST_SCALE = np.float32(2.0**-100)
CODE_BYTES = BLOCK // 2
"""Bytes of a block's codes: the first number of two is in the upper half of a byte."""
_SCALE_BYTES = 4
_MIDDLES = ((VALUES[1:].astype(np.float64) + VALUES[:-1]) / 2).astype(np.float32)
_AT_ONCE = 1 << 10  # blocks: what fits into a core's cache takes a fourth of the time


def blocks_of(columns: int) -> int:
    """Blocks of a row, K."""
    return -(-columns // BLOCK)


def size_bytes(rows: int, columns: int) -> int:
    """Size of a matrix in 4 bits, with its scales."""
    return rows * blocks_of(columns) * (CODE_BYTES + _SCALE_BYTES)


def quantise(matrix: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Codes uint8 [R, K, 32] and scales float32 [R, K] of a matrix [R, C] of finite numbers.

    About 4 ns for each number, and no copy of the matrix unless rows have to be padded.
    """
    rows, columns = matrix.shape
    count = blocks_of(columns)
    if columns % BLOCK:
        matrix = np.pad(matrix, ((0, 0), (0, count * BLOCK - columns)))
    blocks = matrix.reshape(-1, BLOCK)
    codes = np.empty((len(blocks), CODE_BYTES), np.uint8)
    scales = np.empty((len(blocks), 1), np.float32)
    for first in range(0, len(blocks), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        codes[part], scales[part] = _of_blocks(blocks[part])
    return codes.reshape(rows, count, CODE_BYTES), scales.reshape(rows, count)


def _of_blocks(
    blocks: NDArray[np.float32],
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    scales: NDArray[np.float32] = np.abs(blocks).max(axis=1, keepdims=True)
    is_zero = scales < LEAST_SCALE
    scales[is_zero] = 0
    quotients = blocks / np.where(is_zero, np.float32(1), scales)
    quotients[is_zero[:, 0]] = 0
    # Fifteen comparisons of a whole block are nine times as fast as np.searchsorted.
    codes = np.zeros(quotients.shape, np.uint8)
    for middle in _MIDDLES:
        codes += quotients > middle
    codes[:, ::2] <<= 4
    return codes[:, ::2] | codes[:, 1::2], scales


def dequantise(
    codes: NDArray[np.uint8], scales: NDArray[np.float32], columns: int
) -> NDArray[np.float32]:
    """The matrix [R, C] that codes [R, K, 32] and scales [R, K] stand for."""
    pairs = np.stack([np.repeat(VALUES, len(VALUES)), np.tile(VALUES, len(VALUES))], axis=1)
    values = pairs[codes].reshape(*scales.shape, BLOCK)
    values *= scales[:, :, None]
    return values.reshape(len(values), -1)[:, :columns]
