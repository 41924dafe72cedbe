"""A worker with two cards: one key in two runs at once, with a real trainer for each card."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
import trio
from msgspec.structs import replace

from tequio_client.ipc.points import AskPoints, PointsReply
from tequio_client.ipc.preferences import DeviceChoice
from tequio_client.ipc.snapshot import DesiredState, LendingState
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.settings import NetSettings, WorkerSettings
from tequio_client.worker.worker import Worker
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import MemberLeave
from tequio_shared.statements.runs import WorkCommit
from tests.support.history import LogHistory
from tests.support.linked_worker import LISTEN, WILLING
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import CONFIG, RUN, RunFiles, begin, open_run, plan
from tests.support.stand_in_cards import FIRST, SECOND, two_cards

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.ipc.snapshot import TrainerView
    from tests.support.real_network import RealNetwork

PATIENCE_S = 120.0
OTHER = "night"
SCRIPT = RunFiles(config=CONFIG, plan=plan(train_s=6.0))


@pytest.mark.whole
@pytest.mark.trio
async def test_each_card_trains_its_own_run_with_the_one_key(tmp_path: Path) -> None:
    with trio.fail_after(480):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await _found_two_runs(stage)
            worker = await _worker(tmp_path / "citlali", api, stage)
            history = LogHistory(api)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker.run)
                worker.lending.apply_preferences(WILLING)
                worker.lending.apply_state(DesiredState(number=1, lend=True))
                await _both_earn_points(worker)
                await _one_is_suspended_and_the_other_goes_on(worker, history)
                await _a_crash_of_one_leaves_the_other_alone(worker, history)
                await worker.leave()
                nursery.cancel_scope.cancel()


async def _found_two_runs(stage: RealNetwork) -> None:
    await begin(stage, SCRIPT)
    await open_run(stage)
    other = SCRIPT.plan.replace(f'"{RUN}"', f'"{OTHER}"')
    await trio.Path(stage.folder / "plan.toml").write_text(other)
    await open_run(stage)
    stage.seed()
    stage.volunteer("ana", "--run", RUN)
    stage.volunteer("beto", "--run", OTHER)


async def _worker(folder: Path, api: LedgerApi, stage: RealNetwork) -> Worker:
    await trio.Path(folder).mkdir()
    net = NetSettings(ledger=stage.url, folder=folder, listen=(LISTEN,))
    settings = WorkerSettings(net=net, applies_preferences=True)
    worker = Worker(settings, Signer(bytes(range(32))), api, retry_s=0.2)
    worker.probe = two_cards()
    return worker


async def _both_earn_points(worker: Worker) -> None:
    """Each card takes a run of its own, and the work of both is accepted from the same key."""
    await _until("both earn", lambda: _runs_with_points(worker) == {RUN, OTHER})
    shown = worker.snapshot()
    assert shown.decision.state is LendingState.LENDING
    rounds = {one.device: one.round.run_name for one in shown.trainers if one.round}
    assert set(rounds.values()) == {RUN, OTHER}
    assert rounds.keys() == {FIRST.id, SECOND.id}
    reply = await worker.answer(AskPoints())
    assert isinstance(reply, PointsReply)
    assert len({one.pid for one in shown.trainers}) == len(shown.trainers), "each has a process"


async def _one_is_suspended_and_the_other_goes_on(worker: Worker, history: LogHistory) -> None:
    """A card that is switched off leaves its run; the other card's trainer never stops."""
    key = to_text(worker.signer.key)
    going, run = _card(worker, FIRST.id).pid, _run_of(worker, FIRST.id)
    off = DeviceChoice(id=SECOND.serial, use=False)
    worker.lending.apply_preferences(replace(WILLING, devices=(off,)))
    await _until("its trainer is gone", lambda: _card(worker, SECOND.id).state == "off")
    await _until_logged(history, lambda: history.statements_by(key, MemberLeave))
    left = history.statements_by(key, MemberLeave)
    assert [to_text(one.run) for one in left if one.run] != [run] * len(left)
    assert not [one for one in left if one.run and to_text(one.run) == run]
    before = len(_work_in(history, key, run))
    await _until_logged(history, lambda: len(_work_in(history, key, run)) > before + 1)
    assert _card(worker, FIRST.id).pid == going
    assert worker.lending.decision.state is LendingState.LENDING, "the computer still lends"
    worker.lending.apply_preferences(WILLING)
    await _until("it is back", lambda: _card(worker, SECOND.id).state == "computing")
    assert _card(worker, FIRST.id).pid == going


async def _a_crash_of_one_leaves_the_other_alone(worker: Worker, history: LogHistory) -> None:
    key = to_text(worker.signer.key)
    crashed, going = _card(worker, SECOND.id).pid, _card(worker, FIRST.id).pid
    run = _run_of(worker, SECOND.id)
    os.kill(crashed, signal.SIGKILL)
    await _until("it is started again", lambda: _card(worker, SECOND.id).pid not in (0, crashed))
    before = len(_work_in(history, key, run))
    await _until_logged(history, lambda: len(_work_in(history, key, run)) > before)
    assert _card(worker, FIRST.id).pid == going


def _runs_with_points(worker: Worker) -> set[str]:
    rows = worker.points_db.file.rows(
        "SELECT DISTINCT run_name FROM round WHERE trained > 0 AND state = 'verified'"
    )
    return {row["run_name"] for row in rows}


def _card(worker: Worker, name: str) -> TrainerView:
    return next(one for one in worker.snapshot().trainers if one.device == name)


def _run_of(worker: Worker, name: str) -> str:
    shown = _card(worker, name).round
    assert shown is not None
    return shown.run


def _work_in(history: LogHistory, key: str, run: str) -> list[object]:
    work = history.statements_by(key, WorkCommit)
    return [one for one in work if one.run and to_text(one.run) == run]


async def _until(what: str, holds: Callable[[], object]) -> None:
    with trio.move_on_after(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - the trainers are other processes
            await trio.sleep(0.1)
        return
    raise AssertionError(f"not within {PATIENCE_S:.0f} s: {what}")


async def _until_logged(history: LogHistory, holds: Callable[[], object]) -> None:
    with trio.fail_after(PATIENCE_S):
        await history.read()
        while not holds():
            await trio.sleep(0.3)
            await history.read()
