"""Integers and 32-bit floats name each other, and nothing else passes for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_client.checkpoint import tensors
from tequio_shared.errors import MalformedError
from tequio_shared.head.head import WEIGHT_UNIT

EDGES = [0, 1, -1, 2**24, 2**24 + 1, -(2**24) - 1, 2**25 + 1, 2**30 + 63, 2**30 + 65]
EXTREMES = [2**31 - 1, 2**31 - 64, 2**31 - 65, -(2**31), -(2**31) + 1, -(2**31) + 64]


def back(integers: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[int]:
    floats = tensors.floats_of(integers)
    at, values = tensors.remainders_of(integers, floats)
    assert values.all()
    return list(tensors.integers_of(floats, at, values))


@settings(max_examples=300)
@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=50))
def test_every_integer_comes_back(values: list[int]) -> None:
    values += EDGES + EXTREMES
    assert back(np.array(values, np.int32)) == values


def test_weights_up_to_one_need_no_remainder_and_larger_ones_may() -> None:
    small = np.array([2**24, -(2**24), 12_345], np.int32)
    assert tensors.remainders_of(small, tensors.floats_of(small))[0].size == 0
    large = np.array([2**24 + 1, 2**24 + 2], np.int32)
    assert list(tensors.remainders_of(large, tensors.floats_of(large))[0]) == [0]


@pytest.mark.parametrize(
    ("weight", "why"),
    [
        (np.nan, "not a finite number"),
        (np.inf, "not a finite number"),
        (WEIGHT_UNIT / 2, "not a multiple"),
        (200.0, "not a multiple"),
        (128.0, "not within"),
        (-0.0, "not the nearest"),
    ],
)
def test_floats_that_no_integer_has_are_refused(weight: float, why: str) -> None:
    nothing = np.empty(0, np.int64), np.empty(0, np.int8)
    with pytest.raises(MalformedError, match=why):
        tensors.integers_of(np.array([weight], np.float32), *nothing)


def test_a_remainder_that_another_float_would_need_less_of_is_refused() -> None:
    floats = tensors.floats_of(np.array([2**24], np.int32))
    with pytest.raises(MalformedError, match="not the nearest"):
        tensors.integers_of(floats, np.array([0]), np.array([5], np.int8))
