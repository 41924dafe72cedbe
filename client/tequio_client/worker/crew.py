"""A crew: one task for each source, and the turns in which they go ahead."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.worker.blobs import Status
from tequio_client.worker.lanes import NotOkError
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tequio_client.worker.asking import Asker
    from tequio_client.worker.sources import SourcePool
    from tequio_client.worker.tally import Tally
    from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

HEDGE_S = 1.5
"""When the first answer is this late, another source is asked as well."""
ATTEMPTS = 6
"""A source that fails this often in a row is given up."""


class Crew:
    """One task per source, started as the pool grows; ends when done or when none is left."""

    def __init__(
        self,
        asker: Asker,
        pool: SourcePool,
        tally: Tally,
        work: Callable[[PeerKey], Awaitable[None]],
    ) -> None:
        self._asker = asker
        self._pool = pool
        self._tally = tally
        self._work = work
        self._at_work = 0
        self._idle = trio.Event()

    async def run(self) -> None:
        """Return once the tally is done, or no source is left and none will come."""
        if self._tally.is_done:
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hire, nursery)
            await self._idle.wait()
            nursery.cancel_scope.cancel()

    async def _hire(self, nursery: trio.Nursery) -> None:
        known = 0
        while True:
            for peer in self._pool.peers[known:]:
                if peer in self._tally.bad or self._asker.blame.is_banned(peer):
                    continue
                self._tally.asked.add(peer)
                self._at_work += 1
                nursery.start_soon(self._employ, peer)
                await trio.lowlevel.checkpoint()  # the scheduler knows no order, preference does
            known = len(self._pool.peers)
            if not self._pool.may_grow:
                break
            await self._pool.wait_longer_than(known)
        self._look_for_end()

    async def _employ(self, peer: PeerKey) -> None:
        try:
            await self._keep_trying(peer)
        except MalformedError as err:
            self._tally.bad[peer] = str(err)
            self._asker.accuse(self._tally.name, peer, str(err))
        self._at_work -= 1
        self._look_for_end()

    async def _keep_trying(self, peer: PeerKey) -> None:
        """Work until done; while the pool may grow, a source that fails may still recover."""
        failures = 0
        while not self._tally.is_done and (failures < ATTEMPTS or self._pool.may_grow):
            before = self._tally.by_source.get(peer, 0)
            is_busy = await self._try(peer)
            came = self._tally.by_source.get(peer, 0) > before
            failures = 0 if came else failures + (0 if is_busy and failures else 1)
            if not self._tally.is_done:
                pause = min(4.0, 0.1 * 2 ** min(failures, 8))
                await trio.sleep(pause * self._asker.rng.uniform(0.5, 1.5))

    async def _try(self, peer: PeerKey) -> bool:
        """Let the source work; whether it said that it is busy. Raises MalformedError."""
        try:
            await self._work(peer)
        except MalformedError:
            raise
        except PeerError as err:
            log.debug("a source failed", peer=peer_id_text(peer), error=str(err))
            return isinstance(err, NotOkError) and err.status is Status.BUSY
        return False

    def _look_for_end(self) -> None:
        if self._tally.is_done or (not self._at_work and not self._pool.may_grow):
            self._idle.set()


class Turns:
    """Lets one source go ahead; the next when it fails, or after HEDGE_S."""

    def __init__(self) -> None:
        self._next_at = -math.inf
        self._failed = trio.Event()

    async def wait(self) -> None:
        """Wait for our turn."""
        while (left := self._next_at - trio.current_time()) > 0:
            with trio.move_on_after(left):
                await self._failed.wait()
        self._next_at = trio.current_time() + HEDGE_S

    def passing_on(
        self, work: Callable[[PeerKey], Awaitable[None]]
    ) -> Callable[[PeerKey], Awaitable[None]]:
        """Wrap the work: when it fails, the next need not wait any longer."""

        async def guarded(peer: PeerKey) -> None:
            try:
                await work(peer)
            except PeerError:
                self._next_at = -math.inf
                self._failed.set()
                self._failed = trio.Event()
                raise

        return guarded
