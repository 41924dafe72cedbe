"""A run that goes back to an earlier head: what members fetch, forget, and do after a restart."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import next_duty
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_client.worker.rounds.join import GivenUpRounds, nearest_start, start_view
from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.transfer import Fetcher
from tequio_shared.api.runs import ResumeAnswer, RollbackAnswer
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.runs import HeadPromote, RoundClose, RunPause, RunResume, RunRollback
from tests.client.worker.rounds.test_feedback import RUN, settle, store_feedback
from tests.client.worker.rounds.test_join import PaperLedger, ReturningPeer, _connected
from tests.client.worker.rounds.test_run import DriverRun
from tests.support.attackers_peers import until
from tests.support.duty_swarm import DutySwarm
from tests.support.loopback import two_peers
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path

    import trio

    from tequio_shared.head.chain import Head


PATIENCE_S = 60.0


def swarm_of(seed: int = 1, most: int = 6) -> DutySwarm:
    swarm = DutySwarm(tiny_manifest(most=most), seed=seed)
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    return swarm


def step_until(swarm: DutySwarm, state: RunState) -> None:
    while swarm.view.state is not state:
        assert swarm.step()


def go_back(swarm: DutySwarm, rounds: int, head_round: int) -> None:
    """Pause after that many rounds and go back; the run stays paused."""
    swarm.run_rounds(rounds)
    swarm.organise(RunPause(reason=1))
    step_until(swarm, RunState.PAUSED)
    swarm.go_back(head_round)


def all_hold(swarm: DutySwarm) -> set[Head | None]:
    while swarm.step():
        pass
    return {member.own().held for member in swarm.members}


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1 << 20),
    rounds=st.integers(1, 4),
    back=st.integers(0, 3),
    restarts=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 2)), max_size=5),
)
def test_every_member_goes_on_from_the_old_head_whenever_it_restarts(
    seed: int, rounds: int, back: int, restarts: list[tuple[int, int]]
) -> None:
    swarm = swarm_of(seed)
    swarm.run_rounds(rounds)
    swarm.organise(RunPause(reason=1))
    step_until(swarm, RunState.PAUSED)
    goal = min(back, max(swarm.view.heads))
    if swarm.view.head != swarm.view.heads[goal] or swarm.view.next_head:
        swarm.go_back(goal)
    assert all_hold(swarm) == {swarm.view.heads[goal]}, "fetched while the run is paused"
    last = swarm.view.number
    swarm.organise(RunResume(reason=1))
    mishaps = [(at, who, "restart") for at, who in restarts]
    swarm.run(mishaps=mishaps)
    assert swarm.view.state is RunState.FINISHED
    made = [head for number, head in swarm.view.heads.items() if number > last]
    assert made[0].parent == swarm.view.heads[goal].hash
    assert set(swarm.refused) <= {"already-said", "too-late"}


def test_a_member_that_joins_at_the_rollback_knows_that_the_run_is_paused() -> None:
    swarm = swarm_of()
    go_back(swarm, 3, 1)
    late = swarm.join("late")
    late.begin()
    assert late.view.state is RunState.PAUSED
    assert late.view.head == swarm.view.heads[1]
    late.follow(swarm.entries)
    assert next_duty(late.view, late.own()) == duties.FetchDuty(swarm.view.heads[1])


def test_who_catches_up_neither_fetches_nor_computes_what_was_given_up() -> None:
    swarm = swarm_of()
    swarm.run_rounds(3)
    view, heads = swarm.view, swarm.view.heads
    assert view.head == heads[2]
    behind = replace(swarm.members[0].own(), held=heads[1], closed={}, is_behind=True)
    assert next_duty(view, behind) == duties.FetchDuty(heads[2])
    waits = next_duty(view, replace(behind, is_given_up=lambda number: number > 1))
    assert isinstance(waits, duties.WaitDuty)


@pytest.mark.trio
async def test_the_driver_forgets_the_ways_that_led_on_from_old_heads(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    swarm = swarm_of()
    go_back(swarm, 2, 0)
    swarm.organise(RunResume(reason=1))
    swarm.run_rounds(3)
    play = DriverRun(tmp_path, swarm)
    feedback = ErrorFeedback(tmp_path / "feedback", RUN)
    store_feedback(feedback, tmp_path, 2)
    settle(feedback, 2, was_accepted=True)
    play.rounds.context.feedback = feedback  # type: ignore[misc]  # a namespace here
    nursery.start_soon(play.run)
    await play.feed(RoundClose)
    # Head 0 is held, and the closed round leads on from it.
    await until(lambda: isinstance(play.deeds.begun[-1], duties.AdvanceDuty), PATIENCE_S)
    assert feedback.path is not None
    await play.feed(RunRollback)
    await until(
        lambda: feedback.path is None, PATIENCE_S
    )  # left behind at weights that are given up
    assert play.rounds.member_state().closed == {}
    await play.feed()

    def is_third() -> bool:
        """Tell if the later one of the two rounds that started from head 0 leads on from it."""
        now = play.deeds.begun[-1]
        return isinstance(now, duties.AdvanceDuty) and now.closed.round == 3

    await until(is_third, PATIENCE_S)
    nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_feedback_of_work_after_the_rollback_stays_when_the_log_is_read_again(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    swarm = swarm_of()
    go_back(swarm, 2, 0)
    play = DriverRun(tmp_path, swarm)
    feedback = ErrorFeedback(tmp_path / "feedback", RUN)
    store_feedback(feedback, tmp_path, 5)
    settle(feedback, 5, was_accepted=True)
    play.rounds.context.feedback = feedback  # type: ignore[misc]  # a namespace here
    nursery.start_soon(play.run)
    await play.feed()
    assert feedback.path is not None
    nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_head_that_was_given_up_is_no_start(tmp_path: Path) -> None:
    swarm = swarm_of(most=7)
    go_back(swarm, 4, 2)
    swarm.organise(RunResume(reason=1))
    swarm.run()
    heads = swarm.view.heads
    returner = ReturningPeer(swarm, PaperLedger(swarm), Store(tmp_path / "own", quota_bytes=10**9))
    theirs = Store(tmp_path / "theirs", quota_bytes=10**9)
    answers = tuple(
        RollbackAnswer(one.head_round, one.last_round, one.index) for one in swarm.view.rollbacks
    )
    given_up = GivenUpRounds(rollbacks=answers, upto=swarm.view.number)
    assert [number in given_up for number in range(1, 8)] == [0, 0, 1, 1, 0, 0, 0]
    async with two_peers() as (there, here):
        BlobServer(there, theirs)
        async with Fetcher(here, returner.store, rng=Random(1)) as fetcher:
            node = _connected(returner, here, fetcher)
            nearest = partial(nearest_start, node, swarm.manifest, probe_s=0.5)
            other = replace(returner, store=theirs)
            other.store_weights(heads[1])
            other.store_weights(heads[3])
            assert swarm.view.head is not None
            start = await nearest(swarm.view.head, given_up=given_up)
            assert start is not None
            assert start.base == heads[1], "head 3 leads nowhere"
    view = start.view
    for index in range(start.after + 1, len(swarm.entries)):
        if swarm.entries[index].statement.run is not None:
            view.apply(index, swarm.entries[index].statement, 0, swarm.blobs.__getitem__)
    assert view.head == swarm.view.head


def test_a_view_that_starts_at_the_promotion_of_a_head_is_not_paused() -> None:
    swarm = swarm_of()
    swarm.run_rounds(2)
    promoted = [
        at for at, one in enumerate(swarm.entries) if isinstance(one.statement.body, HeadPromote)
    ]
    resume = ResumeAnswer(after=len(swarm.entries) - 1, head=promoted[-1], close=None)
    view, _ = start_view(swarm.net, swarm.manifest, resume, swarm.view.head, None)
    assert view.state is RunState.WAITING_FOR_MEMBERS
