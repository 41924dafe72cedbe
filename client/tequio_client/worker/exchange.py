"""Getting things by their name: from the store, from peers that should have them, from the ledger.

Names are hashes, so it does not matter who gives the bytes. The likely holder is asked first; the
others join in when it does not answer soon.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.endings import first_of
from tequio_client.worker.fetch import FetchFailedError
from tequio_client.worker.sources import SourcePool
from tequio_shared.errors import PeerError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.fetch import Fetcher, FetchReport
    from tequio_client.worker.store import Store
    from tequio_client.worker.trees import TreeRef
    from tequio_shared.ids import Digest, PeerKey

log = structlog.get_logger(__name__)

ALONE_S = 1.5
"""How long the likely holder is asked alone before the others are asked too."""
TRY_S = 60.0
RETRY_S = 1.0
POLL_S = 1.0
"""How often the pool is filled with peers that have come since."""


class Exchange:
    """One place to ask for trees and blobs; a fetch goes on until it succeeds or is cancelled."""

    def __init__(
        self,
        *,
        store: Store,
        fetcher: Fetcher,
        ledger: LedgerApi,
        peers: Callable[[], Iterable[PeerKey]],
    ) -> None:
        self._store = store
        self._fetcher = fetcher
        self._ledger = ledger
        self._peers = peers  # connected now, most useful first
        self._under_way: dict[Digest, trio.Event] = {}
        self._came = trio.Event()  # replaced whenever a tree came
        self.received: Counter[PeerKey] = Counter()  # verified bytes by source

    async def tree(
        self, ref: TreeRef, holder: PeerKey | None = None, *, like: Sequence[Digest] = ()
    ) -> Counter[PeerKey]:
        """Return once the whole tree is in the store; asked for twice, it is fetched once.

        Pieces that it shares with the trees `like` it are not fetched when those are here.
        Returns the verified bytes by source that this call fetched: none when it was here.
        """
        came: Counter[PeerKey] = Counter()
        while not self._store.has_tree(ref.root):
            if ref.root in self._under_way:
                await self._under_way[ref.root].wait()
                continue
            self._under_way[ref.root] = trio.Event()
            try:
                came.update(await self._try_tree(ref, holder, like))
            finally:
                self._under_way.pop(ref.root).set()
        return came

    async def gather(self, ref: TreeRef, holder: PeerKey | None = None) -> None:
        """`tree`, for a task in the background: what is wrong with the peers only goes to the log.

        UserFacingError passes: a full disk does not mend itself.
        """
        try:
            await self.tree(ref, holder)
        except* (PeerError, RefusedError) as group:
            log.warning("not fetched", root=ref.root.hex()[:12], error=str(first_of(group)))

    async def wait_for(self, roots: Iterable[Digest]) -> None:
        """Return once all of these trees are in the store; somebody else fetches them."""
        missing = [root for root in roots if not self._store.has_tree(root)]
        while missing:
            await self._came.wait()
            missing = [root for root in missing if not self._store.has_tree(root)]

    async def wait_for_more(self, roots: Sequence[Digest], missing: int) -> int:
        """Return once fewer than so many of these trees are missing; says how many are."""
        while (left := sum(not self._store.has_tree(root) for root in roots)) >= missing:
            await self._came.wait()
        return left

    async def blob(self, name: Digest) -> bytes:
        """The bytes of a blob: ours, the ledger's, or some peer's."""
        while True:
            content = await trio.to_thread.run_sync(self._store.get_blob, name)
            if content is not None:
                return content
            await self._try_blob(name)

    def note_local(self) -> None:
        """A tree was put into the store by ourselves."""
        self._came.set()
        self._came = trio.Event()

    # --- private

    async def _try_tree(
        self, ref: TreeRef, holder: PeerKey | None, like: Sequence[Digest]
    ) -> Mapping[PeerKey, int]:
        """Fetch for a while; returns the verified bytes by source."""
        pool = SourcePool([holder] if holder else self._peers())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._widen, pool, ALONE_S if holder else POLL_S)
            try:
                report = await self._fetcher.fetch_tree(ref, pool, timeout_s=TRY_S, like=like)
                self.note_local()
            except FetchFailedError as err:
                report = err.report
                log.warning("fetch failed; trying again", error=str(err))
                await trio.sleep(RETRY_S)
            self._note(report)
            nursery.cancel_scope.cancel()
        return report.bytes_by_source

    async def _widen(self, pool: SourcePool, after_s: float) -> None:
        """Let the peers that are connected join the search, now and as they come."""
        await trio.sleep(after_s)
        while True:
            for peer in self._peers():
                pool.add(peer)
            await trio.sleep(POLL_S)

    async def _try_blob(self, name: Digest) -> None:
        try:
            content = await self._ledger.get_blob(name)
        except (LedgerUnavailableError, RefusedError, PeerError) as err:
            log.debug("blob not had from the ledger", error=str(err))
            content = None
        if content is not None:
            await trio.to_thread.run_sync(self._store.put_blob, content)
            return
        try:
            self._note(await self._fetcher.fetch_blob(name, list(self._peers()), timeout_s=TRY_S))
        except FetchFailedError as err:
            log.warning("blob not found; trying again", error=str(err))
            await trio.sleep(RETRY_S)

    def _note(self, report: FetchReport) -> None:
        for peer, size in report.bytes_by_source.items():
            self.received[peer] += size
