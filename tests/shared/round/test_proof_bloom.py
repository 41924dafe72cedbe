"""The witness filter: its vector, its fill bound, its error rate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import sha256
from tequio_shared.limits import CONTRIBUTORS
from tequio_shared.round import proof

SEED = bytes(32)
# items, bits, bytes, most ones
TABLE = [
    (8, 116, 15, 72),
    (16, 231, 29, 136),
    (64, 922, 116, 503),
    (256, 3_687, 461, 1_929),
    (1_000, 14_400, 1_800, 7_375),
    (10_000, 144_000, 18_000, 72_619),
]


def _items(first: int, count: int) -> list[bytes]:
    return [sha256(str(i).encode()) for i in range(first, first + count)]


def test_the_filter_is_that_of_the_known_vector() -> None:
    bits = proof.build_bloom(SEED, _items(0, 8), 8)
    assert bits.hex() == "82182a6f23ae7bf864289a878c1f0e"
    assert int.from_bytes(bits, "big").bit_count() == 56
    assert proof.bloom_bits(8) == 116


@pytest.mark.parametrize(("n", "size_bits", "size_bytes", "max_ones"), TABLE)
def test_sizes_and_fill_bounds_are_the_known_ones(
    n: int, size_bits: int, size_bytes: int, max_ones: int
) -> None:
    assert proof.bloom_bits(n) == size_bits
    assert proof.bloom_bytes(n) == size_bytes
    assert proof.max_ones(n) == max_ones


def test_no_fill_bound_lies_so_near_an_integer_that_libraries_could_differ() -> None:
    for n in range(1, CONTRIBUTORS + 1):
        bits = proof.bloom_bits(n)
        zero = math.exp(-10 * n / bits)
        bound = bits * (1 - zero) + 5 * math.sqrt(bits * zero * (1 - (1 + 10 * n / bits) * zero))
        assert abs(bound - round(bound)) > 1e-7


@given(st.binary(min_size=32, max_size=32), st.integers(1, 60))
def test_an_honest_filter_holds_its_items_and_passes_its_check(seed: bytes, n: int) -> None:
    items = _items(0, n)
    bits = proof.build_bloom(seed, items, n)
    assert proof.check_bloom_fill(bits, n)
    assert all(proof.bloom_contains(bits, seed, item, n) for item in items)


def test_one_stranger_in_a_thousand_passes() -> None:
    bits = proof.build_bloom(SEED, _items(0, 64), 64)
    found = sum(proof.bloom_contains(bits, SEED, item, 64) for item in _items(1_000, 20_000))
    assert 5 <= found <= 45


def test_another_seed_sets_other_bits() -> None:
    items = _items(0, 8)
    assert proof.build_bloom(SEED, items, 8) != proof.build_bloom(bytes([1]) * 32, items, 8)


@pytest.mark.parametrize("n", [row[0] for row in TABLE])
def test_a_saturated_filter_does_not_pass(n: int) -> None:
    ones = (1 << proof.bloom_bits(n)) - 1
    assert not proof.check_bloom_fill(ones.to_bytes(proof.bloom_bytes(n), "little"), n)
    for count, is_honest in ((proof.max_ones(n), True), (proof.max_ones(n) + 1, False)):
        bits = ((1 << count) - 1).to_bytes(proof.bloom_bytes(n), "little")
        assert proof.check_bloom_fill(bits, n) is is_honest


def test_a_filter_of_another_size_or_with_bits_behind_its_end_is_malformed() -> None:
    for size in (0, 14, 16):
        with pytest.raises(MalformedError):
            proof.check_bloom_fill(bytes(size), 8)
        with pytest.raises(MalformedError):
            proof.bloom_contains(bytes(size), SEED, b"item", 8)
    with pytest.raises(MalformedError):
        proof.check_bloom_fill((1 << 116).to_bytes(15, "little"), 8)


def test_a_filter_for_nothing_is_empty_and_holds_nothing() -> None:
    assert proof.build_bloom(SEED, [], 0) == b""
    assert proof.check_bloom_fill(b"", 0)
    assert not proof.bloom_contains(b"", SEED, b"item", 0)


def test_a_filter_takes_no_more_items_than_it_was_made_for() -> None:
    assert proof.build_bloom(SEED, _items(0, 3), 8)
    with pytest.raises(RefusedError):
        proof.build_bloom(SEED, _items(0, 9), 8)
