"""The growing Merkle tree as 256-wide tiles (RFC 6962 hashes, C2SP tlog-tiles layout).

Tile n of level l holds the hashes of 256 consecutive subtrees of 256**l leaves each. A full tile
gives one hash to the level above; the right edge of every level is all that appending needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.log import merkle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.ids import Digest

TILE_WIDTH = 256

Tile = tuple[int, int]
"""Level and number."""


class Tree:
    """The right edge of a tree; remembers which tiles changed since they were last taken."""

    def __init__(self) -> None:
        self._frontier = merkle.Frontier()
        self._edge: list[list[Digest]] = []  # per level, the hashes of its unfinished tile
        self._full: dict[Tile, bytes] = {}
        self._grown: set[int] = set()  # levels whose unfinished tile changed

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._frontier.size

    def append(self, leaf: bytes) -> None:
        """Add one leaf."""
        node, at = merkle.leaf_hash(leaf), self.size
        self._frontier.append(node)
        self._push(0, node, at)

    def root(self) -> Digest:
        """The root over all leaves (RFC 6962, section 2.1)."""
        return self._frontier.root()

    def take_full(self) -> dict[Tile, bytes]:
        """Every tile that became full since it was last asked for."""
        full, self._full = self._full, {}
        return full

    def take_changed(self) -> Mapping[Tile, bytes]:
        """Every tile that grew since the last call, whole; the next call starts anew."""
        changed = self.take_full()
        for level in self._grown:
            if self._edge[level]:
                changed[level, self.size >> 8 * (level + 1)] = b"".join(self._edge[level])
        self._grown.clear()
        return changed

    def _push(self, level: int, node: Digest, at: int) -> None:
        if level == len(self._edge):
            self._edge.append([])
        hashes = self._edge[level]
        hashes.append(node)
        self._grown.add(level)
        if len(hashes) == TILE_WIDTH:
            self._full[level, at // TILE_WIDTH] = b"".join(hashes)
            self._edge[level] = []
            self._push(level + 1, merkle.root_of_hashes(hashes), at // TILE_WIDTH)


def count_tiles(size: int) -> int:
    """How many tiles a tree of that size has, unfinished ones included."""
    count, nodes = 0, size
    while nodes:
        count += -(-nodes // TILE_WIDTH)
        nodes //= TILE_WIDTH
    return count


def width(tile: Tile, size: int) -> int:
    """How many hashes of that tile a tree of that size has (0 to 256)."""
    level, n = tile
    return max(0, min(TILE_WIDTH, (size >> 8 * level) - n * TILE_WIDTH))
