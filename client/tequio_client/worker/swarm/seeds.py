"""Trees from store folders of this computer, or from the seeds that a ledger lists.

Neither is trusted: every byte is hashed.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef, hash_tree_file
from tequio_client.worker.swarm import dials
from tequio_client.worker.swarm.sources import FetchFailedError
from tequio_client.worker.swarm.transfer import Fetcher
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import PeerKey, to_text

if TYPE_CHECKING:
    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.swarm.peers import PeerNetwork


log = structlog.get_logger(__name__)
CACHE_BYTES = 1 << 40
"""The cache is a temporary folder; the disk is its bound."""
FETCH_ATTEMPT_S = 60.0
"""Length of one fetch attempt; another follows if it brought at least one piece."""
AUDIT_WAIT_S = 300.0
LEAST_BYTES_S = 1 << 16
"""An audit fetches a tree for `AUDIT_WAIT_S`, and longer at this rate: seeds that drip must end."""
_REPORT_S = 1.0


class StoreFolders:
    """Store folders of workers and seeds (`trees/<2 hex>/<root hex>`), read only."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """The file of every folder that has it; a worker's folder counts as its store."""
        name = ref.root.hex()
        for folder in self._folders:
            for store in (folder, folder / "store"):
                path = store / "trees" / name[:2] / name
                if path.is_file():
                    yield path


class SeedSource:
    """Trees fetched from the seeds that the ledger lists, into a store of this audit."""

    def __init__(self, fetcher: Fetcher, peers: Sequence[PeerKey]) -> None:
        self.fetcher = fetcher
        self.peers = peers

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Fetch the tree; nothing when no seed has it, or all together are too slow."""
        try:
            trio.from_thread.run(self._fetch_in_time, ref)
        except (FetchFailedError, trio.TooSlowError) as err:
            log.debug("no seed sends the tree", tree=ref.root.hex(), error=str(err))
            return
        yield self.fetcher.store.tree_path(ref.root)

    async def _fetch_in_time(self, ref: TreeRef) -> None:
        with trio.fail_after(AUDIT_WAIT_S + ref.size_bytes / LEAST_BYTES_S):
            await self.fetch(ref)

    async def fetch(self, ref: TreeRef) -> None:
        """Fetch the tree, for as long as some of it comes; raises FetchFailedError."""
        store = self.fetcher.store
        missing = await trio.to_thread.run_sync(store.missing_bytes, ref)
        while True:
            try:
                await self.fetcher.fetch_tree(ref, self.peers, timeout_s=FETCH_ATTEMPT_S)
            except FetchFailedError:
                left = await trio.to_thread.run_sync(store.missing_bytes, ref)
                if left >= missing:
                    raise
                missing = left
            else:
                return


@asynccontextmanager
async def open_seeds(api: LedgerApi, cache: Path) -> AsyncIterator[SeedSource]:
    """Join the peer network under a new key and fetch into a store in `cache`."""
    from tequio_client.worker.swarm.peers import PeerNetwork  # noqa: PLC0415 - libp2p takes a second

    async with AsyncExitStack() as stack:
        network = await stack.enter_async_context(
            PeerNetwork(seed=secrets.token_bytes(32), listen=("/ip4/127.0.0.1/tcp/0",))
        )
        rng = Random(network.key)  # noqa: S311 - choice of peers, no secrets
        store = Store(cache, quota_bytes=CACHE_BYTES)
        fetcher = await stack.enter_async_context(Fetcher(network, store, rng=rng))
        yield SeedSource(fetcher, await _listed(api, network))


async def _listed(api: LedgerApi, network: PeerNetwork) -> list[PeerKey]:
    """Remember the addresses of the listed seeds; an empty list when the ledger gives none."""
    try:
        records = await api.seeds((await api.network()).id)
    except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
        log.warning("the ledger lists no seeds", error=str(err))
        return []
    reach = await dials.reach_of_url(api.url)
    claims = {
        one.author: dials.Claim(addrs=one.addrs, source=dials.LEDGER_SOURCE, reach=reach)
        for one in records
    }
    network.find_claim = claims.get
    return list(claims)


def find_stored(ref: TreeRef, stores: Sequence[Path]) -> Path | None:
    """Find the tree in the stores, with every byte hashed; None if none has it."""
    for path in StoreFolders(stores).candidates(ref):
        with path.open("rb") as file:
            if hash_tree_file(file, ref.piece_bytes).ref == ref:
                return path
    return None


async def fetch_tree(
    api: LedgerApi, ref: TreeRef, cache: Path, tick: Callable[[int], None]
) -> Path:
    """Fetch the tree from the seeds that the ledger lists.

    `tick` gets the bytes that `cache` has already, and then those that arrive.
    Pieces are verified as they arrive, and stay in `cache`. Raises UserFacingError.
    """
    async with open_seeds(api, cache) as found:
        if not found.peers:
            raise UserFacingError(
                f"the ledger at {api.url} lists no seed: give the folder of a seed with --store"
            )
        missing = await trio.to_thread.run_sync(found.fetcher.store.missing_bytes, ref)
        tick(ref.size_bytes - missing)
        has_ended = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_report_arrivals, found, ref, missing, tick, has_ended)
            try:
                await found.fetch(ref)
            except FetchFailedError as err:
                raise UserFacingError(
                    f"no seed sends the weights {to_text(ref.root)[:10]}: {err}; run this again "
                    "later, or give the folder of a node that has them with --store"
                ) from err
            has_ended.set()
        return found.fetcher.store.tree_path(ref.root)


async def _report_arrivals(
    found: SeedSource,
    ref: TreeRef,
    left: int,
    tick: Callable[[int], None],
    has_ended: trio.Event,
) -> None:
    while left:
        with trio.move_on_after(_REPORT_S):
            await has_ended.wait()
        missing = await trio.to_thread.run_sync(found.fetcher.store.missing_bytes, ref)
        tick(left - missing)
        left = missing
