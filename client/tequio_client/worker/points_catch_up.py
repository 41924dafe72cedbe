"""Catching up: rounds of this key that the worker did not read itself, from the ledger's list.

They come from earlier lives, other machines and other runs. The list says where to look; each round
is proven on its own (`points_proof`) at a bounded pace, the newest first, and how far that went is
in the book, so that it goes on after a restart. Then what is proven must be what the ledger says
the key has; what it says beyond that stays unverified, and is told.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.worker.backoff import BackOff
from tequio_client.worker.points_proof import RoundProofs
from tequio_shared.errors import PeerError, TequioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.points_book import PointsBook
    from tequio_shared.api.peers import AttendedAnswer
    from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

SOON_S = 60.0
"""Pause after a look that was among the first `EARLY`, or that found points unproven."""
SELDOM_S = 300.0
EARLY = 2
PAGE = 100
PAUSE_S = 0.1
"""After each round that was proven."""
_NOT_FOUND = "not-found"


class CatchUp:
    """Brings one key's book up to the ledger's list, for ever."""

    def __init__(
        self,
        book: PointsBook,
        ledger: LedgerApi,
        key: PeerKey,
        log_memory_file: Path,
        *,
        rng: Random,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._book = book
        self._ledger = ledger
        self._key = key
        self._proofs = RoundProofs(ledger, key, book, log_memory_file)
        self._rng = rng
        self._back_off = BackOff(rng)
        self._pause_s = pause_s
        self._is_doubted = False  # whether we looked at everything again already
        self.claimed = 0
        """Micro-points that the ledger last said the key has."""
        self.is_agreed = False
        """Whether at the last look all that the ledger says was proven."""
        self.forked = ""
        """Why nothing of this log is believed any more."""
        self.on_differing: Callable[[int, int], None] = lambda _, __: None
        """Told what the ledger says and what is proven, when they differ after all was seen."""

    async def run(self) -> None:
        """Catch up now and then; returns only when the log turns out to be another one."""
        for look in itertools.count(1):
            try:
                await self.once()
                self._back_off.reset()
                pause_s = SELDOM_S if self.is_agreed and look >= EARLY else SOON_S
            except LogForkedError as err:
                self.forked = str(err)
                log.error("the log is another one; proving no more points", error=str(err))  # noqa: TRY400 - the sentence says it
                return
            except LedgerUnavailableError as err:
                pause_s = self._back_off.next_s(err.retry_after_s)
            except TequioError as err:
                log.warning("cannot catch up with points", error=str(err))
                pause_s = SOON_S
            await trio.sleep(pause_s * self._rng.uniform(0.8, 1.2))

    async def once(self) -> None:
        """Look at everything that was not looked at yet; raises TequioError."""
        try:
            account = await self._ledger.peer(self._key)
        except LedgerRefusedError as err:
            if err.code != _NOT_FOUND:
                raise
            self.claimed, self.is_agreed = 0, True
            return
        self.claimed = account.micropoints
        await self._open_gap()
        for low, high in await trio.to_thread.run_sync(self._book.gaps):
            await self._walk(low, high)
        size = account.as_of.size
        proven = await trio.to_thread.run_sync(self._book.verified, size)
        await self._compare(account.micropoints, proven)

    async def _open_gap(self) -> None:
        newest = (await self._ledger.peer_rounds(self._key, limit=1)).rounds
        if newest:
            await trio.to_thread.run_sync(self._book.open_gap, newest[0].closed_index + 1)

    async def _walk(self, low: int, high: int) -> None:
        """Look at the rounds that ended in [low, high), page by page."""
        while high > low:
            page = (await self._ledger.peer_rounds(self._key, before=high, limit=PAGE)).rounds
            for told in page:
                if told.closed_index >= low:
                    await self._settle(told)
            done = page[-1].closed_index if len(page) == PAGE else low
            await trio.to_thread.run_sync(self._book.narrow_gap, high, max(done, low))
            high = done

    async def _settle(self, told: AttendedAnswer) -> None:
        """Prove one round, unless it is; one that cannot be proven is left as it is."""
        if await trio.to_thread.run_sync(self._book.is_settled, told.roster_index):
            return
        try:
            place, outcome, checkpoint = await self._proofs.prove(told)
        except LogForkedError:
            raise
        except PeerError as err:
            log.warning("a round of ours is not proven", at=told.closed_index, error=str(err))
            return
        await trio.to_thread.run_sync(
            self._book.end_proven, place, told.closed_index, outcome, checkpoint
        )
        await trio.sleep(self._pause_s)

    async def _compare(self, claimed: int, proven: int) -> None:
        self.is_agreed = claimed == proven
        if self.is_agreed:
            return
        if not self._is_doubted:  # once in a life: something of ours may have been missed
            self._is_doubted = True
            await trio.to_thread.run_sync(self._book.look_again)
            await self.once()
            return
        log.warning("the ledger's points are not the proven ones", ledger=claimed, proven=proven)
        self.on_differing(claimed, proven)
