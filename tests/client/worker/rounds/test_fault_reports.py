"""Reports of faults: sent again after a failure, and once only after a success."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec
import pytest
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.rounds import fault_reports
from tequio_client.worker.rounds.fault_reports import MAX_ATTEMPTS, FaultReports
from tequio_shared.errors import RefusedError
from tequio_shared.ids import digest_from_text, from_text, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.evidence import UnreadEvidence
from tests.support.attackers_round import due_proof, swarm_in
from tests.support.marks import unread_report
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trio.testing import MockClock

    from tequio_client.ledger.api import LedgerApi, LedgerNetwork
    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.network import FaultReport
    from tequio_shared.statements.statement import Entry

pytestmark = pytest.mark.trio


class FailingOutbox:
    """Raises the errors that it was given, one for each statement; then it sends."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.sent: list[FaultReport] = []
        self.documents: list[bytes] = []
        self.tried_s: list[float] = []

    async def submit(self, body: FaultReport, *, documents: Sequence[bytes]) -> None:
        await trio.lowlevel.checkpoint()
        self.documents.extend(documents)
        self.tried_s.append(trio.current_time())
        if self.errors:
            raise self.errors.pop(0)
        self.sent.append(body)


def two_commitments() -> tuple[Entry, Entry]:
    swarm = swarm_in(RunState.ROUND_TRAIN, logged=2)
    first, second = [one for one in swarm.entries if one.statement.type == "work.commit"][:2]
    return first, second


def reports(outbox: FailingOutbox) -> FaultReports:
    return FaultReports(
        cast("Outbox", outbox),
        cast("PeerKey", bytes(32)),
        cast("LedgerApi", None),
        cast("LedgerNetwork", None),
    )


async def run_for(queue: FaultReports, seconds: float) -> None:
    with trio.move_on_after(seconds):
        await queue.run()


async def test_a_report_that_could_not_be_sent_is_sent_again(
    autojump_clock: MockClock,
) -> None:
    outbox = FailingOutbox(LedgerUnavailableError("down"), LedgerUnavailableError("down"))
    queue = reports(outbox)
    first, second = two_commitments()
    queue.receive(first, second)
    await run_for(queue, 3_600)
    queue.receive(first, second)
    await run_for(queue, 3_600)
    assert len(outbox.sent) == 1


async def test_a_fault_whose_report_was_given_up_is_reported_when_it_is_met_again(
    autojump_clock: MockClock,
) -> None:
    outbox = FailingOutbox(*[LedgerUnavailableError("down")] * MAX_ATTEMPTS)
    queue = reports(outbox)
    first, second = two_commitments()
    queue.receive(first, second)
    await run_for(queue, 3_600)
    assert not outbox.sent
    took_s = outbox.tried_s[-1] - outbox.tried_s[0]
    assert 100 < took_s < 140, "the ledger may be away for about two minutes"
    queue.receive(first, second)
    await run_for(queue, 3_600)
    assert len(outbox.sent) == 1


async def test_a_refused_report_is_not_sent_again(autojump_clock: MockClock) -> None:
    outbox = FailingOutbox(RefusedError("already-said", "somebody was faster"))
    queue = reports(outbox)
    queue.receive(*two_commitments())
    await run_for(queue, 3_600)
    queue.receive(*two_commitments())
    await run_for(queue, 3_600)
    assert not outbox.sent


async def test_a_mark_is_checked_in_the_log_before_its_author_is_accused(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    witness, honest = due_proof(swarm)
    wrong = bytes(255 - byte for byte in from_text(honest.marks, None))
    bodies = (honest, msgspec.structs.replace(honest, marks=to_text(wrong)))
    entries = [
        witness.sign(swarm.net, swarm.manifest.run_id, StatementDraft(body, 1), swarm.now_ms)
        for body in bodies
    ]
    claim = unread_report(swarm, entries[1])
    assert claim is not None
    shown = UnreadEvidence.parse(swarm.blobs[digest_from_text(claim.piece)])

    async def read_entries(*_: object) -> dict[int, Entry]:
        await trio.lowlevel.checkpoint()
        return dict(enumerate(entries))

    monkeypatch.setattr(fault_reports, "read_entries", read_entries)
    outbox = FailingOutbox()
    queue = reports(outbox)
    queue.report_unread(witness.key, 1, 0, shown)
    await run_for(queue, 3_600)
    assert not outbox.tried_s, "a false report would convict the key of this worker"
    queue.report_unread(witness.key, 2, 1, shown)
    await run_for(queue, 3_600)
    assert (outbox.sent, outbox.documents) == ([claim], [shown.encode()])
