"""Members without witness duty, in a run with a down link: they follow steps of heads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio
from msgspec import UNSET, structs

from tequio_client.worker.rounds import duties
from tequio_shared.errors import PeerError
from tequio_shared.head.step import encode_step
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import HeadAttest, HeadPromote, WorkCommit
from tests.support.attack_table import attack
from tests.support.duty_runner_setup import DutyRunnerSetup
from tests.support.duty_swarm import DutyMember, DutySwarm, step_of
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_member_that_missed_a_head_fetches_the_newest() -> None:
    swarm, light = _swarm()
    while swarm.view.closed < 1:
        assert swarm.step()
    held = light.own().held
    swarm.members.remove(light)  # it sleeps
    while swarm.view.head is None or swarm.view.head.round < 3:
        assert swarm.step()
    light.follow(swarm.entries)
    own = light.own()
    assert own.held == held
    newest = duties.FetchDuty(swarm.view.head)
    assert duties.next_duty(light.view, own) == newest
    while swarm.view.head == newest.head:
        assert swarm.step()
    light.follow(swarm.entries)
    late = replace(light.own(), fetching=newest.head)
    assert duties.next_duty(light.view, late) == newest, "a fetch that took longer than a round"


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


def _records(swarm: DutySwarm, head: Head) -> bytes:
    """The records of the step from the first head to that one."""
    weights, rules = swarm.arithmetic.weights, swarm.manifest
    _, lambda_q = rules.schedule_at(head.round)
    return encode_step(
        weights[first_head(rules).weights_root],
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
    records = bytearray(_records(swarm, head))
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
