"""A clock that was set back: the coordinator says nothing until time has caught up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.log.clock_guard import ClockGuard
from tequio_ledger.log.sequencer import Sequencer
from tequio_ledger.web.app import PublicApp
from tequio_ledger.web.events import EventStreams
from tequio_shared.errors import RefusedError
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.run_states import RunState
from tests.ledger.log.test_coordinator import LedgerSwarm
from tests.support.authors import newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

BACK_MS = 60_000
PATIENCE_S = 10.0


async def set_back(swarm: LedgerSwarm) -> None:
    """Begin a round, then set the clock back."""
    await swarm.open()
    await swarm.start_round(*swarm.peers[:3])
    swarm.clock.pass_ms(-BACK_MS)


async def play_on(swarm: LedgerSwarm) -> None:
    """Members commit; the coordinator does not end the phase before its own last statement."""
    await swarm.post([peer.commit() for peer in swarm.peers[:3]])
    assert swarm.state() is RunState.ROUND_TRAIN
    assert swarm.ledger.health().status == "clock"
    assert "behind the last signed time" in (swarm.ledger.health().detail or "")
    await swarm.pass_ms(BACK_MS)
    assert swarm.state() is RunState.ROUND_WITNESS
    assert swarm.ledger.health().status == "ok"


def test_a_clock_set_back_holds_the_coordinator_until_it_has_caught_up(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def scenario(ledger: Ledger) -> None:
        async with running(ledger):
            swarm = LedgerSwarm(ledger, clock)
            await set_back(swarm)
            await play_on(swarm)

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(scenario(ledger))


def test_it_holds_it_after_a_restart_too(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def first(ledger: Ledger) -> LedgerSwarm:
        async with running(ledger):
            swarm = LedgerSwarm(ledger, clock)
            await set_back(swarm)
            return swarm

    async def second(ledger: Ledger, swarm: LedgerSwarm) -> None:
        async with running(ledger):
            swarm.ledger = ledger
            for peer in swarm.peers:
                peer.move(ledger)
            await play_on(swarm)

    with opened(make_settings(tmp_path), clock) as ledger:
        swarm = asyncio.run(first(ledger))
    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(second(ledger, swarm))


def test_a_correction_of_a_moment_is_no_complaint(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:
        clock.pass_ms(-500)
        assert ledger.health().status == "ok"
        assert ledger.sequencer.timekeeper.is_behind(clock())


def test_an_older_time_that_is_read_later_does_not_count() -> None:
    guard = ClockGuard(VirtualClock(1_500))
    guard.record(2_000)
    guard.record(1_000)
    assert guard.latest_ms == 2_000
    assert guard.is_behind(1_999)
    assert not guard.is_behind(2_000), "several statements may have one time"


def test_a_deadline_is_kept_when_the_clock_is_corrected_and_nobody_says_anything(
    tmp_path: Path,
) -> None:
    clock = VirtualClock()

    async def scenario(ledger: Ledger) -> None:
        async with running(ledger):
            swarm = LedgerSwarm(ledger, clock)
            await swarm.open()
            await swarm.start_round(*swarm.peers[:3])
            await swarm.post([peer.commit() for peer in swarm.peers[:2]])
            due_ms = ledger.sequencer.due_ms()
            assert due_ms is not None
            assert due_ms - clock() > PATIENCE_S * 1_000, "the sequencer means to wait for longer"
            clock.pass_ms(due_ms - clock())
            async with asyncio.timeout(PATIENCE_S):
                while swarm.state() is RunState.ROUND_TRAIN:
                    await ledger.sequencer.changed.wait(PATIENCE_S)

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(scenario(ledger))


def test_a_sequencer_without_a_deadline_sets_no_timer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers: list[object] = []

    async def scenario(ledger: Ledger) -> None:
        sequencer = ledger.sequencer
        assert isinstance(sequencer, Sequencer)
        assert sequencer.due_ms() is None
        task = asyncio.create_task(sequencer.run())
        monkeypatch.setattr(asyncio.get_running_loop(), "call_at", lambda *to: timers.append(to))
        await sequencer.submit([])  # answered just before the sequencer waits for the next one
        await sequencer.submit([])
        task.cancel()
        sequencer.give_up()

    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        asyncio.run(scenario(ledger))
    assert timers == []


def test_statements_wait_for_a_clock_that_is_so_far_behind_that_sound_ones_look_old(
    tmp_path: Path,
) -> None:
    clock, behind_ms = VirtualClock(), 3_600_000

    async def scenario(ledger: Ledger) -> None:
        transport = httpx.ASGITransport(app=PublicApp(ledger, EventStreams()))
        async with running(ledger), httpx.AsyncClient(transport=transport) as http:
            swarm = LedgerSwarm(ledger, clock)
            await swarm.open()
            await swarm.start_round(*swarm.peers[:3])
            (newcomer,) = newcomers("whose clock is right", ledger.state.net, 1, clock())
            clock.pass_ms(-behind_ms)
            answer = await http.post(
                "http://ledger.example/v1/statements", content=encode_bundle([newcomer.leaf()])
            )
            assert (answer.status_code, answer.json()["title"]) == (503, "read only")
            commitment = swarm.peers[0].commit()  # of somebody who has the time from the ledger
            with pytest.raises(RefusedError, match="the ledger's clock is") as refused:
                await ledger.sequencer.submit([commitment])
            assert refused.value.code == "read-only"
            clock.pass_ms(behind_ms - CLOCK_SKEW_MS)
            await swarm.post([swarm.peers[1].commit(), swarm.peers[2].commit()])
            clock.pass_ms(CLOCK_SKEW_MS)
            await swarm.post([newcomer])

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(scenario(ledger))
