"""Faults that a fault.report proves, and reports that prove nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import ContributionHeader, contribution_id
from tequio_shared.ids import Digest, NetworkId, from_text, sha256, to_text
from tequio_shared.network.conduct import count_signatures, read_fault
from tequio_shared.network.standing import Standing, StandingCause
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import FaultReport, MemberLeave, MemberName
from tequio_shared.statements.runs import WitnessProof, WorkCommit
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.attackers_round import bad_piece, scale_255
from tests.support.commitments import commitment
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Body


def swarm_in(phase: RoundPhase, *names: str) -> tuple[Swarm, list[Volunteer]]:
    """A swarm at the end of that phase of its first round: the next step would leave it."""
    swarm = Swarm(tiny_manifest(most=60))
    them = [swarm.volunteer(name) for name in names or "abcd"]
    while swarm.view.round is None or swarm.view.round.phase is not phase:
        assert swarm.step()
    while any(one.duty(swarm.view) for one in them):
        assert swarm.step()
    return swarm, them


def current(swarm: Swarm) -> RoundView:
    assert swarm.view.round is not None
    return swarm.view.round


def signed(swarm: Swarm, one: Volunteer, body: Body, seq: int | None = None) -> Entry:
    """A statement that the volunteer signs without adding it to its chain."""
    scope_is_run = isinstance(body, MemberLeave)
    statement = make(
        body=body,
        author=one.key,
        seq=seq or one.seq + 1,
        ts=swarm.now_ms,
        exp=swarm.now_ms,
        prev=one.last,
        run=swarm.manifest.run_id,
        round=None if scope_is_run else current(swarm).number,
    )
    return sign(swarm.net, statement, one.signer)


def no_documents(name: Digest) -> bytes:
    raise KeyError(name)


def alone(leaf: bytes) -> FaultReport:
    return FaultReport(leaves=(to_text(leaf),), piece="")


def report(*entries: Entry) -> FaultReport:
    return FaultReport(leaves=tuple(to_text(entry.leaf()) for entry in entries), piece="")


def judge(swarm: Swarm, *entries: Entry) -> tuple[StandingCause, tuple[int, ...]]:
    fault = read_fault(
        report(*entries), swarm.net, lambda _: swarm.view.round, swarm.blobs.__getitem__
    )
    return fault.cause, fault.evidence


def unproven(swarm: Swarm, match: str, *entries: Entry) -> None:
    with pytest.raises(RefusedError, match=match) as refused:
        judge(swarm, *entries)
    assert refused.value.code == "wrong-evidence"


def own_header(swarm: Swarm, one: Volunteer) -> ContributionHeader:
    return current(swarm).commitments[current(swarm).slot_of[one.key]].header


def commit(swarm: Swarm, one: Volunteer, **changed: object) -> WorkCommit:
    header = own_header(swarm, one)
    values = {name: getattr(header, name) for name in header.__dataclass_fields__}
    return commitment(ContributionHeader(**{**values, **changed}))


def own_proof(swarm: Swarm, one: Volunteer) -> WitnessProof:
    bodies = (entry.statement for entry in swarm.entries if entry.statement.author == one.key)
    return next(each.body for each in bodies if isinstance(each.body, WitnessProof))


def test_a_second_commitment_against_the_logged_one() -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.TRAIN)
    slot = current(swarm).slot_of[one.key]
    other = signed(swarm, one, commit(swarm, one, payload_root=sha256(b"another")))
    assert judge(swarm, other) == (
        StandingCause.TWO_COMMITMENTS,
        (current(swarm).commitments[slot].index,),
    )


def test_two_commitments_against_each_other_need_no_round() -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.TRAIN)
    first = signed(swarm, one, commit(swarm, one))
    second = signed(swarm, one, commit(swarm, one, payload_root=sha256(b"x")), seq=one.seq + 2)
    body = report(first, second)
    assert (
        read_fault(body, swarm.net, lambda _: None, no_documents).cause
        is StandingCause.TWO_COMMITMENTS
    )


def test_two_statements_under_one_number() -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.TRAIN)
    first, second = (signed(swarm, one, MemberLeave(reason=reason)) for reason in (1, 2))
    assert judge(swarm, first, second) == (StandingCause.TWO_STATEMENTS, ())


@pytest.mark.parametrize(
    "changed",
    [{"flags": 1}, {"tokens": 1}, {"window_count": 99}, {"inner_steps": 0}, {"chunk_count": 1}],
)
def test_a_signed_header_that_breaks_a_rule(changed: dict[str, object]) -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.TRAIN)
    assert (
        judge(swarm, signed(swarm, one, commit(swarm, one, **changed)))[0]
        is StandingCause.BAD_HEADER
    )


def test_a_header_in_another_ones_name() -> None:
    swarm, (one, other, *_) = swarm_in(RoundPhase.TRAIN)
    body = commitment(own_header(swarm, other))
    assert judge(swarm, signed(swarm, one, body))[0] is StandingCause.BAD_HEADER


def test_a_proof_from_one_who_was_not_elected() -> None:
    names = [f"n{at}" for at in range(18)]
    swarm, them = swarm_in(RoundPhase.WITNESS, *names)
    elected = {current(swarm).roster.members[slot].key for slot in current(swarm).elected}
    idle = next(one for one in them if one.key not in elected)
    witness = next(one for one in them if one.key in elected)
    entry = signed(swarm, idle, own_proof(swarm, witness))
    assert judge(swarm, entry) == (StandingCause.NOT_ELECTED, ())


def test_a_proof_from_a_key_without_a_slot() -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.WITNESS)
    stranger = Volunteer("stranger", swarm.arithmetic)
    assert (
        judge(swarm, signed(swarm, stranger, own_proof(swarm, one)))[0] is StandingCause.NOT_ELECTED
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"bloom": to_text(b"\xff" * 8)},
        {"bloom": to_text(b"")},
        {"bitmap": to_text(b"\xff")},
        {"count": 1},
        {"root": to_text(bytes(32))},
        {"head": to_text(bytes(32))},
        {"rejected": ((0, 32),)},
        {"rejected": ((7, 9_999),)},
    ],
)
def test_a_signed_proof_that_does_not_hold(changed: dict[str, object]) -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.WITNESS)
    body = msgspec.structs.replace(own_proof(swarm, one), **changed)
    assert judge(swarm, signed(swarm, one, body)) == (StandingCause.BAD_PROOF, ())


def test_what_proves_nothing() -> None:
    swarm, (one, other, *_) = swarm_in(RoundPhase.TRAIN)
    sound = signed(swarm, one, commit(swarm, one))
    again = signed(swarm, one, commit(swarm, one), seq=one.seq + 5)
    unproven(swarm, "is valid", sound)
    unproven(swarm, "may be stated twice", sound, again)
    unproven(swarm, "same statement", sound, sound)
    unproven(swarm, "different authors", sound, signed(swarm, other, commit(swarm, other)))
    leave = signed(swarm, one, MemberLeave(reason=1), seq=one.seq + 7)
    unproven(swarm, "do not contradict", sound, leave)
    unproven(swarm, "not about the round in progress", leave)
    named = one.sign(swarm.net, None, StatementDraft(MemberName(name="milpa")), swarm.now_ms)
    unproven(swarm, "not about the round in progress", named)
    stranger = Volunteer("stranger", swarm.arithmetic)
    unproven(swarm, "no slot", signed(swarm, stranger, commit(swarm, one)))


def test_first_statements_may_be_signed_anew_while_none_is_logged() -> None:
    swarm, _ = swarm_in(RoundPhase.TRAIN)
    stranger = Volunteer("stranger", swarm.arithmetic)
    first, second = (
        signed(swarm, stranger, MemberLeave(reason=reason), seq=1) for reason in (1, 2)
    )
    unproven(swarm, "do not contradict", first, second)


def test_another_base_head_alone_is_no_fault() -> None:
    """A peer whose own head went wrong commits to work on it: refused, and not blamed."""
    swarm = Swarm(tiny_manifest(most=60))
    one, *_ = (swarm.volunteer(name) for name in "abcd")
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.TRAIN:
        assert swarm.step()
    header = swarm.arithmetic.contribute(current(swarm), one.key, swarm.rng, 1)
    values = {name: getattr(header, name) for name in header.__dataclass_fields__}
    wrong = ContributionHeader(**{**values, "base_head": sha256(b"another head")})
    unproven(swarm, "is valid", signed(swarm, one, commitment(wrong)))


def test_a_forged_or_foreign_leaf_proves_nothing() -> None:
    swarm, (one, other, *_) = swarm_in(RoundPhase.TRAIN)
    sound = signed(swarm, one, commit(swarm, one, flags=1))
    broken = bytearray(sound.leaf())
    broken[40] ^= 1  # in the signature
    with pytest.raises(RefusedError, match="is not valid"):
        read_fault(
            alone(bytes(broken)),
            swarm.net,
            lambda _: swarm.view.round,
            no_documents,
        )
    with pytest.raises(RefusedError, match="is not valid"):
        read_fault(report(sound), NetworkId(bytes(32)), lambda _: swarm.view.round, no_documents)
    with pytest.raises(RefusedError, match="is not valid"):
        read_fault(
            alone(b"garbage"),
            swarm.net,
            lambda _: None,
            no_documents,
        )
    forged = sign(swarm.net, sound.statement, one.signer).leaf().replace(one.key, other.key, 1)
    with pytest.raises(RefusedError, match="is not valid"):
        read_fault(
            alone(forged),
            swarm.net,
            lambda _: None,
            no_documents,
        )


def test_proofs_are_judged_when_the_commitments_are_counted() -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.WITNESS)
    body = msgspec.structs.replace(own_proof(swarm, one), count=1)
    training, (early, *_) = swarm_in(RoundPhase.TRAIN)
    unproven(training, "does not accept proofs yet", signed(training, early, body))


def test_a_report_quarantines_and_counts_once() -> None:
    swarm, (one, reporter, *_) = swarm_in(RoundPhase.TRAIN)
    other = signed(swarm, one, commit(swarm, one, payload_root=sha256(b"another")))
    logged = swarm.post(reporter, StatementDraft(report(other)))
    with pytest.raises(RefusedError, match="reported before"):
        swarm.post(reporter, StatementDraft(report(other)))
    index = swarm.entries.index(logged)
    swarm.run_rounds(2)
    record = swarm.standings.records[one.key]
    assert (record.standing, record.cause) == (Standing.QUARANTINED, StandingCause.TWO_COMMITMENTS)
    slot = current(swarm).slot_of.get(one.key)
    assert slot is None
    assert index in record.evidence
    assert len(record.evidence) == 2
    assert from_text(report(other).leaves[0], None) == other.leaf()


def test_a_commitment_is_judged_by_its_own_round_while_that_is_open() -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.TRAIN)
    draft = StatementDraft(commit(swarm, one, flags=1), current(swarm).number + 1)
    other = one.sign(swarm.net, swarm.manifest.run_id, draft, swarm.now_ms)
    unproven(swarm, "not about the round in progress", other)
    broken = commit(swarm, one, flags=1)
    unopened, (early, *_) = swarm_in(RoundPhase.ATTEST)
    unproven(unopened, "not about the round in progress", signed(unopened, early, broken))


def test_proofs_of_a_round_that_became_void_are_not_judged() -> None:
    swarm, (one, *_) = swarm_in(RoundPhase.WITNESS)
    body = msgspec.structs.replace(own_proof(swarm, one), count=1)
    void, (early, *_) = swarm_in(RoundPhase.TRAIN)
    current(void).phase = RoundPhase.OVER
    unproven(void, "does not accept proofs yet", signed(void, early, body))


def false_report(swarm: Swarm, reporter: Volunteer, claim: FaultReport) -> FaultReport:
    """A report that `reporter` claims a fault by a piece which shows none."""
    entry = reporter.sign(swarm.net, None, StatementDraft(claim), swarm.now_ms)
    return FaultReport(leaves=(to_text(entry.leaf()),), piece=claim.piece)


def refused_piece(swarm: Swarm, body: FaultReport, match: str) -> str:
    with pytest.raises(RefusedError, match=match) as refused:
        read_fault(body, swarm.net, lambda _: swarm.view.round, swarm.blobs.__getitem__)
    return refused.value.code


def test_who_reports_by_a_piece_is_not_judged_before_the_piece_is_there() -> None:
    swarm, (cheat, reporter, *_) = swarm_in(RoundPhase.TRAIN)
    honest = bad_piece(swarm, cheat, scale_255)
    pieces = dict(swarm.blobs)
    swarm.blobs.clear()
    body = false_report(swarm, reporter, honest)
    assert refused_piece(swarm, honest, "upload the piece") == "not-found"
    assert refused_piece(swarm, body, "upload the piece") == "not-found"
    swarm.blobs.update(pieces)
    assert refused_piece(swarm, body, "does not name this piece") == "wrong-evidence"


def test_a_report_is_false_only_by_one_commitment_and_its_piece() -> None:
    swarm, (victim, reporter, *_) = swarm_in(RoundPhase.TRAIN)
    claim = bad_piece(swarm, victim, lambda payload, _: payload)
    leave = to_text(signed(swarm, victim, MemberLeave(reason=1)).leaf())
    for leaves in ((claim.leaves[0], leave), (leave,)):
        body = false_report(swarm, reporter, FaultReport(leaves=leaves, piece=claim.piece))
        assert refused_piece(swarm, body, "does not name this piece") == "wrong-evidence"
    fault = read_fault(
        false_report(swarm, reporter, claim),
        swarm.net,
        lambda _: swarm.view.round,
        swarm.blobs.__getitem__,
    )
    assert (fault.peer, fault.cause) == (reporter.key, StandingCause.FALSE_REPORT)


def test_a_piece_convicts_by_one_leaf() -> None:
    swarm, (cheat, *_) = swarm_in(RoundPhase.TRAIN)
    body = bad_piece(swarm, cheat, scale_255)
    leave = to_text(signed(swarm, cheat, MemberLeave(reason=1)).leaf())
    two = msgspec.structs.replace(body, leaves=(*body.leaves, leave))
    assert refused_piece(swarm, two, "belongs to one leaf") == "wrong-evidence"


@pytest.mark.parametrize("later", [0, 1])
def test_a_commitment_is_logged_in_the_round_that_it_names(later: int) -> None:
    swarm, (cheat, *_) = swarm_in(RoundPhase.TRAIN)
    body = bad_piece(swarm, cheat, scale_255)
    logged = Entry.parse(from_text(body.leaves[0], None)).statement.body
    assert isinstance(logged, WorkCommit)
    raw, slot = from_text(logged.header, None), current(swarm).slot_of[cheat.key]
    current(swarm).commitments[slot] = replace(
        current(swarm).commitments[slot],
        header=ContributionHeader.parse(raw),
        id=contribution_id(raw),
    )
    draft = StatementDraft(logged, current(swarm).number + later)
    leaf = cheat.sign(swarm.net, swarm.manifest.run_id, draft, swarm.now_ms).leaf()
    again = FaultReport(leaves=(to_text(leaf),), piece=body.piece)
    fault = read_fault(again, swarm.net, lambda _: swarm.view.round, swarm.blobs.__getitem__)
    assert fault.is_logged is not bool(later)
    elsewhere = read_fault(again, swarm.net, lambda _: None, swarm.blobs.__getitem__)
    assert not elsewhere.is_logged


def test_a_leaf_claims_its_signatures_in_its_second_byte() -> None:
    assert [count_signatures(alone(leaf)) for leaf in (b"", b"\x01", b"\x01\x05")] == [0, 0, 5]
