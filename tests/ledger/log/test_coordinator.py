"""A run through its states, driven by peers that sign real statements under a virtual clock."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import select

from tequio_ledger.log.sequencer import Known, Logged, Sequencer
from tequio_ledger.store import log_rows
from tequio_ledger.store.bucket import Bucket
from tequio_ledger.store.models import CREDIT, PEER, ROUND
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import RunFinish, RunPause, RunResume
from tests.support.ledgers import VirtualClock, make_settings, opened, pass_time, running
from tests.support.signing_swarm import SigningOrganiser, SigningPeer, manifest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest
    from sqlalchemy import Connection

    from tequio_ledger.ledger import Ledger
    from tequio_shared.ids import Digest
    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.statements.statement import Entry

RULES = msgspec.structs.replace(manifest(most=100), measure=MeasureRules(every=2))


class LedgerSwarm:
    """A ledger, its organiser, and peers that act when a test calls them."""

    def __init__(self, ledger: Ledger, clock: VirtualClock) -> None:
        self.ledger = ledger
        self.clock = clock
        self.organiser = SigningOrganiser(ledger)
        self.peers = [SigningPeer(f"peer {n}", ledger, RULES.run_id) for n in range(4)]

    def moved(self, ledger: Ledger) -> LedgerSwarm:
        """Continue on another ledger object: the same ledger, opened again."""
        self.ledger = ledger
        for peer in self.peers:
            peer.move(ledger)
        return self

    @property
    def view(self) -> FullRunView:
        """The run's view."""
        return self.ledger.state.run(RULES.run_id)

    def state(self) -> RunState:
        """The run's state; a call, so that a type checker looks again each time."""
        return self.view.state

    async def post(self, entries: Iterable[Entry]) -> None:
        """Submit entries, all of which must be logged."""
        outcomes = await self.ledger.sequencer.submit(list(entries))
        assert all(isinstance(outcome, Logged) for outcome in outcomes), outcomes

    async def pass_ms(self, duration_ms: int) -> None:
        """Let time pass, and let the coordinator act whenever something is due."""
        await pass_time(self.ledger, self.clock, duration_ms)

    async def open(self) -> None:
        """Open the run with the first three peers, up to its first roster."""
        self.ledger.blobs.put(RULES.encode())
        await self.post([self.organiser.open(RULES, self.clock())])
        for peer in self.peers[:3]:
            await self.post(peer.join())
        await self.pass_ms(RULES.rounds.warmup)

    async def play(self, *peers: SigningPeer) -> None:
        """One whole round."""
        await self.start_round(*peers)
        await self.post([peer.commit() for peer in peers])
        assert self.state() is RunState.ROUND_WITNESS
        await self.post([peer.prove() for peer in peers])

    async def measure(self) -> None:
        """Let those who were drawn for the last head measure it."""
        draw = self.view.drawn
        assert draw is not None
        drawn = [peer for peer in self.peers if peer.key in draw.drawn]
        await self.post([peer.measure(900_000_000) for peer in drawn])

    async def start_round(self, *peers: SigningPeer) -> None:
        """State heads until the round trains."""
        assert self.state() is RunState.WARMUP
        await self.post([peer.attest() for peer in peers])
        assert self.state() is RunState.ROUND_TRAIN
        self.clock.pass_ms(2_000)


def drive(folder: Path, scenario: Scenario, blobs: str = "") -> None:
    clock = VirtualClock()

    async def run() -> None:
        with opened(make_settings(folder, blobs=blobs), clock) as ledger:
            async with running(ledger):
                await asyncio.wait_for(scenario(LedgerSwarm(ledger, clock)), 20)

    asyncio.run(run())


if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Scenario = Callable[[LedgerSwarm], Awaitable[None]]


def test_three_rounds_close_and_pay_who_worked(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        for _ in range(3):
            await swarm.play(*swarm.peers[:3])
        assert (swarm.view.closed, swarm.view.number) == (3, 4)
        with swarm.ledger.database.reader.begin() as connection:
            outcomes = connection.execute(select(ROUND.c.outcome).order_by(ROUND.c.round)).scalars()
            assert list(outcomes) == ["closed", "closed", "closed", "open"]
            earned = connection.execute(select(PEER.c.gflop)).scalars().all()
            credited = connection.execute(select(CREDIT.c.gflop)).scalars().all()
        assert sum(earned) == sum(credited) > 0

    drive(tmp_path, scenario)


def test_a_bucket_that_takes_long_for_a_result_keeps_nothing_else_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        await swarm.start_round(*swarm.peers[:3])
        await swarm.post([peer.commit() for peer in swarm.peers[:3]])
        ledger, put = swarm.ledger, swarm.ledger.blobs.put
        assert isinstance(ledger.sequencer, Sequencer)
        begun, may_end = threading.Event(), threading.Event()

        def put_slowly(content: bytes) -> Digest:
            begun.set()
            may_end.wait(5)
            return put(content)

        monkeypatch.setattr(ledger.blobs, "put", put_slowly)
        before = ledger.log.size
        closing = asyncio.create_task(swarm.post([peer.prove() for peer in swarm.peers[:3]]))
        await asyncio.to_thread(begun.wait)
        await ledger.sequencer.run_between_batches(lambda: None)
        assert ledger.log.size == before, "nothing is logged before its documents are stored"
        may_end.set()
        await closing
        assert ledger.log.size > before
        assert swarm.view.closed == 1

    drive(tmp_path, scenario)


class Gate:
    """Holds a thread until `open`; remembers whether it was opened or the thread lost patience."""

    def __init__(self) -> None:
        self.reached, self._may_pass = threading.Event(), threading.Event()
        self.was_opened = False

    def pass_through(self) -> None:
        """Wait here."""
        self.reached.set()
        self.was_opened = self._may_pass.wait(5)

    async def open(self) -> None:
        """Open it once a thread waits, which leaves the event loop free to come here."""
        await asyncio.to_thread(self.reached.wait, 5)
        self._may_pass.set()


def test_a_bucket_that_takes_long_for_a_named_document_keeps_nothing_else_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = (tmp_path / "bucket").as_uri()

    async def scenario(swarm: LedgerSwarm) -> None:
        ledger, gate = swarm.ledger, Gate()
        get, ask, askers = Bucket.get, ledger.blobs.listed_size, list[threading.Thread]()
        name = ledger.blobs.put(RULES.encode())
        ledger.blobs.path(name).unlink()  # another process has stored it in the bucket

        def get_slowly(bucket: Bucket, digest: Digest) -> bytes | None:
            gate.pass_through()
            return get(bucket, digest)

        def listed_size(digest: Digest) -> int | None:
            askers.append(threading.current_thread())
            return ask(digest)

        monkeypatch.setattr(Bucket, "get", get_slowly)
        monkeypatch.setattr(ledger.blobs, "listed_size", listed_size)
        opening = asyncio.create_task(swarm.post([swarm.organiser.open(RULES, swarm.clock())]))
        await gate.open()
        await opening
        assert gate.was_opened, "the event loop waited for the bucket"
        assert askers
        assert threading.main_thread() not in askers, "the event loop waited for the database"

    drive(tmp_path / "ledger", scenario, blobs=shared)


def test_a_database_that_takes_long_for_a_repeated_statement_keeps_nothing_else_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        submit, gate, find = swarm.ledger.sequencer.submit, Gate(), log_rows.find_index
        repeated = swarm.peers[0].ready()
        (logged,) = await submit([repeated])

        def find_slowly(connection: Connection, statement_id: Digest) -> int | None:
            gate.pass_through()
            return find(connection, statement_id)

        monkeypatch.setattr(log_rows, "find_index", find_slowly)
        again = asyncio.create_task(submit([repeated]))
        await gate.open()
        assert isinstance(logged, Logged)
        assert await again == [Known(id=logged.id, index=logged.index)]
        assert gate.was_opened, "the event loop waited for the database"

    drive(tmp_path, scenario)


def test_a_round_without_commitments_is_void_and_the_head_stays(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        await swarm.play(*swarm.peers[:3])
        await swarm.start_round(*swarm.peers[:3])
        head = swarm.view.head
        await swarm.pass_ms(RULES.rounds.train_limit)
        assert (swarm.view.voided, swarm.view.head) == (1, head)
        await swarm.post([peer.ready() for peer in swarm.peers[:3]])
        await swarm.play(*swarm.peers[:3])
        assert swarm.view.closed == 2

    drive(tmp_path, scenario)


def test_a_newcomer_is_in_the_next_roster_and_who_leaves_is_not(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        await swarm.start_round(*swarm.peers[:3])
        await swarm.post(swarm.peers[3].join())
        await swarm.post([swarm.peers[0].leave()])
        await swarm.post([peer.commit() for peer in swarm.peers[1:3]])
        assert swarm.state() is RunState.ROUND_WITNESS, "who has left is not waited for"
        await swarm.post([peer.prove() for peer in swarm.peers[1:3]])
        assert swarm.view.round is not None
        assert set(swarm.view.round.slot_of) == {peer.key for peer in swarm.peers[1:]}

    drive(tmp_path, scenario)


def test_pause_ends_the_round_and_resume_opens_the_next(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        sign, run = swarm.organiser.sign, RULES.run_id
        await swarm.post([sign(RunPause(reason=1), swarm.clock(), run=run)])
        await swarm.play(*swarm.peers[:3])
        assert swarm.state() is RunState.PAUSED
        await swarm.post([sign(RunResume(reason=1), swarm.clock(), run=run)])
        await swarm.play(*swarm.peers[:3])
        assert swarm.view.closed == 2

    drive(tmp_path, scenario)


def test_finish_promotes_the_last_head_and_closes_the_run(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        finish = swarm.organiser.sign(RunFinish(reason=1), swarm.clock(), run=RULES.run_id)
        await swarm.post([finish])
        await swarm.play(*swarm.peers[:3])
        assert swarm.state() is RunState.COOLDOWN
        await swarm.post([peer.attest() for peer in swarm.peers[:3]])
        assert swarm.state() is RunState.FINISHED
        assert swarm.view.head is not None
        assert swarm.view.head.round == 1

    drive(tmp_path, scenario)


def test_a_deadline_is_kept_without_any_statement(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        await swarm.start_round(*swarm.peers[:3])
        await swarm.post([peer.commit() for peer in swarm.peers[:2]])
        due = swarm.ledger.sequencer.due_ms()
        assert due is not None
        await swarm.pass_ms(due - swarm.clock() - 1)
        assert swarm.state() is RunState.ROUND_TRAIN
        await swarm.pass_ms(1)
        assert swarm.view.round is not None
        assert swarm.view.round.phase is RoundPhase.WITNESS

    drive(tmp_path, scenario)


def test_a_restart_in_mid_round_changes_nothing(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def first(ledger: Ledger) -> LedgerSwarm:
        async with running(ledger):
            swarm = LedgerSwarm(ledger, clock)
            await swarm.open()
            await swarm.start_round(*swarm.peers[:3])
            await swarm.post([peer.commit() for peer in swarm.peers[:2]])
        return swarm

    with opened(make_settings(tmp_path), clock) as ledger:
        before = asyncio.run(first(ledger)).view
    with opened(make_settings(tmp_path), clock) as ledger:
        after = ledger.state.run(RULES.run_id)
        assert after == before
