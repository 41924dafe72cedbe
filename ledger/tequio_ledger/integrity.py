"""Is the stored log what was written? Its whole tree is built again and held against what is there.

A changed byte anywhere is found before anything is signed: in an entry, a column, a tile, or the
head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.admitted import Admitted
from tequio_ledger.damage import damage
from tequio_ledger.store import log_rows
from tequio_ledger.tree import Tree, count_tiles
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from tequio_ledger.store.log_rows import Head, StoredEntry
    from tequio_ledger.tree import Tile
    from tequio_shared.ids import Digest, NetworkId

    Take = Callable[[StoredEntry, Entry], None]

_CHECK_EVERY = 4096


class Integrity:
    """One reading of the stored entries, in order."""

    def __init__(self, net: NetworkId, take: Take) -> None:
        self.tree = Tree()
        self._net = net
        self._take = take

    def check(self, connection: Connection, head: Head) -> None:
        """Hand each entry on; raise UserFacingError at the first thing that does not fit."""
        for stored in log_rows.each_entry(connection):
            self._check_entry(stored)
            if self.tree.size % _CHECK_EVERY == 0:
                _check_tiles(connection, self.tree.take_full())
        if self.tree.size != head.size:
            raise damage(f"the head counts {head.size} entries, but {self.tree.size} are there")
        _check_tiles(connection, self.tree.take_changed())
        if log_rows.count_tiles(connection) != count_tiles(head.size):
            raise damage("there are tiles that no entry belongs to")
        if self.tree.root() != head.root:
            raise damage("the head's root is not the root of the entries")

    def root(self) -> Digest:
        """Root over the entries read so far."""
        return self.tree.root()

    def _check_entry(self, stored: StoredEntry) -> None:
        if stored.index != self.tree.size:
            raise damage(f"entry {self.tree.size} is missing")
        self.tree.append(stored.leaf)
        try:
            entry = Entry.parse(stored.leaf)
            if stored != Admitted.of(entry, self._net, stored.at_ms).row(stored.index):
                raise damage(f"entry {stored.index} is filed under the wrong name")
            self._take(stored, entry)
        except (PeerError, RefusedError) as err:
            raise damage(f"entry {stored.index} does not hold ({err})") from err


def _check_tiles(connection: Connection, tiles: Mapping[Tile, bytes]) -> None:
    for tile, data in tiles.items():
        if log_rows.read_tile(connection, tile) != data:
            raise damage(f"tile {tile[1]} of level {tile[0]} is not made of the entries")
