"""Quarantine and the way back, in a real ledger under a virtual clock."""

from __future__ import annotations

import asyncio
import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from tequio_ledger.log.sequencer import Logged, Refused
from tequio_ledger.store import log_rows, queries
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import from_text, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import APPEAL_MS, PROBATION_WORK, QUARANTINE_MS
from tequio_shared.network.standing import Standing, StandingCause
from tequio_shared.served.folded import FoldedRows
from tequio_shared.served.rows import StandingRow
from tequio_shared.statements.network import (
    FaultReport,
    MemberLeave,
    StandingAppeal,
    StandingChange,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.runs import WorkCommit
from tequio_shared.statements.statement import Entry
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm
from tests.support.commitments import commitment
from tests.support.ledgers import ORGANISER, VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.sequencer import Outcome
    from tequio_shared.statements.statement import Body
    from tests.support.authors import Author
    from tests.support.signing_swarm import SigningPeer

    Scenario = Callable[[LedgerSwarm], Awaitable[None]]

SECOND = Signer(bytes([8]) * 32)
ORGANISERS = (ORGANISER, SECOND)


def drive(folder: Path, *scenarios: Scenario, clock: VirtualClock | None = None) -> VirtualClock:
    """Run each scenario of one swarm on the ledger, which is reopened for each."""
    clock = clock or VirtualClock()

    async def run() -> None:
        swarm: LedgerSwarm | None = None
        for scenario in scenarios:
            with opened(make_settings(folder, ORGANISERS), clock) as ledger:
                swarm = LedgerSwarm(ledger, clock) if swarm is None else swarm.moved(ledger)
                async with running(ledger):
                    await asyncio.wait_for(scenario(swarm), 30)

    asyncio.run(run())
    return clock


def another_commitment(peer: SigningPeer, entry: Entry) -> Entry:
    """Sign a commitment for the same round to something else."""
    statement = entry.statement
    assert isinstance(statement.body, WorkCommit)
    header = ContributionHeader.parse(from_text(statement.body.header, None))
    other = dataclasses.replace(header, payload_root=sha256(b"something else"))
    body = commitment(other)
    return peer.sign(body, statement.ts, run=statement.run, number=statement.round)


async def refused(swarm: LedgerSwarm, author: Author, sign: Callable[[], Entry]) -> str:
    """Send what must be refused; the author's chain goes on from before. Gives the code."""
    chain = author.seq, author.last
    (outcome,) = await swarm.ledger.sequencer.submit([sign()])
    author.seq, author.last = chain
    assert isinstance(outcome, Refused), outcome
    return outcome.code


async def leave_under_an_old_number(swarm: LedgerSwarm, peer: SigningPeer) -> None:
    """Let a peer sign a second statement under the number of its last one."""
    peer.seq -= 1
    assert await refused(swarm, peer, peer.leave) == "equivocation"
    peer.seq += 1


def entry_at(ledger: Ledger, index: int) -> Entry:
    with ledger.database.reader.begin() as connection:
        return Entry.parse(log_rows.read_leaves(connection, index, index + 1)[0])


def row_of(ledger: Ledger, peer: SigningPeer) -> StandingRow:
    with ledger.database.reader.begin() as connection:
        row = queries.key(connection, peer.key)
    assert row is not None
    return row.standing


async def equivocate(swarm: LedgerSwarm) -> SigningPeer:
    """Open the run; the first peer commits twice in its first round, which then closes."""
    liar, *others = swarm.peers[:3]
    await swarm.open()
    await swarm.start_round(*swarm.peers[:3])
    first = liar.commit()
    await swarm.post([first])
    again = partial(another_commitment, liar, first)
    assert await refused(swarm, liar, again) == "already-said"
    await swarm.post([peer.commit() for peer in others])
    await swarm.post([peer.prove() for peer in swarm.peers[:3]])
    return liar


def listed(ledger: Ledger) -> list[tuple[bytes, str, int | None]]:
    """The quarantine list: keys, standings and open appeals, equal in tables and fold."""
    with ledger.database.reader.begin() as connection:
        rows = queries.StoredRows(connection).standings(0, 9)
    assert FoldedRows(ledger.state).standings(0, 9) == rows
    return [(one.peer, one.standing, one.appeal) for one in rows]


def appeal(swarm: LedgerSwarm, peer: SigningPeer) -> Entry:
    since = swarm.ledger.state.standings.records[peer.key].since
    return peer.sign(StandingAppeal(change=since, text=""), swarm.clock())


def ruling(swarm: LedgerSwarm, body: Body, *others: Signer) -> Entry:
    return swarm.organiser.sign(body, swarm.clock(), *others)


def release(peer: SigningPeer) -> StandingRelease:
    return StandingRelease(peer=to_text(peer.key), reason=1)


def test_who_commits_twice_is_quarantined_with_evidence_and_may_not_come_back(
    tmp_path: Path,
) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        liar = await equivocate(swarm)
        row = row_of(swarm.ledger, liar)
        assert (row.standing, row.cause) == ("quarantined", StandingCause.TWO_COMMITMENTS)
        assert row.until > swarm.clock()
        logged, report = (entry_at(swarm.ledger, index).statement for index in row.evidence)
        assert (logged.author, logged.type) == (liar.key, "work.commit")
        assert isinstance(report.body, FaultReport)
        assert report.author == swarm.ledger.genesis.coordinator_key
        assert isinstance(entry_at(swarm.ledger, row.since).statement.body, StandingChange)
        assert swarm.view.round is not None
        assert liar.key not in swarm.view.round.slot_of, "the next roster is without the liar"
        assert await refused(swarm, liar, liar.ready) == "quarantined"

    drive(tmp_path, scenario)


def test_one_number_under_two_statements_is_proven_by_both(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        liar = swarm.peers[1]
        await leave_under_an_old_number(swarm, liar)
        row = row_of(swarm.ledger, liar)
        assert (row.standing, row.cause) == ("quarantined", StandingCause.TWO_STATEMENTS)
        (report,) = (entry_at(swarm.ledger, index).statement.body for index in row.evidence)
        assert isinstance(report, FaultReport)
        assert len(report.leaves) == 2

    drive(tmp_path, scenario)


def test_a_flood_of_faults_is_reported_once(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        liar, flood = swarm.peers[1], []
        chain = liar.seq, liar.last
        for reason in range(20):
            liar.seq -= 1
            flood.append(liar.sign(MemberLeave(reason=reason), swarm.clock(), run=RULES.run_id))
        liar.seq, liar.last = chain
        size = swarm.ledger.log.size
        outcomes: list[Outcome] = await swarm.ledger.sequencer.submit(flood)
        assert all(isinstance(one, Refused) for one in outcomes)
        assert swarm.ledger.log.size == size + 2, "one report, one change"
        await leave_under_an_old_number(swarm, liar)
        assert swarm.ledger.log.size == size + 2

    drive(tmp_path, scenario)


def test_an_honest_word_said_again_or_too_late_proves_nothing(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        await swarm.start_round(*swarm.peers[:3])
        honest, late = swarm.peers[0], swarm.peers[2]
        await swarm.post([peer.commit() for peer in swarm.peers[:2]])
        assert await refused(swarm, honest, honest.commit) == "already-said"
        commitment = late.commit()
        await swarm.pass_ms(RULES.rounds.train_limit)
        assert await refused(swarm, late, lambda: commitment) == "too-late"
        states = {record.standing for record in swarm.ledger.state.standings.records.values()}
        assert states == {Standing.NEWCOMER}

    drive(tmp_path, scenario)


def test_a_restart_keeps_every_standing(tmp_path: Path) -> None:
    before: list[object] = []

    async def first(swarm: LedgerSwarm) -> None:
        liar = await equivocate(swarm)
        await swarm.post([appeal(swarm, liar)])
        before.append(swarm.ledger.state.standings)

    async def second(swarm: LedgerSwarm) -> None:
        assert swarm.ledger.state.standings == before[0]
        liar = swarm.peers[0]
        assert row_of(swarm.ledger, liar).appeal is not None
        assert await refused(swarm, liar, liar.ready) == "quarantined"

    drive(tmp_path, first, second)


def test_two_organisers_release_whom_one_cannot(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        liar = await equivocate(swarm)
        said = appeal(swarm, liar)
        await swarm.post([said])
        alone = partial(ruling, swarm, release(liar))
        assert await refused(swarm, swarm.organiser, alone) == "wrong-role"
        (answer,) = await swarm.ledger.sequencer.submit([ruling(swarm, release(liar), SECOND)])
        assert isinstance(answer, Logged)
        row = row_of(swarm.ledger, liar)
        assert (row.standing, row.since, row.until, row.appeal) == ("active", answer.index, 0, None)
        await swarm.post([liar.ready()])

    drive(tmp_path, scenario)


def test_what_organisers_uphold_stays_and_a_ban_needs_a_second_quarantine(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        liar = await equivocate(swarm)
        await swarm.post([appeal(swarm, liar)])
        ban = StandingUphold(peer=to_text(liar.key), to="banned", reason=1)
        early = partial(ruling, swarm, ban)
        assert await refused(swarm, swarm.organiser, early) == "wrong-standing"
        upheld = StandingUphold(peer=to_text(liar.key), to="unchanged", reason=1)
        await swarm.post([ruling(swarm, upheld)])
        row = row_of(swarm.ledger, liar)
        assert (row.standing, row.appeal) == ("quarantined", None)

        await swarm.pass_ms(QUARANTINE_MS)
        await swarm.post([liar.ready()])
        await leave_under_an_old_number(swarm, liar)
        again = row_of(swarm.ledger, liar)
        assert again.standing == "quarantined"
        assert again.until - swarm.clock() > QUARANTINE_MS, "a second term is longer"
        await swarm.post([ruling(swarm, ban)])
        assert row_of(swarm.ledger, liar).standing == "banned"
        await swarm.pass_ms(again.until)
        assert await refused(swarm, liar, liar.ready) == "quarantined"

    drive(tmp_path, scenario)


def test_a_served_term_and_enough_work_make_a_key_active_again(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        liar = await equivocate(swarm)
        await swarm.pass_ms(QUARANTINE_MS)
        assert row_of(swarm.ledger, liar).standing == "quarantined", "silence brings nothing"
        await swarm.post([peer.ready() for peer in swarm.peers[:3]])
        row = row_of(swarm.ledger, liar)
        assert (row.standing, row.cause) == ("probation", StandingCause.TERM_SERVED)
        if liar.key not in (swarm.view.round.slot_of if swarm.view.round else ()):
            await swarm.pass_ms(RULES.rounds.attest)
            await swarm.post([peer.ready() for peer in swarm.peers[:3]])
        for _ in range(PROBATION_WORK):
            assert row_of(swarm.ledger, liar).standing == "probation"
            await swarm.play(*swarm.peers[:3])
        row = row_of(swarm.ledger, liar)
        assert (row.standing, row.cause) == ("active", StandingCause.EARNED)

    drive(tmp_path, scenario)


def test_an_appeal_is_listed_until_organisers_answer_it(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        liar = await equivocate(swarm)
        await swarm.post([appeal(swarm, liar)])
        asked = row_of(swarm.ledger, liar).appeal
        await swarm.pass_ms(QUARANTINE_MS)
        await swarm.post([peer.ready() for peer in swarm.peers[:3]])
        if liar.key not in (swarm.view.round.slot_of if swarm.view.round else ()):
            await swarm.pass_ms(RULES.rounds.attest)
            await swarm.post([peer.ready() for peer in swarm.peers[:3]])
        for _ in range(PROBATION_WORK):
            assert listed(swarm.ledger) == [(liar.key, "probation", asked)]
            await swarm.play(*swarm.peers[:3])
        assert listed(swarm.ledger) == [(liar.key, "active", asked)]
        row = row_of(swarm.ledger, liar)
        await swarm.post([ruling(swarm, release(liar), SECOND)])
        assert listed(swarm.ledger) == []
        assert row_of(swarm.ledger, liar) == dataclasses.replace(row, appeal=None)

    drive(tmp_path, scenario)


def test_an_appeal_that_nobody_answers_ends_by_time_alone(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        liar = await equivocate(swarm)
        await swarm.post([appeal(swarm, liar)])
        asked = swarm.clock()
        finish = StandingRelease(peer=to_text(swarm.peers[1].key), reason=1)
        await swarm.post([ruling(swarm, finish, SECOND)])  # about somebody else
        while swarm.clock() < asked + APPEAL_MS - 1:
            due = swarm.ledger.sequencer.due_ms()
            assert due is not None
            assert due <= asked + APPEAL_MS
            await swarm.pass_ms(max(1, min(due, asked + APPEAL_MS - 1) - swarm.clock()))
        assert row_of(swarm.ledger, liar).standing == "quarantined"
        await swarm.pass_ms(1)
        row = row_of(swarm.ledger, liar)
        assert (row.standing, row.cause) == ("probation", StandingCause.UNANSWERED)

    drive(tmp_path, scenario)
