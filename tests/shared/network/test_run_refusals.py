"""Statements about a run at the wrong time, and rosters that a view without accounts refuses."""

from __future__ import annotations

import copy
from dataclasses import fields
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.network.coordination import decide
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunState
from tequio_shared.round import lots
from tequio_shared.round.documents import Roster
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RoundRoster,
    RoundVoid,
)
from tests.support.attackers_round import due_proof, refusal, round_of, swarm_in
from tests.support.memory_swarm import Swarm
from tests.support.statements import example
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Body, Statement


def swarm_with_audits() -> Swarm:
    rules = AuditRules(unproven_bp=10_000, others_bp=10_000)
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=3), audit=rules))
    for at in range(6):
        swarm.volunteer(f"member {at}")
    return swarm


def light(swarm: Swarm) -> RunView:
    """A view of the same run without accounts."""
    copied = copy.deepcopy(swarm.view)
    return RunView(**{one.name: getattr(copied, one.name) for one in fields(RunView)})


def refused(swarm: Swarm, view: RunView, statement: Statement) -> str:
    before = copy.deepcopy(view)
    with pytest.raises(RefusedError) as caught:
        view.apply(len(swarm.entries), statement, swarm.now_ms, swarm.blobs.__getitem__)
    assert view == before
    return caught.value.code


def at_the_end_of(swarm: Swarm, phase: RoundPhase) -> None:
    """Step until that phase of a round has nothing to wait for any more."""
    while round_of(swarm).phase is not phase:
        assert swarm.step()
    while phase is not RoundPhase.OVER and any(one.duty(swarm.view) for one in swarm.volunteers):
        assert swarm.step()


def last_close(swarm: Swarm) -> RoundClose:
    bodies = (entry.statement.body for entry in reversed(swarm.entries))
    return next(body for body in bodies if isinstance(body, RoundClose))


def words(swarm: Swarm, phase: RoundPhase) -> list[Body]:
    """Words of the coordinator about a round that belong to other phases than that one."""
    current = round_of(swarm)
    found: list[Body] = []
    if phase is not RoundPhase.ATTEST:
        found.append(current.opening(swarm.now_ms))
    if phase is not RoundPhase.TRAIN:
        found.append(swarm.witnessing(current))
    if phase is not RoundPhase.WITNESS:
        found.append(last_close(swarm))
    return found


@pytest.mark.parametrize("is_last", [False, True], ids=["training", "afterwards"])
def test_each_word_of_the_coordinator_counts_in_its_phase_alone(*, is_last: bool) -> None:
    """Afterwards, too, when the state of the run is the same in all phases of a round."""
    swarm = swarm_with_audits()
    swarm.run_rounds(1)
    while is_last and swarm.view.state is not RunState.COOLDOWN:
        assert swarm.step()
    for phase in (RoundPhase.ATTEST, RoundPhase.TRAIN, RoundPhase.WITNESS, RoundPhase.OVER):
        at_the_end_of(swarm, phase)
        assert (swarm.view.state is RunState.COOLDOWN) is is_last
        for body in words(swarm, phase):
            is_end = isinstance(body, RoundClose) and phase is not RoundPhase.OVER
            code = refusal(swarm, swarm.coordinator, body)
            assert code == ("not-in-round" if is_last or is_end else "wrong-state"), (phase, body)
    void = refusal(swarm, swarm.coordinator, RoundVoid(reason=1))
    assert void == ("wrong-void" if is_last else "wrong-state")


def test_a_head_is_promoted_while_it_is_attested_and_once() -> None:
    swarm = Swarm()
    promotion = example("head.promote")
    assert isinstance(promotion, HeadPromote)
    statement = swarm.sign(
        swarm.coordinator, StatementDraft(promotion, 0), swarm.manifest.run_id
    ).statement
    assert refused(swarm, light(swarm), statement) == "not-in-round"
    for at in range(4):
        swarm.volunteer(f"member {at}")
    swarm.run_rounds(1)
    at_the_end_of(swarm, RoundPhase.ATTEST)
    while swarm.view.next_head is not None:
        assert swarm.step()
    bodies = [entry.statement for entry in swarm.entries]
    last = [one for one in bodies if isinstance(one.body, HeadPromote)][-1]
    assert refusal(swarm, swarm.coordinator, last.body, last.round) == "wrong-head"
    at_the_end_of(swarm, RoundPhase.OVER)
    number = swarm.view.number
    assert refusal(swarm, swarm.coordinator, last.body, number) == "not-in-round"


def test_a_round_opens_on_a_promoted_head_alone() -> None:
    swarm = Swarm()
    for at in range(4):
        swarm.volunteer(f"member {at}")
    swarm.run_rounds(1)
    while round_of(swarm).phase is not RoundPhase.ATTEST or round_of(swarm).agreed_head() is None:
        assert swarm.step()
    assert swarm.view.next_head is not None
    swarm.now_ms += swarm.manifest.rounds.attest
    before = round_of(swarm)
    assert refusal(swarm, swarm.coordinator, before.opening(swarm.now_ms)) == "wrong-head"
    assert before.phase is RoundPhase.ATTEST


def test_members_speak_in_the_phase_that_asks_them() -> None:
    swarm = swarm_in(RunState.WARMUP, logged=0)
    attests = {one: one.duty(swarm.view) for one in swarm.volunteers}
    swarm.volunteers.pop()
    at_the_end_of(swarm, RoundPhase.TRAIN)
    late, draft = attests.popitem()
    assert draft is not None
    assert refusal(swarm, late.signer, draft.body) == "too-late"


def test_a_proof_counts_in_the_phase_of_witnesses_alone() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    witness, body = due_proof(swarm)
    swarm.volunteers.remove(witness)
    at_the_end_of(swarm, RoundPhase.OVER)
    assert refusal(swarm, witness.signer, body) == "too-late"


def next_roster(swarm: Swarm) -> tuple[RoundRoster, Roster]:
    """The roster that the coordinator would log next, and the statement that names it."""
    while True:
        swarm.watch.update(swarm.view, swarm.now_ms)
        due = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
        if due is not None and isinstance(due.body, RoundRoster):
            assert due.document is not None
            return due.body, Roster.parse(due.document)
        assert swarm.step()


@pytest.mark.parametrize("is_sound", [True, False])
def test_a_view_without_accounts_checks_the_time_to_train(*, is_sound: bool) -> None:
    swarm = Swarm()
    for at in range(4):
        swarm.volunteer(f"member {at}")
    body, roster = next_roster(swarm)
    times, view = swarm.manifest.rounds, light(swarm)
    off = 0 if is_sound else 1
    for train_ms in (times.train - off, times.train_limit + off):
        document = msgspec.structs.replace(roster, train_ms=train_ms).encode()
        swarm.blobs[sha256(document)] = document
        named = msgspec.structs.replace(body, roster=to_text(sha256(document)))
        draft = StatementDraft(named, 1)
        statement = swarm.sign(swarm.coordinator, draft, swarm.manifest.run_id).statement
        if is_sound:
            taken = copy.deepcopy(view)
            taken.apply(len(swarm.entries), statement, swarm.now_ms, swarm.blobs.__getitem__)
            assert taken.number == 1
        else:
            assert refused(swarm, view, statement) == "wrong-roster"
            assert refused(swarm, swarm.view, statement) == "wrong-roster"


def test_a_roster_is_of_the_round_after_the_last_one() -> None:
    swarm = Swarm()
    for at in range(4):
        swarm.volunteer(f"member {at}")
    swarm.run_rounds(1)
    body, roster = next_roster(swarm)
    swarm.blobs[roster.digest] = roster.encode()
    assert swarm.view.number == 1
    for number in (1, 3):
        run, last = swarm.manifest.run_id, swarm.view.last_lots
        assert last is not None
        seed = swarm.coordinator.prove(lots.seed_input(swarm.net, run, number, last))
        named = msgspec.structs.replace(body, vrf=to_text(seed))
        statement = swarm.sign(swarm.coordinator, StatementDraft(named, number), run).statement
        assert refused(swarm, swarm.view, statement) == "wrong-roster"


@pytest.mark.parametrize(("changed", "by"), [("slots", 1), ("trainers", -1)])
def test_a_view_without_accounts_counts_the_members(changed: str, by: int) -> None:
    swarm = Swarm()
    for at in range(4):
        swarm.volunteer(f"member {at}")
    body, roster = next_roster(swarm)
    document = roster.encode()
    swarm.blobs[sha256(document)] = document
    named = msgspec.structs.replace(body, **{changed: getattr(body, changed) + by})
    draft = StatementDraft(named, 1)
    statement = swarm.sign(swarm.coordinator, draft, swarm.manifest.run_id).statement
    assert refused(swarm, light(swarm), statement) == "wrong-roster"


def test_a_key_that_has_ended_says_nothing_about_its_run() -> None:
    swarm = Swarm()
    one = swarm.volunteer("one")
    draft = one.ready(swarm.view)
    statement = one.sign(swarm.net, swarm.manifest.run_id, draft, swarm.now_ms).statement
    for view in (light(swarm), swarm.view):
        view.end_key(one.key)
        assert refused(swarm, view, statement) == "key-ended"
