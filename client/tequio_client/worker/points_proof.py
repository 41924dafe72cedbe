"""What one round gave one key, proven from the log alone: nothing that the ledger derived counts.

The roster's entry says who was there, the round's last entry how it ended; both are proven to be
in a log whose checkpoint continues those that this worker knows, and both documents are what their
entries name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_client.ledger.http import LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import LogProofs, read_entries_of
from tequio_client.worker import log_memory
from tequio_client.worker.points_book import Place
from tequio_client.worker.points_outcome import VOIDED, Outcome, closed
from tequio_shared.documents import Result, Roster
from tequio_shared.errors import PeerError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.manifest import Manifest
from tequio_shared.merkle import verify_consistency
from tequio_shared.statements.rounds import RoundClose, RoundRoster, RoundVoid

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.points_book import PointsBook
    from tequio_shared.api.peers import AttendedAnswer
    from tequio_shared.ids import PeerKey, RunId
    from tequio_shared.notes import Checkpoint
    from tequio_shared.statement import Statement


class RoundProofs:
    """Proves rounds against one checkpoint after the other, each a continuation of the last."""

    def __init__(
        self, ledger: LedgerApi, key: PeerKey, book: PointsBook, log_memory_file: Path
    ) -> None:
        self._ledger = ledger
        self._key = key
        self._book = book
        self._memory = log_memory_file  # written by the follower alone
        self._checkpoint: Checkpoint | None = None
        self._proofs: LogProofs | None = None
        self._names: dict[RunId, str] = {}

    async def prove(self, told: AttendedAnswer) -> tuple[Place, Outcome, Checkpoint]:
        """What the round of that answer came to; raises PeerError when the log does not say so.

        LedgerUnavailableError: no checkpoint covers it yet. LogForkedError: it is another log.
        """
        checkpoint, proofs = await self._covering(told.closed_index)
        network = await self._ledger.network()
        indices = (told.roster_index, told.closed_index)
        found = await read_entries_of(self._ledger, network, checkpoint, proofs, indices)
        begun, ended = (found[index].statement for index in indices)
        if begun.run is None or (begun.run, begun.round) != (ended.run, ended.round):
            raise PeerError(f"entries {indices} are not of one round")
        outcome = await self._outcome(begun, ended)
        place = Place(
            number=told.roster_index,
            run=to_text(begun.run),
            run_name=await self._name(begun.run),
            round=begun.round or 0,
            at_ms=ended.ts,
        )
        return place, outcome, checkpoint

    async def _outcome(self, begun: Statement, ended: Statement) -> Outcome:
        if not isinstance(begun.body, RoundRoster):
            raise PeerError(f"{begun.type} does not begin a round")
        roster = Roster.parse(await self._blob(begun.body.roster))
        match ended.body:
            case RoundClose(result=result):
                return closed(roster, Result.parse(await self._blob(result)), self._key)
            case RoundVoid() if self._key in roster.keys.values():
                return VOIDED
        raise PeerError(f"{ended.type} does not end a round of ours")

    async def _name(self, run: RunId) -> str:
        if run not in self._names:  # a run's id is its manifest's digest
            self._names[run] = Manifest.parse(await self._blob(to_text(run))).name
        return self._names[run]

    async def _blob(self, name: str) -> bytes:
        found = await self._ledger.get_blob(digest_from_text(name), most_bytes=DOCUMENT_BYTES)
        if found is None:
            raise PeerError(f"the ledger does not have the document {name}")
        return found

    async def _covering(self, index: int) -> tuple[Checkpoint, LogProofs]:
        if self._checkpoint is None or self._proofs is None or self._checkpoint.size <= index:
            self._checkpoint = await self._checked()
            self._proofs = LogProofs(self._ledger, self._checkpoint.size)
        if self._checkpoint.size <= index:
            raise LedgerUnavailableError(f"no checkpoint covers entry {index} yet")
        return self._checkpoint, self._proofs

    async def _checked(self) -> Checkpoint:
        """The newest checkpoint, if it continues the last one of the follower and of ours."""
        origin = (await self._ledger.network()).genesis.origin
        followed = await trio.to_thread.run_sync(log_memory.recall, self._memory)
        ours = await trio.to_thread.run_sync(self._book.last_checked, origin)
        signed = await self._ledger.checkpoint()
        for before in (followed, ours):
            if before is not None:
                await self._check_continues(before, signed)
        await trio.to_thread.run_sync(self._book.remember_checked, signed)
        return signed

    async def _check_continues(self, before: Checkpoint, signed: Checkpoint) -> None:
        if before.size > signed.size:  # a cache's
            raise LedgerUnavailableError(
                f"the checkpoint of size {signed.size} is older than {before.size}"
            )
        if before.size == 0:
            return
        proof = await LogProofs(self._ledger, signed.size).consistency(before.size)
        try:
            verify_consistency(before.size, before.root, signed.size, signed.root, proof)
        except PeerError as err:
            raise LogForkedError(
                f"the log of size {signed.size} does not continue the one of {before.size}"
            ) from err
