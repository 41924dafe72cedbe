"""Reports of faults that this worker can prove: two commitments, bytes that break a rule, or marks.

A report is worth sending only with everything that convinces strangers: the signed leaves, and for
bytes and marks the piece that shows the fault. Each author is reported once in a round. A report
that could not be sent is sent again: it may be the only one, and the evidence is nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NoReturn, TypeAlias

import structlog
import trio

from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.rounds.gossip import commitment_header
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.ids import PeerKey, peer_id_text, sha256, to_text
from tequio_shared.round.evidence import (
    PieceEvidence,
    UnreadEvidence,
    broken_rule,
    check_unread,
)
from tequio_shared.round.round import Commitment
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import WitnessProof
from tequio_shared.statements.statement import Entry

_About: TypeAlias = "tuple[PeerKey, int | None]"
"""Author and round of a fault."""

log = structlog.get_logger(__name__)

MAX_WAITING_REPORTS = 16
"""Most reports that wait to be sent; further ones are dropped, as other workers send them too."""
MAX_REMEMBERED_REPORTS = 1_024
"""Most authors remembered as reported; then all are forgotten, and may be reported again."""
MAX_ATTEMPTS = 12
"""Attempts to send a report; the pauses between them add up to about two minutes."""


@dataclass(frozen=True, slots=True)
class _TwoLeaves:
    first: Entry
    second: Entry

    @property
    def about(self) -> _About:
        return self.first.statement.author, self.first.statement.round


@dataclass(frozen=True, slots=True)
class _Shown:
    """A fault that a piece shows, of the statement at that log index."""

    index: int
    piece: PieceEvidence | UnreadEvidence
    about: _About


class FaultReports:
    """Queues reports, and sends them one after the other while `run` runs."""

    def __init__(
        self, outbox: Outbox, key: PeerKey, ledger: LedgerApi, network: LedgerNetwork
    ) -> None:
        self._outbox = outbox
        self._key = key
        self._ledger = ledger
        self._network = network
        self._rng = Random(key)  # noqa: S311 - back-off only
        self._reported: set[_About] = set()
        self._in, self._out = trio.open_memory_channel[_TwoLeaves | _Shown](MAX_WAITING_REPORTS)

    def receive(self, first: Entry, second: Entry) -> None:
        """Queue a report about two signed entries of one author that contradict each other."""
        # Called from within gossip, so it must not wait: hence a queue, and `run` to empty it.
        one = first.statement
        if self._is_new(one.author, one.round):
            log.warning("two commitments for one round", author=peer_id_text(one.author))
            self._queue(_TwoLeaves(first, second))

    def report_bytes(self, commitment: Commitment, piece: PieceEvidence) -> None:
        """Queue a report of a contribution whose bytes break a rule, with the piece that shows it.

        It is checked against the log before it is sent.
        """
        header = commitment.header
        if self._is_new(header.trainer, header.round):
            log.warning("bytes that break a rule", author=peer_id_text(header.trainer))
            self._queue(_Shown(commitment.index, piece, (header.trainer, header.round)))

    def report_unread(
        self, witness: PeerKey, round_number: int, index: int, shown: UnreadEvidence
    ) -> None:
        """Queue a report of a proof at that log index, with a contribution that it marks wrongly.

        It is checked against the log before it is sent.
        """
        if self._is_new(witness, round_number):
            log.warning("vouched for bytes that it had not read", author=peer_id_text(witness))
            self._queue(_Shown(index, shown, (witness, round_number)))

    async def run(self) -> NoReturn:
        while True:
            await self._send_or_forget(await self._out.receive())

    async def _send_or_forget(self, found: _TwoLeaves | _Shown) -> None:
        back_off = BackOff(self._rng)
        for attempt in range(1, MAX_ATTEMPTS + 1):
            if await self._send(found):
                return
            if attempt < MAX_ATTEMPTS:
                await trio.sleep(back_off.next_s())
        # So that the same fault, met again, is reported again.
        self._reported.discard(found.about)

    async def _send(self, found: _TwoLeaves | _Shown) -> bool:
        """Send a report; False if that may succeed later."""
        documents: list[bytes] = []
        try:
            match found:
                case _TwoLeaves(first=first, second=second):
                    leaves = (to_text(first.leaf()), to_text(second.leaf()))
                    report = FaultReport(leaves=leaves, piece="")
                case _Shown(index=index, piece=piece):
                    documents = [piece.encode()]
                    entry = (await read_entries(self._ledger, self._network, [index]))[index]
                    _check(entry, piece)
                    name = to_text(sha256(documents[0]))
                    report = FaultReport(leaves=(to_text(entry.leaf()),), piece=name)
            await self._outbox.submit(report, documents=documents)
        except RefusedError as err:  # usually: another worker reported it first
            log.info("report refused", code=err.code, why=str(err))
        except (LedgerUnavailableError, PeerError, MalformedError, UserFacingError) as err:
            log.warning("report not sent", error=str(err))
            return False
        return True

    def _is_new(self, author: PeerKey, round_number: int | None) -> bool:
        about = author, round_number
        if author == self._key or about in self._reported:
            return False
        if len(self._reported) >= MAX_REMEMBERED_REPORTS:
            self._reported.clear()
        self._reported.add(about)
        return True

    def _queue(self, found: _TwoLeaves | _Shown) -> None:
        try:
            self._in.send_nowait(found)
        except trio.WouldBlock:
            self._reported.discard(found.about)
            log.warning("report dropped: too many are waiting")


def _check(entry: Entry, piece: PieceEvidence | UnreadEvidence) -> None:
    """Raise RefusedError unless the piece shows a fault of what the author of the entry signed.

    As every reader will check it: a damaged disk here must not accuse anybody, for a false report
    convicts this key.
    """
    body = entry.statement.body
    match piece:
        case PieceEvidence():
            broken_rule(commitment_header(entry), piece)
        case UnreadEvidence() if isinstance(body, WitnessProof):
            check_unread(body, piece)
        case _:
            raise RefusedError("wrong-evidence", f"a {entry.statement.type} has no marks")
