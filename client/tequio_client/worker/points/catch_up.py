"""Proving rounds of this key that the worker did not follow itself, from the ledger's list.

They were done before a restart, on other machines and in other runs. The list says only where to
look. Each round is proven on its own (`RoundProofs`) at a bounded pace, the newest first; progress
is in the database, so it continues after a restart. In the end the proven points must equal those
that the ledger claims; a difference stays unverified, and is shown to the user.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random

import structlog
import trio

from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import LogProofs
from tequio_client.worker.ledger import last_checkpoint
from tequio_client.worker.ledger.standing import former_key
from tequio_client.worker.points.points_db import (
    VOIDED,
    PointsDatabase,
    RoundOutcome,
    RoundPlace,
    closed_outcome,
)
from tequio_shared.api.peers import AttendedAnswer, PeerAnswer
from tequio_shared.errors import PeerError, TequioError
from tequio_shared.ids import PeerKey, RunId, digest_from_text, to_text
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import Checkpoint
from tequio_shared.round.documents import Roster, RoundResult
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import RoundClose, RoundRoster, RoundVoid
from tequio_shared.statements.statement import Statement

log = structlog.get_logger(__name__)

SHORT_PAUSE_S = 60.0
"""Pause after one of the first `EARLY` passes, or after a pass that left points unproven."""
LONG_PAUSE_S = 300.0
EARLY_PASSES = 2
_NOT_FOUND = "not-found"


class RoundProofs:
    """Proves from the log alone what single rounds gave to one key.

    The roster's entry shows who took part, the round's last entry how it ended. Both are proven to
    be in a log whose checkpoint continues those that this worker knows, and both documents match
    the hashes in their entries. Nothing that the ledger computed counts.
    """

    def __init__(
        self, ledger: LedgerApi, key: PeerKey, book: PointsDatabase, log_memory_file: Path
    ) -> None:
        self._ledger = ledger
        self._key = key
        self._book = book
        self._memory = log_memory_file  # written by the follower alone
        self._proofs: LogProofs | None = None
        self._names: dict[RunId, str] = {}

    async def prove(self, told: AttendedAnswer) -> tuple[RoundPlace, RoundOutcome, Checkpoint]:
        """Prove one round: place, outcome, and the checkpoint it was proven against.

        Raises PeerError when the log does not contain it, LedgerUnavailableError when no checkpoint
        covers it yet, and LogForkedError when the ledger serves another log.
        """
        proofs = await self._covering(told.closed_index)
        indices = (told.roster_index, told.closed_index)
        found = await proofs.entries(await self._ledger.network(), indices)
        begun, ended = (found[index].statement for index in indices)
        if begun.run is None or (begun.run, begun.round) != (ended.run, ended.round):
            raise PeerError(f"entries {indices} are not of one round")
        outcome = await self._outcome(begun, ended)
        place = RoundPlace(
            number=told.roster_index,
            run=to_text(begun.run),
            run_name=await self._name(begun.run),
            round=begun.round or 0,
            at_ms=ended.ts,
        )
        return place, outcome, proofs.checkpoint

    async def _outcome(self, begun: Statement, ended: Statement) -> RoundOutcome:
        if not isinstance(begun.body, RoundRoster):
            raise PeerError(f"{begun.type} does not begin a round")
        roster = Roster.parse(await self._blob(begun.body.roster))
        match ended.body:
            case RoundClose(result=result):
                return closed_outcome(
                    roster, RoundResult.parse(await self._blob(result)), self._key
                )
            case RoundVoid() if self._key in roster.keys.values():
                return VOIDED
        raise PeerError(f"{ended.type} does not end a round of this key")

    async def _name(self, run: RunId) -> str:
        if run not in self._names:  # a run's id is its manifest's digest
            self._names[run] = Manifest.parse(await self._blob(to_text(run))).name
        return self._names[run]

    async def _blob(self, name: str) -> bytes:
        found = await self._ledger.get_blob(digest_from_text(name), most_bytes=DOCUMENT_BYTES)
        if found is None:
            raise PeerError(f"the ledger does not have the document {name}")
        return found

    async def _covering(self, index: int) -> LogProofs:
        if self._proofs is None or self._proofs.checkpoint.size <= index:
            self._proofs = LogProofs(self._ledger, await self._checked())
        if self._proofs.checkpoint.size <= index:
            raise LedgerUnavailableError(f"no checkpoint covers entry {index} yet")
        return self._proofs

    async def _checked(self) -> Checkpoint:
        """The newest checkpoint, if it continues those of the follower and of earlier proofs."""
        origin = (await self._ledger.network()).genesis.origin
        followed = await trio.to_thread.run_sync(last_checkpoint.load_checkpoint, self._memory)
        ours = await trio.to_thread.run_sync(self._book.last_checkpoint, origin)
        signed = await self._ledger.checkpoint()
        # Both: the follower may stop at an older checkpoint while no run is joined, and a ledger
        # must not be able to show two histories to the two readers.
        for before in (followed, ours):
            if before is not None:
                await self._check_continues(before, signed)
        await trio.to_thread.run_sync(self._book.store_checkpoint, signed)
        return signed

    async def _check_continues(self, before: Checkpoint, signed: Checkpoint) -> None:
        if before.size > signed.size:  # from a cache on the way: wait for a newer one
            raise LedgerUnavailableError(
                f"the checkpoint of size {signed.size} is older than {before.size}"
            )
        if before.size == 0:
            return
        proof = await LogProofs(self._ledger, signed).consistency(before.size)
        try:
            verify_consistency(before.size, before.root, signed.size, signed.root, proof)
        except PeerError as err:
            raise LogForkedError(
                f"the log of size {signed.size} does not continue the one of {before.size}"
            ) from err


class PointsCatchUp:
    """Keeps one key's points up to date with the ledger's list of its rounds."""

    def __init__(
        self,
        book: PointsDatabase,
        ledger: LedgerApi,
        key: PeerKey,
        log_memory_file: Path,
        *,
        rng: Random,
    ) -> None:
        self._book = book
        self._ledger = ledger
        self._key = key
        self._proofs = RoundProofs(ledger, key, book, log_memory_file)
        self._memory = log_memory_file
        self._formers: list[PeerKey] = []  # the keys whose place this one took, the last one first
        self._rng = rng
        self._back_off = BackOff(rng)
        self.pause_s = 0.1  # pause after each proven round
        self.page_rounds = 100  # rounds requested from the ledger at a time
        self._is_rechecked = False  # everything was checked a second time already
        # GFLOP of this key by the ledger's last answer: all that rounds paid, what of it is
        # forfeited, and what can still be.
        self.claimed, self.forfeited, self.unvested = 0, 0, 0
        self.is_complete = False  # True if the last pass proved all claimed points
        self.forked = ""  # why this log is not trusted any more; empty: it is
        self.on_difference: Callable[[int, int], None] = lambda _, __: None
        """Called with claimed and proven GFLOP if they differ after a full check."""

    async def run(self) -> None:
        """Catch up regularly; returns only when the log turns out to be another one."""
        for count in itertools.count(1):
            try:
                await self.run_once()
                self._back_off.reset()
                pause_s = (
                    LONG_PAUSE_S if self.is_complete and count >= EARLY_PASSES else SHORT_PAUSE_S
                )
            except LogForkedError as err:
                self.forked = str(err)
                log.error("log forked; points not proven any more", error=str(err))  # noqa: TRY400 - the error says it all
                return
            except LedgerUnavailableError as err:
                pause_s = self._back_off.next_s(err.retry_after_s)
            except TequioError as err:
                log.warning("points not caught up", error=str(err))
                pause_s = SHORT_PAUSE_S
            await trio.sleep(pause_s * self._rng.uniform(0.8, 1.2))

    async def run_once(self) -> None:
        """Check all rounds that were not checked yet; raises TequioError."""
        try:
            account = await self._ledger.peer(self._key)
        except LedgerRefusedError as err:
            if err.code != _NOT_FOUND:
                raise
            self.claimed, self.is_complete = 0, True
            return
        self.claimed = account.gflop + account.forfeited
        self.forfeited, self.unvested = account.forfeited, account.unvested
        newest = (await self._ledger.peer_rounds(self._key, limit=1)).rounds
        if newest:
            await trio.to_thread.run_sync(self._book.open_gap, newest[0].closed_index + 1)
        for low, high in await trio.to_thread.run_sync(self._book.gaps):
            await self._walk(low, high)
        await self._inherit(account)
        size = account.as_of.size
        proven = await trio.to_thread.run_sync(self._book.verified_below, size)
        await self._compare(self.claimed, proven)

    async def _walk(self, low: int, high: int) -> None:
        """Prove the rounds that ended at log indices [low, high), page by page."""
        while high > low:
            limit = self.page_rounds
            page = (await self._ledger.peer_rounds(self._key, before=high, limit=limit)).rounds
            for told in page:
                if told.closed_index >= low:
                    await self._settle(told)
            done = page[-1].closed_index if len(page) == limit else low
            await trio.to_thread.run_sync(self._book.narrow_gap, high, max(done, low))
            high = done

    async def _inherit(self, account: PeerAnswer) -> None:
        """Prove the rounds of the keys whose place this one took: a cell may still name them."""
        if account.replaces is not None and not self._formers:
            self._formers = [one async for one in self._replaced(account)]
        limit = self.page_rounds
        for former in self._formers:
            low = await trio.to_thread.run_sync(self._book.read_below, former)
            proofs = RoundProofs(self._ledger, former, self._book, self._memory)
            high, done = account.as_of.size, low
            while high > low:
                page = (await self._ledger.peer_rounds(former, before=high, limit=limit)).rounds
                for told in page:
                    if told.closed_index >= low:
                        await self._settle(told, proofs)
                        done = max(done, told.closed_index + 1)
                high = page[-1].closed_index if len(page) == limit else low
            if done > low:
                await trio.to_thread.run_sync(self._book.store_read_below, former, done)

    async def _replaced(self, account: PeerAnswer) -> AsyncIterator[PeerKey]:
        while account.replaces is not None:
            former = await former_key(self._ledger, account)
            yield former
            account = await self._ledger.peer(former)

    async def _settle(self, told: AttendedAnswer, proofs: RoundProofs | None = None) -> None:
        """Prove one round if needed; one that cannot be proven is left as it is."""
        if await trio.to_thread.run_sync(self._book.is_settled, told.roster_index):
            return
        try:
            place, outcome, checkpoint = await (proofs or self._proofs).prove(told)
        except LogForkedError:
            raise
        except PeerError as err:
            log.warning("round not proven", at=told.closed_index, error=str(err))
            return
        await trio.to_thread.run_sync(
            self._book.record_proven_end, place, told.closed_index, outcome, checkpoint
        )
        await trio.sleep(self.pause_s)

    async def _compare(self, claimed: int, proven: int) -> None:
        self.is_complete = claimed == proven
        if self.is_complete:
            return
        # Check everything a second time before blaming the ledger: a failed write here could have
        # lost a round. Once per start, as it reads the whole history.
        if not self._is_rechecked:
            self._is_rechecked = True
            await trio.to_thread.run_sync(self._book.reopen_all)
            await self.run_once()
            return
        log.warning("claimed and proven points differ", claimed=claimed, proven=proven)
        self.on_difference(claimed, proven)
