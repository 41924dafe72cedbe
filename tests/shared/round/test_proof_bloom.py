"""The witness filter: its vector, its sizes, its error rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256
from tequio_shared.round import proof

SEED = bytes(32)
# items, bits, bytes
TABLE = [
    (8, 116, 15),
    (16, 231, 29),
    (64, 922, 116),
    (256, 3_687, 461),
    (1_000, 14_400, 1_800),
    (10_000, 144_000, 18_000),
]


def _items(first: int, count: int) -> list[bytes]:
    return [sha256(str(i).encode()) for i in range(first, first + count)]


def holds(bits: bytes, seed: bytes, item: bytes, n: int) -> bool:
    """True if the item may be among the n."""
    alone = proof.build_bloom(seed, [item], n)
    return all(one & there == one for one, there in zip(alone, bits, strict=True))


def test_the_filter_is_that_of_the_known_vector() -> None:
    bits = proof.build_bloom(SEED, _items(0, 8), 8)
    assert bits.hex() == "82182a6f23ae7bf864289a878c1f0e"
    assert int.from_bytes(bits, "big").bit_count() == 56
    assert proof.bloom_bits(8) == 116


@pytest.mark.parametrize(("n", "size_bits", "size_bytes"), TABLE)
def test_sizes_are_the_known_ones(n: int, size_bits: int, size_bytes: int) -> None:
    assert proof.bloom_bits(n) == size_bits
    assert proof.bloom_bytes(n) == size_bytes


@given(st.binary(min_size=32, max_size=32), st.integers(1, 60))
def test_a_filter_holds_its_items(seed: bytes, n: int) -> None:
    items = _items(0, n)
    bits = proof.build_bloom(seed, items, n)
    assert all(holds(bits, seed, item, n) for item in items)


def test_one_stranger_in_a_thousand_passes() -> None:
    bits = proof.build_bloom(SEED, _items(0, 64), 64)
    found = sum(holds(bits, SEED, item, 64) for item in _items(1_000, 20_000))
    assert 5 <= found <= 45


def test_another_seed_sets_other_bits() -> None:
    items = _items(0, 8)
    assert proof.build_bloom(SEED, items, 8) != proof.build_bloom(bytes([1]) * 32, items, 8)


def test_a_filter_for_nothing_is_empty() -> None:
    assert proof.build_bloom(SEED, [], 0) == b""


def test_a_filter_takes_no_more_items_than_it_was_made_for() -> None:
    assert proof.build_bloom(SEED, _items(0, 3), 8)
    with pytest.raises(RefusedError):
        proof.build_bloom(SEED, _items(0, 9), 8)
