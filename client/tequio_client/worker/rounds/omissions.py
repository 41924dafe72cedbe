"""Watches that the ledger logs the attestations that this worker saw, and keeps evidence if not.

An attestation that is not in the log soon after it was seen is offered to the ledger by this
worker too. That mends a member's bad line, and makes the evidence more than hearsay: whether the
ledger could be reached then is known here, as it answers another request right after. What is still
missing when the phase ends, although seen and offered early enough (`is_timely`), goes into
`omissions/<run>.json` in the worker's folder, for `tequio audit`.

An honest ledger gives no evidence: a slow one answers the second request late too, and then the
offer does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NoReturn

import msgspec
import structlog
import trio

from tequio_client import files
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.ids import NetworkId, PeerKey, RunId, peer_id_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.network.run import RunView
from tequio_shared.round import fold
from tequio_shared.round.omission import Omission, is_timely, sign_omission
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.runs import HeadAttest
from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)

FOLDER = "omissions"
MAX_OMISSIONS = 64
"""Pieces of evidence about one run; the oldest are dropped."""
MAX_FILE_BYTES = 256 << 10
MAX_FILES = 16
"""Runs with evidence; the file written least recently is deleted."""
MAX_OFFERED = 8
"""Attestations that one worker offers in a round, chosen at random. If more are missing, the other
workers offer the others; a ledger that is only slow must not be sent everything by everybody."""
OFFER_TIMEOUT_S = 30.0


@dataclass(slots=True)
class _SeenAttestation:
    entry: Entry
    seen_ms: int
    is_sent: bool = False
    offered_ms: int | None = None  # None: not offered, or nothing was heard from the ledger since
    answer: str = ""


class OmissionWatch:
    """Offers and judges the attestations of the round whose head is being attested."""

    def __init__(  # noqa: PLR0913 - composition
        self,
        *,
        signer: Signer,
        ledger: LedgerApi,
        net: NetworkId,
        view: RunView,
        now_ms: Callable[[], int],
        file: OmissionFile,
        rng: Random,
    ) -> None:
        self._signer = signer
        self._ledger = ledger
        self._net = net
        self._view = view  # written by the driver
        self._now_ms = now_ms
        self._file = file
        self._rng = rng
        self._round = 0
        self._seen: dict[PeerKey, _SeenAttestation] = {}  # of that round, by author
        self._arrived = trio.Event()  # replaced by `run`

    def receive(self, entry: Entry) -> None:
        """Remember a verified entry, if the round could log it now; later copies do not count."""
        current, statement = self._view.round, entry.statement
        if current is None or statement.round != current.number:
            return
        if current.number != self._round:
            self._round, self._seen = current.number, {}
        is_own = self._signer.key == statement.author or self._signer.key not in current.slot_of
        if is_own or statement.author in self._seen or not isinstance(statement.body, HeadAttest):
            return
        try:
            fold.check_attestation(current, statement.author, statement.body)
        except RefusedError as err:  # mostly: it is in the log already
            log.debug("attestation not watched", why=str(err))
            return
        self._seen[statement.author] = _SeenAttestation(entry, self._now_ms())
        self._arrived.set()

    async def run(self) -> NoReturn:
        """Offer what the log lacks, soon after it was seen, until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                await self._arrived.wait()
                self._arrived = trio.Event()
                # Soon enough for `is_timely`, but not at once, as the author's own copy is on its
                # way; at random, so that the first worker spares the others theirs.
                grace_s = self._view.manifest.rounds.grace / 1000
                await trio.sleep(self._rng.uniform(0.2, 0.4) * grace_s)
                if missing := self._choose():
                    nursery.start_soon(self._offer, missing)
        raise AssertionError("the loop does not end")

    def _choose(self) -> list[_SeenAttestation]:
        current = self._view.round
        if current is None or current.phase is not RoundPhase.ATTEST:
            return []
        missing = [one for one in self._missing(current) if not one.is_sent]
        left = MAX_OFFERED - sum(one.is_sent for one in self._seen.values())
        chosen = self._rng.sample(missing, min(len(missing), left))
        for one in chosen:
            one.is_sent = True
        return chosen

    def _missing(self, current: RoundView) -> list[_SeenAttestation]:
        if current.number != self._round:
            return []
        return [
            one
            for author, one in self._seen.items()
            if current.slot_of[author] not in current.attests
        ]

    async def _offer(self, missing: Sequence[_SeenAttestation]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._send, missing)
            try:
                with suppress(RefusedError, PeerError):  # an answer, whatever is wrong with it
                    await self._ledger.checkpoint()
            except LedgerUnavailableError as err:
                log.info("ledger did not answer after an offer", why=str(err))
                return
            for one in missing:
                one.offered_ms = self._now_ms()

    async def _send(self, missing: Sequence[_SeenAttestation]) -> None:
        with trio.move_on_after(OFFER_TIMEOUT_S):
            try:
                items = await self._ledger.post_entries([one.entry for one in missing])
            except (LedgerUnavailableError, RefusedError, PeerError) as err:
                log.info("attestation of another member not sent", why=str(err))
                return
            for one, item in zip(missing, items, strict=True):
                one.answer = _code(item.code or item.status)

    async def end_phase(self, current: RoundView, ended_ms: int) -> None:
        """Keep evidence of what the log left out; call it when `attest` ends, after the entry."""
        missing = self._missing(current)
        self._seen = {}
        found = [
            sign_omission(
                self._signer, self._net, one.entry, one.seen_ms, one.offered_ms, one.answer
            )
            for one in missing
            if one.offered_ms is not None
            and is_timely(current, one.seen_ms, one.offered_ms, ended_ms)
            and one.entry.statement.exp >= ended_ms
        ]
        if not found:
            return
        for one in found:
            author = peer_id_text(one.entry.statement.author)
            log.warning(
                "the ledger left out an attestation",
                round=current.number,
                author=author,
                answer=one.answer,
            )
        try:
            await trio.to_thread.run_sync(self._file.append, found)
        except (OSError, UserFacingError) as err:
            log.warning("evidence not stored", error=str(err))


def _code(text: str) -> str:
    """The ledger's code as it may stand in evidence."""
    return "".join(c for c in text.lower() if c.isascii() and (c.isalnum() or c == "-"))[:40]


class OmissionFile:
    """The evidence about one run, in one file of bounded size; used by one thread at a time."""

    def __init__(self, folder: Path, run: RunId) -> None:
        """`folder` is the worker's."""
        self.path = folder / FOLDER / f"{to_text(run)}.json"

    def append(self, found: Sequence[Omission]) -> None:
        """Add evidence, durably; raises OSError and UserFacingError."""
        kept = [*self._stored(), *found][-MAX_OMISSIONS:]
        while len(raw := msgspec.json.encode(kept)) > MAX_FILE_BYTES:
            del kept[0]
        self.path.parent.mkdir(exist_ok=True)
        others = [one for one in self.path.parent.glob("*.json") if one != self.path]
        others.sort(key=lambda one: one.stat().st_mtime)
        for oldest in others[: max(len(others) + 1 - MAX_FILES, 0)]:
            files.delete(oldest)
        files.write_for_user(self.path, raw)

    def _stored(self) -> list[Omission]:
        try:
            return files.read_record(self.path, list[Omission], MAX_FILE_BYTES) or []
        except (OSError, MalformedError) as err:
            log.warning("stored evidence cannot be read and is replaced", error=str(err))
            return []
