"""The audit against a live ledger: HTTP for the log, libp2p for what nobody gave in a folder.

The audit itself is synchronous and runs in a thread; what it asks for is fetched here, in trio.
"""

from __future__ import annotations

import secrets
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING, TypeVar

import structlog
import trio

from tequio_client.audit.contributions import FirstOf
from tequio_client.audit.main import Scope, audit
from tequio_client.audit.sources import NotHadError, PeerClaim, RunClaim
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.transfer import Fetcher, FetchFailedError
from tequio_shared.errors import PeerError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_client.audit.contributions import ContributionSource
    from tequio_client.audit.findings import Report
    from tequio_client.audit.main import Progress
    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.peers import PeerNetwork
    from tequio_shared.ids import Digest, PeerKey, RunId
    from tequio_shared.notes import Checkpoint, VerifierKey
    from tequio_shared.policy import Policy


log = structlog.get_logger(__name__)

FETCH_S = 300.0
"""For one tree, from all seeds together."""
PUBLISHED_S = 15.0
"""How long what is signed may take to be shown; witnesses lie in between."""
LOOK_S = 0.5
CACHE_BYTES = 1 << 40
"""The cache is a temporary folder; the disk is its bound."""

_T = TypeVar("_T")


class LiveLog:
    """A ledger's log and answers, asked from the audit's thread."""

    def __init__(self, api: LedgerApi) -> None:
        self._api = api

    def genesis(self) -> bytes:
        """Get the genesis document."""
        return _ask(self._api.network).genesis.encode()

    def checkpoint(self, log_key: VerifierKey, size: int = 0) -> Checkpoint:
        """Get the newest checkpoint; the API has checked it with the same genesis' log key.

        What is signed is shown when witnesses have cosigned it: one that large is waited for.
        """
        del log_key
        return _ask(partial(self._covering, size))

    def note(self) -> bytes:
        """Get the newest checkpoint as it was signed."""
        return _ask(self._api.checkpoint_note)[1]

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        """Get a tile."""
        return _ask(partial(self._api.tile, level, index, width))

    def entries(self, first: int, end: int) -> list[bytes]:
        """Get leaves."""
        return _ask(partial(self._api.entries, first, end))

    def blob(self, name: Digest) -> bytes | None:
        """Get a document; the API checks its hash."""
        return _ask(partial(self._api.get_blob, name))

    def runs(self) -> Sequence[RunClaim]:
        """Ask about all runs."""
        return [
            RunClaim(
                run=one.run,
                state=one.state,
                round=one.round,
                head=one.head,
                head_round=one.head_round,
                weights_root=one.weights_root,
                size=one.as_of.size,
            )
            for one in _ask(self._api.runs)
        ]

    def peer(self, key: PeerKey) -> PeerClaim | None:
        """Ask about a key."""
        one = _ask(partial(self._api.peer, key))
        return PeerClaim(
            key=one.key,
            last_seq=one.last_seq,
            last_hash=one.last_hash,
            micropoints=one.micropoints,
            standing=one.standing,
            tier=one.tier,
            size=one.as_of.size,
        )

    async def _covering(self, size: int) -> Checkpoint:
        deadline_s = trio.current_time() + PUBLISHED_S
        while True:
            found = await self._api.checkpoint()
            if found.size >= size or trio.current_time() > deadline_s:
                return found
            await trio.sleep(LOOK_S)


class Seeds:
    """Trees fetched from the seeds that the ledger lists, into a store of our own."""

    def __init__(self, fetcher: Fetcher, peers: Sequence[PeerKey]) -> None:
        self.fetcher = fetcher
        self.peers = peers

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Fetch the tree; nothing when no seed gives it."""
        fetch = partial(self.fetcher.fetch_tree, ref, self.peers, timeout_s=FETCH_S)
        try:
            trio.from_thread.run(fetch)
        except FetchFailedError as err:
            log.debug("no seed gave a tree", tree=ref.root.hex(), error=str(err))
            return
        yield self.fetcher.store.tree_path(ref.root)


async def audit_live(
    url: str,
    *,
    run: RunId | None,
    stores: ContributionSource | None,
    cache: Path | None,
    progress: Progress,
    trust: Policy | None = None,
) -> Report:
    """Audit a ledger; `stores` first, then with a `cache` folder the seeds; neither: log only."""
    async with AsyncExitStack() as stack:
        api = await stack.enter_async_context(LedgerApi(url, trust=trust))
        sources = [stores] if stores else []
        if cache is not None:
            sources.append(await stack.enter_async_context(seeds(api, cache)))
        scope = Scope(run=run, contributions=FirstOf(*sources) if sources else None)
        return await trio.to_thread.run_sync(audit, LiveLog(api), scope, progress)


@asynccontextmanager
async def seeds(api: LedgerApi, cache: Path) -> AsyncIterator[Seeds]:
    """Join the peer network under a new key, to fetch into a store in `cache`."""
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
    """Remember where the listed seeds are; an empty list when the ledger does not say."""
    try:
        records = await api.seeds((await api.network()).id)
    except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
        log.warning("the ledger lists no seeds", error=str(err))
        return []
    for record in records:
        network.remember(record.author, record.addrs)
    return [record.author for record in records]


def _ask(call: Callable[[], Awaitable[_T]]) -> _T:
    """Call the API from the audit's thread; what could not be had becomes NotHadError."""
    try:
        return trio.from_thread.run(call)
    except (LedgerUnavailableError, LedgerRefusedError) as err:
        raise NotHadError(str(err)) from err
