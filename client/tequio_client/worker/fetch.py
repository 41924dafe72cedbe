"""Fetching trees and blobs by their hash from several peers at once (protocol /tequio/blob/1).

Every piece is checked as it arrives, so any peer will do as a source; one whose bytes do not match
is dropped at once, named in the report, and not asked again for a while (`blame`).

A tree that fits one answer is fetched by one request (`whole`). A larger one needs its leaf hashes
first and grows in a `Partial` by `pieces`, which survives cancellation and crashes; of a tree that
is like others that are here only the pieces that differ are fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.worker.asking import Asker
from tequio_client.worker.blobs import PAYLOAD_BYTES
from tequio_client.worker.crew import Crew
from tequio_client.worker.pieces import PieceJob
from tequio_client.worker.sources import SourcePool
from tequio_client.worker.tally import FetchFailedError, FetchReport, Tally
from tequio_client.worker.whole import fetch_blob, fetch_leaves, fetch_whole
from tequio_shared.errors import RefusedError
from tequio_shared.limits import BLOB_BYTES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from tequio_client.worker.partial import Partial
    from tequio_client.worker.trees import TreeRef
    from tequio_shared.ids import Digest, PeerKey

__all__ = ["FetchFailedError", "FetchReport", "Fetcher"]

log = structlog.get_logger(__name__)


class Fetcher(Asker):
    """Fetches into its store; `async with Fetcher(...) as fetcher`."""

    async def fetch_tree(
        self,
        ref: TreeRef,
        sources: SourcePool | Iterable[PeerKey],
        *,
        timeout_s: float,
        like: Iterable[Digest] = (),
    ) -> FetchReport:
        """Return once the whole tree is in the store.

        `like` names trees that may have pieces in common with it; those here are not fetched.
        Raises FetchFailedError when the sources do not give it in time (for a plain list of
        peers: or when all of them were given up), UserFacingError when the disk is full.
        """
        tally = Tally(ref.root)
        if not self.store.has_tree(ref.root):
            if ref.size_bytes <= PAYLOAD_BYTES:
                fetch = fetch_whole(self, ref, _pool(sources), tally)
            else:
                fetch = self._fetch_pieces(ref, _pool(sources), tally, tuple(like))
            await self._in_time(fetch, tally, timeout_s)
        return tally.report()

    async def fetch_blob(
        self,
        name: Digest,
        sources: SourcePool | Iterable[PeerKey],
        *,
        timeout_s: float,
        most_bytes: int = BLOB_BYTES,
    ) -> FetchReport:
        """Return once the blob, at most `most_bytes`, is in the store; raises FetchFailedError."""
        tally = Tally(name)
        if not self.store.has_blob(name):
            fetch = fetch_blob(self, name, _pool(sources), tally, most_bytes)
            await self._in_time(fetch, tally, timeout_s)
        return tally.report()

    async def _in_time(self, fetch: Awaitable[None], tally: Tally, timeout_s: float) -> None:
        with trio.move_on_after(timeout_s):
            await fetch
        if not tally.is_done:
            raise FetchFailedError(
                f"{tally.name.hex()} was not to be had from {len(tally.asked)} sources "
                f"in {tally.seconds:.0f} s; {len(tally.bad)} of them lied",
                tally.report(),
            )
        self.blame.had(tally.name)
        log.debug("fetched", name=tally.name.hex(), seconds=round(tally.seconds, 3))

    async def _fetch_pieces(
        self, ref: TreeRef, pool: SourcePool, tally: Tally, like: tuple[Digest, ...]
    ) -> None:
        tree = await trio.to_thread.run_sync(self.store.tree, ref.root)
        if tree is None:
            tree = await fetch_leaves(self, ref, pool, tally)
        if tree is None:
            return
        try:
            partial = await trio.to_thread.run_sync(self.store.enter_partial, tree)
        except RefusedError:  # another fetch has completed it meanwhile
            tally.is_done = True
            return
        try:
            await self._complete(partial, pool, tally, like)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self.store.leave_partial, ref.root)

    async def _complete(
        self, partial: Partial, pool: SourcePool, tally: Tally, like: tuple[Digest, ...]
    ) -> None:
        tally.copied_bytes = await trio.to_thread.run_sync(self.store.copy_pieces, partial, like)
        job = PieceJob(self, partial, tally)
        await Crew(self, pool, tally, job.work).run()


def _pool(sources: SourcePool | Iterable[PeerKey]) -> SourcePool:
    return sources if isinstance(sources, SourcePool) else SourcePool(sources, may_grow=False)
