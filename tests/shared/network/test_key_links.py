"""Keys that end: revoked or replaced, by whom, and what moves to the key that follows."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_client.worker.store.trees import hash_pieces
from tequio_shared.errors import RefusedError
from tequio_shared.ids import ContributionId, Digest, PeerKey, sha256, to_text
from tequio_shared.limits import QUARANTINE_MS
from tequio_shared.log.merkle import root_of_hashes
from tequio_shared.network.audits import AuditCase, AuditOutcome
from tequio_shared.network.key_links import KeyLinks
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import Standing, StandingCause
from tequio_shared.round.audits import AuditVerdict
from tequio_shared.round.evidence import find_evidence
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import (
    FaultReport,
    InviteOpen,
    KeyRecovery,
    MemberName,
    StandingAppeal,
    StandingRelease,
    TeamDefine,
)
from tequio_shared.statements.runs import WorkCommit
from tequio_shared.statements.statement import sign
from tests.support.attackers_round import bad_piece, scale_255
from tests.support.authors import registration
from tests.support.key_swarm import KeySwarm
from tests.support.tiny_run import signer, tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.volunteers import Volunteer

RECOVERY = signer("recovery of a")


def swarm_of(*names: str, rounds: int = 60) -> tuple[KeySwarm, dict[str, Volunteer]]:
    swarm = KeySwarm(tiny_manifest(most=rounds))
    return swarm, {name: swarm.volunteer(name) for name in names}


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(RefusedError) as caught:
        act()
    return caught.value.code


def points(swarm: KeySwarm, key: PeerKey) -> int:
    earned = swarm.view.accounts.earned
    return earned[key].trainer + earned[key].witness if key in earned else 0


def in_roster(swarm: KeySwarm, key: PeerKey) -> bool:
    assert swarm.view.round is not None
    return key in swarm.view.round.slot_of


def run_into(swarm: KeySwarm, phase: RoundPhase) -> None:
    """Step until a round that is not over is in that phase."""
    while swarm.view.round is None or swarm.view.round.phase is not phase:
        assert swarm.step()


# --- Revocation.


def test_a_revoked_key_says_nothing_more_and_leaves_the_rosters() -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.run_rounds(2)
    index = len(swarm.entries)
    swarm.revoke(them["a"], them["a"].key)
    before = points(swarm, them["a"].key)
    with pytest.raises(RefusedError, match=f"entry {index} revoked") as caught:
        swarm.post(them["a"], them["a"].ready(swarm.view))
    assert caught.value.code == "key-ended"
    swarm.volunteers.remove(them["a"])
    swarm.run_rounds(4)
    assert not in_roster(swarm, them["a"].key)
    assert points(swarm, them["a"].key) == before
    assert swarm.standings.of(them["a"].key) is Standing.REVOKED


@pytest.mark.parametrize("phase", [RoundPhase.ATTEST, RoundPhase.TRAIN, RoundPhase.WITNESS])
def test_a_key_that_is_revoked_in_a_round_is_not_paid_for_it(phase: RoundPhase) -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.run_rounds(1)
    run_into(swarm, phase)
    before = points(swarm, them["a"].key)
    closed = swarm.view.closed
    swarm.revoke(them["b"], them["a"].key, them["a"].signer)
    swarm.volunteers.remove(them["a"])
    while swarm.view.closed == closed:
        assert swarm.step()
    assert points(swarm, them["a"].key) == before > 0
    assert points(swarm, them["b"].key) > before


def test_a_round_does_not_wait_for_a_key_that_was_revoked() -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.run_rounds(1)
    run_into(swarm, RoundPhase.TRAIN)
    assert swarm.view.round is not None
    opened = swarm.view.round.open
    assert opened is not None
    swarm.revoke(them["b"], them["a"].key, them["a"].signer)
    swarm.volunteers.remove(them["a"])
    run_into(swarm, RoundPhase.WITNESS)
    assert swarm.now_ms < opened.train_by


def test_a_key_that_signs_nothing_cannot_be_revoked_by_others() -> None:
    swarm, them = swarm_of(*"ab")
    a, b = them["a"], them["b"]
    assert refusal(lambda: swarm.revoke(b, a.key)) == "wrong-key"
    assert refusal(lambda: swarm.revoke(b, a.key, signer("another"))) == "wrong-key"
    assert refusal(lambda: swarm.revoke(b, signer("nobody").key)) == "not-found"
    assert swarm.standings.of(a.key) is Standing.NEWCOMER


def test_founders_are_neither_revoked_nor_replaced_nor_given_a_recovery_key() -> None:
    swarm, them = swarm_of("a")
    organiser = swarm.organiser
    assert refusal(lambda: swarm.revoke(them["a"], organiser.key, organiser)) == "wrong-role"
    heir = swarm.new_volunteer("heir")
    body = swarm.replacement(organiser.key, heir.key)
    assert refusal(lambda: swarm.send(heir, body, organiser)) == "wrong-role"
    binding = StatementDraft(KeyRecovery(recovery=to_text(RECOVERY.key)))
    statement = swarm.sign(organiser, binding, None).statement
    bound = sign(swarm.net, statement, organiser, RECOVERY)
    assert refusal(lambda: swarm.log(bound)) == "wrong-role"


def test_a_revoked_key_is_not_registered_or_revoked_again() -> None:
    swarm, them = swarm_of(*"ab")
    a, b = them["a"], them["b"]
    swarm.revoke(b, a.key, a.signer)
    assert refusal(lambda: swarm.send(a, registration(swarm.net, a.key))) == "wrong-state"
    assert refusal(lambda: swarm.revoke(b, a.key, a.signer)) == "key-ended"
    assert refusal(lambda: swarm.revoke(a, b.key, b.signer)) == "key-ended"
    heir = swarm.new_volunteer("heir")
    body = swarm.replacement(a.key, heir.key)
    assert refusal(lambda: swarm.send(heir, body, a.signer)) == "key-ended"


# --- Replacement.


def test_a_successor_has_the_points_the_pace_and_the_standing() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(11)
    a = them["a"]
    earned, record = points(swarm, a.key), swarm.standings.records[a.key]
    paces = swarm.view.accounts.members[a.key].paces
    assert record.standing is Standing.ACTIVE
    heir = swarm.replace(a, "heir")
    assert (points(swarm, a.key), points(swarm, heir.key)) == (0, earned)
    assert swarm.standings.records[heir.key] is record
    assert {a.key, heir.key} <= swarm.view.accounts.rostered, "it was in the run's rounds"
    assert swarm.standings.of(a.key) is Standing.REPLACED
    assert swarm.view.accounts.members[heir.key].paces is paces
    swarm.run_rounds(13)
    assert in_roster(swarm, heir.key)
    assert not in_roster(swarm, a.key)
    assert points(swarm, heir.key) > earned


def test_a_round_in_progress_pays_the_successor_once() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(1)
    run_into(swarm, RoundPhase.WITNESS)
    assert swarm.view.round is not None
    number, before = swarm.view.round.number, points(swarm, them["a"].key)
    slot = swarm.view.round.slot_of[them["a"].key]
    heir = swarm.replace(them["a"], "heir")
    while swarm.view.round.phase is not RoundPhase.OVER:
        assert swarm.step()
    assert swarm.view.round.number == number
    assert slot in swarm.view.round.accepted()
    assert points(swarm, heir.key) > before
    assert points(swarm, them["a"].key) == 0


def test_a_round_in_progress_pays_no_successor_that_was_revoked() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(1)
    run_into(swarm, RoundPhase.WITNESS)
    heir = swarm.replace(them["a"], "heir")
    before, closed = points(swarm, heir.key), swarm.view.closed
    swarm.revoke(heir, heir.key)
    swarm.volunteers.remove(heir)
    while swarm.view.closed == closed:
        assert swarm.step()
    assert points(swarm, heir.key) == before > 0


def test_a_payment_that_names_a_key_ends_with_the_first_revocation_among_its_successors() -> None:
    links = KeyLinks()
    first, second, third = (signer(name).key for name in ("first", "second", "third"))
    links.replace(10, first, second)
    links.revoked[second] = 20
    links.replace(30, second, third)
    closes = (10, 20, 21, 31)
    assert [links.is_paid(first, index) for index in closes] == [True, True, False, False]
    assert [links.is_paid(second, index) for index in closes] == [True, True, False, False]
    assert links.is_paid(third, 31)


def test_the_former_key_says_nothing_more_and_the_refusal_names_the_successor() -> None:
    swarm, them = swarm_of(*"abc")
    index = len(swarm.entries)
    heir = swarm.replace(them["a"], "heir")
    said = f"entry {index} replaced key {to_text(them['a'].key)} by {to_text(heir.key)}"
    with pytest.raises(RefusedError, match=said) as caught:
        swarm.post(them["a"], them["a"].ready(swarm.view))
    assert caught.value.code == "key-ended"


def test_replacements_follow_each_other_and_never_turn_back() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(2)
    earned, one = points(swarm, them["a"].key), them["a"]
    for name in ("second", "third", "fourth"):
        one = swarm.replace(one, name)
    assert points(swarm, one.key) == earned > 0
    assert swarm.network.links.holder(them["a"].key) == one.key
    body = swarm.replacement(one.key, them["a"].key)
    assert refusal(lambda: swarm.send(them["a"], body, one.signer)) == "wrong-state"
    again = swarm.replacement(them["a"].key, swarm.new_volunteer("late").key)
    late = swarm.new_volunteer("late")
    assert refusal(lambda: swarm.send(late, again, them["a"].signer)) == "key-ended"


def test_a_registered_key_takes_no_place() -> None:
    swarm, them = swarm_of(*"ab")
    body = swarm.replacement(them["a"].key, them["b"].key)
    assert refusal(lambda: swarm.send(them["b"], body, them["a"].signer)) == "wrong-state"


def test_a_replacement_needs_both_signatures_and_the_work() -> None:
    swarm, them = swarm_of(*"ab")
    heir = swarm.new_volunteer("heir")
    body = swarm.replacement(them["a"].key, heir.key)
    assert refusal(lambda: swarm.send(heir, body)) == "wrong-key"
    assert refusal(lambda: swarm.send(heir, body, them["b"].signer)) == "wrong-key"
    both = them["a"].signer, them["b"].signer
    assert refusal(lambda: swarm.send(heir, body, *both)) == "wrong-key"
    idle = swarm.replacement(them["a"].key, them["b"].key)
    assert refusal(lambda: swarm.send(heir, idle, them["a"].signer)) == "no-work"


def test_invitation_team_and_owner_move_along() -> None:
    swarm = KeySwarm(tiny_manifest(most=60))
    invitation = signer("invitation")
    swarm.organise(
        InviteOpen(
            invitation=to_text(invitation.key), uses=2, until=swarm.now_ms + 10_000_000, run=""
        )
    )
    one = swarm.new_volunteer("a")
    swarm.join(one, invitation=invitation)
    founding = TeamDefine(
        team=0, name="Oaxaca", invitation="", until=0, most=0, goal=0, goal_until=0
    )
    swarm.send(one, founding)
    team = swarm.network.teams.of(one.key)
    heir = swarm.replace(one, "heir")
    run, ts = swarm.manifest.run_id, swarm.now_ms
    assert swarm.tiers.of(heir.key, run, ts).owner == Digest(invitation.key)
    assert swarm.tiers.of(one.key, run, ts).owner == Digest(one.key)
    assert swarm.network.teams.of(heir.key) == team > 0
    assert swarm.network.teams.records[team].owner == heir.key
    assert swarm.tiers.invitations[invitation.key].used == 1


# --- Standing is not laundered.


def quarantined(swarm: KeySwarm, one: Volunteer) -> None:
    run_into(swarm, RoundPhase.WITNESS)
    witness = next(other for other in swarm.volunteers if other is not one)
    swarm.post(witness, StatementDraft(bad_piece(swarm, one, scale_255)))
    while swarm.standings.of(one.key) is not Standing.QUARANTINED:
        assert swarm.step()


def test_a_quarantine_keeps_its_term_and_its_count_under_the_next_key() -> None:
    swarm, them = swarm_of(*"abcde")
    quarantined(swarm, them["a"])
    record = swarm.standings.records[them["a"].key]
    until = record.until
    heir = swarm.replace(them["a"], "heir")
    assert refusal(lambda: swarm.post(heir, heir.ready(swarm.view))) == "quarantined"
    assert (record.until, len(record.convictions)) == (until, 1)
    swarm.now_ms += QUARANTINE_MS
    swarm.post(heir, heir.ready(swarm.view))
    while swarm.standings.of(heir.key) is Standing.QUARANTINED:
        assert swarm.step()
    assert swarm.standings.of(heir.key) is Standing.PROBATION


def commit_badly(swarm: KeySwarm, one: Volunteer) -> FaultReport:
    """Log a commitment of that volunteer to bytes that break a rule, and report it."""
    run_into(swarm, RoundPhase.TRAIN)
    current = swarm.view.round
    assert current is not None
    header = swarm.arithmetic.contribute(current, one.key, Random(1), 1)
    payload = scale_255(swarm.arithmetic.payloads[header.payload_root], current.shape)
    leaves = hash_pieces(payload, current.shape.group_bytes)
    header = replace(header, payload_root=root_of_hashes(leaves))
    body = WorkCommit(header=to_text(header.pack()), seal=to_text(bytes(32)), feedback="")
    entry = swarm.post(one, StatementDraft(body, current.number))
    swarm.arithmetic.hidden.add(one.key)
    piece = find_evidence(payload, leaves, current.shape)
    assert piece is not None
    swarm.blobs[sha256(piece.encode())] = piece.encode()
    return FaultReport(leaves=(to_text(entry.leaf()),), piece=to_text(sha256(piece.encode())))


def test_a_fault_that_is_not_judged_yet_follows_the_key() -> None:
    swarm, them = swarm_of(*"abcde")
    report = commit_badly(swarm, them["a"])
    heir = swarm.replace(them["a"], "heir")
    swarm.post(them["b"], StatementDraft(report))
    while swarm.standings.of(heir.key) is not Standing.QUARANTINED:
        assert swarm.step()
    assert swarm.standings.records[heir.key].cause is StandingCause.BAD_PAYLOAD


def test_strikes_of_a_round_follow_the_key() -> None:
    swarm, them = swarm_of(*"abcdef")
    swarm.run_rounds(1)
    swarm.arithmetic.blames[them["a"].key] = RejectionReason.NORM
    run_into(swarm, RoundPhase.WITNESS)
    heir = swarm.replace(them["a"], "heir")
    while swarm.standings.of(heir.key) is not Standing.SUSPECTED:
        assert swarm.step()


def test_only_a_quarantine_follows_for_a_key_that_was_revoked() -> None:
    swarm, them = swarm_of(*"abcdef")
    a = them["a"]
    swarm.run_rounds(1)
    report = commit_badly(swarm, a)
    record = swarm.standings.records[a.key]
    swarm.revoke(a, a.key)
    swarm.volunteers.remove(a)
    index = len(swarm.entries) - 1
    record.strikes.append((record.judged, index))  # a suspicion, of a key that goes on
    record.accepted_since = 10
    assert swarm.standings.due(swarm.now_ms) is None
    swarm.post(them["b"], StatementDraft(report))
    while record.standing is not Standing.QUARANTINED:
        assert swarm.step()
    assert (record.cause, len(record.convictions)) == (StandingCause.BAD_PAYLOAD, 1)
    assert swarm.standings.records[a.key].since == index
    swarm.now_ms = record.until + 1
    swarm.run_rounds(6)
    assert record.standing is Standing.QUARANTINED


def test_a_fault_that_has_had_no_consequence_yet_has_it_after_the_revocation() -> None:
    swarm, them = swarm_of(*"abcde")
    a = them["a"]
    report = commit_badly(swarm, a)
    swarm.post(them["b"], StatementDraft(report))
    assert swarm.standings.due(swarm.now_ms) is not None
    swarm.revoke(a, a.key)
    due = swarm.standings.due(swarm.now_ms)
    assert due is not None
    assert (due.peer, due.to) == (to_text(a.key), "quarantined")


def test_what_an_ended_key_signs_afterwards_convicts_nobody() -> None:
    swarm, them = swarm_of(*"abc")
    a = them["a"]
    two = [swarm.signed(a, MemberName(name=name)).leaf() for name in ("oaxaca", "puebla")]
    swarm.replace(a, "heir")
    report = FaultReport(leaves=tuple(map(to_text, two)), piece="")
    code = refusal(lambda: swarm.post(them["b"], StatementDraft(report)))
    assert code == "key-ended"


def test_a_work_counter_goes_on_and_newcomer_shares_are_given_once() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(6)
    counted = swarm.standings.records[them["a"].key].accepted_since
    assert 0 < counted < 10
    heir = swarm.replace(them["a"], "heir")
    assert swarm.standings.records[heir.key].accepted_since == counted


def test_an_appeal_stays_open_and_the_release_reaches_the_successor() -> None:
    swarm, them = swarm_of(*"abcde")
    a = them["a"]
    quarantined(swarm, a)
    swarm.send(a, StandingAppeal(change=swarm.standings.records[a.key].since, text=""))
    heir = swarm.replace(a, "heir")
    gone = StandingRelease(peer=to_text(a.key), reason=0)
    assert refusal(lambda: swarm.organise(gone)) == "key-ended"
    swarm.organise(StandingRelease(peer=to_text(heir.key), reason=0))
    assert swarm.standings.of(heir.key) is Standing.ACTIVE
    assert swarm.standings.records[heir.key].convictions == []


# --- Recovery keys.


def test_a_recovery_key_alone_replaces_the_key() -> None:
    swarm, them = swarm_of(*"abc")
    a = them["a"]
    swarm.bind(a, RECOVERY)
    thief = swarm.new_volunteer("thief")
    body = swarm.replacement(a.key, thief.key)
    assert refusal(lambda: swarm.send(thief, body, a.signer)) == "wrong-key"
    heir = swarm.replace(a, "heir", RECOVERY)
    assert swarm.network.links.recovery == {heir.key: RECOVERY.key}
    assert swarm.network.links.holder(a.key) == heir.key


def test_a_thief_who_revokes_the_key_does_not_keep_its_account_from_the_owner() -> None:
    swarm, them = swarm_of(*"abcd")
    a = them["a"]
    swarm.bind(a, RECOVERY)
    swarm.run_rounds(2)
    earned = points(swarm, a.key)
    record = swarm.standings.records[a.key]
    swarm.revoke(a, a.key)
    heir = swarm.replace(a, "heir", RECOVERY)
    assert points(swarm, heir.key) == earned > 0
    assert swarm.standings.records[heir.key] is record
    assert {a.key, heir.key} <= swarm.view.accounts.rostered, "it was in the run's rounds"
    assert swarm.standings.of(a.key) is Standing.REPLACED


def test_a_quarantine_survives_revocation_and_recovery() -> None:
    swarm, them = swarm_of(*"abcde")
    a = them["a"]
    swarm.bind(a, RECOVERY)
    quarantined(swarm, a)
    swarm.revoke(them["b"], a.key, RECOVERY)
    heir = swarm.replace(a, "heir", RECOVERY)
    assert swarm.standings.of(heir.key) is Standing.QUARANTINED


def test_another_recovery_key_needs_the_former_one() -> None:
    swarm, them = swarm_of("a")
    a, other = them["a"], signer("another recovery")
    swarm.bind(a, RECOVERY)
    assert refusal(lambda: swarm.bind(a, other)) == "wrong-key"
    assert refusal(lambda: swarm.bind(a, RECOVERY)) == "already-said"
    swarm.bind(a, other, RECOVERY)
    assert swarm.network.links.recovery[a.key] == other.key


def test_a_recovery_key_signs_when_it_is_bound() -> None:
    swarm, them = swarm_of(*"ab")
    body = KeyRecovery(recovery=to_text(RECOVERY.key))
    assert refusal(lambda: swarm.send(them["a"], body)) == "wrong-key"
    own = KeyRecovery(recovery=to_text(them["b"].key))
    assert refusal(lambda: swarm.send(them["a"], own, them["b"].signer)) == "wrong-key"


def test_a_recovery_key_is_no_peers_key() -> None:
    swarm, them = swarm_of("a")
    swarm.bind(them["a"], RECOVERY)
    one = swarm.new_volunteer("recovery of a")
    assert one.key == RECOVERY.key
    assert refusal(lambda: swarm.send(one, registration(swarm.net, one.key))) == "wrong-key"
    body = swarm.replacement(them["a"].key, one.key)
    assert refusal(lambda: swarm.send(one, body)) == "wrong-key"


def test_one_recovery_key_serves_for_several_keys_of_an_owner() -> None:
    swarm, them = swarm_of(*"abc")
    for name in "ab":
        swarm.bind(them[name], RECOVERY)
    swarm.revoke(them["c"], them["a"].key, RECOVERY)
    assert swarm.standings.of(them["b"].key) is Standing.NEWCOMER


def test_an_ended_key_binds_and_signs_nothing() -> None:
    swarm, them = swarm_of(*"ab")
    swarm.revoke(them["a"], them["a"].key)
    assert refusal(lambda: swarm.bind(them["a"], RECOVERY)) == "key-ended"


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_whatever_owners_and_thieves_do_nothing_is_multiplied(data: st.DataObject) -> None:
    swarm, them = swarm_of("a", "b", "c")
    swarm.run_rounds(2)
    total = sum(points(swarm, one.key) for one in them.values())
    chains: dict[str, list[Volunteer]] = {name: [them[name]] for name in "ab"}
    recovery = {name: signer(f"recovery of {name}") for name in "ab"}
    for number in range(data.draw(st.integers(1, 12))):
        name = data.draw(st.sampled_from("ab"))
        one = data.draw(st.sampled_from(chains[name]))
        by = data.draw(
            st.sampled_from([one.signer, recovery[name], recovery["a"], them["c"].signer])
        )
        before = copy.deepcopy(swarm.network.links), copy.deepcopy(swarm.standings)
        heir = swarm.new_volunteer(f"{name} {number}")
        acts: dict[str, Callable[[], object]] = {
            "bind": partial(swarm.bind, one, recovery[name], by),
            "first": partial(swarm.bind, one, recovery[name]),
            "revoke": partial(swarm.revoke, them["c"], one.key, by),
            "replace": partial(swarm.send, heir, swarm.replacement(one.key, heir.key), by),
        }
        what = data.draw(st.sampled_from(sorted(acts)))
        try:
            acts[what]()
        except RefusedError:
            assert (swarm.network.links, swarm.standings) == before
        else:
            if what == "replace":
                chains[name].append(heir)
        acting = {
            name: [one for one in chain if not swarm.network.links.is_ended(one.key)]
            for name, chain in chains.items()
        }
        assert all(len(left) <= 1 for left in acting.values())
        everybody = [one for chain in chains.values() for one in chain] + [them["c"]]
        assert sum(points(swarm, one.key) for one in everybody) == total
        for chain in chains.values():
            assert {swarm.network.links.holder(one.key) for one in chain} == {chain[-1].key}


def test_a_run_goes_to_its_end_with_keys_that_change() -> None:
    swarm, them = swarm_of(*"abcde", rounds=8)
    swarm.run_rounds(2)
    one = swarm.replace(them["a"], "second")
    swarm.run_rounds(4)
    swarm.revoke(them["b"], them["b"].key)
    swarm.volunteers.remove(them["b"])
    swarm.replace(one, "third")
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    total = sum(one.trainer + one.witness for one in swarm.view.accounts.earned.values())
    assert total > 0
    assert one.key not in swarm.view.accounts.earned


# --- Vesting and audits.


def test_points_that_have_not_vested_move_along_and_a_quarantine_takes_them() -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.run_rounds(2)
    earned = swarm.view.accounts.earned
    unvested, total = earned[them["a"].key].unvested, points(swarm, them["a"].key)
    assert unvested > 0
    heir = swarm.replace(them["a"], "heir")
    assert (earned[heir.key].unvested, points(swarm, heir.key)) == (unvested, total)
    swarm.run_rounds(3)
    quarantined(swarm, heir)
    assert earned[heir.key].unvested == 0
    assert earned[heir.key].forfeited >= unvested


def test_a_successor_is_watched_like_its_former_key_and_audits_none_of_its_work() -> None:
    swarm, them = swarm_of(*"abcde")
    audits, a = swarm.view.accounts.audits, them["a"]
    name = ContributionId(sha256(b"a contribution"))
    audits.cases[name] = AuditCase(
        id=name, round=1, trainer=a.key, owner=Digest(a.key), tokens=1, speed=0
    )
    audits.watched[a.key], audits.paused[a.key] = 7, 99
    heir = swarm.replace(a, "heir")
    assert (audits.watched[heir.key], audits.paused[heir.key]) == (7, 99)
    assert a.key not in audits.watched | audits.paused
    assert {Digest(a.key), Digest(heir.key)} <= audits.cases[name].work.owners


def test_work_of_a_key_that_was_replaced_in_its_round_is_still_its_owners() -> None:
    # Replaced between commitment and close, the former key counted as an owner of its own, and the
    # owner's other keys could audit what it had not done.
    rules = AuditRules(unproven_bp=10_000, others_bp=10_000)
    swarm = KeySwarm(msgspec.structs.replace(tiny_manifest(most=60), audit=rules))
    link = signer("an owner's link")
    until = swarm.now_ms + 10**9
    swarm.organise(InviteOpen(invitation=to_text(link.key), uses=2, until=until, run=""))
    owned = [swarm.new_volunteer(f"owned {at}") for at in range(2)]
    swarm.join(*owned, invitation=link)
    for name in "abcd":
        swarm.volunteer(name)
    run_into(swarm, RoundPhase.WITNESS)
    heirs = [swarm.replace(one, f"heir {at}") for at, one in enumerate(owned)]
    current, book = swarm.view.round, swarm.view.accounts.audits
    assert current is not None
    ids = {current.commitments[current.slot_of[one.key]].id for one in owned}
    swarm.run_rounds(1)
    cases = [one for one in book.cases.values() if one.id in ids]
    assert cases
    for case in cases:
        owners = case.owners | {case.owner}
        assert Digest(link.key) in owners
        grants = [swarm.tiers.of(one.key, swarm.manifest.run_id, swarm.now_ms) for one in heirs]
        assert {one.owner for one in grants} <= owners


def test_work_that_auditors_find_was_not_done_convicts_the_successor() -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.run_rounds(1)
    heir = swarm.replace(them["a"], "heir")
    outcome = AuditOutcome(
        trainer=them["a"].key,
        round=1,
        tokens=1,
        verdict=AuditVerdict.NOT_DONE,
        contradicted=(),
        auditors=(),
        entries=(),
    )
    swarm.standings.close_audits(len(swarm.entries) - 1, [outcome], ())
    while swarm.standings.of(heir.key) is not Standing.QUARANTINED:
        assert swarm.step()
    assert swarm.standings.records[heir.key].cause is StandingCause.NOT_DONE


# --- Names.


def named(name: str) -> MemberName:
    return MemberName(name=name)


def test_a_key_has_a_name_once_its_work_was_accepted() -> None:
    swarm, them = swarm_of("a", "b", "c")
    one = them["a"]
    with pytest.raises(RefusedError, match="once a round has accepted") as caught:
        swarm.send(one, named("Ana"))
    assert caught.value.code == "not-eligible"
    swarm.run_rounds(2)
    swarm.send(one, named("Ana"))
    assert swarm.network.names.of(one.key) == "Ana"
    assert refusal(lambda: swarm.send(them["b"], named("ANA"))) == "name-taken"


def test_an_invited_key_and_a_founder_have_a_name_at_once() -> None:
    swarm, invitation = KeySwarm(tiny_manifest()), signer("invitation")
    until = swarm.now_ms + 1_000_000_000
    body = InviteOpen(invitation=to_text(invitation.key), uses=1, until=until, run="")
    swarm.organise(body)
    one = swarm.new_volunteer("invited")
    swarm.join(one, invitation=invitation)
    swarm.send(one, named("Ana"))
    swarm.organise(named("The organisers"))
    assert swarm.network.names.holder("the-organisers") in swarm.genesis.organiser_keys


def test_the_name_moves_to_the_successor_also_of_a_revoked_key() -> None:
    swarm, them = swarm_of("a", "b", "c")
    one = them["a"]
    swarm.run_rounds(2)
    swarm.bind(one, RECOVERY)
    swarm.send(one, named("Ana"))
    swarm.revoke(one, one.key)
    assert refusal(lambda: swarm.send(them["b"], named("Ana"))) == "name-taken"
    heir = swarm.replace(one, "heir", RECOVERY)
    assert swarm.network.names.holder("Ana") == heir.key
    assert swarm.network.names.of(one.key) == ""


def test_a_quarantined_key_keeps_its_name() -> None:
    swarm, them = swarm_of(*"abcde")
    one = them["a"]
    swarm.run_rounds(2)
    swarm.send(one, named("Ana"))
    quarantined(swarm, one)
    assert refusal(lambda: swarm.send(one, named("Bea"))) == "quarantined"
    assert swarm.network.names.of(one.key) == "Ana"
