"""Roots that the log had at earlier sizes, from its stored tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.store import log_rows
from tequio_shared.errors import FatalLogError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.merkle import Frontier, root_of_hashes
from tequio_shared.tlog import TILE_WIDTH

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
