"""Members without witness duty, in a run with a down link: they follow steps of heads."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import pytest
import trio
from msgspec import UNSET, structs

from tequio_client.worker.lending.needs import MAX_HEADS
from tequio_client.worker.rounds import duties, run
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_client.worker.store.trees import TreeRef
from tequio_shared.errors import PeerError
from tequio_shared.head.step import encode_step
from tequio_shared.ids import Digest, sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import HeadAttest, HeadPromote, RunPause, RunRollback, WorkCommit
from tests.client.worker.rounds.test_run import DriverRun
from tests.support.attack_table import attack
from tests.support.duty_runner_setup import DutyRunnerSetup
from tests.support.duty_swarm import DutyMember, DutySwarm, step_of
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from tequio_shared.head.chain import Head


def _rules(down_k: int = 16, **rounds: int) -> Manifest:
    rules = tiny_manifest(**rounds)
    return structs.replace(rules, algorithm=structs.replace(rules.algorithm, down_k=down_k))


def _swarm(down_k: int = 16, **rounds: int) -> tuple[DutySwarm, DutyMember]:
    swarm = DutySwarm(_rules(down_k, **rounds))
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    return swarm, swarm.join("light", ("trainer",))


def _done(swarm: DutySwarm, member: DutyMember) -> set[type[object]]:
    return {type(now) for who, now in swarm.done if who == member.key}


def test_a_member_without_witness_duty_follows_steps_and_computes_no_head() -> None:
    swarm, light = _swarm()
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    done = _done(swarm, light)
    assert duties.FollowDuty in done
    assert done.isdisjoint({duties.AdvanceDuty, duties.ProveDuty})
    fetched = [now for who, now in swarm.done if who == light.key and type(now) is duties.FetchDuty]
    assert len(fetched) == 1, "the first head alone"
    light.follow(swarm.entries)
    light.act()  # the last step, though the run is over
    assert light.own().held == swarm.view.head
    works = [one.statement for one in swarm.entries if isinstance(one.statement.body, WorkCommit)]
    assert [one for one in works if one.author == light.key], "it trains like the others"


def test_promotions_name_the_step_that_the_witnesses_name() -> None:
    swarm, light = _swarm()
    swarm.run()
    said = [one.statement for one in swarm.entries]
    promoted = [one.body for one in said if isinstance(one.body, HeadPromote)]
    assert promoted[0].step_root is UNSET, "no step makes the first head"
    assert len(promoted) > 2
    for body in promoted[1:]:
        assert body.step_root != UNSET
    last = swarm.view.head
    assert last is not None
    assert promoted[-1].step_root == to_text(step_of(last))
    for one in said:
        if isinstance(one.body, HeadAttest) and one.author == light.key:
            assert one.body.step_root is UNSET


@attack("M12", layer="mdl", ends="the head is fetched whole, and its root is checked")
def test_a_step_that_does_not_lead_to_the_head_costs_a_fetch() -> None:
    swarm, light = _swarm()
    swarm.is_step_wrong = True
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    mine = [now for who, now in swarm.done if who == light.key]
    followed = [at for at, now in enumerate(mine) if isinstance(now, duties.FollowDuty)]
    assert followed
    for at in followed[:-1]:  # after the last one, the run is over, and nobody waits for weights
        failed = mine[at]
        assert isinstance(failed, duties.FollowDuty)
        assert mine[at + 1] == duties.FetchDuty(failed.head)
    held, last = light.own().held, swarm.view.head
    assert held is not None
    assert last is not None
    assert held.hash == last.parent


def _step_to(swarm: DutySwarm, number: int) -> Head:
    """Go on until the head of that round is promoted; gives it."""
    while swarm.view.head is None or swarm.view.head.round < number:
        assert swarm.step()
    return swarm.view.head


def _steps_taken(light: DutyMember) -> list[Head]:
    """Let a member act until it asks for a place; gives the heads whose steps it followed."""
    done = []
    while isinstance(now := light.act()[0], duties.FollowDuty):
        done.append(now.head)
    assert isinstance(now, duties.ReadyDuty)
    return done


def test_a_member_that_missed_heads_follows_their_steps_one_after_the_other() -> None:
    swarm, light = _swarm()
    _step_to(swarm, 1)
    swarm.members.remove(light)  # it sleeps
    newest = _step_to(swarm, 4)
    light.follow(swarm.entries)
    dear = replace(light.own(), is_replay_costlier=lambda goal: goal == newest)
    assert duties.next_duty(light.view, dear) == duties.FetchDuty(newest), "of fewer bytes"
    assert [head.round for head in _steps_taken(light)] == [1, 2, 3, 4]
    assert light.own().held == newest


def test_a_member_whose_fetch_takes_longer_than_a_round_follows_the_steps_since() -> None:
    swarm, light = _swarm(most=8)
    _step_to(swarm, 1)
    swarm.members.remove(light)
    begun = _step_to(swarm, 2)
    light.begin()  # after a restart it knows of no steps
    light.follow(swarm.entries)
    assert duties.next_duty(light.view, light.own()) == duties.FetchDuty(begun)
    newest = _step_to(swarm, 5)
    light.follow(swarm.entries)
    late = replace(light.own(), fetching=begun)
    assert duties.next_duty(light.view, late) == duties.FetchDuty(begun), "not begun again"
    own = replace(late, held=begun, fetching=None)
    for number in (3, 4, 5):
        now = duties.next_duty(light.view, own)
        assert isinstance(now, duties.FollowDuty)
        assert (now.head.round, now.head.parent) == (number, own.held and own.held.hash)
        own = replace(own, held=now.head)
    assert own.held == newest
    assert isinstance(duties.next_duty(light.view, own), duties.ReadyDuty)


def test_a_fetch_from_which_no_step_leads_on_is_given_up_for_the_newest_head() -> None:
    swarm, light = _swarm()
    begun = _step_to(swarm, 1)
    newest = _step_to(swarm, 3)
    light.follow(swarm.entries)
    steps = {parent: one for parent, one in light.own().steps.items() if parent != begun.hash}
    own = replace(light.own(), held=None, fetching=begun, steps=steps)
    assert duties.next_duty(light.view, own) == duties.FetchDuty(newest)


def test_one_that_was_late_is_ready_before_the_head_that_it_cannot_compute_is_promoted() -> None:
    swarm, light = _swarm(min_members=4)
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.TRAIN:
        assert swarm.step()
    swarm.members.remove(light)  # its commitment would come too late
    while swarm.view.closed < 1:
        assert swarm.step()
    swarm.members.append(light)
    swarm.run()
    assert swarm.view.state is RunState.FINISHED, "the others alone are too few for a roster"


def test_without_a_down_link_nobody_names_steps() -> None:
    swarm, _ = _swarm(down_k=0)
    swarm.run()
    for one in swarm.entries:
        if isinstance(one.statement.body, HeadAttest | HeadPromote):
            assert one.statement.body.step_root is UNSET


@pytest.mark.trio
async def test_the_driver_remembers_the_last_steps_and_drops_them_when_the_run_goes_back(
    tmp_path: Path, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    swarm, _ = _swarm(most=8)
    swarm.run_rounds(5)
    swarm.organise(RunPause(reason=1))
    while swarm.view.state is not RunState.PAUSED:
        assert swarm.step()
    *_, older, newest = swarm.view.heads.values()
    swarm.go_back(older.round)
    monkeypatch.setattr(run, "MAX_CLOSED", 2)
    play = DriverRun(tmp_path, swarm)
    context = cast("SimpleNamespace", play.rounds.context)
    context.is_light = True
    context.feedback = ErrorFeedback(tmp_path / "feedback", swarm.manifest.run_id)
    nursery.start_soon(play.run)
    await play.feed(HeadPromote, times=newest.round + 1)
    own = play.rounds.member_state()
    assert own.steps == {
        one.parent: duties.FollowDuty(one, step_of(one)) for one in (older, newest)
    }
    play.deeds.heads.held = swarm.view.heads[older.round - 1]
    for smaller in (0, 1):
        ref = _weights_ref(2 * swarm.manifest.step_bytes - smaller)
        monkeypatch.setattr(context, "refs", lambda _, ref=ref: (ref,))
        assert own.is_replay_costlier(newest) is bool(smaller), "as large as both steps, or not"
    await play.feed(RunRollback)
    assert play.rounds.member_state().steps == {}
    nursery.cancel_scope.cancel()


def _weights_ref(size_bytes: int) -> TreeRef:
    """Weights of that size, of which nothing is here."""
    return TreeRef(root=sha256(b"weights"), size_bytes=size_bytes, piece_bytes=PIECE_BYTES)


@pytest.mark.trio
async def test_a_step_stays_in_the_store_as_long_as_the_head_that_it_made(tmp_path: Path) -> None:
    swarm, _ = _swarm(most=MAX_HEADS + 1)
    swarm.run()
    first, *heads = swarm.view.heads.values()
    assert len(heads) == MAX_HEADS + 1
    desk = DutyRunnerSetup(tmp_path, swarm, roles=("trainer",))
    steps, followed = list[Digest](), list(pairwise([first, *heads]))
    for life in followed[:3], followed[3:]:
        async with desk.open() as deeds:
            store = desk.store
            assert store is not None
            if not steps:
                await desk.hold_head(deeds)
            else:
                await deeds.heads.fetch(life[0][0])
                assert deeds.heads.step_of(life[0][0]) == steps[-1]
            for parent, head in life:
                steps.append(store.put_tree(_records(swarm, parent, head), PIECE_BYTES).root)
                with trio.fail_after(120):
                    await deeds.perform(duties.FollowDuty(head, steps[-1]), swarm.view)
                assert store.has_tree(steps[0]) is (len(steps) <= MAX_HEADS)
            assert all(map(store.has_tree, steps[1:]))


def _records(swarm: DutySwarm, parent: Head, head: Head) -> bytes:
    """The records of the step from one head to the next."""
    weights, rules = swarm.arithmetic.weights, swarm.manifest
    _, lambda_q = rules.schedule_at(head.round)
    return encode_step(
        weights[parent.weights_root],
        weights[head.weights_root],
        lambda_q=lambda_q,
        matrix_elements=rules.layout.matrix_end,
        down_k=rules.algorithm.down_k,
    )


@pytest.mark.trio
@pytest.mark.parametrize("is_right", [True, False])
async def test_weights_after_a_step_are_kept_only_if_they_have_the_promoted_root(
    tmp_path: Path, *, is_right: bool
) -> None:
    swarm, _ = _swarm()
    while swarm.view.head is None or swarm.view.head.round < 1:
        assert swarm.step()
    head = swarm.view.head
    records = bytearray(_records(swarm, first_head(swarm.manifest), head))
    if not is_right:
        records[0] += 1  # of the first chunk's quantum
    desk = DutyRunnerSetup(tmp_path, swarm, roles=("trainer",))
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            step = desk.store.put_tree(bytes(records), PIECE_BYTES).root
            await desk.hold_head(deeds)
            if is_right:
                await deeds.perform(duties.FollowDuty(head, step), swarm.view)
                assert deeds.heads.held == head
            else:
                with pytest.raises(PeerError, match="does not lead to its head"):
                    await deeds.perform(duties.FollowDuty(head, step), swarm.view)
                assert deeds.heads.held == first_head(swarm.manifest)
            assert desk.store.has_tree(step) is is_right
            assert desk.store.has_tree(head.weights_root) is is_right
