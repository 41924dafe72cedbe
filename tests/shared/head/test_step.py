"""A step in records gives the next weights bit for bit, and nothing else passes for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tequio_shared.errors import MalformedError
from tequio_shared.head.aggregate import down_link
from tequio_shared.head.head import apply_move
from tequio_shared.head.layout import CHUNK
from tequio_shared.head.step import NoStepError, apply_step, encode_step, record_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAMBDA_Q = 12_345
CHUNKS = 5
MATRIX = 3 * CHUNK + 77


def weights(seed: int) -> NDArray[np.int32]:
    found: NDArray[np.int32] = (
        np.random.default_rng(seed)
        .integers(-(1 << 31), 1 << 31, CHUNKS * CHUNK, np.int64)
        .astype(np.int32)
    )
    return found


def advanced(before: NDArray[np.int32], down_k: int, scale: float) -> NDArray[np.int32]:
    """The next weights, by the arithmetic of the head."""
    chance = np.random.default_rng(7)
    total = (chance.standard_t(2, before.size) * scale).astype(np.int64) << 28
    total[CHUNK : 2 * CHUNK] = 0  # a chunk that does not move
    residual = (chance.normal(0, scale, before.size)).astype(np.int64) << 27
    link = down_link(residual, total, down_k)
    return apply_move(before, link.step, LAMBDA_Q, MATRIX)


@pytest.mark.parametrize("down_k", [8, 16, 32, 64, 128, 256, 512])
@pytest.mark.parametrize("scale", [0.6, 3.0, 5_000.0, 2e5])
def test_the_next_weights_come_from_the_records(down_k: int, scale: float) -> None:
    before = weights(1)
    before[:] = np.clip(before, -(1 << 30), 1 << 30)  # limits of int32 are another test
    after = advanced(before, down_k, scale)
    settings = {"lambda_q": LAMBDA_Q, "matrix_elements": MATRIX, "down_k": down_k}
    records = encode_step(before, after, **settings)
    assert len(records) == CHUNKS * record_bytes(down_k)
    assert (apply_step(before, records, **settings) == after).all()


def test_a_record_has_the_size_of_the_protocol() -> None:
    assert [record_bytes(k) for k in (8, 64, 512)] == [20, 108, 644]


def test_weights_that_moved_too_far_or_in_too_many_places_are_no_step() -> None:
    before = np.zeros(CHUNK, np.int32)
    settings = {"lambda_q": 0, "matrix_elements": CHUNK, "down_k": 8}
    many, odd = before.copy(), before.copy()
    many[:9] = 1
    odd[:2] = (16, 1)
    for after in (many, odd):
        with pytest.raises(NoStepError, match="no step of 8 entries"):
            encode_step(before, after, **settings)


def test_unmoved_entries_have_the_code_of_no_move() -> None:
    before = np.zeros(CHUNK, np.int32)
    records = encode_step(before, before, lambda_q=0, matrix_elements=CHUNK, down_k=8)
    assert records.endswith(bytes(5)), "five bits for each of the eight codes"


def test_malformed_records_are_refused() -> None:
    before = np.zeros(CHUNK, np.int32)
    settings = {"lambda_q": 0, "matrix_elements": CHUNK, "down_k": 8}
    good = encode_step(before, before, **settings)
    index_of_4096 = good[:4] + bytes(9) + b"\x00\xff" + bytes(5)
    for bad in (
        *(b"", good[:-1], good + b"\0", good + good, b"\0" * len(good), b"\xff" * len(good)),
        index_of_4096,
    ):
        with pytest.raises(MalformedError):
            apply_step(before, bad, **settings)
