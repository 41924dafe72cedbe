"""The frozen base of a run, in the store: fetched once, by hash, and hashed again in every life.

Its files are trees like shards: any peer gives them, piece by piece, and what was cut off goes on
where it was. What lies on the disk may change there, so they are hashed before the trainer gets
them; of a damaged one only the damaged pieces are fetched.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.worker.store.trees import TreeRef
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text
from tequio_shared.limits import PIECE_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.store.store import Store
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.lora import Base, BaseFile

log = structlog.get_logger(__name__)

_GB = 1e9


def reference(file: BaseFile) -> TreeRef:
    """The tree of a file of a base."""
    root = digest_from_text(file.root)
    return TreeRef(root=root, size_bytes=file.size_bytes, piece_bytes=PIECE_BYTES)


class BaseFiles:
    """The files of one base; without one there are none."""

    def __init__(self, base: Base | None, store: Store, exchange: Exchange) -> None:
        self._refs = tuple(map(reference, base.files)) if base else ()
        self._store = store
        self._exchange = exchange
        self._fetching = trio.Lock()
        self._is_sound = False

    async def paths(self) -> tuple[Path, ...]:
        """Where the files lie, in the base's order; fetches and hashes them the first time.

        They stay in the store from then on. Raises UserFacingError when they have no room.
        """
        async with self._fetching:
            if not self._is_sound:
                await trio.to_thread.run_sync(self._check_room)
                for ref in self._refs:
                    self._store.pin(ref.root)
                for ref in self._refs:
                    await self._make_sound(ref)
                self._is_sound = True
        return tuple(self._store.tree_path(ref.root) for ref in self._refs)

    async def _make_sound(self, ref: TreeRef) -> None:
        if not await trio.to_thread.run_sync(self._store.has_tree, ref.root):
            log.info("fetching a file of the frozen base", root=ref.root.hex()[:12])
        await self._exchange.tree(ref)
        while not await trio.to_thread.run_sync(self._store.verify_tree, ref.root):
            await self._exchange.tree(ref)

    def _check_room(self) -> None:
        """Before the first byte is fetched: gigabytes that come to nothing help nobody."""
        whole = sum(ref.size_bytes for ref in self._refs)
        missing = sum(self._store.missing_bytes(ref) for ref in self._refs)
        if whole > self._store.quota_bytes:
            raise UserFacingError(
                f"the model that this run trains adapters beside has {whole / _GB:.1f} GB, and "
                f"{self._store.quota_bytes / _GB:.1f} GB of the disk are lent: lend more"
            )
        free = shutil.disk_usage(self._store.folder).free
        if missing > free:
            raise UserFacingError(
                f"{missing / _GB:.1f} GB of the model that this run trains adapters beside are to "
                f"be fetched, and the disk of {self._store.folder} has {free / _GB:.1f} GB free: "
                "free some space on it"
            )
