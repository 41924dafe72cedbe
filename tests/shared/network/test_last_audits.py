"""Rounds after the last training, in which members audit the last work before it is paid."""

from __future__ import annotations

import copy

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tequio_shared.network.audits import AuditBook
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import CloseReason, RunState
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.round import RoundPhase
from tequio_shared.served.coordinator import Coordinator
from tequio_shared.statements.network import MemberLeave, StandingChange
from tequio_shared.statements.runs import (
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RunClose,
    RunFinish,
    RunPause,
    WorkCommit,
)
from tests.shared.network.test_point_shares import SharingSwarm
from tests.shared.network.test_point_shares import swarm_of as sharing_swarm
from tests.support.attack_table import attack
from tests.support.memory_swarm import Swarm
from tests.support.second_run import Auditing
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import FailureRates, StatementDraft, Volunteer

ROUNDS = 3


def swarm_of(rate: int = 10_000, most: int = ROUNDS, seed: int = 0, least: int = 2) -> Swarm:
    rules = AuditRules(unproven_bp=rate, others_bp=rate)
    manifest = tiny_manifest(most=most, min_members=least)
    swarm = Swarm(msgspec.structs.replace(manifest, audit=rules), seed=seed)
    for at in range(8):
        swarm.volunteer(f"member {at}")
    return swarm


def until_cooldown(swarm: Swarm) -> None:
    while swarm.view.state is not RunState.COOLDOWN:
        assert swarm.step()


def rosters(swarm: Swarm) -> list[int]:
    """Sum of the shares of each roster, by round."""
    found = []
    for entry in swarm.entries:
        if isinstance(entry.statement.body, RoundRoster):
            view = swarm.replay(swarm.entries[: swarm.entries.index(entry) + 1])
            assert view.round is not None
            found.append(sum(member.share for member in view.round.roster.members))
    return found


def last_reason(swarm: Swarm) -> int:
    body = swarm.entries[-1].statement.body
    assert isinstance(body, RunClose)
    return body.reason


def test_audits_of_the_last_round_are_over_before_the_run_is() -> None:
    swarm = swarm_of()
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert last_reason(swarm) == CloseReason.ROUNDS_DONE
    assert not swarm.view.accounts.audits.cases
    assert swarm.view.number > ROUNDS
    last = [one.statement for one in swarm.entries if isinstance(one.statement.body, RoundClose)]
    assert (last[-1].round or 0) > ROUNDS


def test_nobody_trains_in_these_rounds_and_the_head_stays() -> None:
    swarm = swarm_of()
    until_cooldown(swarm)
    fresh = swarm.view.accounts.queue.fresh
    swarm.run()
    shares = rosters(swarm)
    assert all(shares[:ROUNDS])
    assert not any(shares[ROUNDS:])
    assert swarm.view.accounts.queue.fresh == fresh
    assert swarm.view.head is not None
    assert (swarm.view.head.round, swarm.view.closed) == (ROUNDS, ROUNDS)
    commits = [one.statement for one in swarm.entries if isinstance(one.statement.body, WorkCommit)]
    assert max(one.round or 0 for one in commits) == ROUNDS


def test_without_audits_no_round_opens_after_the_last() -> None:
    swarm = swarm_of(rate=0)
    swarm.run()
    opened = [one.statement for one in swarm.entries if isinstance(one.statement.body, RoundOpen)]
    assert max(one.round or 0 for one in opened) == ROUNDS
    assert swarm.view.number == ROUNDS + 1


def test_auditors_that_report_nothing_do_not_hold_up_the_end_for_ever() -> None:
    swarm = swarm_of()
    until_cooldown(swarm)
    for one in swarm.volunteers:
        one.audits = False
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert ROUNDS + 1 < swarm.view.number <= ROUNDS + 6


def test_a_run_whose_members_have_left_ends_after_the_cooldown() -> None:
    swarm = swarm_of()
    until_cooldown(swarm)
    for one in swarm.volunteers:
        swarm.post(one, StatementDraft(MemberLeave(reason=1)))
    began = swarm.view.coordinator_ms
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    assert swarm.entries[-1].statement.ts - began >= swarm.view.last_wait_ms


@attack("U9", layer="coord", ends="refused as `wrong-close` while members can audit")
def test_a_coordinator_cannot_end_the_run_before_its_last_audits() -> None:
    swarm = swarm_of()
    until_cooldown(swarm)
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.TRAIN:
        assert swarm.step()
    end = StatementDraft(RunClose(reason=CloseReason.ROUNDS_DONE))
    with pytest.raises(RefusedError, match="to audit"):
        swarm.log_statement(swarm.coordinator, end)


def all_but_a_quarantine_done() -> tuple[SharingSwarm, Volunteer]:
    """Run until a member is to be quarantined for its last contribution, and nothing else is left.

    That no other audit is open then depends on what is drawn, as in a run of ten rounds here.
    """
    rules = AuditRules(unproven_bp=10_000, others_bp=10_000)
    swarm, them = sharing_swarm("abcdefgh", rounds=10, audits=rules)
    cheat = them["d"]
    while (change := swarm.standings.due(swarm.now_ms)) is None or change.to != "quarantined":
        assert swarm.step()
        if swarm.view.number == 10:
            swarm.arithmetic.idle.add(cheat.key)
    assert (swarm.view.state, change.peer) == (RunState.COOLDOWN, to_text(cheat.key))
    assert not swarm.view.has_open_audits()
    return swarm, cheat


@attack("U9", layer="coord", ends="refused as `wrong-close` while a quarantine is due")
def test_a_coordinator_cannot_end_the_run_before_a_quarantine_that_is_due() -> None:
    swarm, cheat = all_but_a_quarantine_done()
    end = StatementDraft(RunClose(reason=CloseReason.ROUNDS_DONE))
    with pytest.raises(RefusedError, match="must become quarantined first") as caught:
        swarm.log_statement(swarm.coordinator, end)
    assert caught.value.code == "wrong-close"
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    points = swarm.earned(cheat.key)
    assert (points.gflop, points.forfeited > 0) == (0, True)


def test_a_coordinator_whose_statements_on_the_network_pause_ends_the_run_after_them() -> None:
    swarm, _ = all_but_a_quarantine_done()
    errors: list[object] = []
    coordinator = Coordinator(swarm.coordinator, swarm.state, lambda *one: errors.append(one))
    coordinator.back_off(None, swarm.now_ms)
    assert coordinator.next_statement(swarm.now_ms) is None
    wakes_ms = coordinator.due()
    assert wakes_ms is not None
    assert wakes_ms > swarm.now_ms
    swarm.now_ms, said = wakes_ms, []
    while (found := coordinator.next_statement(swarm.now_ms)) is not None:
        swarm.log(found.entry)
        said.append(found.entry.statement.body)
    assert [type(one) for one in said] == [StandingChange, RunClose]
    assert not errors
    assert coordinator.due() is None


def test_a_pause_after_a_refused_statement_starts_no_wait_again() -> None:
    swarm, _ = sharing_swarm("abcd", rounds=3)
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.TRAIN:
        assert swarm.step()
    coordinator = Coordinator(swarm.coordinator, swarm.state, lambda *_: None)
    while (found := coordinator.next_statement(swarm.now_ms)) is None:
        due_ms = coordinator.due()
        assert due_ms is not None
        swarm.now_ms = due_ms
    coordinator.back_off(found.run, swarm.now_ms)
    assert coordinator.next_statement(swarm.now_ms) is None
    wakes_ms = coordinator.due()
    assert wakes_ms is not None
    assert wakes_ms > swarm.now_ms
    again = coordinator.next_statement(wakes_ms)
    assert again is not None
    assert type(again.entry.statement.body) is type(found.entry.statement.body)


def test_a_coordinator_cannot_end_the_run_by_doing_nothing_while_members_are_there() -> None:
    swarm = swarm_of()
    until_cooldown(swarm)
    swarm.now_ms += 10 * swarm.view.last_wait_ms
    end = StatementDraft(RunClose(reason=CloseReason.ROUNDS_DONE))
    with pytest.raises(RefusedError, match="to audit"):
        swarm.log_statement(swarm.coordinator, end)


def test_members_that_do_not_attest_the_last_head_do_not_end_the_run() -> None:
    swarm = swarm_of()
    until_cooldown(swarm)
    for one in swarm.volunteers[:3]:
        one.failure_rates = FailureRates(silent=100)
    swarm.run()
    assert swarm.view.head is not None
    assert swarm.view.head.round == ROUNDS
    assert not swarm.view.accounts.audits.cases
    last = [one.statement for one in swarm.entries if isinstance(one.statement.body, RoundVoid)]
    assert [one.round for one in last] == [ROUNDS + 1]


def test_members_that_leave_do_not_end_the_run_for_two_that_stay() -> None:
    swarm = swarm_of(least=4)
    until_cooldown(swarm)
    for one in swarm.volunteers[2:]:
        swarm.post(one, StatementDraft(MemberLeave(reason=1)))
    swarm.run()
    assert swarm.view.head is not None
    assert swarm.view.head.round == ROUNDS
    assert isinstance(swarm.entries[-1].statement.body, RunClose)
    assert any(
        isinstance(one.statement.body, RoundClose) and (one.statement.round or 0) > ROUNDS
        for one in swarm.entries
    )


def test_a_round_opens_only_while_there_is_something_to_audit() -> None:
    swarm = swarm_of()
    until_cooldown(swarm)
    while not isinstance(swarm.entries[-1].statement.body, RoundOpen):
        before = copy.deepcopy(swarm.view)
        assert swarm.step()
    opening, index = swarm.entries[-1].statement, len(swarm.entries) - 1
    before.accounts.audits = AuditBook(before.accounts.audits.rules)
    with pytest.raises(RefusedError, match="no audit is left"):
        before.apply(index, opening, swarm.now_ms, swarm.blobs.__getitem__)


def test_a_run_that_its_organiser_ends_is_audited_as_well() -> None:
    swarm = swarm_of(most=50)
    swarm.run_rounds(2)
    swarm.organise(RunFinish(reason=1))
    swarm.run()
    assert last_reason(swarm) == CloseReason.ORGANISER_ENDED
    assert not swarm.view.accounts.audits.cases


def test_a_run_that_is_ending_cannot_be_paused() -> None:
    swarm = swarm_of(most=50)
    swarm.run_rounds(2)
    swarm.organise(RunFinish(reason=1))
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.TRAIN:
        assert swarm.step()
    with pytest.raises(RefusedError):
        swarm.organise(RunPause(reason=1))


def test_a_light_reader_follows_a_run_to_its_end() -> None:
    swarm = swarm_of()
    swarm.run()
    for at, entry in enumerate(swarm.entries):
        if isinstance(entry.statement.body, RoundClose):
            whole = swarm.replay(swarm.entries[: at + 1])
            light = RunView.light(
                swarm.net, swarm.manifest, head=whole.head, next_head=whole.next_head
            )
            for index, later in enumerate(swarm.entries[at + 1 :], at + 1):
                if later.statement.run is not None:
                    light.apply(index, later.statement, 0, swarm.blobs.__getitem__)
            assert (light.state, light.head) == (swarm.view.state, swarm.view.head)


def test_a_second_implementation_reads_the_same_from_the_whole_log() -> None:
    for seed in range(3):
        swarm = swarm_of(seed=seed)
        swarm.arithmetic.idle.add(swarm.volunteers[3].key)
        swarm.run()
        mine = Auditing({bytes(name): one for name, one in swarm.blobs.items()})
        for entry in swarm.entries:
            mine.read(entry.leaf())
        for key, one in swarm.view.accounts.earned.items():
            wallet = mine.purses[bytes(key)]
            assert (one.trainer, one.forfeited) == (wallet.trainer.total, wallet.forfeited)
