"""Reports of faults: sent again after a failure, and once only after a success."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.rounds.fault_reports import MAX_ATTEMPTS, FaultReports
from tequio_shared.errors import RefusedError
from tequio_shared.network.run_states import RunState
from tests.support.attackers_round import swarm_in

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
        self.tried_s: list[float] = []

    async def submit(self, body: FaultReport, *, documents: Sequence[bytes]) -> None:
        await trio.lowlevel.checkpoint()
        assert not documents
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
