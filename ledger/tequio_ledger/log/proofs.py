"""Proofs made from the stored tiles; each reads a few rows, however large the log is.

`TileProofs` makes them for one size; `ProofCache` remembers what earlier ones needed. Full tiles
never change, so their inner nodes are cached: a full tile has 510 nodes, its 256 hashes, the 128
above them, and so on up to two. They are stored in one string; CACHED_TILES of them take 33 MB.
The right edge of the tree is remembered for one size only, the newest that was requested.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sqlalchemy import Connection

from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tequio_shared.errors import FatalLogError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.log import tiles as log_tiles
from tequio_shared.log.merkle import Frontier, node_hash, root_of_hashes
from tequio_shared.log.tiles import TILE_HEIGHT, TILE_WIDTH, Node, Range, TileName, is_full

ReadTile = Callable[[TileName], bytes | None]
Foresee = Callable[[Sequence[TileName]], Mapping[TileName, bytes]]
FullNode = Callable[[TileName, int, int], Digest]

CACHED_TILES = 2_048
"""Number of tiles cached."""


class ProofCache:
    """Cache of proofs of one ledger; may be used from several threads."""

    def __init__(self, database: Database, most: int = CACHED_TILES) -> None:
        """`most` full tiles are cached, those used last."""
        self._database = database
        self._most = most
        self._newest: TileProofs | None = None
        self._expanded: OrderedDict[TileName, bytes] = OrderedDict()
        self._lock = threading.Lock()  # held while the order of the cache changes

    def at(self, size: int) -> TileProofs:
        """Give the maker of proofs for a size of the log."""
        # Readers want the newest size nearly always. Two threads may both make one here; the
        # later one wins, and nothing but its cached edge is lost.
        newest = self._newest
        if newest is None or newest.size != size:
            newest = TileProofs(self._read, size, self.node, partial(self._foreseen, size))
            self._newest = newest
        return newest

    def node(self, tile: TileName, height: int, index: int) -> Digest:
        """Give a node of a full tile, `height` above its hashes; raises DatabaseError."""
        with self._lock:
            expanded = self._expanded.get(tile)
            if expanded is not None:
                self._expanded.move_to_end(tile)
        if expanded is None:  # outside the lock: hashing 255 nodes must not stop other threads
            expanded = self._cache(tile, self._read(tile) or b"")
        first = DIGEST_BYTES * (2 * TILE_WIDTH - (2 * TILE_WIDTH >> height) + index)
        return Digest(expanded[first : first + DIGEST_BYTES])

    def _foreseen(self, size: int, tiles: Sequence[TileName]) -> dict[TileName, bytes]:
        """Read the tiles that are not cached by one query; cache the full ones, give the others."""
        missing = [tile for tile in tiles if tile not in self._expanded]
        if not missing:
            return {}
        with self._database.glance.connect() as connection:
            found = log_rows.read_tiles(connection, missing)
        for tile in [one for one in found if is_full(one, size)]:
            self._cache(tile, found.pop(tile))
        return found

    def _cache(self, tile: TileName, data: bytes) -> bytes:
        expanded = _expand(data)
        with self._lock:
            self._expanded[tile] = expanded
            if len(self._expanded) > self._most:
                self._expanded.popitem(last=False)
        return expanded

    def _read(self, tile: TileName) -> bytes | None:
        with self._database.glance.connect() as connection:
            return log_rows.read_tile(connection, tile)


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

        `foresee` is given the tiles that an inclusion proof needs, and may answer with them.
        """
        self.size = size
        self._read_tile = read_tile
        self._full_node = full_node
        self._foresee = foresee
        self._tiles: dict[TileName, bytes] = {}
        self._nodes: dict[Node, Digest] = {}
        self._edge: dict[Range, Digest] = {}  # ranges that end with the tree

    def inclusion(self, index: int) -> list[Digest]:
        """Make the inclusion proof of an index, sibling first; raises IndexError outside it."""
        ranges = log_tiles.inclusion_ranges(index, self.size)
        if self._foresee is not None:
            named = log_tiles.tiles_over(index, self.size)
            self._tiles.update(self._foresee([one for one in named if one not in self._tiles]))
        return [self._hash(span) for span in ranges]

    def consistency(self, old_size: int) -> list[Digest]:
        """Make the proof that the log of `old_size` is the beginning of this one.

        Raises IndexError unless 1 <= old_size <= size.
        """
        return [self._hash(span) for span in log_tiles.consistency_ranges(old_size, self.size)]

    def root(self, size: int) -> Digest:
        """Root over the first entries, `size` of them; raises FatalLogError for a missing tile."""
        hashes = b"".join(self._node(node) for node in log_tiles.edge_nodes(size))
        return Frontier.parse(size.to_bytes(8, "big") + hashes).root()

    def _hash(self, span: Range) -> Digest:
        first, end = span
        count = end - first
        if count & (count - 1) == 0:  # the most frequent case by far: a full subtree
            level = count.bit_length() - 1
            return self._node((level, first >> level))
        # Every proof of this size has the same few ranges that end with the tree.
        found = self._edge.get(span)
        if found is None:
            found = self._edge[span] = log_tiles.range_hash(span, self._node)
        return found

    def _node(self, node: Node) -> Digest:
        level, index = node
        tile_level, height = divmod(level, TILE_HEIGHT)
        number, first = divmod(index << height, TILE_WIDTH)
        tile = tile_level, number
        if self._full_node is not None and is_full(tile, self.size):
            return self._full_node(tile, height, first >> height)
        found = self._nodes.get(node)
        if found is None:
            found = _folded(tile, self._tile(tile), first, first + (1 << height))
            if self._full_node is not None:  # then this is a node of an unfinished tile: one of few
                self._nodes[node] = found
        return found

    def _tile(self, name: TileName) -> bytes:
        tile = self._tiles.get(name)
        if tile is None:
            tile = self._read_tile(name)
            if tile is None:
                raise FatalLogError(f"tile {name[0]}/{name[1]} is missing from the database")
            self._tiles[name] = tile
        return tile


def stored_proofs(connection: Connection, size: int) -> TileProofs:
    """Make proofs over the first `size` entries, all of which must be stored."""
    return TileProofs(partial(log_rows.read_tile, connection), size)


def root_at(connection: Connection, size: int) -> Digest:
    """Root over `size` entries, all stored; raises FatalLogError when a tile is missing."""
    return stored_proofs(connection, size).root(size)


def _folded(name: TileName, tile: bytes, first: int, end: int) -> Digest:
    """Hash some neighbouring hashes of a tile into the node above them."""
    if len(tile) < end * DIGEST_BYTES:
        raise FatalLogError(f"tile {name[0]}/{name[1]} has only {len(tile)} bytes")
    hashes = [tile[at * DIGEST_BYTES : (at + 1) * DIGEST_BYTES] for at in range(first, end)]
    return root_of_hashes(hashes)


def _expand(tile: bytes) -> bytes:
    """Append every level of a tile to the one below it, up to the two nodes under its root."""
    level = [Digest(tile[at : at + DIGEST_BYTES]) for at in range(0, len(tile), DIGEST_BYTES)]
    parts = [tile]
    while len(level) > 2:  # noqa: PLR2004 - the two under the root, which the next tile holds
        level = [node_hash(*level[at : at + 2]) for at in range(0, len(level), 2)]
        parts += level
    return b"".join(parts)
