"""Is the stored log what was written? Its whole tree is built again and held against what is there.

A changed byte anywhere is found before anything is signed: in an entry, a column, a tile, or the
head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.log.admitted import Admitted
from tequio_ledger.log.damage import damage
from tequio_ledger.store import log_rows
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.log.reading import TileTree, count_tiles
from tequio_shared.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from tequio_ledger.log.checkpoint import Published
    from tequio_ledger.store.log_rows import Head, StoredEntry
    from tequio_shared.ids import NetworkId
    from tequio_shared.log.tile_proofs import TileName


if TYPE_CHECKING:
    Take = Callable[[StoredEntry, Entry], None]

_CHECK_EVERY = 4096
_ALL = 1 << 62


class Integrity:
    """One reading of the stored entries, in order; it can be gone on with when there are more."""

    def __init__(self, net: NetworkId) -> None:
        self.tree = TileTree()
        self._net = net

    def extend(self, connection: Connection, published: Published, take: Take) -> None:
        """Hand on the entries up to a checkpoint; raises UserFacingError as `check` does."""
        self._read(connection, published.size, take)
        if self.tree.size != published.size:
            raise damage(f"entry {self.tree.size} is missing")
        _check_tiles(connection, self.tree.take_changed(), grown=True)
        if self.tree.root() != published.root:
            raise damage(f"checkpoint {published.size} was signed over other entries")

    def check(self, connection: Connection, head: Head, take: Take) -> None:
        """Hand each entry on; raise UserFacingError at the first thing that does not fit."""
        self._read(connection, _ALL, take)
        if self.tree.size != head.size:
            raise damage(f"the head counts {head.size} entries, but {self.tree.size} are there")
        _check_tiles(connection, self.tree.take_changed())
        if log_rows.count_tiles(connection) != count_tiles(head.size):
            raise damage("there are tiles that no entry belongs to")
        if self.tree.root() != head.root:
            raise damage("the head's root is not the root of the entries")

    def _read(self, connection: Connection, end: int, take: Take) -> None:
        for stored in log_rows.each_entry(connection, self.tree.size, end):
            self._check_entry(stored, take)
            if self.tree.size % _CHECK_EVERY == 0:
                _check_tiles(connection, self.tree.take_full())

    def _check_entry(self, stored: StoredEntry, take: Take) -> None:
        if stored.index != self.tree.size:
            raise damage(f"entry {self.tree.size} is missing")
        self.tree.append(stored.leaf)
        try:
            entry = Entry.parse(stored.leaf)
            if stored != Admitted.of(entry, self._net, stored.at_ms).row(stored.index):
                raise damage(f"entry {stored.index} is filed under the wrong name")
            take(stored, entry)
        except UnwritableError:  # a document that is out of reach says nothing of the entry
            raise
        except (PeerError, RefusedError) as err:
            raise damage(f"entry {stored.index} does not hold ({err})") from err


def _check_tiles(
    connection: Connection, tiles: Mapping[TileName, bytes], *, grown: bool = False
) -> None:
    """Hold tiles against what is stored, which may have `grown` beyond them since."""
    for tile, data in tiles.items():
        stored = log_rows.read_tile(connection, tile) or b""
        if stored != data and not (grown and stored.startswith(data)):
            raise damage(f"tile {tile[1]} of level {tile[0]} is not made of the entries")
