"""How long a fault, a strike or an appeal counts, and which report brings nothing new."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import key_from_text, to_text
from tequio_shared.limits import (
    APPEAL_MS,
    DEVIATION_PROOFS,
    GAIN_ROUNDS,
    NEWCOMER_WORK,
    PROBATION_WORK,
    QUARANTINE_MS,
    REPEAT_MS,
    REPEATED_QUARANTINE_MS,
    STRIKE_ROUNDS,
)
from tequio_shared.network.audits import AuditOutcome
from tequio_shared.network.standing import KeyStatus, ProvenFault, Standing, StandingCause
from tequio_shared.round.audits import AuditVerdict
from tequio_shared.statements.network import (
    EVIDENCE,
    StandingAppeal,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.statement import Statement, make
from tests.support.statements import example_statement
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.network import StandingChange
    from tequio_shared.statements.statement import Body

ONE, OTHER = sorted((signer("one").key, signer("other").key))
CHANGE = example_statement("standing.change")
NOW = CHANGE.ts


def known(*keys: PeerKey) -> KeyStatus:
    standings = KeyStatus()
    for at, key in enumerate(keys):
        standings.register(key, at)
    return standings


def fault(
    peer: PeerKey, cause: StandingCause = StandingCause.BAD_HEADER, kind: str = "member.leave"
) -> ProvenFault:
    said = example_statement(kind, author=peer)
    return ProvenFault(peer=peer, cause=cause, evidence=(), statements=(said,))


def said_by(author: PeerKey, body: Body, ts: int = NOW) -> Statement:
    return make(body=body, author=author, seq=1, ts=ts, exp=ts, prev=CHANGE.prev)


def appeal(standings: KeyStatus, key: PeerKey, ts: int = NOW) -> None:
    body = StandingAppeal(change=standings.records[key].since, text="")
    standings.apply_appeal(20, said_by(key, body, ts), body)


def outcome(
    verdict: AuditVerdict = AuditVerdict.CLEAR, *, trainer: PeerKey, is_wrong: bool = False
) -> AuditOutcome:
    """The end of an audit by `ONE`, which the others contradict if it is wrong."""
    return AuditOutcome(
        trainer=trainer,
        round=1,
        tokens=1,
        verdict=verdict,
        contradicted=(ONE,) if is_wrong else (),
        auditors=(ONE,),
        entries=(5,),
    )


def moved(standings: KeyStatus, index: int = 10) -> StandingChange:
    """Apply the change that is due."""
    change = standings.due(NOW)
    assert change is not None
    standings.apply_change(index, CHANGE, change)
    return change


def refusal(standings: KeyStatus, proven: ProvenFault) -> str:
    with pytest.raises(RefusedError) as caught:
        standings.apply_fault(9, proven)
    return caught.value.code


# --- Reports.


def test_a_report_against_an_unregistered_key_only_fills_the_log() -> None:
    standings = known(OTHER)
    assert refusal(standings, fault(ONE)) == "wrong-evidence"
    assert standings == known(OTHER)


def test_a_fault_is_taken_once() -> None:
    standings = known(ONE)
    standings.apply_fault(4, fault(ONE))
    assert refusal(standings, fault(ONE)) == "already-said"


def test_the_first_of_several_faults_is_the_one_that_convicts() -> None:
    standings = known(ONE, OTHER)
    standings.apply_fault(4, fault(OTHER))
    standings.apply_fault(5, fault(OTHER, StandingCause.BAD_PROOF, "member.ready"))
    standings.close_audits(6, [outcome(AuditVerdict.NOT_DONE, trainer=OTHER)], ())
    change = moved(standings)
    assert (change.cause, change.evidence) == (StandingCause.BAD_HEADER, (4,))


@pytest.mark.parametrize("standing", [Standing.QUARANTINED, Standing.BANNED])
def test_a_fault_of_a_key_that_is_out_does_not_wait_for_its_return(standing: Standing) -> None:
    standings = known(ONE, OTHER)
    standings.records[OTHER].standing = standing
    standings.apply_fault(4, fault(OTHER))
    standings.close_audits(6, [outcome(AuditVerdict.NOT_DONE, trainer=OTHER)], ())
    assert standings.records[OTHER].fault is None


# --- What counts only for a while.


@pytest.mark.parametrize(("later", "counts"), [(STRIKE_ROUNDS - 1, True), (STRIKE_ROUNDS, False)])
def test_a_contradicted_audit_counts_with_the_next_twenty(later: int, *, counts: bool) -> None:
    standings = known(ONE, OTHER)
    standings.close_audits(6, [outcome(trainer=OTHER, is_wrong=True)], ())
    assert moved(standings).to == "suspected"
    for at in range(later - 1):
        standings.close_audits(11 + at, [outcome(trainer=OTHER)], ())
    standings.close_audits(40, [outcome(trainer=OTHER, is_wrong=True)], ())
    due = standings.due(NOW)
    assert (due is not None and due.to == "quarantined") is counts


def heir_of(standings: KeyStatus) -> StandingChange | None:
    """The change that is due for the key which takes the place of `ONE` as it is."""
    standings.replace(30, ONE, OTHER)
    return standings.due(NOW)


@pytest.mark.parametrize(("later", "counts"), [(STRIKE_ROUNDS - 1, True), (STRIKE_ROUNDS, False)])
def test_a_strike_counts_for_twenty_judged_contributions(later: int, *, counts: bool) -> None:
    standings = known(ONE)
    record = standings.records[ONE]
    record.strikes, record.judged = [(3, 7)], 3 + later
    due = heir_of(standings)
    assert (due.cause if due else None) == (StandingCause.STRIKE if counts else None)


@pytest.mark.parametrize(
    ("later", "counts"), [(DEVIATION_PROOFS - 1, True), (DEVIATION_PROOFS, False)]
)
def test_a_contradicted_proof_counts_for_ten_proofs(later: int, *, counts: bool) -> None:
    standings = known(ONE)
    record = standings.records[ONE]
    record.deviations, record.proofs = [(3, 7), (3 + later, 8)], 3 + later
    due = heir_of(standings)
    assert (due.cause if due else None) == (StandingCause.DEVIATION if counts else None)


@pytest.mark.parametrize(("since", "counts"), [(9, True), (10, False)])
@pytest.mark.parametrize("fault_of", ["contradictions", "withheld"])
def test_a_fault_of_an_audit_suspects_once(fault_of: str, since: int, *, counts: bool) -> None:
    standings = known(ONE)
    record = standings.records[ONE]
    record.contradictions = [(1, 5, 10)] if fault_of == "contradictions" else []
    record.withheld = [(1, 10)] if fault_of == "withheld" else []
    record.audits, record.judged, record.since = 1, 1, since
    due = heir_of(standings)
    assert (due is not None and due.to == "suspected") is counts


def test_no_more_evidence_is_named_than_a_statement_holds_and_the_newest_is() -> None:
    standings = known(ONE)
    record = standings.records[ONE]
    record.gains = [(False, at) for at in range(GAIN_ROUNDS)]
    due = heir_of(standings)
    assert due is not None
    assert due.evidence == tuple(range(GAIN_ROUNDS))[-EVIDENCE:]


@pytest.mark.parametrize(
    ("standing", "work"),
    [
        (Standing.NEWCOMER, NEWCOMER_WORK),
        (Standing.SUSPECTED, NEWCOMER_WORK),
        (Standing.PROBATION, PROBATION_WORK),
    ],
)
def test_each_standing_has_its_own_way_to_the_active_one(standing: Standing, work: int) -> None:
    for done in (work - 1, work):
        standings = known(ONE)
        record = standings.records[ONE]
        record.standing, record.accepted_since = standing, done
        due = heir_of(standings)
        assert (due is not None and due.to == "active") is (done == work)


@pytest.mark.parametrize(("ago", "term"), [(1, REPEATED_QUARANTINE_MS), (0, QUARANTINE_MS)])
def test_a_quarantine_is_a_repeated_one_for_a_time(ago: int, term: int) -> None:
    standings = known(ONE)
    standings.records[ONE].convictions = [NOW - REPEAT_MS + ago]
    standings.apply_fault(4, fault(ONE))
    assert moved(standings).until == NOW + term


@pytest.mark.parametrize(
    ("standing", "is_kept"), [(Standing.SUSPECTED, True), (Standing.QUARANTINED, False)]
)
def test_a_new_standing_begins_without_what_led_to_it(standing: Standing, *, is_kept: bool) -> None:
    standings = known(ONE)
    record = standings.records[ONE]
    record.gains, record.deviations, record.strikes = [(True, 1)], [(1, 1)], [(1, 1)]
    record.withheld, record.contradictions, record.since = [(1, 1)], [(1, 1, 1)], 1
    if standing is Standing.QUARANTINED:
        standings.apply_fault(4, fault(ONE))
    else:
        standings.close_audits(6, [outcome(trainer=ONE, is_wrong=True)], ())
        record.contradictions.pop(0)
    assert moved(standings).to == standing
    assert (record.gains, record.deviations, record.strikes) == ([], [], [])
    assert (bool(record.withheld), bool(record.contradictions)) == (is_kept, is_kept)


# --- Keys that were revoked.


def test_a_revoked_key_is_convicted_and_neither_suspected_nor_promoted() -> None:
    standings = known(ONE)
    standings.records[ONE].accepted_since = NEWCOMER_WORK
    standings.revoke(20, ONE)
    assert standings.due(NOW) is None
    standings = known(ONE)
    standings.apply_fault(4, fault(ONE))
    standings.revoke(20, ONE)
    assert moved(standings).to == "quarantined"
    assert standings.is_restricted(ONE)


def test_a_revoked_key_does_not_come_back_by_its_appeal() -> None:
    standings = known(ONE)
    standings.apply_fault(4, fault(ONE))
    moved(standings)
    appeal(standings, ONE)
    standings.revoke(21, ONE)
    assert standings.due(NOW + APPEAL_MS) is None


# --- Appeals.


def test_the_release_of_a_suspected_key_leaves_its_earlier_quarantine() -> None:
    standings = known(ONE)
    standings.records[ONE].convictions.append(NOW - 1)
    standings.close_audits(6, [outcome(trainer=OTHER, is_wrong=True)], ())
    assert moved(standings).to == "suspected"
    body = StandingRelease(peer=to_text(ONE), reason=1)
    standings.apply_ruling(22, said_by(signer("organiser").key, body), body)
    assert standings.records[ONE].convictions == [NOW - 1]


def test_a_release_answers_the_appeal_of_an_active_key_and_leaves_its_standing() -> None:
    standings = known(ONE)
    standings.apply_fault(4, fault(ONE))
    moved(standings)
    appeal(standings, ONE)
    record = standings.records[ONE]
    record.standing, record.since, record.cause = Standing.ACTIVE, 21, StandingCause.EARNED
    standings.apply_fault(22, fault(ONE, StandingCause.BAD_PROOF, "member.ready"))
    body = StandingRelease(peer=to_text(ONE), reason=1)
    standings.apply_ruling(23, said_by(signer("organiser").key, body), body)
    assert (record.appeal, record.convictions) == (None, [])
    assert (record.since, record.cause) == (21, StandingCause.EARNED)
    assert moved(standings).cause == StandingCause.BAD_PROOF


def test_an_appeal_that_falls_due_meanwhile_comes_first_if_its_key_does() -> None:
    standings = known(ONE, OTHER)
    standings.apply_fault(4, fault(ONE))
    moved(standings)
    appeal(standings, ONE)
    standings.apply_fault(21, fault(OTHER))
    named = [standings.due(ts) for ts in (NOW, NOW + APPEAL_MS, NOW)]
    keys = [key_from_text(one.peer) for one in named if one is not None]
    assert keys == [OTHER, ONE, OTHER]


def test_only_the_appeal_of_a_quarantined_key_ends_by_time() -> None:
    standings = known(ONE, OTHER)
    standings.close_audits(6, [outcome(trainer=OTHER, is_wrong=True)], ())
    assert moved(standings).to == "suspected"
    appeal(standings, ONE)
    assert standings.next_ms() is None
    assert standings.due(NOW + APPEAL_MS) is None
    standings.apply_fault(21, fault(OTHER))
    moved(standings)
    assert standings.next_ms() is None
    appeal(standings, OTHER)
    assert standings.next_ms() == NOW + APPEAL_MS


@pytest.mark.parametrize(
    ("standing", "appeals", "is_ruled"),
    [
        (Standing.QUARANTINED, False, True),
        (Standing.QUARANTINED, True, True),
        (Standing.BANNED, True, True),
        (Standing.BANNED, False, False),
        (Standing.SUSPECTED, False, False),
        (Standing.SUSPECTED, True, True),
    ],
)
def test_organisers_uphold_a_quarantine_or_answer_an_appeal(
    standing: Standing, *, appeals: bool, is_ruled: bool
) -> None:
    standings = known(ONE)
    standings.records[ONE].standing = standing
    if appeals:
        appeal(standings, ONE)
    body = StandingUphold(peer=to_text(ONE), to="unchanged", reason=1)
    statement = said_by(signer("organiser").key, body)
    if is_ruled:
        standings.apply_ruling(22, statement, body)
        assert standings.records[ONE].appeal is None
    else:
        with pytest.raises(RefusedError, match="has no open appeal"):
            standings.apply_ruling(22, statement, body)
    assert standings.of(ONE) is standing


def test_a_release_leaves_no_term_and_none_is_given_to_a_key_that_has_ended() -> None:
    standings = known(ONE)
    standings.apply_fault(4, fault(ONE))
    assert moved(standings).until == standings.records[ONE].until > NOW
    body = StandingRelease(peer=to_text(ONE), reason=1)
    statement = said_by(signer("organiser").key, body)
    standings.apply_ruling(22, statement, body)
    record = standings.records[ONE]
    assert (record.standing, record.cause, record.until) == (Standing.ACTIVE, None, 0)
    standings.links.revoked[ONE] = 23
    standings.revoke(23, ONE)
    with pytest.raises(RefusedError, match="entry 23 revoked key"):
        standings.apply_ruling(24, statement, body)


def test_a_logged_commitment_counts_against_a_key_that_has_ended() -> None:
    standings = known(ONE)
    standings.links.revoked[ONE] = 3
    assert refusal(standings, fault(ONE)) == "key-ended"
    standings.apply_fault(4, replace(fault(ONE), is_logged=True))
