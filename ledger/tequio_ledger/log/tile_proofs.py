"""Proofs made from the stored tiles, a few rows each however large the log is.

A tile holds 256 neighbouring nodes of one level of the tree, so any node over a full subtree is at
most 128 hashes of one tile, folded; what RFC 6962 calls MTH(D[a:b]) is made of such nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.errors import FatalLogError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.merkle import node_hash, root_of_hashes
from tequio_shared.tlog import TILE_WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tequio_ledger.tree import Tile

    ReadTile = Callable[[Tile], bytes | None]
    Foresee = Callable[[Sequence[Tile]], Mapping[Tile, bytes]]
    FullNode = Callable[[Tile, int, int], Digest]

_HEIGHT = 8


class TileProofs:
    """Makes proofs for one size of the log; `read_tile` gives a tile as far as it has grown."""

    def __init__(
        self,
        read_tile: ReadTile,
        size: int,
        full_node: FullNode | None = None,
        foresee: Foresee | None = None,
    ) -> None:
        """`full_node` gives a node of a full tile, by its height in the tile and its index.

        `foresee` is told which tiles an inclusion proof will take, and may give them.
        """
        self.size = size
        self._read_tile = read_tile
        self._size = size
        self._full_node = full_node
        self._foresee = foresee
        self._tiles: dict[Tile, bytes] = {}
        self._nodes: dict[tuple[int, int], Digest] = {}
        self._edge: dict[tuple[int, int], Digest] = {}  # ranges that end with the tree

    def inclusion(self, index: int) -> list[Digest]:
        """Prove the entry at an index, its sibling first (RFC 6962 section 2.1.1).

        Raises IndexError for an index outside the log.
        """
        if not 0 <= index < self._size:
            raise IndexError(f"entry {index} of {self._size}")
        if self._foresee is not None:
            self._tiles.update(self._foresee(self._tiles_of(index)))
        proof: list[Digest] = []
        first, end = 0, self._size
        while end - first > 1:
            middle = first + _split(end - first)
            if index < middle:
                proof.append(self._range(middle, end))
                end = middle
            else:
                proof.append(self._range(first, middle))
                first = middle
        return proof[::-1]

    def consistency(self, old_size: int) -> list[Digest]:
        """Prove that the log of `old_size` is the beginning of this one (RFC 6962, 2.1.2).

        Raises IndexError unless 1 <= old_size <= size.
        """
        if not 1 <= old_size <= self._size:
            raise IndexError(f"old size {old_size} of {self._size}")
        return self._subproof(old_size, 0, self._size, is_whole=True)

    def _subproof(self, old_end: int, first: int, end: int, *, is_whole: bool) -> list[Digest]:
        """Go on within [first, end); `is_whole` while the old tree is a subtree of it."""
        if old_end == end:
            return [] if is_whole else [self._range(first, end)]
        middle = first + _split(end - first)
        if old_end <= middle:
            left = self._subproof(old_end, first, middle, is_whole=is_whole)
            return [*left, self._range(middle, end)]
        right = self._subproof(old_end, middle, end, is_whole=False)
        return [*right, self._range(first, middle)]

    def _range(self, first: int, end: int) -> Digest:
        """Hash entries [first, end), where first is a multiple of the next power of two."""
        size = end - first
        if size & (size - 1) == 0:
            level = size.bit_length() - 1
            return self._node(level, first >> level)
        found = self._edge.get((first, end))
        if found is None:
            middle = first + _split(size)
            found = node_hash(self._range(first, middle), self._range(middle, end))
            self._edge[first, end] = found
        return found

    def _tiles_of(self, index: int) -> list[Tile]:
        """Name the tiles over an entry and along the right edge that are not at hand."""
        names: list[Tile] = []
        level, nodes = 0, self._size
        while nodes:
            over, edge = (index >> _HEIGHT * level) // TILE_WIDTH, nodes // TILE_WIDTH
            if over < edge:
                names.append((level, over))
            if nodes % TILE_WIDTH:
                names.append((level, edge))
            level, nodes = level + 1, edge
        return [one for one in names if one not in self._tiles]

    def _node(self, level: int, index: int) -> Digest:
        """Hash the full subtree `index` of 2^level entries."""
        tile_level, rest = divmod(level, _HEIGHT)
        tile, at = divmod(index << rest, TILE_WIDTH)
        if self._full_node is not None and is_full((tile_level, tile), self._size):
            return self._full_node((tile_level, tile), rest, at >> rest)
        if (level, index) in self._nodes:
            return self._nodes[level, index]
        held = self._tile((tile_level, tile))[DIGEST_BYTES * at : DIGEST_BYTES * (at + (1 << rest))]
        found = root_of_hashes(
            [held[one : one + DIGEST_BYTES] for one in range(0, len(held), DIGEST_BYTES)]
        )
        if self._full_node is not None:  # then this is a node of an unfinished tile: one of few
            self._nodes[level, index] = found
        return found

    def _tile(self, name: Tile) -> bytes:
        held = self._tiles.get(name)
        if held is None:
            held = self._read_tile(name)
            if held is None:
                raise FatalLogError(f"tile {name[0]}/{name[1]} is missing from the database")
            self._tiles[name] = held
        return held


def is_full(tile: Tile, size: int) -> bool:
    """Whether a tile has all its hashes in a log of that size."""
    level, n = tile
    return (n + 1) << _HEIGHT * (level + 1) <= size


def _split(size: int) -> int:
    """The largest power of two below `size` (RFC 6962 section 2.1)."""
    return 1 << (size - 1).bit_length() - 1
