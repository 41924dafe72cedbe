"""Quarantine: the faults that lead to it, and attempts to put honest keys there.

Every verdict follows from bytes and the log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import PeerKey, from_text, key_from_text, sha256, to_text
from tequio_shared.limits import QUARANTINE_MS
from tequio_shared.network import standing
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import KeyStatus, ProvenFault, Standing, StandingCause
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.statements.network import StandingRelease
from tequio_shared.statements.runs import WorkCommit
from tests.support.attack_table import attack
from tests.support.attackers_round import (
    Colluder,
    Copyist,
    Judge,
    Withholder,
    bad_piece,
    changes,
    due_proof,
    earned,
    outcome,
    patient_swarm,
    report_of,
    round_of,
    scale_255,
    settle,
    signed,
    spoiler,
    swarm_in,
    swarm_of,
)
from tests.support.commitments import commitment, commitment_of_bytes
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Statement


SHORT = spoiler(lambda payload, _: payload[:-1])
DOUBLED = spoiler(lambda payload, _: b"\x01" + bytes(9) + b"\xff\x00" + payload[12:])
DAY_MS = 86_400_000


def of(swarm: Swarm, one: Volunteer) -> Standing:
    return swarm.standings.of(one.key)


def convicted(swarm: Swarm, one: Volunteer, cause: StandingCause) -> None:
    """Quarantined for that, with entries that show it, and in no roster from here on."""
    settle(swarm)
    (change,) = changes(swarm, one)
    assert (change.to, change.cause) == ("quarantined", cause)
    assert all(at < len(swarm.entries) for at in change.evidence)
    assert change.until - swarm.now_ms <= QUARANTINE_MS
    assert of(swarm, one) is Standing.QUARANTINED
    number = round_of(swarm).number
    swarm.run_rounds(swarm.view.closed + swarm.view.voided + 2)
    assert round_of(swarm).number > number
    assert one.key not in round_of(swarm).slot_of
    with pytest.raises(RefusedError) as refused:
        swarm.post(one, one.ready(swarm.view))
    assert refused.value.code == "quarantined"


def seasoned(swarm: Swarm, *members: Volunteer) -> None:
    """Let organisers vouch for them, so that newcomers among them do not witness."""
    for one in members:
        body = StandingRelease(peer=to_text(one.key), reason=1)
        swarm.log_statement(swarm.organiser, StatementDraft(body))


@attack("W3", layer="wit", ends="not paid; nobody can show such bytes, so nobody is convicted")
@attack("W8", layer="wit", ends="not paid, and convicted by the piece that shows it")
@pytest.mark.parametrize("forger", [SHORT, DOUBLED], ids=["too short", "doubled index"])
def test_malformed_bytes_are_not_paid(forger: type[Volunteer]) -> None:
    swarm = swarm_of(3, forger, *[Judge] * 4)
    swarm.run_rounds(1)
    assert outcome(swarm, swarm.volunteers[0])[0] is Verdict.REJECTED
    assert not swarm.view.accounts.earned[swarm.volunteers[0].key].trainer
    settle(swarm)
    assert all(of(swarm, one) is Standing.NEWCOMER for one in swarm.volunteers)


@attack("W7", layer="qua", ends="a piece of the signed payload convicts its author, at once")
@attack("W8", layer="qua", ends="a piece of the signed payload convicts its author, at once")
def test_a_piece_of_the_payload_convicts_by_itself() -> None:
    swarm = swarm_of(3, *[Judge] * 5)
    swarm.run_rounds(1)
    cheat, witness = swarm.volunteers[:2]
    swarm.post(witness, StatementDraft(bad_piece(swarm, cheat, scale_255)))
    convicted(swarm, cheat, StandingCause.BAD_PAYLOAD)
    assert of(swarm, witness) is not Standing.QUARANTINED


@attack("P16", layer="qua", ends="no quarantine: a committee's word on bytes convicts nobody")
def test_a_whole_committee_cannot_convict_of_bytes_that_everybody_has() -> None:
    swarm = patient_swarm(3)
    victims = [Volunteer(f"victim {at}", swarm.arithmetic) for at in range(3)]
    kind = type(
        "Framer",
        (Colluder,),
        {
            "victims": {one.key for one in victims},
            "accusation": RejectionReason.SCALE,
        },
    )
    swarm.join(*victims)
    seasoned(swarm, *victims)
    swarm_of(3, *[kind] * 12, swarm=swarm)
    swarm.run_rounds(3)
    settle(swarm)
    assert all(of(swarm, one) is not Standing.QUARANTINED for one in victims)


@attack("P16", layer="qua", ends="convicted itself: its piece shows that the bytes are sound")
def test_a_false_report_convicts_its_author() -> None:
    swarm = swarm_of(3, *[Judge] * 5)
    swarm.run_rounds(1)
    victim, framer, reporter = swarm.volunteers[:3]
    false = bad_piece(swarm, victim, lambda payload, _: payload)
    with pytest.raises(RefusedError, match="break no rule"):
        swarm.post(framer, StatementDraft(false))
    leaf = framer.sign(swarm.net, None, StatementDraft(false), swarm.now_ms).leaf()
    report = msgspec.structs.replace(report_of(leaf), piece=false.piece)
    swarm.post(reporter, StatementDraft(report))
    convicted(swarm, framer, StandingCause.FALSE_REPORT)
    assert of(swarm, victim) is not Standing.QUARANTINED


@attack("P16", layer="qua", ends="refused: the piece does not lead to the signed root")
def test_a_piece_of_other_bytes_convicts_nobody() -> None:
    swarm = swarm_of(3, *[Judge] * 5)
    swarm.run_rounds(1)
    victim, framer = swarm.volunteers[:2]
    honest = bad_piece(swarm, victim, lambda payload, _: payload)
    bad = bad_piece(swarm, victim, scale_255)
    swapped = msgspec.structs.replace(honest, piece=bad.piece)
    with pytest.raises(RefusedError, match="not of this payload"):
        swarm.post(framer, StatementDraft(swapped))
    assert of(swarm, victim) is not Standing.QUARANTINED


@attack("W2", layer="qua", ends="both signed commitments go into the log: quarantined at once")
def test_two_commitments_for_one_round_convict_by_themselves() -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN)
    cheat, witness = swarm.volunteers[:2]
    said = cheat.duty(swarm.view)
    assert said is not None
    assert isinstance(said.body, WorkCommit)
    header = ContributionHeader.parse(from_text(said.body.header, None))
    other = commitment(replace(header, payload_root=sha256(b"other")))
    leaves = [signed(swarm, cheat, StatementDraft(body, said.round)) for body in (said.body, other)]
    swarm.post(witness, StatementDraft(report_of(*leaves)))
    convicted(swarm, cheat, StandingCause.TWO_STATEMENTS)


@attack("Q2", layer="qua", ends="the signed proof convicts its author: quarantined at once")
def test_a_saturated_filter_under_a_signature_convicts_by_itself() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    cheat, honest = due_proof(swarm)
    full = b"\xff" * len(from_text(honest.bloom, None))
    body = msgspec.structs.replace(honest, bloom=to_text(full))
    leaf = signed(swarm, cheat, StatementDraft(body, round_of(swarm).number))
    reporter = next(one for one in swarm.volunteers if one is not cheat)
    swarm.post(reporter, StatementDraft(report_of(leaf)))
    convicted(swarm, cheat, StandingCause.BAD_PROOF)


@attack("Q8", layer="qua", ends="the signed proof convicts its author: quarantined at once")
def test_a_proof_from_nobody_s_witness_convicts_by_itself() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS, members=20)
    _, honest = due_proof(swarm)
    current = round_of(swarm)
    cheat = next(one for one in swarm.volunteers if current.slot_of[one.key] not in current.elected)
    leaf = signed(swarm, cheat, StatementDraft(honest, current.number))
    reporter = next(one for one in swarm.volunteers if one is not cheat)
    swarm.post(reporter, StatementDraft(report_of(leaf)))
    convicted(swarm, cheat, StandingCause.NOT_ELECTED)


@attack("Q5", layer="qua", ends="after two such rounds they are suspected and stop witnessing")
@attack("P9", layer="qua", ends="the accused's standing stays; the accuser is suspected")
@pytest.mark.parametrize("accusation", [None, RejectionReason.NORM, RejectionReason.SCALE], ids=str)
def test_who_contradicts_the_other_witnesses_loses_the_seat(
    accusation: RejectionReason | None,
) -> None:
    swarm = patient_swarm(25, most=8, grace=10_000)
    swarm_of(25, *[Judge] * 5, swarm=swarm)
    victims = {one.key for one in swarm.volunteers[:2]}
    kind = type("Colluder", (Colluder,), {"victims": victims, "accusation": accusation})
    swarm_of(25, kind, kind, swarm=swarm)
    *honest, first, second = swarm.volunteers
    swarm.run_rounds(3)
    settle(swarm)
    assert [of(swarm, one) for one in honest] == [Standing.NEWCOMER] * 5
    assert [of(swarm, one) for one in (first, second)] == [Standing.SUSPECTED] * 2
    assert {changes(swarm, one)[0].cause for one in (first, second)} == {StandingCause.DEVIATION}
    swarm.run_rounds(5)
    current = round_of(swarm)
    assert not {current.slot_of[one.key] for one in (first, second)} & {*current.elected}
    assert {outcome(swarm, one)[0] for one in swarm.volunteers} == {Verdict.ACCEPTED}


@attack(
    "P9", layer="qua", ends="refused as `wrong-evidence`: only the accused's own signature counts"
)
def test_a_report_that_proves_nothing_changes_nothing() -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN, logged=2)
    liar, victim = swarm.volunteers[:2]
    said = victim.duty(swarm.view) or StatementDraft(commitment_of_bytes(bytes(216)), 1)
    sound = signed(swarm, victim, said)
    broken = sound[:-1] + bytes([sound[-1] ^ 1])
    altered = sound[:40] + bytes([sound[40] ^ 1]) + sound[41:]
    mine = signed(swarm, liar, said)
    for leaves in ([sound], [broken], [altered], [sound, sound], [sound, mine], [b"\x01\x01"]):
        with pytest.raises(RefusedError) as refused:
            swarm.post(liar, StatementDraft(report_of(*leaves)))
        assert refused.value.code in ("wrong-evidence", "malformed", "not-canonical")
    swarm.run_rounds(1)
    settle(swarm)
    assert of(swarm, victim) is Standing.NEWCOMER
    assert not changes(swarm, victim)


@attack("P3", layer="qua", ends="never a fault: no witness could fetch it, so nobody is blamed")
def test_work_that_was_not_selected_is_never_a_strike() -> None:
    swarm = patient_swarm(69, most=40)
    swarm_of(69, Withholder, *[Judge] * 4, swarm=swarm)
    swarm.run_rounds(30)
    unlucky = swarm.volunteers[0]
    record = swarm.standings.records[unlucky.key]
    assert (record.strikes, record.fault, record.judged) == ([], None, 0)
    assert of(swarm, unlucky) is Standing.NEWCOMER


@attack(
    "P6", layer="qua", ends="a newcomer again: small share, everything checked, no witness duty"
)
def test_a_new_key_starts_at_the_bottom() -> None:
    swarm = patient_swarm(72, most=30)
    swarm_of(72, *[Judge] * 6, swarm=swarm)
    cheat, *honest = swarm.volunteers
    swarm.run_rounds(1)
    swarm.post(honest[0], StatementDraft(bad_piece(swarm, cheat, scale_255)))
    settle(swarm)
    seasoned(swarm, *honest)
    again = Judge("the cheat's second key", swarm.arithmetic)
    swarm.join(again)
    assert of(swarm, cheat) is Standing.QUARANTINED
    swarm.run_rounds(4)
    for _ in range(4):
        swarm.run_rounds(swarm.view.closed + 1)
        current = round_of(swarm)
        slot = current.slot_of[again.key]
        assert "witness" not in current.roster.members[slot].roles
        assert current.roster.members[slot].share <= swarm.manifest.windows.first
        assert slot not in current.elected
    assert of(swarm, again) is Standing.NEWCOMER


@attack("P7", layer="qua", ends="the same after every replay: standing follows from the log")
@attack("P8", layer="qua", ends="silence changes nothing; only `member.ready` after the term does")
def test_a_quarantine_outlives_replays_and_silence() -> None:
    swarm = patient_swarm(74, most=40)
    swarm_of(74, *[Judge] * 5, swarm=swarm)
    cheat, witness = swarm.volunteers[:2]
    swarm.run_rounds(2)
    swarm.post(witness, StatementDraft(bad_piece(swarm, cheat, scale_255)))
    settle(swarm)
    cheat.failure_rates = replace(cheat.failure_rates, silent=100)
    for _ in range(3):
        swarm.now_ms += 30 * DAY_MS
        swarm.run_rounds(swarm.view.closed + swarm.view.voided + 1)
        again = swarm.replay().accounts
        assert again is not None
        assert again.standings.records == swarm.standings.records
        assert of(swarm, cheat) is Standing.QUARANTINED
        assert cheat.key not in round_of(swarm).slot_of
    swarm.post(cheat, cheat.ready(swarm.view))
    settle(swarm)
    assert of(swarm, cheat) is Standing.PROBATION


@attack("W15", layer="gate", ends="the key without the payload has a wrong seal and is not paid")
def test_the_same_work_under_two_keys_is_paid_once() -> None:
    swarm = swarm_of(15, *[Judge] * 4, Copyist)
    copyist = swarm.volunteers[-1]
    swarm.run_rounds(2)
    settle(swarm)
    accounts = swarm.view.accounts
    assert accounts.earned[copyist.key].trainer == 0
    assert outcome(swarm, copyist)[1] in (RejectionReason.SEAL, RejectionReason.NONE)
    assert all(earned(swarm)[one.key] for one in swarm.volunteers[:4])


@attack("A13", layer="qua", ends="remembered: the log keeps every record")
def test_the_first_of_ten_thousand_offenders_is_not_forgotten() -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN)
    book, example = KeyStatus(), swarm.entries[-1].statement
    keys = [PeerKey(sha256(b"offender", at.to_bytes(4, "big"))) for at in range(10_000)]
    for at, key in enumerate(keys):
        book.register(key, at)
        told: tuple[Statement, ...] = (replace(example, raw=key),)
        book.apply_fault(
            at,
            ProvenFault(peer=key, cause=StandingCause.TWO_STATEMENTS, evidence=(), statements=told),
        )
        change = book.due(1)
        assert change is not None
        assert key_from_text(change.peer) == key
        body = swarm.sign(swarm.coordinator, StatementDraft(change), None).statement
        book.apply_change(at, replace(body, ts=1), change)
    assert {book.of(key) for key in keys} == {Standing.QUARANTINED}
    with pytest.raises(RefusedError, match="quarantined until"):
        book.check_ready(keys[0], 1)


@attack("P5", layer="qua", ends="the published constant decides, at its value and one beside it")
@pytest.mark.parametrize(
    ("name", "value", "rounds", "becomes"),
    [
        ("LEAST_ACCUSERS", 4, 1, Standing.SUSPECTED),
        ("NEWCOMER_WORK", 2, 2, Standing.ACTIVE),
        ("NEWCOMER_WORK", 3, 2, Standing.NEWCOMER),
        ("LEAST_ACCUSERS", 5, 2, Standing.NEWCOMER),
    ],
)
def test_each_threshold_decides_where_it_stands(
    monkeypatch: pytest.MonkeyPatch, name: str, value: int, rounds: int, becomes: Standing
) -> None:
    swarm = patient_swarm(71, most=10)
    swarm_of(71, *[Volunteer] * 5, swarm=swarm)
    one = swarm.volunteers[0]
    if name != "NEWCOMER_WORK":
        swarm.arithmetic.blames[one.key] = RejectionReason.NORM
    monkeypatch.setattr(standing, name, value)
    swarm.run_rounds(rounds)
    settle(swarm)
    assert of(swarm, one) is becomes


@attack("P4", layer="qua", ends="never suspected: one witness's measurement alone does not count")
def test_noise_that_one_witness_takes_for_fraud_blames_nobody() -> None:
    swarm = patient_swarm(4, most=40)
    swarm_of(4, *[Judge] * 4, swarm=swarm)
    noisy = swarm.volunteers[0]
    victims = {"victims": {noisy.key}, "accusation": RejectionReason.COSINE}
    swarm_of(4, type("Colluder", (Colluder,), victims), swarm=swarm)
    swarm.run_rounds(30)
    settle(swarm)
    assert [change.to for change in changes(swarm, noisy)] == ["active"]
    assert of(swarm, noisy) is Standing.ACTIVE
    assert not swarm.standings.records[noisy.key].strikes
