"""Tiles and bundles: the files as which a log is served (c2sp.org/tlog-tiles).

A tile holds up to 256 consecutive hashes of one level of the tree; a bundle holds the leaves under
a tile of level 0. Level l of the tiles is level 8*l of the binary tree, and only full tiles feed
the level above.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.limits import ENTRY_BYTES

TILE_WIDTH = 256
"""Hashes in a full tile, leaves in a full bundle."""
BUNDLE_LEVEL = -1
"""The level of bundles, written `entries` in paths."""

_HEIGHT = 8
_TOP_LEVEL = 63
_GROUP = 1000
_LENGTH_BYTES = 2
_PATH = re.compile(
    r"tile/(?P<level>entries|0|[1-9][0-9]?)/"
    r"(?P<index>(?:x[0-9]{3}/){0,6}[0-9]{3})"
    r"(?:\.p/(?P<width>[1-9][0-9]{0,2}))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """The name of a tile, or of a bundle if `level` is `ENTRIES`."""

    level: int
    index: int
    width: int = TILE_WIDTH

    @classmethod
    def parse(cls, path: str) -> Tile:
        """Read a path such as `tile/0/x001/067.p/17`; raises MalformedError."""
        match = _PATH.fullmatch(path)
        if match is None:
            raise MalformedError(f"invalid tile path {path[:120]!r}")
        level = BUNDLE_LEVEL if match["level"] == "entries" else int(match["level"])
        index = int(match["index"].replace("x", "").replace("/", ""))
        tile = cls(level=level, index=index, width=int(match["width"] or TILE_WIDTH))
        # Leading zeros or a width of 256 would name one tile twice, and caches would hold it twice.
        if level > _TOP_LEVEL or tile.path() != path:
            raise MalformedError(f"not the canonical path of a tile: {path[:120]!r}")
        return tile

    def path(self) -> str:
        groups = [f"{self.index % _GROUP:03}"]
        rest = self.index // _GROUP
        while rest:
            groups.append(f"x{rest % _GROUP:03}")
            rest //= _GROUP
        level = "entries" if self.level == BUNDLE_LEVEL else self.level
        partial = "" if self.width == TILE_WIDTH else f".p/{self.width}"
        return f"tile/{level}/{'/'.join(reversed(groups))}{partial}"

    def exists(self, size: int) -> bool:
        """Return whether a log of that size has this tile, as its last partial or a former one."""
        return self.index * TILE_WIDTH + self.width <= hashes_at(self.level, size)


def hashes_at(level: int, size: int) -> int:
    """Count the hashes of a tile level, or the leaves, in a log of `size` entries."""
    return size >> (_HEIGHT * max(level, 0))


def tiles_at(level: int, size: int) -> tuple[int, int]:
    """Count the full tiles of a level, and the hashes in its partial tile (0 if it has none)."""
    return divmod(hashes_at(level, size), TILE_WIDTH)


def new_tiles(old_size: int, size: int) -> list[Tile]:
    """List the tiles to write when a log grows, level by level, each at its new width."""
    tiles: list[Tile] = []
    level = 0
    while hashes_at(level, size):
        tiles += _grown(level, old_size, size)
        level += 1
    return tiles


def encode_bundle(leaves: Iterable[bytes]) -> bytes:
    """Join leaves, each after its length as u16 big-endian.

    Raises RefusedError("too-large") for a leaf above `ENTRY_BYTES`.
    """
    return b"".join(_framed(leaf) for leaf in leaves)


def parse_bundle(raw: bytes, most: int = TILE_WIDTH) -> list[bytes]:
    """Split a bundle of at most `most` leaves; raises MalformedError."""
    leaves: list[bytes] = []
    at = 0
    while at < len(raw):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(raw[at:start], "big")
        if at > len(raw) or start > len(raw):
            raise MalformedError(f"bundle ends inside leaf {len(leaves)}")
        if len(leaves) == most:
            raise MalformedError(f"bundle of more than {most} leaves")
        leaves.append(raw[start:at])
    return leaves


def _grown(level: int, old_size: int, size: int) -> list[Tile]:
    old, new = hashes_at(level, old_size), hashes_at(level, size)
    if old == new:
        return []
    first, last = old // TILE_WIDTH, (new - 1) // TILE_WIDTH
    return [
        Tile(level=level, index=index, width=min(TILE_WIDTH, new - index * TILE_WIDTH))
        for index in range(first, last + 1)
    ]


def _framed(leaf: bytes) -> bytes:
    if len(leaf) > ENTRY_BYTES:
        raise RefusedError(
            "too-large", f"entry of {len(leaf)} bytes; at most {ENTRY_BYTES} are allowed"
        )
    return len(leaf).to_bytes(_LENGTH_BYTES, "big") + leaf
