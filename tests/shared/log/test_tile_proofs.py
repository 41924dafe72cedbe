"""Ranges and tiles of proofs give what RFC 6962 says over the whole list of hashes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.log import merkle, tiles
from tequio_shared.log.tiles import TILE_WIDTH, is_full, span_in_tile, tile_of, tile_width
from tests.support.merkle_proofs import consistency_proof, inclusion_proof

if TYPE_CHECKING:
    from tequio_shared.ids import Digest
    from tequio_shared.log.tiles import Node, Range

MOST = 700


@cache
def hashes() -> list[Digest]:
    return [merkle.leaf_hash(str(at).encode()) for at in range(MOST)]


def node_of(node: Node) -> Digest:
    level, index = node
    return merkle.root_of_hashes(hashes()[index << level : (index + 1) << level])


def hashes_of(ranges: list[Range]) -> list[Digest]:
    return [tiles.range_hash(span, node_of) for span in ranges]


@given(st.data())
def test_ranges_hash_to_the_proofs_of_rfc_6962(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, MOST))
    index = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(1, size))
    log = hashes()[:size]
    assert hashes_of(tiles.inclusion_ranges(index, size)) == inclusion_proof(log, index)
    assert hashes_of(tiles.consistency_ranges(old, size)) == consistency_proof(log, old)


@given(st.data())
def test_the_tiles_over_an_entry_are_all_that_its_proof_takes(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 2**30))
    index = data.draw(st.integers(0, size - 1))
    needed = tiles.tiles_of(tiles.inclusion_ranges(index, size))
    assert set(needed) <= set(tiles.tiles_over(index, size))


@given(st.integers(0, 2**40))
def test_the_right_edge_has_one_subtree_for_each_bit_of_the_size(size: int) -> None:
    nodes = tiles.edge_nodes(size)
    assert sum(1 << level for level, _ in nodes) == size
    assert len(nodes) == size.bit_count()


@given(st.integers(0, 62), st.integers(0, 2**20))
def test_a_node_lies_in_one_tile(level: int, index: int) -> None:
    first, end = span_in_tile((level, index))
    tile_level, number = tile_of((level, index))
    assert 0 <= first < end <= TILE_WIDTH
    assert (number * TILE_WIDTH + first) << 8 * tile_level == index << level


def test_a_tile_is_as_wide_as_its_log_is_large() -> None:
    assert [tile_width((0, 1), size) for size in (256, 257, 511, 512, 900)] == [0, 1, 255, 256, 256]
    assert is_full((0, 1), 512)
    assert not is_full((1, 0), 65_535)


def test_a_log_of_a_million_entries_is_proven_by_a_few_tiles() -> None:
    ranges = tiles.inclusion_ranges(123_456, 1_000_000)
    assert len(tiles.tiles_of(ranges)) <= 6


def test_what_is_outside_the_log_has_no_proof() -> None:
    with pytest.raises(IndexError, match="entry 7 of 7"):
        tiles.inclusion_ranges(7, 7)
    for old in (0, 8):
        with pytest.raises(IndexError, match=f"old size {old} of 7"):
            tiles.consistency_ranges(old, 7)
