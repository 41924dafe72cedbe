"""Witness proofs: three statements of one set must agree, and only the elected count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import RefusedError
from tequio_shared.ids import (
    ROSTER_SLOTS,
    ContributionId,
    HeadHash,
    RunId,
    from_text,
    sha256,
    to_text,
)
from tequio_shared.limits import CONTRIBUTORS, GAIN_MOST, GAIN_SLOTS, STATEMENT_BYTES
from tequio_shared.round import proof
from tequio_shared.round.assignment import quorum
from tequio_shared.round.marks import marks_bytes
from tequio_shared.round.proof import RejectionReason, Verdict, WitnessFindings
from tequio_shared.statements.statement import make
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from tequio_shared.statements.runs import WitnessProof

SEED, HEAD = sha256(b"seed"), HeadHash(sha256(b"head"))
SLOTS = 11
COMMITMENTS = {slot: ContributionId(sha256(bytes([slot]))) for slot in (0, 2, 3, 7, 9)}
slots = st.sets(st.integers(0, 63))


def made(vouched: set[int], rejected: dict[int, RejectionReason] | None = None) -> WitnessProof:
    return proof.make_proof(
        seed=SEED,
        slots=SLOTS,
        trainers=8,
        vouched={slot: COMMITMENTS[slot] for slot in vouched},
        rejected=rejected or {},
        head=HEAD,
        vrf=bytes(80),
        marks=bytes(marks_bytes(len(vouched))),
    )


def checked(body: WitnessProof) -> WitnessFindings:
    return proof.check_proof(
        body, seed=SEED, slots=SLOTS, trainers=8, commitments=COMMITMENTS, head=HEAD
    )


@given(slots)
def test_a_bitmap_survives_its_bytes(chosen: set[int]) -> None:
    assert proof.decode_bitmap(proof.encode_bitmap(chosen, 64), 64) == chosen


def test_a_bitmap_of_another_length_or_past_the_end_is_refused() -> None:
    for bits in (b"\x00", b"\x00\x00\x00", b"\x00\x08"):
        with pytest.raises(RefusedError):
            proof.decode_bitmap(bits, SLOTS)


@given(st.sets(st.sampled_from(sorted(COMMITMENTS))))
def test_an_honest_proof_says_what_was_seen(vouched: set[int]) -> None:
    rejected = dict.fromkeys(COMMITMENTS.keys() - vouched, RejectionReason.NORM)
    assert checked(made(vouched, rejected)) == WitnessFindings(
        vouched=frozenset(vouched), rejected=rejected
    )


SATURATED = to_text(b"\xff" * 14 + b"\x0f")
NOBODY = made(set())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"bloom": SATURATED}, "proof-bloom"),
        ({"bloom": to_text(bytes(14))}, "proof-bloom"),
        ({"bloom": to_text(bytes(14) + b"\x10")}, "proof-bloom"),
        ({"bloom": NOBODY.bloom}, "proof-bloom"),
        ({"root": NOBODY.root}, "proof-root"),
        ({"count": 1}, "proof-root"),
        ({"marks": to_text(bytes(4))}, "proof-marks"),
        ({"bitmap": to_text(proof.encode_bitmap({0}, SLOTS))}, "proof-root"),
        ({"bitmap": to_text(proof.encode_bitmap({0, 1}, SLOTS))}, "proof-slots"),
        ({"bitmap": to_text(b"\x05")}, "proof-bitmap"),
        ({"head": to_text(sha256(b"other"))}, "proof-head"),
        ({"rejected": ((1, 32),)}, "proof-slots"),
        ({"rejected": ((0, 32),)}, "proof-slots"),
        ({"rejected": ((3, 0),)}, "proof-reason"),
        ({"rejected": ((3, 999),)}, "proof-reason"),
    ],
)
def test_a_proof_that_contradicts_itself_is_refused(change: dict[str, object], code: str) -> None:
    with pytest.raises(RefusedError) as caught:
        checked(msgspec.structs.replace(made({0, 2}), **change))
    assert caught.value.code == code


def test_the_saturated_filter_is_the_right_size_for_the_round() -> None:
    assert len(from_text(SATURATED, None)) == proof.bloom_bytes(8)


def seen(vouched: set[int], rejected: dict[int, RejectionReason] | None = None) -> WitnessFindings:
    return WitnessFindings(vouched=frozenset(vouched), rejected=rejected or {})


@given(st.integers(1, 16), st.integers(0, 16))
def test_work_counts_when_a_quorum_of_elected_others_vouches(elected: int, votes: int) -> None:
    votes = min(votes, elected)
    proofs = {slot: seen({99} if slot < votes else set()) for slot in range(elected)}
    verdict, _ = proof.verdicts(range(elected), proofs, [99])[99]
    assert (verdict is Verdict.ACCEPTED) == (votes >= quorum(elected))


def test_nobody_witnesses_its_own_work() -> None:
    proofs = {0: seen({0}), 1: seen({0}), 2: seen(set()), 3: seen(set())}
    # 3 others, 2 needed; its own voice would have made the second
    assert proof.verdicts(range(4), proofs, [0])[0][0] is Verdict.NOT_SELECTED
    proofs[2] = seen({0})
    assert proof.verdicts(range(4), proofs, [0])[0][0] is Verdict.ACCEPTED


def test_a_lone_witness_cannot_accept_its_own_work() -> None:
    assert proof.verdicts([0], {0: seen({0, 1})}, [0, 1]) == {
        0: (Verdict.NOT_SELECTED, RejectionReason.NONE),
        1: (Verdict.ACCEPTED, RejectionReason.NONE),
    }


def test_rejection_needs_a_quorum_for_one_reason() -> None:
    norm, cosine = seen(set(), {9: RejectionReason.NORM}), seen(set(), {9: RejectionReason.COSINE})
    divided = {0: norm, 1: norm, 2: cosine, 3: cosine}
    assert proof.verdicts(range(4), divided, [9])[9][0] is Verdict.NOT_SELECTED
    divided[2] = norm
    assert proof.verdicts(range(4), divided, [9])[9] == (Verdict.REJECTED, RejectionReason.NORM)


def test_who_was_not_elected_has_no_voice() -> None:
    proofs = {slot: seen({9}) for slot in range(4)}
    assert proof.verdicts([4, 5, 6], proofs, [9])[9][0] is Verdict.NOT_SELECTED


A, R, N = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.NOT_SELECTED


def letters(
    vouched: str, rejected: str = "", reason: RejectionReason = RejectionReason.NORM
) -> WitnessFindings:
    """Slots by letter: a is 0."""
    return WitnessFindings(
        vouched=frozenset(ord(one) - 97 for one in vouched),
        rejected={ord(one) - 97: reason for one in rejected},
    )


@pytest.mark.parametrize(
    ("verdicts", "said", "deviates", "earns"),
    [
        ("aaaa", letters("bcd"), False, True),
        ("aaar", letters("bc", "d"), False, True),
        ("aaar", letters("bcd"), False, False),  # vouches for what the others measured as bad
        ("aaaR", letters("bcd"), True, False),  # vouches for bytes that break a rule
        ("aaaa", letters("bc", "d"), False, False),  # one measure at the edge
        ("aaaa", letters("b", "cd"), True, False),  # two are more than an edge case
        (
            "aaaa",
            letters("bc", "d", RejectionReason.LENGTH),
            True,
            False,
        ),  # bytes are the same for all
        ("aaar", letters("b", "c"), False, False),  # at one in a measure, and silent on a cheat
        ("aaar", letters("bd", "c"), True, False),  # at odds over two measures
        ("aaaa", letters("bc"), False, True),  # one was out of reach
        ("aaaa", letters("b", "c"), True, False),  # one refused and one left out
        ("aaaa", letters("b"), True, False),  # two of three were: blind
        ("aaaa", letters(""), True, False),
        ("aa", letters(""), False, False),  # blind to the only one: no deviation, no pay either
        ("ar", letters("", "b"), False, True),
        ("annn", letters(""), False, True),  # nothing was decided: nothing to disagree with
        ("aaaaaaaaaa", letters("bcdefgh", "i"), True, False),
        ("aaaaaaaaaaaa", letters("bcdefghijk", "l"), False, True),  # one in eleven: within a fifth
        ("raaa", letters("bcd"), False, True),  # its own work is others' to judge
    ],
)
def test_a_proof_deviates_and_earns_by_what_the_round_came_to(
    verdicts: str, said: WitnessFindings, *, deviates: bool, earns: bool
) -> None:
    kinds = {
        "a": (A, RejectionReason.NONE),
        "r": (R, RejectionReason.NORM),
        "R": (R, RejectionReason.LENGTH),
        "n": (N, RejectionReason.NONE),
    }
    came_to = {slot: kinds[one] for slot, one in enumerate(verdicts)}
    assert proof.deviates(0, said, came_to) is deviates
    assert proof.earns(0, said, came_to) is earns


def test_work_hangs_on_those_who_are_still_to_answer() -> None:
    elected, committed = range(6), [0]  # five others, four voices decide
    three = {at: letters("a") for at in (1, 2, 3)}
    assert proof.is_undecided(elected, three, committed, {4, 5})
    assert proof.is_undecided(elected, three, committed, {4})
    assert not proof.is_undecided(elected, three, committed, set()), "nobody is left"
    assert not proof.is_undecided(elected, three, committed, {0}), "its own voice does not count"
    assert not proof.is_undecided(elected, {1: letters("")}, committed, {2, 3, 4, 5}), "no voice"
    four = {at: letters("a") for at in (1, 2, 3, 4)}
    assert not proof.is_undecided(elected, four, committed, {5}), "decided"


def test_the_largest_proof_fits_a_statement() -> None:
    ids = {slot: ContributionId(sha256(slot.to_bytes(2))) for slot in range(CONTRIBUTORS)}
    refused = range(ROSTER_SLOTS - proof.REJECTIONS, ROSTER_SLOTS)
    body = proof.make_proof(
        seed=SEED,
        slots=ROSTER_SLOTS,
        trainers=CONTRIBUTORS,
        vouched=ids,
        rejected=dict.fromkeys(refused, RejectionReason.COSINE),
        head=HEAD,
        vrf=bytes(80),
        marks=bytes(marks_bytes(CONTRIBUTORS)),
    )
    measured = tuple((slot, -GAIN_MOST) for slot in range(CONTRIBUTORS)[-GAIN_SLOTS:])
    latest = 2**53 - 1
    made = make(
        body=msgspec.structs.replace(body, gains=measured),
        author=signer("witness").key,
        seq=latest,
        ts=latest,
        exp=latest,
        prev=SEED,
        run=RunId(SEED),
        round=latest,
    )
    assert len(made.raw) <= STATEMENT_BYTES
