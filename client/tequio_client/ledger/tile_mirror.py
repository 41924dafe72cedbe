"""Full tiles and bundles of a log from a mirror: a bucket, or a cache in front of the ledger.

Nothing of a mirror is believed. A file counts only if its hashes lead to a checkpoint that the log
signed: a bundle's root is a hash of level 1, a full tile's root is a hash of the level above, and
so on up to the unfinished tiles at the right edge of the log, which the ledger serves and whose
root is the checkpoint's. So what the mirror adds to the ledger's own answers is their bytes alone,
and a wrong file of it never looks like a forked log.

A mirror may hurt no more than a retry. For every file that is missing, late or wrong there is the
ledger, which is asked at once. A mirror that fails, lies, or uses up `patience_s` because it is on
average slower than is fair rests for `rest_s`. Fair is `FAIR` times what the ledger took for such a
file, so the first one comes from the ledger, as does each one while the mirror rests.

The edge costs some small requests to the ledger, so a mirror is used for logs, and after growth, of
`least_entries`. A verified tile of level 1 covers 65,536 entries, and is fetched once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import structlog
import trio

from tequio_client.ledger.http import (
    AddressOf,
    ApiLimits,
    LedgerHttp,
    LedgerRefusedError,
    LedgerUnavailableError,
    UnnamedRefusalError,
)
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.log.merkle import leaf_hash, root_of_hashes
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.tiles import (
    BUNDLE_LEVEL,
    TILE_WIDTH,
    Tile,
    TileName,
    TileTree,
    hashes_at,
    is_full,
    parse_bundle,
)

log = structlog.get_logger(__name__)

FromLedger: TypeAlias = Callable[[Tile], Awaitable[bytes]]
FAIR = 2
_MAX_TILES = 64
"""Verified tiles of hashes that are cached: 0.5 MiB."""
_MAX_MISSES = 8
"""Files in a row that a mirror may lack before it rests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorLimits:
    """Times in seconds."""

    answer_s: float = 5.0
    fair_s: float = 0.25
    """The least that is fair."""
    patience_s: float = 5.0
    """Time beyond what is fair that its answers may take together before it rests."""
    rest_s: float = 300.0
    least_entries: int = 16 * TILE_WIDTH
    """Growth of the log from which on its edge is fetched again."""


class TileMirror:
    """Reads a mirror of one log; any number of tasks may call `get`."""

    def __init__(
        self,
        url: str,
        from_ledger: FromLedger,
        address_of: AddressOf,
        limits: MirrorLimits | None = None,
    ) -> None:
        """`from_ledger` fetches an unfinished tile; raises UserFacingError for an invalid URL."""
        self.newest: Checkpoint | None = None
        """The newest checkpoint that the log signed; written by the owner."""
        self._limits = limits or MirrorLimits()
        self._http = LedgerHttp(url, ApiLimits(connections=4), "mirror", address_of)
        self._from_ledger = from_ledger
        self._adopting = trio.Lock()  # held while the next three change
        self._size = 0  # of the checkpoint that files are verified against
        self._tiles: dict[TileName, bytes] = {}  # full ones, verified
        self._edge: dict[TileName, bytes] = {}  # unfinished ones, verified
        self._misses = 0
        self._rests_until_s = 0.0
        self._fair_s: float | None = None  # not known before the ledger was timed
        self._patience_s = self._limits.patience_s

    async def aclose(self) -> None:
        await self._http.aclose()

    async def get(self, tile: Tile) -> bytes | None:
        """Get a full tile or bundle, verified; None if the ledger has to be asked.

        Raises LedgerUnavailableError and PeerError only for answers of the ledger.
        """
        if self._fair_s is None or self._is_resting():
            return None
        if not await self._covers((tile.level, tile.index)):
            return None
        return await self._verified((tile.level, tile.index))

    def record_ledger(self, seconds: float) -> None:
        """Record how long the ledger took for a full file."""
        self._fair_s = max(self._limits.fair_s, FAIR * seconds)

    def _is_resting(self) -> bool:
        return trio.current_time() < self._rests_until_s

    async def _covers(self, name: TileName) -> bool:
        """Return whether the edge is known above a file; fetches it if that is worth it."""
        if not is_full((max(name[0], 0), name[1]), self._size):
            async with self._adopting:
                newest = self.newest
                if newest and newest.size - self._size >= self._limits.least_entries:
                    await self._adopt(newest)
        return is_full((max(name[0], 0), name[1]), self._size) and not self._is_resting()

    async def _adopt(self, newest: Checkpoint) -> None:
        """Fetch the unfinished tiles of a checkpoint: one for each level at most."""
        edge: dict[TileName, bytes] = {}
        level = 0
        while hashes := hashes_at(level, newest.size):
            index, width = divmod(hashes, TILE_WIDTH)
            if width:
                tile = Tile(level=level, index=index, width=width)
                # In place of a tile that is full meanwhile, all of it may come.
                edge[level, index] = (await self._from_ledger(tile))[: width * DIGEST_BYTES]
            level += 1
        if TileTree.resume(newest.size, edge.get).root() != newest.root:
            # Of the ledger's own answers, one is wrong: its reader finds out, without a mirror.
            self._rest("the edge of the log does not have the checkpoint's root")
            return
        self._size, self._edge = newest.size, edge

    async def _verified(self, name: TileName) -> bytes | None:
        """Find or fetch a full file under a covered one; None if the mirror does not have it."""
        if (found := self._tiles.get(name)) is not None:
            return found
        level, index = name
        above = max(level, 0) + 1, index // TILE_WIDTH
        parent = self._edge.get(above)
        # Two reads of the edge may belong to two checkpoints; above a file both have the same.
        if parent is None:
            parent = await self._verified(above) if is_full(above, self._size) else None
        if parent is None:
            return None
        first = index % TILE_WIDTH * DIGEST_BYTES
        found = await self._fetch(name, Digest(parent[first : first + DIGEST_BYTES]))
        if found is not None and level > 0:
            if len(self._tiles) >= _MAX_TILES:
                self._tiles.clear()
            self._tiles[name] = found
        return found

    async def _fetch(self, name: TileName, wanted: Digest) -> bytes | None:
        """Fetch a file whose root is known; None for any failure, after which it may rest."""
        tile = Tile(level=name[0], index=name[1])
        begun_s = trio.current_time()
        try:
            raw = await self._http.call(
                f"/{tile.path()}", most=tile.most_bytes, seconds=self._limits.answer_s
            )
            if _root(tile, raw) != wanted:
                raise MalformedError(f"{tile.path()} is not that of the log")
        except (LedgerRefusedError, UnnamedRefusalError):
            self._misses += 1
            if self._misses >= _MAX_MISSES:
                self._rest(f"{self._misses} files in a row are missing")
            return None
        except (LedgerUnavailableError, PeerError) as err:
            self._rest(str(err))
            return None
        finally:
            self._spend(trio.current_time() - begun_s)
        self._misses = 0
        return raw

    def _spend(self, seconds: float) -> None:
        """Count the time of one answer: a quick one makes up for a slow one."""
        spare_s = (self._fair_s or 0.0) - seconds
        self._patience_s = min(self._limits.patience_s, self._patience_s + spare_s)
        if self._patience_s <= 0 and not self._is_resting():
            self._rest("it is slower than the ledger")

    def _rest(self, reason: str) -> None:
        log.info("mirror of tiles rests", mirror=self._http.url, why=reason)
        self._rests_until_s = trio.current_time() + self._limits.rest_s
        self._misses, self._patience_s = 0, self._limits.patience_s


def open_mirror(url: str, from_ledger: FromLedger, address_of: AddressOf) -> TileMirror | None:
    """Open the mirror that a ledger names; None for an address that cannot be one."""
    try:
        return TileMirror(url, from_ledger, address_of)
    except UserFacingError as err:
        log.info("the ledger names no valid mirror of tiles", why=str(err))
        return None


def _root(tile: Tile, raw: bytes) -> Digest:
    """Compute the hash above a full file; raises MalformedError for another number of parts."""
    if tile.level == BUNDLE_LEVEL:
        hashes = [leaf_hash(leaf) for leaf in parse_bundle(raw)]
    else:
        hashes = [Digest(raw[at : at + DIGEST_BYTES]) for at in range(0, len(raw), DIGEST_BYTES)]
    if len(hashes) != TILE_WIDTH or len(hashes[-1]) != DIGEST_BYTES:
        raise MalformedError(f"{tile.path()} has {len(hashes)} parts")
    return root_of_hashes(hashes)
