"""A reader's own tree: the tiles and the root that the whole list of leaves gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import DIGEST_BYTES
from tequio_shared.log import merkle
from tequio_shared.log.tiles import (
    TILE_WIDTH,
    TileTree,
    extend_frontier,
    new_tiles,
    next_range,
)

if TYPE_CHECKING:
    from tequio_shared.log.tiles import TileName

LEAVES = [str(at).encode() for at in range(700)]


def grown(tree: TileTree, size: int) -> TileTree:
    for leaf in LEAVES[tree.size : size]:
        tree.append(leaf)
    return tree


def test_the_tiles_that_grew_are_those_that_a_ledger_writes() -> None:
    tree, old = TileTree(), 0
    for size in (1, 255, 256, 257, 512, 513, 700):
        changed = grown(tree, size).pop_changed()
        due = {(one.level, one.index): one.width for one in new_tiles(old, size)}
        assert {name: len(data) // DIGEST_BYTES for name, data in changed.items()} == due
        assert tree.root() == merkle.root(LEAVES[:size])
        old = size


def test_only_unfinished_tiles_stay_in_memory() -> None:
    tree = TileTree()
    full: dict[TileName, bytes] = {}
    for size in range(1, len(LEAVES) + 1):
        full |= grown(tree, size).pop_full()
    assert sorted(full) == [(0, 0), (0, 1)]
    assert {len(data) for data in full.values()} == {TILE_WIDTH * DIGEST_BYTES}
    assert tree.pop_full() == {}


def test_a_log_is_read_bundle_by_bundle() -> None:
    assert [next_range(first, 600) for first in (0, 10, 256, 512)] == [
        (0, 256),
        (10, 256),
        (256, 512),
        (512, 600),
    ]


def test_an_edge_grows_in_a_copy() -> None:
    edge = merkle.Frontier()
    grown_edge = extend_frontier(edge, LEAVES)
    assert (edge.size, grown_edge.root()) == (0, merkle.root(LEAVES))
