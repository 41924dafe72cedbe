"""Reads a whole log over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, parse_bundle

if TYPE_CHECKING:
    import httpx


def read_leaves(http: httpx.Client, size: int) -> list[bytes]:
    """Get the first `size` leaves, unverified."""
    leaves: list[bytes] = []
    for first in range(0, size, TILE_WIDTH):
        tile = Tile(
            level=BUNDLE_LEVEL, index=first // TILE_WIDTH, width=min(TILE_WIDTH, size - first)
        )
        leaves += parse_bundle(http.get(f"/log/{tile.path()}").content)
    return leaves
