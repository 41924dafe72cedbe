"""Witnesses who see what is not there, do not look, or decide alone. Layers: wit, coord, pts."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ContributionId, HeadHash, from_text, sha256, to_text
from tequio_shared.log import merkle
from tequio_shared.network.coordination import decide
from tequio_shared.network.run_states import RunState, VoidReason
from tequio_shared.network.standing import StandingCause
from tequio_shared.round import lots, proof
from tequio_shared.round.assignment import quorum
from tequio_shared.round.marks import marks_bytes
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import (
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    WitnessProof,
)
from tests.support.attack_table import attack
from tests.support.attackers_round import (
    Colluder,
    HeadLiar,
    Judge,
    MuteWitness,
    changes,
    due_proof,
    earned,
    entries_by,
    outcome,
    patient_swarm,
    refusal,
    round_of,
    scale_255,
    settle,
    spoiler,
    swarm_in,
    swarm_of,
)
from tests.support.marks import marks_of, unread_report
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import signer
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.round.round import RoundView

SEED, HEAD = sha256(b"seed"), HeadHash(sha256(b"head"))


def due_roster(swarm: Swarm) -> RoundRoster | None:
    """The roster that the coordinator owes now; its document is stored."""
    swarm.watch.update(swarm.view, swarm.now_ms)
    step = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
    if step is None or not isinstance(step.body, RoundRoster):
        return None
    assert step.document is not None
    swarm.blobs[sha256(step.document)] = step.document
    return step.body


@attack("Q1", layer="wit", ends="the exact bitmap has a zero for it in all of 10,000 draws")
@pytest.mark.parametrize("seed", [21])
def test_one_that_sent_nothing_is_never_seen_among_256(seed: int) -> None:
    rng, slots = random.Random(seed), 256
    ids = {slot: ContributionId(sha256(b"work", slot.to_bytes(2, "big"))) for slot in range(slots)}
    for trial in range(10_000):
        absent = rng.randrange(slots)
        vouched = {slot: one for slot, one in ids.items() if slot != absent}
        if trial % 500:
            bits = proof.encode_bitmap(vouched, slots)
            assert absent not in proof.decode_bitmap(bits, slots)
            continue
        key = rng.randbytes(32)
        said = proof.make_proof(
            seed=key,
            slots=slots,
            trainers=slots,
            vouched=vouched,
            rejected={},
            head=HEAD,
            vrf=b"",
            marks=bytes(marks_bytes(len(vouched))),
        )
        seen = proof.check_proof(
            said, seed=key, slots=slots, trainers=slots, commitments=vouched, head=HEAD
        )
        assert absent not in seen.vouched


def crooked_filters(swarm: Swarm) -> dict[str, bytes]:
    current = round_of(swarm)
    items = [one.id for one in current.commitments.values()]
    trainers = len(current.trainers)
    size = proof.bloom_bytes(trainers)
    last = proof.bloom_bits(trainers) - 1
    honest = proof.build_bloom(current.seed, items, trainers)
    full = bytearray(b"\xff" * size)
    full[-1] = (1 << (last % 8 + 1)) - 1
    return {
        "all ones": bytes(full),
        "all bits of all bytes": b"\xff" * size,
        "one bit more": bytes([honest[0] ^ (~honest[0] & -~honest[0]) & 0xFF]) + honest[1:],
        "nothing": bytes(size),
        "another round's": proof.build_bloom(sha256(b"other"), items, trainers),
        "more than was seen": proof.build_bloom(current.seed, [*items[1:], HEAD], trainers),
        "a byte too long": honest + b"\0",
        "a byte too short": honest[:-1],
        "a hundred times as long": honest * 100,
    }


@attack("Q2", layer="wit", ends="refused as `proof-bloom`: the filter follows from the bitmap")
def test_a_filter_that_is_not_the_bitmaps_is_refused() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS, logged=1)
    witness, honest = due_proof(swarm)
    for name, bits in crooked_filters(swarm).items():
        assert bits != from_text(honest.bloom, None), name
        body = msgspec.structs.replace(honest, bloom=to_text(bits))
        assert refusal(swarm, witness.signer, body) == "proof-bloom", name
    swarm.run_rounds(1)
    assert swarm.view.closed == 1


@attack("Q7", layer="coord", ends="refused by name; the slot's owner can still send its own")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"bitmap": to_text(b"\xff")}, "proof-bitmap"),
        ({"bitmap": to_text(b"\x1f" + bytes(2047))}, "proof-bitmap"),
        ({"bitmap": to_text(b"")}, "proof-bitmap"),
        ({"rejected": ((8191, 32),)}, "proof-slots"),
        ({"rejected": ((0, 32),)}, "proof-slots"),
        ({"rejected": ((0, 0),)}, "proof-reason"),
        ({"rejected": ((0, 65_535),)}, "proof-reason"),
        ({"count": 4095}, "proof-root"),
        ({"root": to_text(merkle.EMPTY_ROOT)}, "proof-root"),
        ({"head": to_text(HEAD)}, "proof-head"),
        ({"marks": ""}, "proof-marks"),
        ({"marks": to_text(bytes(40))}, "proof-marks"),
    ],
)
def test_a_proof_about_slots_that_are_not_there_is_refused(
    change: dict[str, object], code: str
) -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    witness, honest = due_proof(swarm)
    body = msgspec.structs.replace(honest, **change)
    assert refusal(swarm, witness.signer, body) == code
    swarm.run_rounds(1)
    assert entries_by(swarm, witness, "witness.proof")
    assert swarm.view.closed == 1


@attack("Q3", layer="wit", ends="not accepted below ceil(2/3) of the elected: 3 of 4, 11 of 16")
@attack("Q5", layer="wit", ends="accepted anyway, as long as fewer than a third collude")
@pytest.mark.parametrize("elected", [4, 16])
def test_nothing_is_accepted_by_fewer_than_two_thirds_of_the_elected(elected: int) -> None:
    assert quorum(elected) == {4: 3, 16: 11}[elected]
    for colluders in (elected - quorum(elected), elected - quorum(elected) + 1):
        swarm = patient_swarm(3)
        victim = Volunteer("victim", swarm.arithmetic, roles=("trainer",))
        kind = type("Colluder", (Colluder,), {"victims": {victim.key}})
        swarm.join(victim)
        swarm_of(3, *[kind] * colluders, *[Judge] * (elected - colluders), swarm=swarm)
        swarm.run_rounds(1)
        assert len(round_of(swarm).elected) == elected
        passes = colluders <= elected - quorum(elected)
        assert outcome(swarm, victim)[0] is (Verdict.ACCEPTED if passes else Verdict.NOT_SELECTED)
        assert bool(earned(swarm)[victim.key]) is passes


@attack("Q4", layer="coord", ends="void at the deadline: the quorum is of the elected, not of one")
def test_one_witness_does_not_make_a_quorum() -> None:
    swarm = swarm_of(5, Judge, *[MuteWitness] * 4)
    swarm.run_rounds(1)
    assert (swarm.view.closed, swarm.view.voided) == (0, 1)
    last = swarm.entries[-1].statement.body
    assert isinstance(last, RoundVoid)
    assert last.reason == VoidReason.NO_PROOF_QUORUM
    assert not any(earned(swarm).values())


@attack("Q6", layer="coord", ends="refused as `wrong-vrf`: its key has one seed for a round")
def test_a_coordinator_cannot_try_other_seeds() -> None:
    swarm = swarm_of(5, *[Judge] * 3)
    while swarm.view.state is not RunState.WAITING_FOR_MEMBERS or due_roster(swarm) is None:
        assert swarm.step()
    roster = due_roster(swarm)
    assert roster is not None
    for proof_of_seed in (
        swarm.coordinator.prove(b"another input"),
        swarm.organiser.prove(swarm.view.next_seed_input()),
        bytes(80),
    ):
        body = msgspec.structs.replace(roster, vrf=to_text(proof_of_seed))
        draft = StatementDraft(body, swarm.view.number + 1)
        with pytest.raises(RefusedError) as refused:
            swarm.log_statement(swarm.coordinator, draft)
        assert refused.value.code == "wrong-vrf"
    assert swarm.coordinate()


@attack("Q6", layer="coord", ends="refused as `wrong-open` by every reader, full or light")
def test_a_coordinator_cannot_leave_out_lots_by_opening_early() -> None:
    swarm = swarm_in(RunState.WARMUP, logged=4)
    while swarm.view.next_head is not None:
        assert swarm.coordinate()
    current = round_of(swarm)
    assert len(current.lots) < len(current.roster.members)
    for change in ({}, {"lots": to_text(HEAD)}, {"roster": to_text(HEAD)}):
        body = msgspec.structs.replace(current.opening(swarm.now_ms), **change)
        assert refusal(swarm, swarm.coordinator, body) == "wrong-open"
    swarm.run_rounds(1)
    opened = [one for one in swarm.entries if isinstance(one.statement.body, RoundOpen)]
    assert len(opened) == 1


@attack("Q15", layer="wit", ends="each silence can only cost a seat: none of 400 choices gains one")
@pytest.mark.parametrize("seed", [1, 2])
def test_members_that_withhold_lots_only_lose_seats(seed: int) -> None:
    swarm = swarm_in(RunState.WARMUP, members=48)
    while swarm.view.state is RunState.WARMUP:
        assert swarm.step()
    drawn, rng = round_of(swarm).lots, random.Random(seed)
    assert len(drawn) == 48
    allied = set(rng.sample(sorted(drawn), 17))
    before = set(lots.committee(drawn, lots.seat_count(48)))
    assert len(before) == 16
    for _ in range(400):
        silent = set(rng.sample(sorted(allied), rng.randint(1, 16)))
        left = {slot: lot for slot, lot in drawn.items() if slot not in silent}
        after = set(lots.committee(left, lots.seat_count(48)))
        assert after - allied >= before - allied
        assert len(after & allied) <= len(before & allied)


@attack("Q8", layer="wit", ends="refused and not counted, whatever its signature")
def test_only_the_elected_hand_in_proofs() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS, members=20)
    _, honest = due_proof(swarm)
    current = round_of(swarm)
    assert len(current.elected) == 16
    member = next(
        one for one in swarm.volunteers if current.slot_of[one.key] not in current.elected
    )
    assert refusal(swarm, member.signer, honest) == "wrong-role"
    for stranger in (signer("a stranger"), swarm.coordinator, swarm.organiser):
        assert refusal(swarm, stranger, honest) == "not-in-round"
    assert not current.proofs


@attack("Q9", layer="wit", ends="counts once; the second is refused as `already-said`")
def test_a_witness_counts_once() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    witness, honest = due_proof(swarm)
    number = round_of(swarm).number
    assert witness.duty(swarm.view) is not None
    while round_of(swarm).slot_of[witness.key] not in round_of(swarm).proofs:
        assert swarm.step()
    assert round_of(swarm).number == number
    if swarm.view.state is RunState.ROUND_WITNESS:
        other = msgspec.structs.replace(honest, rejected=())
        assert refusal(swarm, witness.signer, other) == "already-said"
    assert len(entries_by(swarm, witness, "witness.proof")) == 1


@attack("Q10", layer="wit", ends="the root is over the ids in ascending order, and it is compared")
@pytest.mark.parametrize("seed", [30])
def test_the_order_of_arrival_does_not_show_in_a_proof(seed: int) -> None:
    rng = random.Random(seed)
    swarm = swarm_in(RunState.ROUND_WITNESS)
    witness, honest = due_proof(swarm)
    current = round_of(swarm)
    ids = {slot: one.id for slot, one in current.commitments.items()}
    payloads = swarm.arithmetic.payloads
    for _ in range(20):
        seen = dict(rng.sample(list(ids.items()), len(ids)))
        lot = witness.signer.prove(current.audit_lot_input)
        again = current.proof_of(seen, {}, lot, marks_of(current, seen, lot, payloads))
        assert again == honest
    arrival = sorted(ids.values(), reverse=True)
    body = msgspec.structs.replace(honest, root=to_text(merkle.root(arrival)))
    assert refusal(swarm, witness.signer, body) == "proof-root"


@attack(
    "Q11", layer="coord", ends="the round ends at the quorum plus its grace; others lose nothing"
)
@attack("Q13", layer="pts", ends="it earns nothing as a witness, and nobody gets its share")
def test_a_witness_that_withholds_its_word_costs_the_others_the_grace_only() -> None:
    swarm = swarm_of(11, MuteWitness, *[Judge] * 5)
    swarm.run_rounds(3)
    mute, *others = swarm.volunteers
    times = {type(one.statement.body): one.statement.ts for one in swarm.entries}
    assert swarm.view.closed == 3
    longest = swarm.manifest.rounds.grace + 500 * len(swarm.volunteers)
    assert times[RoundClose] - times[RoundWitness] <= longest
    accounts = swarm.view.accounts
    assert accounts.earned[mute.key].witness == 0
    assert accounts.earned[mute.key].trainer > 0
    assert len({accounts.earned[one.key].witness for one in others}) == 1
    assert accounts.earned[others[0].key].witness > 0


class Repeater(Judge):
    """A witness that looks at nothing: it waits for the first proof, and states the same."""

    swarm: Swarm

    def _round_duty(
        self, view: FullRunView, current: RoundView, slot: int
    ) -> StatementDraft | None:
        if current.phase is RoundPhase.WITNESS and not current.proofs:
            return None
        return super()._round_duty(view, current, slot)

    def _proof(self, current: RoundView) -> WitnessProof:
        first = next(iter(current.proofs.values()))
        ids = {slot: current.commitments[slot].id for slot in first.vouched}
        lot = self.signer.prove(current.audit_lot_input)
        # The marks that others made are the only ones it has.
        others = (one.statement.body for one in reversed(self.swarm.entries))
        copied = next(one for one in others if isinstance(one, WitnessProof))
        body = current.proof_of(ids, dict(first.rejected), lot, from_text(copied.marks, None))
        return msgspec.structs.replace(body, gains=tuple(sorted(first.gains.items())))


@attack("Q13", layer="qua", ends="convicted by any of the pieces that it says it has read")
def test_a_witness_that_repeats_the_first_proof_is_convicted_by_its_marks() -> None:
    swarm = swarm_of(11, Repeater, *[Judge] * 4, spoiler(scale_255))
    repeater, other = swarm.volunteers[:2]
    assert isinstance(repeater, Repeater)
    repeater.swarm = swarm
    while not all(entries_by(swarm, one, "witness.proof") for one in (repeater, other)):
        assert swarm.step()
    (copied,) = entries_by(swarm, repeater, "witness.proof")
    (honest,) = entries_by(swarm, other, "witness.proof")
    count = len(round_of(swarm).proofs[round_of(swarm).slot_of[other.key]].vouched)
    assert [unread_report(swarm, honest, order) for order in range(count)] == [None] * count
    reports = [unread_report(swarm, copied, order) for order in range(count)]
    assert all(reports)
    swarm.run_rounds(2)  # the round is over, and a report holds all the same
    assert reports[0] is not None
    swarm.post(other, StatementDraft(reports[0]))
    settle(swarm)
    (change,) = changes(swarm, repeater)
    assert (change.to, change.cause) == ("quarantined", StandingCause.UNREAD)


@attack("Q12", layer="wit", ends="the accusation stays alone; every other verdict stands")
def test_one_wrong_item_in_a_witness_s_list_changes_no_other_verdict() -> None:
    swarm = patient_swarm(12)
    swarm_of(12, *[Judge] * 5, swarm=swarm)
    victim = swarm.volunteers[0]
    kind = type(
        "Colluder", (Colluder,), {"victims": {victim.key}, "accusation": RejectionReason.NORM}
    )
    swarm_of(12, kind, swarm=swarm)
    swarm.run_rounds(1)
    assert {outcome(swarm, one)[0] for one in swarm.volunteers} == {Verdict.ACCEPTED}


@attack("Q14", layer="coord", ends="no quorum, no head: the round is void and nothing is promoted")
@attack("A3", layer="coord", ends="the head of the majority is promoted, the liars' never")
@pytest.mark.parametrize("liars", [1, 2])
def test_members_attest_the_hash_of_what_they_hold(liars: int) -> None:
    swarm = swarm_of(14, *[HeadLiar] * liars, *[Judge] * (4 - liars))
    swarm.run_rounds(4)
    reasons = {
        one.statement.body.reason
        for one in swarm.entries
        if isinstance(one.statement.body, RoundVoid)
    }
    if liars == 1:
        assert swarm.view.closed >= 3
        held = {entry.statement.type for entry in swarm.entries}
        assert "head.promote" in held
        honest = swarm.arithmetic.roots
        assert swarm.view.head is not None
        assert swarm.view.head.weights_root in {weights for weights, _ in honest.values()}
    else:
        assert VoidReason.NO_HEAD_QUORUM in reasons
        assert swarm.view.head is None or swarm.view.head.round == 0
