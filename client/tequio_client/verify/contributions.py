"""Where head weights and contribution payloads come from: store folders, or seeds over libp2p.

Neither is trusted: callers check what a file holds.
"""

from __future__ import annotations

import secrets
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Protocol

import structlog
import trio

from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.transfer import Fetcher, FetchFailedError
from tequio_shared.errors import PeerError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.peers import PeerNetwork
    from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

FETCH_S = 300.0
"""For one tree, from all seeds together."""
CACHE_BYTES = 1 << 40
"""The cache is a temporary folder; the disk is its bound."""


class ContributionSource(Protocol):
    """Finds trees of pieces by root; the caller checks what a candidate holds."""

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Files that may hold the tree, one after the other; none when no source has it."""


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


class FirstOf:
    """Several sources, asked in order."""

    def __init__(self, *sources: ContributionSource) -> None:
        self._sources = sources

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """The candidates of each source in turn; the next is asked only when all before failed."""
        for source in self._sources:
            yield from source.candidates(ref)


class Seeds:
    """Trees fetched from the seeds that the ledger lists, into a store of this audit."""

    def __init__(self, fetcher: Fetcher, peers: Sequence[PeerKey]) -> None:
        self.fetcher = fetcher
        self.peers = peers

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Fetch the tree; nothing when no seed has it."""
        fetch = partial(self.fetcher.fetch_tree, ref, self.peers, timeout_s=FETCH_S)
        try:
            trio.from_thread.run(fetch)
        except FetchFailedError as err:
            log.debug("no seed has the tree", tree=ref.root.hex(), error=str(err))
            return
        yield self.fetcher.store.tree_path(ref.root)


@asynccontextmanager
async def seeds(api: LedgerApi, cache: Path) -> AsyncIterator[Seeds]:
    """Join the peer network under a new key and fetch into a store in `cache`."""
    from tequio_client.worker.swarm.peers import PeerNetwork  # noqa: PLC0415 - libp2p takes a second

    async with AsyncExitStack() as stack:
        network = await stack.enter_async_context(
            PeerNetwork(seed=secrets.token_bytes(32), listen=("/ip4/127.0.0.1/tcp/0",))
        )
        rng = Random(network.key)  # noqa: S311 - choice of peers, no secrets
        store = Store(cache, quota_bytes=CACHE_BYTES)
        fetcher = await stack.enter_async_context(Fetcher(network, store, rng=rng))
        yield Seeds(fetcher, await _listed(api, network))


async def _listed(api: LedgerApi, network: PeerNetwork) -> list[PeerKey]:
    """Remember the addresses of the listed seeds; an empty list when the ledger gives none."""
    try:
        records = await api.seeds((await api.network()).id)
    except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
        log.warning("the ledger lists no seeds", error=str(err))
        return []
    for record in records:
        network.remember(record.author, record.addrs)
    return [record.author for record in records]
