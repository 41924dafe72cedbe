"""Proofs made from what earlier ones needed: full tiles never change, so their inner nodes stay.

A full tile stands for 510 nodes: its 256 hashes, the 128 above them, and so on up to two. They are
kept in one string; with MOST of them that is 33 MB. What lies at the right edge of the tree is kept
for one size only, the newest that was asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING

from tequio_ledger.log.tile_proofs import TileProofs, is_full
from tequio_ledger.store import log_rows
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.merkle import node_hash
from tequio_shared.tlog import TILE_WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_ledger.store.engine import Database
    from tequio_ledger.tree import Tile

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
