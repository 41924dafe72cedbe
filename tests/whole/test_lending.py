"""A worker in a real swarm, told by an app when it may lend: real processes, real pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
import pytest
import trio

from tequio_client.control_socket import WorkerCall
from tequio_client.ipc import control
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.snapshot import LendingReason, LendingState
from tequio_client.ledger.api import LedgerApi
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import WorkCommit
from tests.support.history import LogHistory
from tests.support.linked_worker import WILLING, linked
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import found
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.linked_worker import LinkedWorker

AWAY = SessionFacts(
    idle_s=9_000.0, is_locked=False, fullscreen="", game="", programs=(), is_metered=False
)
PLAYING = SessionFacts(
    idle_s=9_000.0, is_locked=False, fullscreen="", game="tlachtli", programs=(), is_metered=False
)
FREED_S = 1.0
"""How long a pause may take until the device is free, on a machine that has time."""
GONE_S = 2.0
"""How long a worker may take to go when its app is gone."""


@pytest.mark.whole
@pytest.mark.trio
async def test_a_worker_lends_when_it_may_and_frees_the_device_when_it_may_not(
    tmp_path: Path,
) -> None:
    with trio.fail_after(400):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage)
            stage.seed()
            for name in ("ana", "beto"):
                stage.volunteer(name)
            history = LogHistory(api)
            async with linked(tmp_path / "citlali", stage.url) as worker, trio.open_nursery() as by:
                by.start_soon(_be_away, worker)
                await _consents(worker)
                key = await _commits(worker, history, 1)
                await _pauses(worker, history, key)
                await _is_told_by_a_command_line(worker, tmp_path / "citlali")
                await _commits(worker, history, 2)
                by.cancel_scope.cancel()
            async with linked(tmp_path / "citlali", stage.url) as worker:
                await _a_game_stops_it(worker)
                await _an_app_that_is_gone_ends_it(worker, history, key)


async def _be_away(worker: LinkedWorker) -> None:
    while True:
        await worker.report_session(AWAY)
        await trio.sleep(2)


async def _consents(worker: LinkedWorker) -> None:
    """Before consent it is in no swarm and has no trainer; with it, it lends."""
    shown = await worker.until("it shows itself", lambda one: bool(one.at_ms))
    assert shown.decision.reason is LendingReason.NO_CONSENT
    await trio.sleep(1)
    assert worker.snapshot.status is None
    assert not worker.trainers
    await worker.send(control.SetPreferences(preferences=WILLING))
    await worker.want(lend=True)
    await worker.until("it lends", lambda one: one.decision.state is LendingState.LENDING)


async def _commits(worker: LinkedWorker, history: LogHistory, least: int) -> str:
    """Wait until it has committed to work after that many times of saying that it is ready."""
    shown = await worker.until("it is in the swarm", lambda one: one.status is not None)
    assert shown.status is not None
    key = shown.status.key
    with trio.fail_after(120):
        while True:
            await history.read()
            ready = history.statements_by(key, MemberReady)
            work = history.statements_by(key, WorkCommit)
            if len(ready) >= least and work and _after(history, work[-1], ready[-1]):
                return key
            await trio.sleep(0.2)


def _after(history: LogHistory, one: object, other: object) -> bool:
    statements = history.statements
    return statements.index(one) > statements.index(other)  # type: ignore[arg-type]  # they are of it


async def _pauses(worker: LinkedWorker, history: LogHistory, key: str) -> None:
    """By hand: the trainer is gone at once, the worker says so and stays in the swarm."""
    (trainer,) = worker.trainers
    begun_s = trio.current_time()
    await worker.want(lend=False)
    await worker.until("the trainer is gone", lambda one: one.trainers[0].state == "off")
    taken_s = trio.current_time() - begun_s
    assert not psutil.pid_exists(trainer.pid)
    assert taken_s < allowed_s(FREED_S)
    with trio.fail_after(30):
        while not history.statements_by(key, MemberLeave):
            await history.read()
            await trio.sleep(0.2)
    await trio.sleep(3)
    shown = worker.snapshot
    assert not worker.trainers
    assert shown.status is not None
    assert shown.status.peers > 0
    assert shown.ledger.size > 0
    assert shown.decision.reason is LendingReason.BY_HAND


async def _is_told_by_a_command_line(worker: LinkedWorker, folder: Path) -> None:
    def contribute() -> None:
        with WorkerCall.to(folder) as call:
            wish = call.snapshot().wish
            call.set_state(lambda one: type(wish)(number=one.wish.number + 1, lend=True))

    await trio.to_thread.run_sync(contribute)
    await worker.until("it lends again", lambda one: one.decision.state is LendingState.LENDING)


async def _a_game_stops_it(worker: LinkedWorker) -> None:
    """Lending resumes by itself after a restart, and a game ends the trainer within a second."""
    await worker.report_session(AWAY)
    await worker.until("it lends", lambda one: one.trainers[:1] != () and one.trainers[0].pid > 0)
    await worker.report_session(PLAYING)
    shown = await worker.until(
        "it waits for the game", lambda one: one.decision.reason is LendingReason.GAME
    )
    assert shown.decision.values == {"program": "tlachtli"}
    await worker.until("the trainer is gone", lambda one: one.trainers[0].state == "off")
    await worker.report_session(AWAY)
    shown = await worker.until(
        "it waits a minute more", lambda one: one.decision.reason is LendingReason.AFTER_GAME
    )
    assert shown.decision.until_ms is not None


async def _an_app_that_is_gone_ends_it(worker: LinkedWorker, history: LogHistory, key: str) -> None:
    assert worker.process.stdin is not None
    before = len(history.statements_by(key, MemberLeave))
    assert before
    await worker.process.stdin.aclose()
    begun_s = trio.current_time()
    assert await worker.process.wait() == 0
    assert trio.current_time() - begun_s < allowed_s(GONE_S)
