"""The coordinator's timing: when it speaks, under a clock that only the test moves."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared.network.coordination import (
    LATE_MS,
    RESUME_GRACE_MS,
    CoordinatorTimers,
    decide,
    due,
)
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    RunClose,
    RunFinish,
)
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import FailureRates, StatementDraft


def swarm_of(*characters: FailureRates, **rounds: int) -> Swarm:
    swarm = Swarm(manifest=tiny_manifest(**rounds))
    for at, character in enumerate(characters):
        swarm.volunteer(f"v{at}", character)
    return swarm


def until(swarm: Swarm, phase: RoundPhase) -> None:
    while swarm.view.round is None or swarm.view.round.phase is not phase:
        assert swarm.step()


def wait_ms(swarm: Swarm, ms: int) -> object:
    """Let time pass; return the coordinator's next statement body, or None."""
    swarm.watch.update(swarm.view, swarm.now_ms)
    swarm.now_ms += ms
    swarm.watch.update(swarm.view, swarm.now_ms)
    step = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
    return step.body if step else None


HONEST, SILENT = FailureRates(), FailureRates(silent=100)


def test_members_gather_for_the_warm_up_time() -> None:
    swarm = swarm_of(HONEST, HONEST)
    while len(swarm.entries) < 6:
        swarm.step()
    swarm.watch = CoordinatorTimers()
    assert wait_ms(swarm, 4_999) is None
    assert due(swarm.view, swarm.watch) == swarm.now_ms + 1
    assert isinstance(wait_ms(swarm, 1), RoundRoster)


def test_nothing_happens_without_a_witness() -> None:
    swarm = Swarm()
    for name in "ab":
        swarm.volunteer(name, roles=("trainer",))
    while swarm.step():
        pass
    assert swarm.view.round is None


def three_measurers() -> Swarm:
    """Three members, of whom three measure every second head, before the first attestation."""
    rules = tiny_manifest(grace=1_000, attest=10_000)
    swarm = Swarm(manifest=msgspec.structs.replace(rules, measure=MeasureRules(every=2)))
    for name in "abc":
        swarm.volunteer(name)
    until(swarm, RoundPhase.ATTEST)
    return swarm


def attest(swarm: Swarm, *volunteers: int) -> None:
    """Log the attestations of these volunteers alone."""
    for one in (swarm.volunteers[at] for at in volunteers):
        said = one.duty(swarm.view)
        assert said is not None
        assert isinstance(said.body, HeadAttest)
        swarm.post(one, said)


def test_a_head_that_is_measured_waits_for_the_third_of_three_witnesses() -> None:
    swarm = three_measurers()
    assert wait_ms(swarm, 3_000) is None
    attest(swarm, 0, 1)
    assert wait_ms(swarm, 0) is None
    attest(swarm, 2)
    assert isinstance(wait_ms(swarm, 0), HeadPromote)
    until(swarm, RoundPhase.TRAIN)
    assert swarm.view.drawn is not None
    assert len(swarm.view.drawn.drawn) == 3


def test_a_head_that_is_measured_waits_no_longer_than_the_quorum_took() -> None:
    swarm = three_measurers()
    assert wait_ms(swarm, 3_000) is None
    attest(swarm, 0, 1)
    assert wait_ms(swarm, 2_999) is None
    assert due(swarm.view, swarm.watch) == swarm.now_ms + 1
    assert isinstance(wait_ms(swarm, 1), HeadPromote)


def test_a_head_that_nobody_measures_waits_for_no_third_witness() -> None:
    swarm = three_measurers()
    swarm.run_rounds(1)
    until(swarm, RoundPhase.ATTEST)
    assert swarm.view.next_head is not None
    assert swarm.view.next_head.round == 1
    attest(swarm, 0, 1)
    assert isinstance(wait_ms(swarm, 0), HeadPromote)


def test_the_last_head_waits_for_the_third_witness_whatever_its_round() -> None:
    rules = tiny_manifest(grace=1_000, attest=10_000, most=1)
    swarm = Swarm(manifest=msgspec.structs.replace(rules, measure=MeasureRules(every=2)))
    for name in "abc":
        swarm.volunteer(name)
    swarm.run_rounds(1)
    until(swarm, RoundPhase.ATTEST)
    assert swarm.view.state is RunState.COOLDOWN
    assert swarm.view.next_head is not None
    assert swarm.view.next_head.round == 1
    attest(swarm, 0, 1)
    assert wait_ms(swarm, 0) is None
    attest(swarm, 2)
    assert isinstance(wait_ms(swarm, 0), HeadPromote)


def test_training_ends_when_all_present_have_committed_or_the_deadline_passes() -> None:
    swarm = swarm_of(HONEST, HONEST, HONEST)
    until(swarm, RoundPhase.TRAIN)
    swarm.volunteers[2].failure_rates = SILENT
    while len(swarm.view.round.commitments) < 2:  # type: ignore[union-attr]
        swarm.step()
    assert wait_ms(swarm, 1_000) is None
    assert isinstance(wait_ms(swarm, 29_000), RoundWitness)


def test_a_coordinator_that_was_away_lets_what_waits_for_it_come() -> None:
    """Trainers keep commitments while it is away; its deadline has passed when it comes back."""
    swarm = swarm_of(HONEST, HONEST, HONEST)
    until(swarm, RoundPhase.TRAIN)
    opening = swarm.view.round.open if swarm.view.round else None
    assert opening is not None
    swarm.now_ms = opening.train_by + 60_000
    swarm.watch = CoordinatorTimers()
    assert wait_ms(swarm, 0) is None
    assert due(swarm.view, swarm.watch) == swarm.now_ms + RESUME_GRACE_MS
    assert wait_ms(swarm, RESUME_GRACE_MS - 1) is None
    swarm.run_rounds(1)
    assert (swarm.view.closed, swarm.view.voided) == (1, 0)


@pytest.mark.parametrize(
    ("phase", "patience_ms"),
    [
        (RoundPhase.ATTEST, 10_000),
        (RoundPhase.TRAIN, RESUME_GRACE_MS),
        (RoundPhase.WITNESS, 10_000),
    ],
)
def test_a_coordinator_whose_machine_was_paused_lets_what_was_sent_meanwhile_come(
    phase: RoundPhase, patience_ms: int
) -> None:
    swarm = swarm_of(HONEST, HONEST, HONEST, attest=10_000, witness=10_000)
    until(swarm, phase)
    assert wait_ms(swarm, 0) is None
    due_at = swarm.watch.expect(swarm.view)
    assert due_at is not None
    assert wait_ms(swarm, due_at + LATE_MS + 1 - swarm.now_ms) is None
    assert due(swarm.view, swarm.watch) == swarm.now_ms + patience_ms
    swarm.run_rounds(1)
    assert (swarm.view.closed, swarm.view.voided) == (1, 0)


@pytest.mark.parametrize("phase", [RoundPhase.ATTEST, RoundPhase.TRAIN, RoundPhase.WITNESS])
def test_a_coordinator_that_is_always_late_ends_each_phase(phase: RoundPhase) -> None:
    """A busy ledger comes late to every deadline: that must not begin a wait again and again."""
    swarm = swarm_of(HONEST, HONEST, HONEST, attest=10_000, witness=10_000)
    until(swarm, phase)
    began_ms, waited = swarm.now_ms, wait_ms(swarm, 0)
    while waited is None:
        assert swarm.now_ms < began_ms + 120_000
        due_at = swarm.watch.expect(swarm.view)
        assert due_at is not None
        waited = wait_ms(swarm, max(due_at - swarm.now_ms, 0) + LATE_MS + 1)


def test_a_coordinator_that_is_late_by_a_moment_goes_on() -> None:
    swarm = swarm_of(HONEST, HONEST)
    until(swarm, RoundPhase.TRAIN)
    assert wait_ms(swarm, 0) is None
    due_at = swarm.watch.expect(swarm.view)
    assert due_at is not None
    assert isinstance(wait_ms(swarm, due_at + LATE_MS - swarm.now_ms), RoundVoid)


def test_without_any_commitment_the_round_is_void() -> None:
    swarm = swarm_of(HONEST, HONEST)
    until(swarm, RoundPhase.TRAIN)
    assert isinstance(wait_ms(swarm, 30_000), RoundVoid)


def test_a_round_closes_after_the_grace_when_a_witness_is_missing() -> None:
    swarm = swarm_of(HONEST, HONEST, HONEST, HONEST, witness=10_000, grace=1_000)
    until(swarm, RoundPhase.WITNESS)
    while not swarm.view.round.has_quorum():  # type: ignore[union-attr]
        swarm.step()
    assert wait_ms(swarm, 999) is None
    assert isinstance(wait_ms(swarm, 1), RoundClose)


@pytest.mark.parametrize(("members", "is_undecided"), [(3, True), (4, False)])
def test_a_witness_that_still_decides_has_as_long_again_as_the_quorum_took(
    members: int,
    is_undecided: bool,  # noqa: FBT001 - a row of the table
) -> None:
    """Of three, the slot of the missing witness has one vote less than it needs; of four, none."""
    swarm = swarm_of(*[HONEST] * members, witness=30_000, grace=1_000)
    until(swarm, RoundPhase.WITNESS)
    swarm.watch.update(swarm.view, swarm.now_ms)
    swarm.now_ms += 5_000
    while not swarm.view.round.has_quorum():  # type: ignore[union-attr]
        swarm.step()
    assert wait_ms(swarm, 0) is None
    assert swarm.watch.witness_at is not None
    assert swarm.watch.quorum_at is not None
    took_ms = swarm.watch.quorum_at - swarm.watch.witness_at
    assert took_ms > 1_000
    patience_ms = took_ms if is_undecided else 1_000
    assert wait_ms(swarm, patience_ms - 1) is None
    assert due(swarm.view, swarm.watch) == swarm.now_ms + 1
    assert isinstance(wait_ms(swarm, 1), RoundClose)


def test_a_quorum_just_before_the_deadline_still_closes_the_round() -> None:
    swarm = swarm_of(HONEST, HONEST, HONEST, HONEST, witness=10_000, grace=5_000)
    until(swarm, RoundPhase.WITNESS)
    swarm.watch.update(swarm.view, swarm.now_ms)
    swarm.now_ms += 9_000
    while not swarm.view.round.has_quorum():  # type: ignore[union-attr]
        for one in swarm.volunteers:
            said = one.duty(swarm.view)
            if said is not None and not swarm.view.round.has_quorum():  # type: ignore[union-attr]
                entry = one.sign(swarm.net, swarm.manifest.run_id, said, swarm.now_ms)
                swarm.view.apply(0, entry.statement, swarm.now_ms, swarm.blobs.__getitem__)
                one.record_logged(entry)
    assert isinstance(wait_ms(swarm, 1_000), RoundClose)


def test_too_few_proofs_by_the_deadline_void_the_round() -> None:
    swarm = swarm_of(HONEST, HONEST, HONEST, HONEST)
    until(swarm, RoundPhase.WITNESS)
    assert isinstance(wait_ms(swarm, 60_000), RoundVoid)


def test_the_last_head_is_stated_before_the_run_ends() -> None:
    swarm = swarm_of(HONEST, HONEST, HONEST, most=2)
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert swarm.view.head is not None
    assert swarm.view.head.round == 2


def test_a_cooldown_without_members_waits_and_then_ends() -> None:
    swarm = swarm_of(HONEST, HONEST, HONEST)
    until(swarm, RoundPhase.WITNESS)
    swarm.log_statement(swarm.organiser, StatementDraft(RunFinish(reason=1)))
    swarm.run_rounds(1)
    for one in swarm.volunteers:
        swarm.view.accounts.deactivate(one.key)
    assert swarm.view.state is RunState.COOLDOWN
    assert wait_ms(swarm, 59_999) is None
    assert isinstance(wait_ms(swarm, 1), RunClose)


def test_the_coordinator_never_says_what_is_refused() -> None:
    for seed in range(5):
        swarm = Swarm(seed=seed)
        for at in range(5):
            swarm.volunteer(f"v{at}", FailureRates(silent=30, misstating=20, lying=20, leaving=10))
        swarm.run(500)  # `say` raises when the rules refuse
        assert swarm.view.number > 1
