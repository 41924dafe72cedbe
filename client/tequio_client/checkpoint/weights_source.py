"""The integers of a head as a file: of a store that is here, or fetched from the ledger's seeds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import trio

from tequio_client.verify.contributions import StoreFolders, seeds
from tequio_client.worker.store.trees import TreeRef, cut_file
from tequio_client.worker.swarm.transfer import FetchFailedError
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.verify.contributions import Seeds
    from tequio_shared.ids import Digest
    from tequio_shared.manifest import Manifest


TRY_S = 60.0
"""A fetch goes on for as long as each such time brings a piece more."""
_TOLD_S = 1.0
_INTEGER = 4


def reference(manifest: Manifest, root: Digest) -> TreeRef:
    """The tree of a head's weights."""
    size = manifest.chunks * 4_096 * _INTEGER
    return TreeRef(root=root, size_bytes=size, piece_bytes=PIECE_BYTES)


def stored(ref: TreeRef, stores: Sequence[Path]) -> Path | None:
    """The file of a store that has the tree, each byte of it hashed; None: none has."""
    for path in StoreFolders(stores).candidates(ref):
        with path.open("rb") as file:
            if cut_file(file, ref.piece_bytes).ref == ref:
                return path
    return None


async def fetched(api: LedgerApi, ref: TreeRef, cache: Path, told: Callable[[int], None]) -> Path:
    """Fetch the tree from the seeds that the ledger lists; `told` hears the bytes still missing.

    Pieces are checked as they come. What came stays in `cache`. Raises UserFacingError.
    """
    async with seeds(api, cache) as found:
        if not found.peers:
            raise UserFacingError(
                f"the ledger at {api.url} lists no seed: give --store with the folder of one"
            )
        await _fetch(found, ref, told)
        return found.fetcher.store.tree_path(ref.root)


async def _fetch(found: Seeds, ref: TreeRef, told: Callable[[int], None]) -> None:
    store = found.fetcher.store
    missing = await trio.to_thread.run_sync(store.missing_bytes, ref)
    while (failure := await _attempt(found, ref, told)) is not None:
        left = await trio.to_thread.run_sync(store.missing_bytes, ref)
        if left >= missing:
            raise UserFacingError(
                f"no seed gives the weights {to_text(ref.root)[:10]}: {failure}; run this again "
                "later, or give --store with the folder of a node that has them"
            )
        missing = left


async def _attempt(
    found: Seeds, ref: TreeRef, told: Callable[[int], None]
) -> FetchFailedError | None:
    failure = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_tell, partial(found.fetcher.store.missing_bytes, ref), told)
        try:
            await found.fetcher.fetch_tree(ref, found.peers, timeout_s=TRY_S)
        except FetchFailedError as err:
            failure = err
        nursery.cancel_scope.cancel()
    return failure


async def _tell(missing: Callable[[], int], told: Callable[[int], None]) -> None:
    while True:
        told(await trio.to_thread.run_sync(missing))
        await trio.sleep(_TOLD_S)
