"""Duties of a volunteer: a table of situations, and swarms whose members do only their duties."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import Duty, MemberState, next_duty
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import MEASURED_HEADS, MISSED_ROUNDS
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.documents import AuditOrder
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundWitness,
)
from tests.support.attack_table import attack
from tests.support.duty_swarm import DutyMember, DutySwarm
from tests.support.tiny_run import signer, tiny_manifest

if TYPE_CHECKING:
    from tequio_shared.network.run import RunView
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import RoundView


def stopped(at: type[object], rounds: int = 1, rules: Manifest | None = None) -> DutySwarm:
    """Run a swarm of three until the round's statement of that type was logged."""
    swarm = DutySwarm(rules or tiny_manifest(most=3))
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    seen = 0
    while seen < rounds:
        size = len(swarm.entries)
        assert swarm.step()
        seen += sum(isinstance(one.statement.body, at) for one in swarm.entries[size:])
    for member in swarm.members:
        member.follow(swarm.entries)
    return swarm


def own_of(view: RunView, member: DutyMember) -> MemberState:
    """Say what the member holds as it is now, without the memory of what it said."""
    return replace(member.own(), answered=(), ready_index=10_000)


def current(view: RunView) -> RoundView:
    assert view.round is not None
    return view.round


@attack("M2", layer="coord", ends="sends nothing and trains nothing before it has the head")
def test_a_newcomer_fetches_the_first_head_before_it_says_anything() -> None:
    swarm = DutySwarm(tiny_manifest())
    ana = swarm.join("ana")
    assert next_duty(swarm.view, ana.own()) == duties.FetchDuty(first_head(swarm.manifest))


def test_who_holds_the_head_says_that_it_is_ready_once_per_roster() -> None:
    swarm = DutySwarm(tiny_manifest())
    own = replace(swarm.join("ana").own(), held=first_head(swarm.manifest))
    assert next_duty(swarm.view, own) == duties.ReadyDuty(-1)
    assert next_duty(swarm.view, replace(own, ready_index=5)) == duties.WaitDuty()
    assert (
        next_duty(swarm.view, replace(own, answered=(duties.ReadyDuty(-1),))) == duties.WaitDuty()
    )
    assert next_duty(swarm.view, replace(own, is_leaving=True)) == duties.WaitDuty()


def test_who_has_attested_trains_while_the_others_still_attest() -> None:
    swarm = stopped(HeadAttest)
    now = current(swarm.view)
    assert now.open is None
    for member in swarm.members:
        has_attested = now.slot_of[member.key] in now.attests
        wanted = duties.TrainDuty if has_attested else duties.AttestDuty
        assert next_duty(swarm.view, own_of(swarm.view, member)) == wanted(now.number)


def test_who_may_not_compute_takes_leave_once_and_does_nothing_else() -> None:
    swarm = stopped(RoundOpen)
    ana = swarm.members[0]
    own = replace(own_of(swarm.view, ana), ready_index=5)
    assert next_duty(swarm.view, own) == duties.TrainDuty(current(swarm.view).number)
    resting = replace(own, pause_reason="a game runs")
    assert next_duty(swarm.view, resting) == duties.LeaveDuty(5)
    said = next_duty(swarm.view, replace(resting, answered=(duties.LeaveDuty(5),)))
    left = next_duty(swarm.view, replace(resting, ready_index=None))
    assert isinstance(said, duties.WaitDuty)
    assert isinstance(left, duties.WaitDuty)
    assert left.reason == "a game runs"


def test_who_left_is_ready_anew_though_the_last_roster_has_it() -> None:
    swarm = stopped(RoundOpen)
    ana, at = swarm.members[0], current(swarm.view).roster_index
    trained = (duties.TrainDuty(current(swarm.view).number), duties.ReadyDuty(-1))
    own = replace(own_of(swarm.view, ana), ready_index=at - 1, answered=trained)
    assert isinstance(
        next_duty(swarm.view, own), duties.WaitDuty
    )  # the roster has it, and it stays
    left = replace(own, ready_index=None, left_at=at + 3)
    assert next_duty(swarm.view, left) == duties.ReadyDuty(at + 3)
    assert isinstance(next_duty(swarm.view, replace(left, ready_index=at + 4)), duties.WaitDuty)


def test_a_head_is_measured_once_in_so_many_rounds_when_there_is_nothing_else_to_do() -> None:
    swarm = stopped(HeadPromote, 3)
    ana, head = swarm.members[0], swarm.view.head
    assert head is not None
    own = replace(own_of(swarm.view, ana), held=head, measures_every=head.round)
    waits = replace(own, answered=tuple(_duties(swarm.view, own)))
    assert next_duty(swarm.view, waits) == duties.MeasureDuty(head)
    assert isinstance(next_duty(swarm.view, replace(waits, measured=head.round)), duties.WaitDuty)
    lately = replace(waits, measures_every=head.round + 1, measured=0)
    assert isinstance(next_duty(swarm.view, lately), duties.WaitDuty)
    assert isinstance(next_duty(swarm.view, replace(waits, measures_every=0)), duties.WaitDuty)


def drawing(rounds: int) -> tuple[DutySwarm, DutyMember]:
    """Stop a swarm whose run measures at a promotion; return a member that was drawn, too."""
    rules = msgspec.structs.replace(tiny_manifest(most=3), measure=MeasureRules(every=1))
    swarm = stopped(HeadPromote, rounds, rules)
    assert swarm.view.drawn is not None
    drawn = swarm.view.drawn.drawn
    return swarm, next(member for member in swarm.members if member.key in drawn)


def test_a_drawn_member_measures_the_head_once_when_there_is_nothing_else_to_do() -> None:
    swarm, ana = drawing(2)
    draw = swarm.view.drawn
    assert draw is not None
    own = replace(own_of(swarm.view, ana), held=draw.head)
    waits = replace(own, answered=tuple(_duties(swarm.view, own)))
    asked = duties.MeasureDuty(draw.head, is_drawn=True)
    assert next_duty(swarm.view, waits) == asked
    cases = {
        "said": replace(waits, answered=(*waits.answered, asked)),
        "leaving": replace(waits, is_leaving=True),
        "resting": replace(waits, pause_reason="a game runs"),
        "not drawn": replace(waits, key=signer("new").key),
        "no weights": replace(waits, held=None),
    }
    for name, own in cases.items():
        assert not isinstance(next_duty(swarm.view, own), duties.MeasureDuty), name
    body = HeadMeasure(head=to_text(draw.head.hash), millibits=1, size_bytes=1, tokens=1)
    draw.measures[ana.key] = body
    assert not isinstance(next_duty(swarm.view, waits), duties.MeasureDuty)


def test_a_drawn_head_is_measured_while_its_weights_stay_though_a_newer_one_is_held() -> None:
    swarm, ana = drawing(2)
    draw = swarm.view.drawn
    assert draw is not None
    while ana.own().held in (None, draw.head):
        assert swarm.step()
    later = swarm.view.draws.open.index(draw) + 1
    del swarm.view.draws.open[later:]  # as if nothing newer had been drawn for
    draw.measures.clear()
    own = own_of(swarm.view, ana)
    waits = replace(own, answered=tuple(_duties(swarm.view, own)))
    assert isinstance(next_duty(swarm.view, waits), duties.WaitDuty)
    kept = replace(waits, has_weights=[draw.head].__contains__)
    assert next_duty(swarm.view, kept) == duties.MeasureDuty(draw.head, is_drawn=True)


def test_where_rounds_are_short_the_oldest_head_is_measured_first_while_it_is_asked_for() -> None:
    rules = msgspec.structs.replace(
        tiny_manifest(most=MEASURED_HEADS + 2), measure=MeasureRules(every=1)
    )
    swarm = stopped(HeadPromote, MEASURED_HEADS, rules)
    draws = list(swarm.view.draws.open)
    assert [draw.head.round for draw in draws] == list(range(MEASURED_HEADS))
    ana = swarm.members[0]
    for draw in draws:
        draw.drawn = (ana.key,)
        draw.measures.clear()
    own = replace(own_of(swarm.view, ana), held=draws[-1].head)
    own = replace(own, has_weights=lambda head: head.round != 1)
    waits = replace(own, answered=tuple(_duties(swarm.view, own)))
    asked = [duties.MeasureDuty(draw.head, is_drawn=True) for draw in draws]
    assert next_duty(swarm.view, waits) == asked[0]
    begun = replace(waits, answered=(*waits.answered, asked[0]))
    assert next_duty(swarm.view, begun) == asked[2], "of the head between the weights are gone"
    while swarm.view.draws.open[0] is draws[0]:
        assert swarm.step()
    assert swarm.view.draws.open[-1].head.round == MEASURED_HEADS
    own = replace(own_of(swarm.view, ana), held=swarm.view.draws.open[-1].head)
    late = replace(own, has_weights=draws[0].head.__eq__)
    waits = replace(late, answered=tuple(_duties(swarm.view, late)))
    assert next_duty(swarm.view, waits) != asked[0], "of that head no measure is taken any more"


def test_for_our_own_eyes_we_measure_only_what_nobody_was_drawn_for() -> None:
    swarm, ana = drawing(2)
    assert swarm.view.drawn is not None
    head = swarm.view.drawn.head
    own = replace(own_of(swarm.view, ana), held=head, measures_every=1)
    done = duties.MeasureDuty(head, is_drawn=True)
    waits = replace(own, answered=(*_duties(swarm.view, own), done))
    assert isinstance(next_duty(swarm.view, waits), duties.WaitDuty)
    swarm.view.draws.open.clear()
    assert next_duty(swarm.view, waits) == duties.MeasureDuty(head)


def test_a_drawn_member_measures_the_last_head_before_it_is_done() -> None:
    swarm, _ = drawing(1)
    swarm.run()
    draw = swarm.view.drawn
    assert draw is not None
    assert swarm.view.state is RunState.FINISHED
    ana = next(member for member in swarm.members if member.key in draw.drawn)
    own = replace(own_of(swarm.view, ana), held=draw.head)
    asked = duties.MeasureDuty(draw.head, is_drawn=True)
    assert next_duty(swarm.view, own) == asked
    assert next_duty(swarm.view, replace(own, answered=(asked,))) == duties.RunEnded()
    assert next_duty(swarm.view, replace(own, is_leaving=True)) == duties.RunEnded()


def _duties(view: RunView, own: MemberState) -> list[duties.Duty]:
    """The duties before the first wait or measurement, in order."""
    found: list[duties.Duty] = []
    while not isinstance(
        now := next_duty(view, replace(own, answered=tuple(found))), duties.WaitDuty
    ):
        assert now not in found, "a duty that no statement answers"
        if isinstance(now, duties.MeasureDuty):
            break
        found.append(now)
    return found


def test_a_key_that_no_roster_admits_is_ready_and_told_why_it_waits() -> None:
    swarm = DutySwarm(tiny_manifest())
    own = replace(swarm.join("ana").own(), held=first_head(swarm.manifest))
    denied = replace(own, tier_problem="this run requires an invitation")
    assert isinstance(next_duty(swarm.view, denied), duties.ReadyDuty), (
        "it may be vouched for later"
    )
    waits = next_duty(swarm.view, replace(denied, ready_index=5))
    assert isinstance(waits, duties.WaitDuty)
    assert waits.reason == "this run requires an invitation"


def test_a_quarantined_key_asks_for_nothing_until_its_term_is_over() -> None:
    swarm = DutySwarm(tiny_manifest())
    own = replace(swarm.join("ana").own(), held=first_head(swarm.manifest), ready_index=5)
    held_back = replace(own, idle_reason="quarantined until tomorrow", removed_at=7)
    waits = next_duty(swarm.view, held_back)
    assert isinstance(waits, duties.WaitDuty)
    assert waits.reason == "quarantined until tomorrow"
    served = replace(held_back, idle_reason="")
    assert next_duty(swarm.view, served) == duties.ReadyDuty(7)
    assert next_duty(swarm.view, replace(served, ready_index=8)) == duties.WaitDuty()


def test_an_order_comes_before_the_training_of_its_round() -> None:
    swarm = stopped(RoundOpen)
    member, name = swarm.members[0], to_text(sha256(b"audited"))
    now = current(swarm.view)
    slot = now.slot_of[member.key]
    now.orders[slot] = AuditOrder(
        slot=slot, round=1, contribution=name, tokens=1, opening=name, earlier=()
    )
    own = own_of(swarm.view, member)
    audit = duties.AuditDuty(1)
    assert next_duty(swarm.view, own) == audit
    assert next_duty(swarm.view, replace(own, answered=(audit,))) == duties.TrainDuty(1)


def test_an_open_round_is_trained_in_unless_the_head_is_another() -> None:
    swarm = stopped(RoundOpen)
    own = own_of(swarm.view, swarm.members[0])
    assert next_duty(swarm.view, own) == duties.TrainDuty(1)
    assert next_duty(swarm.view, replace(own, answered=(duties.TrainDuty(1),))) == duties.WaitDuty()
    assert own.held is not None
    wrong = replace(own.held, round=7)
    target = duties.FetchDuty(first_head(swarm.manifest))
    assert next_duty(swarm.view, replace(own, held=wrong)) == target


def test_a_proof_comes_before_the_weights() -> None:
    swarm = stopped(RoundWitness)
    own = own_of(swarm.view, swarm.members[0])
    assert next_duty(swarm.view, replace(own, held=None)) == duties.ProveDuty(1)


def test_a_closed_round_is_computed_on_at_once() -> None:
    swarm = stopped(RoundClose)
    own = own_of(swarm.view, swarm.members[0])
    assert own.held is not None
    assert next_duty(swarm.view, own) == duties.AdvanceDuty(own.closed[own.held.hash])


@attack("M7", layer="coord", ends="retried until a quorum attests the head, then that is fetched")
def test_who_cannot_compute_the_head_goes_on_trying_until_it_is_canonical() -> None:
    swarm = stopped(RoundClose)
    own = own_of(swarm.view, swarm.members[0])
    assert own.held is not None
    stuck = replace(own, stuck=(own.held.hash,))
    assert isinstance(next_duty(swarm.view, stuck), duties.AdvanceDuty)
    while not isinstance(swarm.entries[-1].statement.body, HeadPromote):
        assert swarm.step()
    assert swarm.view.head is not None
    assert next_duty(swarm.view, stuck) == duties.FetchDuty(swarm.view.head)


def test_a_head_on_its_way_stays_wanted_while_closed_rounds_lead_on_from_it() -> None:
    swarm = stopped(HeadPromote, rounds=2)
    first = first_head(swarm.manifest)
    own = replace(own_of(swarm.view, swarm.members[0]), held=None, fetching=first)
    assert next_duty(swarm.view, own) == duties.FetchDuty(first)
    assert swarm.view.head is not None
    lost = replace(own, closed={})
    assert next_duty(swarm.view, lost) == duties.FetchDuty(swarm.view.head)


def test_nobody_is_ready_for_a_round_whose_head_it_cannot_state() -> None:
    swarm = stopped(RoundClose)
    own = replace(own_of(swarm.view, swarm.members[0]), key=signer("new").key, closed={})
    assert own.held is not None
    assert next_duty(swarm.view, replace(own, ready_index=None)) == duties.WaitDuty()


def test_a_finished_run_leaves_nothing_to_do() -> None:
    swarm = DutySwarm(tiny_manifest(most=1))
    for name in ("ana", "bo"):
        swarm.join(name)
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert next_duty(swarm.view, swarm.members[0].own()) == duties.RunEnded()


def test_who_is_a_round_behind_when_the_run_ends_computes_the_last_head() -> None:
    swarm = stopped(RoundClose, rounds=3)
    member = swarm.members[0]
    before = own_of(swarm.view, member)
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    late = replace(member.own(), held=before.held, closed=before.closed)
    assert late.held is not None
    assert late.held != swarm.view.head
    assert next_duty(swarm.view, late) == duties.AdvanceDuty(before.closed[late.held.hash])
    for cannot in (
        replace(late, stuck=(late.held.hash,)),
        replace(late, pause_reason="a game runs"),
        replace(late, is_leaving=True),
        replace(late, is_replay_costlier=lambda _: True),
        replace(late, closed={}),
    ):
        assert next_duty(swarm.view, cannot) == duties.RunEnded()


def test_members_who_do_their_duty_finish_a_run_with_one_head() -> None:
    swarm = DutySwarm(tiny_manifest(most=4))
    for name in ("ana", "bo", "cleo", "dani"):
        swarm.join(name)
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert (swarm.view.closed, swarm.view.voided) == (4, 0)
    assert swarm.refused == {}


def test_members_who_do_their_duty_leave_a_curve_in_the_log() -> None:
    rules = msgspec.structs.replace(tiny_manifest(most=4), measure=MeasureRules(every=2))
    swarm = DutySwarm(rules)
    for name in ("ana", "bo", "cleo", "dani"):
        swarm.join(name)
    swarm.run()
    told = [
        (one.statement.round, one.statement.body.millibits)
        for one in swarm.entries
        if isinstance(one.statement.body, HeadMeasure)
    ]
    assert {number for number, _ in told} <= {0, 2, 4}
    assert {0, 2} <= {number for number, _ in told}
    assert all(millibits == 7_000_000 - 100_000 * (number or 0) for number, millibits in told)
    assert swarm.refused == {}


def test_who_is_dropped_as_nobody_can_fetch_its_work_is_ready_anew() -> None:
    swarm = DutySwarm(tiny_manifest(most=5, min_members=3))
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    cleo = swarm.members[2].key
    swarm.arithmetic.hidden.add(cleo)
    dropped_after: set[int] = set()
    while swarm.view.state is not RunState.FINISHED:
        assert swarm.step(), "the others alone are too few for a roster"
        if swarm.view.closed and not swarm.view.accounts.members[cleo].is_active:
            dropped_after.add(swarm.view.closed)
    assert dropped_after == {MISSED_ROUNDS}


@pytest.mark.parametrize("after", [RoundOpen, RoundWitness, RoundClose, HeadPromote])
def test_a_run_survives_that_everybody_loses_its_memory_at_once(after: type[object]) -> None:
    swarm = stopped(after)
    for member in swarm.members:
        swarm.restart(member)
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert swarm.view.closed >= 2


@attack("M2", layer="coord", ends="in the next roster, with the head of the others")
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1 << 20),
    mishaps=st.lists(
        st.tuples(st.integers(0, 120), st.integers(0, 4), st.sampled_from(["restart", "join"])),
        max_size=8,
    ),
)
def test_nobody_who_does_its_duty_gets_stuck(
    seed: int, mishaps: list[tuple[int, int, str]]
) -> None:
    swarm = DutySwarm(tiny_manifest(most=3), seed=seed)
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    swarm.run(mishaps=mishaps)
    assert swarm.view.state is RunState.FINISHED
    assert swarm.view.closed >= 1
    assert all(isinstance(what, Duty) for _, what in swarm.done)
