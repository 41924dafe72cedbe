"""The log's tree, computed anew from the entries, and every tile compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.audit.findings import Place
from tequio_client.audit.sources import NotHadError
from tequio_shared.errors import PeerError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.log import merkle
from tequio_shared.log.tiles import TILE_WIDTH, new_tiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.audit.findings import Report
    from tequio_client.audit.sources import LogSource
    from tequio_shared.log.notes import Checkpoint
    from tequio_shared.log.tiles import Tile


class TreeAudit:
    """Our own tree over the entries read so far."""

    def __init__(self, source: LogSource, report: Report) -> None:
        self._source = source
        self._report = report
        self._frontier = merkle.Frontier()
        self._levels: list[bytearray] = [bytearray()]  # of tiles: all hashes, joined

    @property
    def size(self) -> int:
        """How many entries were read."""
        return self._frontier.size

    def extend(
        self, checkpoint: Checkpoint, tick: Callable[[int], None]
    ) -> Iterator[tuple[int, bytes]]:
        """Read on to the checkpoint, entry by entry; then check tiles and root."""
        old = self.size
        while self.size < checkpoint.size:
            leaves = self._bundle(checkpoint.size)
            if leaves is None:
                return
            for leaf in leaves:
                self._append(leaf)
                yield self.size - 1, leaf
            tick(len(leaves))
        self._check_tiles(old, checkpoint)
        self._check_root(checkpoint)

    def _bundle(self, size: int) -> list[bytes] | None:
        first = self.size
        end = min(size, first - first % TILE_WIDTH + TILE_WIDTH)
        place, what = Place(entry=first), f"bundle of entries {first} to {end - 1}"
        try:
            return self._source.entries(first, end)
        except NotHadError as err:
            self._report.missing(what, place, str(err))
        except PeerError as err:
            self._report.mismatch(what, place, str(err))
        return None

    def _append(self, leaf: bytes) -> None:
        node = merkle.leaf_hash(leaf)
        self._frontier.append(node)
        self._push(0, node)
        self._report.checked["entries"] += 1

    def _push(self, level: int, node: Digest) -> None:
        if level == len(self._levels):
            self._levels.append(bytearray())
        hashes = self._levels[level]
        hashes += node
        if len(hashes) % (TILE_WIDTH * DIGEST_BYTES) == 0:
            full = bytes(hashes[-TILE_WIDTH * DIGEST_BYTES :])
            self._push(level + 1, merkle.root_of_hashes(_cut(full)))

    def _check_tiles(self, old: int, checkpoint: Checkpoint) -> None:
        for tile in new_tiles(old, checkpoint.size):
            place = Place(entry=tile.index * TILE_WIDTH if tile.level == 0 else None)
            try:
                served = self._source.tile(tile.level, tile.index, tile.width)
            except NotHadError as err:
                self._report.missing(tile.path(), place, str(err))
            except PeerError as err:
                self._report.mismatch(tile.path(), place, str(err))
            else:
                self._compare(tile, served)
            self._report.checked["tiles"] += 1

    def _compare(self, tile: Tile, served: list[Digest]) -> None:
        start = tile.index * TILE_WIDTH * DIGEST_BYTES
        ours = self._levels[tile.level][start:][: tile.width * DIGEST_BYTES]
        for at, (own, other) in enumerate(zip(_cut(bytes(ours)), served, strict=True)):
            if own != other:
                entry = tile.index * TILE_WIDTH + at if tile.level == 0 else None
                detail = f"hash {at} is not that of what lies below it"
                self._report.mismatch(
                    tile.path(), Place(entry=entry), detail, expected=own.hex(), found=other.hex()
                )

    def _check_root(self, checkpoint: Checkpoint) -> None:
        if self._frontier.root() != checkpoint.root:
            self._report.mismatch(
                "root of the log",
                Place(entry=checkpoint.size - 1),
                "the entries do not make the root that the log signed",
                expected=checkpoint.root.hex(),
                found=self._frontier.root().hex(),
            )


def _cut(hashes: bytes) -> list[Digest]:
    return [Digest(hashes[at : at + DIGEST_BYTES]) for at in range(0, len(hashes), DIGEST_BYTES)]
