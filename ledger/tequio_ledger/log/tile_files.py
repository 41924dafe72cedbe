"""Tiles and bundles as files: read from the database, and copied to a bucket.

Rules of copying. A full tile or bundle never changes, so a bucket or a cache can serve it in the
ledger's place. Only the process that writes the log copies, and only what is published. The
database stores how far the bucket is, for all processes of a ledger: a restart continues there and
reads nothing before it. Files are written before that position, so what was interrupted is written
again, with the same bytes. Nothing waits for the bucket; readers that do not find a file there ask
the ledger.

Each 256 entries cost one read of their leaves and two files, each 65,536 another file, and so on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Never, Protocol

import structlog

from tequio_ledger.runtime import run_in_thread
from tequio_ledger.store import log_rows, sent
from tequio_ledger.store.database import FAILURES
from tequio_shared.errors import FatalLogError, TequioError
from tequio_shared.ids import DIGEST_BYTES, NetworkId, sha256
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle, new_tiles

if TYPE_CHECKING:
    from tequio_ledger.log.guard import Published
    from tequio_ledger.log.sequencer import ChangeSignal
    from tequio_ledger.store.bucket import TileBucket
    from tequio_ledger.store.database import Database

STEP_BUNDLES = 16
"""Bundles after which the position is stored."""
UPLOADS = 4
"""Files on their way at once; one has at most 16.8 MB, and some 130 kB as a rule."""
RETRY_S = 30.0
"""Pause after a failure, and between checks for entries that no signal announced."""

log = structlog.get_logger(__name__)


def open_tile_bucket(url: str) -> TileBucket | None:
    """Open the bucket to which tiles are copied; None without a URL. Raises UserFacingError."""
    if not url:
        return None
    from tequio_ledger.store.bucket import TileBucket  # noqa: PLC0415 - most ledgers have none

    return TileBucket(url)


def read_file(database: Database, tile: Tile) -> bytes:
    """Read a tile or bundle of the stored log; raises FatalLogError for a missing tile."""
    with database.glance.connect() as connection:
        if tile.level == BUNDLE_LEVEL:
            first = tile.index * TILE_WIDTH
            return encode_bundle(log_rows.read_leaves(connection, first, first + tile.width))
        whole = log_rows.read_tile(connection, (tile.level, tile.index))
    if whole is None:
        raise FatalLogError(f"{tile.path()} is missing from the database")
    return whole[: tile.width * DIGEST_BYTES]


class PublishingLedger(Protocol):
    """The part of the ledger that the copies use."""

    @property
    def published(self) -> Published: ...

    @property
    def is_leading(self) -> bool:
        """True if this process writes the log."""


class TileCopier:
    """Copies what is full; `run` belongs to the ledger's event loop."""

    def __init__(
        self,
        *,
        ledger: PublishingLedger,
        network: NetworkId,
        database: Database,
        changed: ChangeSignal,
        bucket: TileBucket,
        retry_s: float = RETRY_S,
    ) -> None:
        self.copied = 0
        """Entries before this one are in the bucket; 0 until this process leads."""
        self._ledger = ledger
        self._place = sha256(network, bucket.url.encode())
        self._database = database
        self._changed = changed
        self._bucket = bucket
        self._retry_s = retry_s

    async def run(self) -> Never:
        """Copy until cancelled."""
        while True:
            try:
                while await self._step():
                    pass
                await self._changed.wait(self._retry_s)
            except (TequioError, OSError, *FAILURES) as err:
                log.warning("tiles were not copied", why=str(err))
                await asyncio.sleep(self._retry_s)

    async def _step(self) -> bool:
        """Copy the next bundles, and the tiles that they fill; False when none is due here."""
        size = self._ledger.published.size
        end = size - size % TILE_WIDTH
        if not self._ledger.is_leading or self.copied >= end:
            return False
        # Each time: meanwhile another process may have written the log, and copied.
        first = await run_in_thread(sent.read_position, self._database, self._place, 0)
        end = min(end, first + STEP_BUNDLES * TILE_WIDTH)
        if first < end:
            limit = asyncio.Semaphore(UPLOADS)
            copies = (self._copy(one, limit) for one in full_files(first, end))
            # No TaskGroup: until Python 3.13 it drops a cancellation that comes while it fails.
            for result in await asyncio.gather(*copies, return_exceptions=True):
                if isinstance(result, BaseException):
                    raise result
            await run_in_thread(sent.write_position, self._database, self._place, end)
            log.debug("tiles copied", entries=end)
        self.copied = max(first, end)
        return True

    async def _copy(self, tile: Tile, limit: asyncio.Semaphore) -> None:
        async with limit:
            content = await run_in_thread(read_file, self._database, tile)
            await self._bucket.put(tile.path(), content)


def full_files(first: int, end: int) -> list[Tile]:
    """List bundles and tiles that become full between two sizes, both multiples of 256."""
    bundles = range(first // TILE_WIDTH, end // TILE_WIDTH)
    tiles = (one for one in new_tiles(first, end) if one.width == TILE_WIDTH)
    return [*(Tile(level=BUNDLE_LEVEL, index=index) for index in bundles), *tiles]
