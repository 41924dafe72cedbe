"""Hashes of a proof about a log, and how tiles give them (RFC 6962, section 2.1).

Theory: a tile holds 256 neighbouring nodes of one level of the tree, so any node over a full
subtree is at most 128 hashes of one tile, folded. Every hash of a proof is MTH(D[a:b]) of a range
of entries, and a range that begins at a multiple of the next power of two falls into such nodes.

Nothing here fetches or stores: `inclusion` and `consistency` name the ranges, `tiles_of` the tiles
that must be available, and `range_hash` computes a range once they are. The ledger drives this
from its database, the client from answers over HTTP. Tiles are not trusted: a proof made of wrong
ones does not verify against a signed root. A proof costs O(log n) hashes in a log of n entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from tequio_shared.ids import Digest
from tequio_shared.log.merkle import node_hash
from tequio_shared.log.tiles import TILE_WIDTH, hashes_at

TILE_HEIGHT = 8
"""Levels of the binary tree in one level of tiles."""

TileName: TypeAlias = tuple[int, int]
"""Level and number of a tile."""
Range: TypeAlias = tuple[int, int]
"""First entry, and the one after the last."""
Node: TypeAlias = tuple[int, int]
"""Level and number of a full subtree: over 2^level entries."""


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """Ranges whose hashes prove an entry, sibling first; raises IndexError outside the log."""
    if not 0 <= index < size:
        raise IndexError(f"entry {index} of {size}")
    ranges: list[Range] = []
    first, end = 0, size
    while (count := end - first) > 1:
        middle = first + (1 << (count - 1).bit_length() - 1)  # `_split`, inlined: hot
        if index < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((first, middle))
            first = middle
    ranges.reverse()
    return ranges


def consistency_ranges(old_size: int, size: int) -> list[Range]:
    """Ranges whose hashes prove that the log of `old_size` is the beginning of this one.

    Raises IndexError unless 1 <= old_size <= size.
    """
    if not 1 <= old_size <= size:
        raise IndexError(f"old size {old_size} of {size}")
    ranges: list[Range] = []
    first, end = 0, size
    # While the old tree may still be a subtree of the new one, the verifier has its hash already.
    is_whole = True
    while old_size != end:
        middle = first + _split(end - first)
        if old_size <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((first, middle))
            first, is_whole = middle, False
    if not is_whole:
        ranges.append((first, end))
    return ranges[::-1]


def edge_nodes(size: int) -> list[Node]:
    """Full subtrees along the right edge of a log, the largest first."""
    return nodes_of((0, size))


def nodes_of(span: Range) -> list[Node]:
    """Full subtrees that together cover a range, the largest first."""
    first, end = span
    nodes: list[Node] = []
    while first < end:
        level = (end - first).bit_length() - 1
        nodes.append((level, first >> level))
        first += 1 << level
    return nodes


def tile_of(node: Node) -> TileName:
    """The tile that holds the hashes below a node."""
    level, index = node
    tile_level, rest = divmod(level, TILE_HEIGHT)
    return tile_level, (index << rest) // TILE_WIDTH


def span_in_tile(node: Node) -> Range:
    """Range of the hashes in its tile that make up a node."""
    level, index = node
    rest = level % TILE_HEIGHT
    first = (index << rest) % TILE_WIDTH
    return first, first + (1 << rest)


def tiles_of(ranges: Iterable[Range]) -> list[TileName]:
    """Tiles that the hashes of these ranges are computed from, each named once."""
    return list(dict.fromkeys(tile_of(node) for span in ranges for node in nodes_of(span)))


def tiles_over(index: int, size: int) -> list[TileName]:
    """Tiles over an entry and along the right edge: everything its inclusion proof can need.

    At most two per level, and cheaper to name than `tiles_of` its ranges.
    """
    names: list[TileName] = []
    level, nodes = 0, size
    while nodes:
        over, last = (index >> TILE_HEIGHT * level) // TILE_WIDTH, nodes // TILE_WIDTH
        if over < last:
            names.append((level, over))
        if nodes % TILE_WIDTH:
            names.append((level, last))
        level, nodes = level + 1, last
    return names


def range_hash(span: Range, node: Callable[[Node], Digest]) -> Digest:
    """Hash a range that is not empty; `node` returns the hash of a full subtree."""
    *left, last = nodes_of(span)
    found = node(last)
    for one in reversed(left):
        found = node_hash(node(one), found)
    return found


def tile_width(tile: TileName, size: int) -> int:
    """Number of hashes that a tile has in a log of that size (0 to 256)."""
    level, number = tile
    return max(0, min(TILE_WIDTH, hashes_at(level, size) - number * TILE_WIDTH))


def is_full(tile: TileName, size: int) -> bool:
    level, number = tile
    return (number + 1) << TILE_HEIGHT * (level + 1) <= size


def _split(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1
