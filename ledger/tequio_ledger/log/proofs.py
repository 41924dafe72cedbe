"""Proofs made from the stored tiles, a few rows each however large the log is.

A tile holds 256 neighbouring nodes of one level of the tree, so any node over a full subtree is at
most 128 hashes of one tile, folded; what RFC 6962 calls MTH(D[a:b]) is made of such nodes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING

from tequio_ledger.store import log_rows
from tequio_shared.errors import FatalLogError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.log.merkle import Frontier, node_hash, root_of_hashes
from tequio_shared.log.tiles import TILE_WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection

    from tequio_ledger.store.database import Database
    from tequio_ledger.store.tiles import Tile

# --- Roots that the log had at earlier sizes, from its stored tiles.

_HEIGHT = 8


def root_at(connection: Connection, size: int) -> Digest:
    """Root over the first `size` entries, all of which must be there; raises FatalLogError."""
    edge: list[bytes] = []
    first = 0
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            edge.append(_node(connection, level, first >> level))
            first += 1 << level
    return Frontier.parse(size.to_bytes(8, "big") + b"".join(edge)).root()


def _node(connection: Connection, level: int, index: int) -> Digest:
    """Hash of the full subtree `index` of 2^level entries."""
    tile_level, rest = divmod(level, _HEIGHT)
    first, count = index << rest, 1 << rest
    data = log_rows.read_tile(connection, (tile_level, first // TILE_WIDTH)) or b""
    at = first % TILE_WIDTH
    hashes = [data[n * DIGEST_BYTES : (n + 1) * DIGEST_BYTES] for n in range(at, at + count)]
    if len(hashes[-1]) != DIGEST_BYTES:
        raise FatalLogError(f"tile {first // TILE_WIDTH} of level {tile_level} is too short")
    return root_of_hashes(hashes)


if TYPE_CHECKING:
    ReadTile = Callable[[Tile], bytes | None]
    Foresee = Callable[[Sequence[Tile]], Mapping[Tile, bytes]]
    FullNode = Callable[[Tile, int, int], Digest]


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


# --- Proofs made from what earlier ones needed: full tiles never change, so their inner nodes
# stay.
#
# A full tile stands for 510 nodes: its 256 hashes, the 128 above them, and so on up to two. They
# are kept in one string; with MOST of them that is 33 MB. What lies at the right edge of the tree
# is kept for one size only, the newest that was asked for.

MOST = 2_048
"""Tiles kept."""


class KeptProofs:
    """Proof makers of one ledger; may be used from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._newest: TileProofs | None = None
        self._expanded: OrderedDict[Tile, bytes] = OrderedDict()
        self._lock = threading.Lock()  # held while the order of what is kept changes

    def at(self, size: int) -> TileProofs:
        """Give the maker of proofs for a size of the log."""
        newest = self._newest
        if newest is None or newest.size != size:
            newest = TileProofs(self._read, size, self.node, partial(self._foreseen, size))
            self._newest = newest
        return newest

    def node(self, tile: Tile, height: int, index: int) -> Digest:
        """Give a node of a full tile, `height` above its hashes; raises DatabaseError."""
        with self._lock:
            expanded = self._expanded.get(tile)
            if expanded is not None:
                self._expanded.move_to_end(tile)
        if expanded is None:
            expanded = self._keep(tile, self._read(tile) or b"")
        first = DIGEST_BYTES * (2 * TILE_WIDTH - (2 * TILE_WIDTH >> height) + index)
        return Digest(expanded[first : first + DIGEST_BYTES])

    def _foreseen(self, size: int, tiles: Sequence[Tile]) -> dict[Tile, bytes]:
        """Read those that are not at hand by one question; keep the full ones, give the others."""
        missing = [tile for tile in tiles if tile not in self._expanded]
        if not missing:
            return {}
        with self._database.glance.connect() as connection:
            found = log_rows.read_tiles(connection, missing)
        for tile in [one for one in found if is_full(one, size)]:
            self._keep(tile, found.pop(tile))
        return found

    def _keep(self, tile: Tile, data: bytes) -> bytes:
        expanded = _expand(data)
        with self._lock:
            self._expanded[tile] = expanded
            if len(self._expanded) > MOST:
                self._expanded.popitem(last=False)
        return expanded

    def _read(self, tile: Tile) -> bytes | None:
        with self._database.glance.connect() as connection:
            return log_rows.read_tile(connection, tile)


def _expand(tile: bytes) -> bytes:
    """Put every level of a tile behind the one below it, up to the two nodes under its root."""
    level = [Digest(tile[at : at + DIGEST_BYTES]) for at in range(0, len(tile), DIGEST_BYTES)]
    parts = [tile]
    while len(level) > 2:  # noqa: PLR2004 - the two under the root, which the next tile holds
        level = [node_hash(*level[at : at + 2]) for at in range(0, len(level), 2)]
        parts += level
    return b"".join(parts)
