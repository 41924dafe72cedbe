"""Matrices in 4 bits: the same bytes on every machine, and numbers near those they stand for."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from tequio_shared.head import nf4


def matrix(rows: int, columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Numbers from integer arithmetic alone, so that they are the same with every numpy."""
    units = np.arange(rows * columns, dtype=np.int64) * 2_654_435_761 % 65_521 - 32_760
    return (units * 2.0**-17).astype(np.float32).reshape(rows, columns)


def test_the_bytes_of_a_matrix_never_change() -> None:
    codes, scales = nf4.quantise(matrix(300, 192))
    found = hashlib.sha256(codes.tobytes() + scales.tobytes()).hexdigest()
    assert (codes.shape, scales.shape) == ((300, 3, 32), (300, 3))
    assert codes.nbytes + scales.nbytes == nf4.size_bytes(300, 192)
    assert found == "855a5294eaf234b0f2e85de1c4e4b9397284d62b0f4ac91a17d84c8aa804a020"


@pytest.mark.parametrize("columns", [1, 63, 64, 65, 200])
def test_rows_are_cut_into_blocks_by_themselves(columns: int) -> None:
    whole = matrix(5, columns)
    found = nf4.dequantise(*nf4.quantise(whole), columns)
    assert found.shape == whole.shape
    for at in range(5):
        row = nf4.dequantise(*nf4.quantise(whole[at : at + 1]), columns)
        assert np.array_equal(row, found[at : at + 1])


def test_each_number_becomes_the_nearest_value_of_its_block() -> None:
    whole = matrix(16, 256)
    codes, scales = nf4.quantise(whole)
    found = nf4.dequantise(codes, scales, 256)
    blocks = whole.reshape(-1, nf4.BLOCK).astype(np.float64)
    ways = np.abs(blocks[:, :, None] / scales.reshape(-1, 1, 1) - nf4.VALUES)
    due = ways.min(axis=2) * scales.reshape(-1, 1)
    assert np.allclose(np.abs(found.reshape(blocks.shape) - blocks), due, atol=1e-7)


def test_numbers_in_4_bits_are_their_own_numbers_in_4_bits() -> None:
    first = nf4.quantise(matrix(8, 128))
    again = nf4.quantise(nf4.dequantise(*first, 128))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])


def test_a_quotient_in_the_middle_gets_the_lower_code_and_the_next_number_the_upper() -> None:
    low, high = nf4.VALUES[8:10].astype(np.float64)
    middle = np.float32((low + high) / 2)
    block = np.zeros((1, 64), np.float32)
    block[0, :3] = 1, middle, np.nextafter(middle, np.float32(1))
    codes, _ = nf4.quantise(block)
    assert codes[0, 0, 0] == 15 << 4 | 8
    assert codes[0, 0, 1] >> 4 == 9


def test_blocks_below_the_least_scale_are_zeros() -> None:
    block = np.zeros((3, 64), np.float32)
    block[1, 5], block[2, 5] = 2.0**-140, -np.nextafter(nf4.LEAST_SCALE, np.float32(0))
    codes, scales = nf4.quantise(block)
    assert (codes == 7 << 4 | 7).all()
    assert not scales.any()
    assert not nf4.dequantise(codes, scales, 64).any()


def test_the_least_scale_is_kept() -> None:
    block = np.full((1, 64), -nf4.LEAST_SCALE)
    codes, scales = nf4.quantise(block)
    assert scales.tolist() == [[nf4.LEAST_SCALE]]
    assert np.array_equal(nf4.dequantise(codes, scales, 64), block)
