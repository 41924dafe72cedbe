"""A paused run goes back to an earlier head: what counts from there on, and what is refused."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, to_text
from tequio_shared.network.rollback import is_given_up, lineage
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.runs import (
    RoundClose,
    RoundOpen,
    RoundVoid,
    RunFinish,
    RunOpen,
    RunPause,
    RunResume,
    RunRollback,
)
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import FailureRates

if TYPE_CHECKING:
    from tequio_shared.head.chain import Head

CROOKED = FailureRates(silent=10, misstating=10, lying=10, partial=40)


def swarm_of(seed: int = 1, rates: FailureRates | None = None, most: int = 8) -> Swarm:
    swarm = Swarm(manifest=tiny_manifest(most=most), seed=seed)
    for at in range(5):
        swarm.volunteer(f"v{at}", rates or FailureRates())
    return swarm


def pause_after(swarm: Swarm, rounds: int) -> None:
    """Let that many rounds end in all, and pause the run."""
    swarm.run_rounds(rounds)
    swarm.organise(RunPause(reason=1))
    while swarm.view.state is not RunState.PAUSED:
        assert swarm.step()


def refusal(swarm: Swarm, round_number: int, **changed: object) -> str:
    before = copy.deepcopy(swarm.view)
    with pytest.raises(RefusedError) as caught:
        swarm.go_back(round_number, **changed)
    assert swarm.view == before
    return caught.value.code


def head_of(swarm: Swarm) -> Head:
    assert swarm.view.head is not None
    return swarm.view.head


def test_the_next_round_starts_from_the_earlier_head_and_points_stay() -> None:
    swarm = swarm_of()
    pause_after(swarm, 4)
    earned = copy.deepcopy(swarm.view.accounts.earned)
    trained, cases = swarm.view.accounts.tokens, copy.deepcopy(swarm.view.accounts.audits)
    fresh = swarm.view.accounts.queue.fresh
    swarm.go_back(1)
    assert swarm.view.state is RunState.PAUSED
    assert swarm.view.head == swarm.view.heads[1]
    assert swarm.view.next_head is None
    assert (swarm.view.accounts.earned, swarm.view.accounts.tokens) == (earned, trained)
    assert (swarm.view.accounts.audits, swarm.view.accounts.queue.fresh) == (cases, fresh)
    swarm.organise(RunResume(reason=1))
    swarm.run_rounds(6)
    openings = {
        one.statement.round: one.statement.body.head
        for one in swarm.entries
        if isinstance(one.statement.body, RoundOpen)
    }
    assert openings[5] == to_text(swarm.view.heads[1].hash)
    assert swarm.view.heads[5].parent == swarm.view.heads[1].hash
    assert openings[6] == to_text(swarm.view.heads[5].hash)
    assert swarm.view.heads[2].parent == swarm.view.heads[1].hash, "the log knows what was left"


def test_a_head_that_nobody_has_promoted_yet_is_given_up_as_well() -> None:
    swarm = swarm_of()
    pause_after(swarm, 2)
    assert swarm.view.next_head is not None
    assert head_of(swarm).round == 1
    swarm.go_back(1)
    assert swarm.replay().next_head is None
    swarm.organise(RunResume(reason=1))
    swarm.run_rounds(4)
    assert 2 not in swarm.view.heads
    assert swarm.view.heads[3].parent == swarm.view.heads[1].hash


def test_the_first_head_can_be_gone_back_to_and_a_later_one_again() -> None:
    swarm = swarm_of()
    pause_after(swarm, 4)
    swarm.go_back(0)
    swarm.go_back(3)
    assert head_of(swarm).round == 3
    assert [(one.head_round, one.last_round) for one in swarm.view.rollbacks] == [(0, 4), (3, 4)]


def test_only_a_paused_run_goes_back_and_only_to_a_promoted_head() -> None:
    swarm = swarm_of()
    swarm.run_rounds(3)
    assert refusal(swarm, 1) == "wrong-state"
    swarm.organise(RunPause(reason=1))
    while swarm.view.state is not RunState.PAUSED:
        assert refusal(swarm, 1) == "wrong-state", "its round is still in progress"
        assert swarm.step()
    swarm.go_back(2)
    assert refusal(swarm, 2) == "wrong-head", "it is there already"
    assert refusal(swarm, 1, last_round=2) == "wrong-round", "a round more than organisers knew"
    other = to_text(swarm.view.heads[0].weights_root)
    assert refusal(swarm, 1, weights_root=other) == "wrong-head"
    assert refusal(swarm, 1, head=to_text(swarm.view.heads[0].hash)) == "wrong-head"
    swarm.organise(RunResume(reason=1))
    assert refusal(swarm, 1) == "wrong-state"


def test_a_run_ends_at_the_head_that_it_went_back_to() -> None:
    swarm = swarm_of()
    pause_after(swarm, 3)
    swarm.go_back(1)
    swarm.organise(RunFinish(reason=1))
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert head_of(swarm).round == 1


def test_work_after_a_rollback_starts_without_error_feedback() -> None:
    swarm = swarm_of()
    pause_after(swarm, 3)
    accounts = swarm.view.accounts
    for member in accounts.members.values():
        member.feedback = swarm.view.heads[1].weights_root  # as if their work had left some
    key = next(iter(accounts.members))
    left = to_text(swarm.view.heads[1].weights_root)
    accounts.check_feedback(key, left)
    swarm.go_back(1)
    assert {one.feedback for one in accounts.members.values()} == {ZERO_DIGEST}
    accounts.check_feedback(key, "")
    with pytest.raises(RefusedError, match="error feedback"):
        accounts.check_feedback(key, left)


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_and_every_light_view_arrive_at_the_same_head(seed: int) -> None:
    swarm = swarm_of(seed, CROOKED, most=9)
    begun = len(swarm.entries)
    for rounds, back in ((3, 0), (5, None), (7, 1)):
        pause_after(swarm, rounds)
        heads = sorted(swarm.view.heads)
        if back is not None and (swarm.view.next_head or swarm.view.head != swarm.view.heads[0]):
            swarm.go_back(heads[min(back, len(heads) - 1)])
        swarm.organise(RunResume(reason=1))
    swarm.run(3_000)
    assert swarm.view.state is RunState.FINISHED
    assert swarm.view.rollbacks
    again = swarm.replay()
    assert again.accounts == swarm.view.accounts
    assert (again.head, again.heads, again.rollbacks) == (
        swarm.view.head,
        swarm.view.heads,
        swarm.view.rollbacks,
    )
    views = light_views(swarm, begun)
    assert len(views) > 6
    assert {light.state for light in views} == {RunState.FINISHED}
    assert {light.head for light in views} == {swarm.view.head}


def light_views(swarm: Swarm, begun: int) -> list[RunView]:
    """Views from every point of rest, after the whole log."""
    views: list[RunView] = []
    for index, entry in enumerate(swarm.entries):
        if entry.statement.run is None:
            continue
        for light in views:
            light.apply(index, entry.statement, 0, swarm.blobs.__getitem__)
        if index >= begun and isinstance(
            entry.statement.body, RunOpen | RoundClose | RoundVoid | RunRollback
        ):
            whole = swarm.replay(swarm.entries[: index + 1])
            views.append(
                RunView.light(
                    swarm.net,
                    swarm.manifest,
                    head=whole.head,
                    next_head=whole.next_head,
                    state=RunState.WAITING_FOR_MEMBERS
                    if whole.state is not RunState.PAUSED
                    else RunState.PAUSED,
                )
            )
    return views


def test_a_light_view_refuses_to_go_back_within_a_round() -> None:
    swarm = swarm_of()
    pause_after(swarm, 2)
    swarm.go_back(1)
    going_back = swarm.entries[-1].statement
    swarm.organise(RunResume(reason=1))
    light = RunView.light(swarm.net, swarm.manifest, head=head_of(swarm), next_head=None)
    while swarm.view.state is not RunState.ROUND_TRAIN:
        size = len(swarm.entries)
        assert swarm.step()
        for index in range(size, len(swarm.entries)):
            statement = swarm.entries[index].statement
            light.apply(index, statement, 0, swarm.blobs.__getitem__)
    with pytest.raises(RefusedError, match="in progress"):
        light.apply(len(swarm.entries), going_back, 0, swarm.blobs.__getitem__)


@dataclass(frozen=True)
class Rounds:
    head_round: int
    last_round: int


def test_the_lineage_of_a_round_skips_what_was_given_up() -> None:
    once = [Rounds(2, 5)]
    assert lineage(once, 7) == (range(6, 8), range(1, 3))
    assert lineage(once, 4) == (range(1, 5),), "the rounds given up have their own lineage"
    undone = [*once, Rounds(4, 7)]
    assert lineage(undone, 8) == (range(8, 9), range(1, 5))
    assert [one for one in range(8) if is_given_up(once, one, 5)] == [3, 4, 5]
    assert [one for one in range(8) if is_given_up(undone, one, 7)] == [5, 6, 7]
    assert not is_given_up([], 3, 9)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 30)), max_size=6), st.integers(0, 3))
def test_the_lineage_is_that_of_the_parents(steps: list[tuple[int, int]], more: int) -> None:
    parent, rollbacks, number, head = dict[int, int](), list[Rounds](), 0, 0
    for rounds, choice in [*steps, (more, 0)]:
        for _ in range(rounds):
            number += 1
            parent[number], head = head, number
        if (rounds, choice) != (more, 0) or len(rollbacks) < len(steps):
            head = choice % (number + 1)
            rollbacks.append(Rounds(head, number))
    kept, at = set[int](), head
    while at:
        kept.add(at)
        at = parent[at]
    found = {one for one in range(1, number + 1) if not is_given_up(rollbacks, one, number)}
    assert found == kept
