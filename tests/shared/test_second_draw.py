"""The product's draws against a second implementation: 1,000 cases, and whole logs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared import vrf
from tequio_shared.competition import draw
from tequio_shared.errors import RefusedError, SignatureInvalidError
from tequio_shared.head.chain import Head
from tequio_shared.ids import Digest, HeadHash, NetworkId, PeerKey, sha256, to_text
from tequio_shared.keys import Signer, check_key
from tequio_shared.round import fold, lots
from tequio_shared.round.documents import Roster, RosterMember
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.round.measures import MeasureDraws
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import HeadAttest
from tests.support import second_draw
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


HONEST_PROOFS, TAMPERED_PROOFS, FORGED_PROOFS, ROSTERS, COMPETITIONS = 230, 226, 24, 320, 200
ORDER, PRIME = second_draw.L, second_draw.P
LARGEST_ROSTER = 200


def chance(case: str) -> Random:
    """Numbers of a case, the same in every run."""
    return Random(f"second draw: {case}")  # fixed on purpose


def test_there_are_a_thousand_cases() -> None:
    assert HONEST_PROOFS + TAMPERED_PROOFS + FORGED_PROOFS + ROSTERS + COMPETITIONS == 1_000


# --- proofs


@cache
def honest(case: int) -> tuple[Signer, bytes, bytes]:
    """A key, an input and the second implementation's proof; the cases of tampering share them."""
    rng = chance(f"proof {case}")
    seed, alpha = (
        rng.randbytes(32),
        rng.randbytes(rng.choice((0, 1, 32, 96, 167, rng.randrange(400)))),
    )
    return Signer(seed), alpha, second_draw.prove(seed, alpha)


def product_output(key: bytes, alpha: bytes, proof: bytes) -> bytes | None:
    """The product's answer in the form of the second implementation's."""
    try:
        return vrf.verify(PeerKey(key), alpha, proof)
    except SignatureInvalidError:
        return None


@pytest.mark.parametrize("case", range(HONEST_PROOFS))
def test_both_make_the_same_proof_and_read_the_other_s(case: int) -> None:
    signer, alpha, proof = honest(case)
    assert signer.key == second_draw.public_key(signer.seed)
    assert signer.prove(alpha) == proof
    found = second_draw.verify(signer.key, alpha, proof)
    assert found is not None
    assert found == vrf.verify(signer.key, alpha, proof) == vrf.output(proof)


def torsion() -> list[second_draw.Point]:
    """The eight points of small order: a point of order eight, and its multiples."""
    y = 2
    while True:
        point = second_draw.decode(y.to_bytes(32, "little"))
        y += 1
        if point is not None:
            small = second_draw.combine((ORDER, point))
            if not second_draw.is_identity(second_draw.combine((4, small))):
                return [second_draw.combine((times, small)) for times in range(8)]


TORSION = torsion()
SMALL = [second_draw.encode(point) for point in TORSION]
# every second spelling of a point: y from 2^255 - 19 on, and a sign where x is 0
SECOND_SPELLINGS = [
    (y | sign << 255).to_bytes(32, "little") for y in range(PRIME, 1 << 255) for sign in (0, 1)
] + [(y | 1 << 255).to_bytes(32, "little") for y in (1, PRIME - 1)]


def tampered(case: int) -> tuple[str, bytes, bytes, bytes]:
    """A kind of tampering, and the key, input and proof that it leaves."""
    signer, alpha, proof = honest(case % HONEST_PROOFS)
    other, _, other_proof = honest((case + 1) % HONEST_PROOFS)
    rng = chance(f"tampered {case}")
    gamma, rest, c, s = proof[:32], proof[32:], proof[32:48], proof[48:]
    key: bytes = signer.key
    flipped = bytearray(proof)
    flipped[rng.randrange(80)] ^= 1 << rng.randrange(8)
    point = second_draw.decode(gamma) or second_draw.IDENTITY
    mixed = second_draw.encode(second_draw.add(point, TORSION[rng.randrange(1, 8)]))
    off_curve = rng.randbytes(32)
    while second_draw.decode(off_curve) is not None:
        off_curve = rng.randbytes(32)
    answer = int.from_bytes(s, "little") + ORDER * rng.randrange(1, 15)
    kinds = {
        "a flipped bit": (key, alpha, bytes(flipped)),
        "a point of small order": (key, alpha, rng.choice(SMALL) + rest),
        "a point of small order, and challenge 0": (key, alpha, rng.choice(SMALL) + bytes(16) + s),
        "a point of mixed order": (key, alpha, mixed + rest),
        "a second spelling of a point": (key, alpha, rng.choice(SECOND_SPELLINGS) + rest),
        "no point": (key, alpha, off_curve + rest),
        "the opposite point": (key, alpha, second_draw.encode(second_draw.negative(point)) + rest),
        "another proof's point": (key, alpha, other_proof[:32] + rest),
        "s at or above the group order": (key, alpha, gamma + c + answer.to_bytes(32, "little")),
        "s that is the group order": (key, alpha, gamma + c + ORDER.to_bytes(32, "little")),
        "another challenge": (key, alpha, gamma + rng.randbytes(16) + s),
        "another key": (other.key, alpha, proof),
        "another input": (key, alpha + b"\0", proof),
        "a byte too few": (key, alpha, proof[:-1]),
        "a byte too many": (key, alpha, proof + b"\0"),
    }
    kind = list(kinds)[case % len(kinds)]
    return kind, *kinds[kind]


@pytest.mark.parametrize("case", range(TAMPERED_PROOFS))
def test_both_refuse_what_was_tampered_with(case: int) -> None:
    kind, key, alpha, proof = tampered(case)
    assert second_draw.verify(key, alpha, proof) is None, kind
    assert product_output(key, alpha, proof) is None, kind
    # a light reader does not know the input of its first seed
    is_readable = second_draw.is_readable(proof)
    assert unverified_output(proof) == (second_draw.output(proof) if is_readable else None), kind


def unverified_output(proof: bytes) -> bytes | None:
    """The product's output of a proof whose input is not known."""
    try:
        return vrf.output(proof)
    except SignatureInvalidError:
        return None


def forged(secret: int, key: bytes, alpha: bytes, twist: int, nonces: Iterator[int]) -> bytes:
    """A proof by the key's owner, over its point plus one of small order (0: plus nothing).

    The owner tries nonces until the challenge cancels that point, so that the equation of RFC 9381
    holds. A key plus the same point of small order cancels too.
    """
    x, h = secret, second_draw.input_point(key, alpha)
    gamma = second_draw.add(second_draw.combine((x, h)), TORSION[twist])
    for k in nonces:
        u, v = (second_draw.combine((k, point)) for point in (second_draw.BASE, h))
        c = second_draw.challenge(key, h, gamma, u, v)
        if c * twist % 8 == 0:
            s = (k + c * x) % ORDER
            tail = c.to_bytes(16, "little") + s.to_bytes(32, "little")
            return second_draw.encode(gamma) + tail
    raise AssertionError("no nonce is left")


def nonces_of(case: str) -> Iterator[int]:
    rng = chance(case)
    return (rng.randrange(1, ORDER) for _ in range(1_000))


@pytest.mark.parametrize("case", range(FORGED_PROOFS))
def test_both_refuse_a_mixed_point_for_which_the_rfc_s_equation_holds(case: int) -> None:
    signer, alpha, proof = honest(case)
    twist = case % 8
    secret = second_draw.secret_scalar(signer.seed)
    made = forged(secret, signer.key, alpha, twist, nonces_of(f"forged {case}"))
    assert made != proof
    assert second_draw.satisfies_rfc(signer.key, alpha, made), "otherwise nothing was tried"
    found = second_draw.verify(signer.key, alpha, made)
    # With another nonce alone, it is a second proof of the same output: what is unique is the lot.
    assert found == (None if twist else second_draw.output(proof))
    assert product_output(signer.key, alpha, made) == found


def test_both_accept_the_nonce_that_gives_the_secret_away() -> None:
    signer, alpha, proof = honest(0)
    secret = second_draw.secret_scalar(signer.seed)
    for nonce in (0, 1, ORDER - 1):  # with 0, two of the challenge's points are the identity
        made = forged(secret, signer.key, alpha, 0, iter([nonce]))
        found = second_draw.verify(signer.key, alpha, made)
        assert found == product_output(signer.key, alpha, made) == second_draw.output(proof)


@pytest.mark.parametrize("twist", range(1, 8))
def test_both_refuse_the_proof_of_a_key_that_is_not_acceptable(twist: int) -> None:
    signer, alpha, _ = honest(twist)
    point = second_draw.decode(signer.key)
    assert point is not None
    key = second_draw.encode(second_draw.add(point, TORSION[twist]))
    secret, nonces = second_draw.secret_scalar(signer.seed), nonces_of(f"key {twist}")
    proofs = (forged(secret, key, alpha, 0, iter([nonce])) for nonce in nonces)
    made = next(one for one in proofs if second_draw.satisfies_rfc(key, alpha, one))
    assert second_draw.verify(key, alpha, made) is None
    assert product_output(key, alpha, made) is None


def test_both_accept_the_same_keys() -> None:
    rng = chance("keys")
    keys = [*SMALL, *SECOND_SPELLINGS]
    for signer in (honest(case)[0] for case in range(8)):
        point = second_draw.decode(signer.key)
        assert point is not None
        keys += [second_draw.encode(second_draw.add(point, small)) for small in TORSION]
    keys += [rng.randbytes(32) for _ in range(40)]
    accepted = [key for key in keys if second_draw.is_acceptable(key)]
    assert len(accepted) >= 8
    assert [key for key in keys if _is_accepted(key)] == accepted


def _is_accepted(key: bytes) -> bool:
    try:
        check_key(key)
    except SignatureInvalidError:
        return False
    return True


# --- rounds

MEASURING = 3
NET = NetworkId(sha256(b"second draw: network"))
MANIFEST = msgspec.structs.replace(
    tiny_manifest(), measure=MeasureRules(every=1, members=MEASURING)
)
RUN = MANIFEST.run_id


@cache
def member_keys() -> list[PeerKey]:
    """Keys for a roster of any size."""
    return [Signer(sha256(b"second draw: member", bytes([at]))).key for at in range(LARGEST_ROSTER)]


def head(name: bytes) -> Head:
    """A head of the first round, with another name for each weights root."""
    zero = Digest(bytes(32))
    return Head.of(
        RUN, 1, parent=HeadHash(zero), set_root=zero, weights_root=sha256(name), aux_root=zero
    )


RIGHT, WRONG = head(b"right"), head(b"wrong")


def attestation(of: Head) -> HeadAttest:
    return HeadAttest(
        head=to_text(of.hash),
        weights_root=to_text(of.weights_root),
        aux_root=to_text(of.aux_root),
        vrf=to_text(bytes(80)),  # the lot that it proved is given beside it
    )


def attested_round(case: int, rng: Random) -> RoundView:
    """A round before its opening: some slots attest nothing, some another head, some tie."""
    slots = (case // 2 if case % 2 else rng.randrange(LARGEST_ROSTER)) % LARGEST_ROSTER + 1
    witness_part = rng.choice((0.4, 0.8, 1))
    roles = [
        ("trainer", "witness") if rng.random() < witness_part else ("trainer",)
        for _ in range(slots)
    ]
    current = RoundView(
        net=NET,
        manifest=MANIFEST,
        number=rng.choice((1, 2, 255, 256, rng.randrange(1, 1 << 40))),
        roster=Roster(
            members=tuple(
                RosterMember(peer=to_text(key), roles=role, speed=0, share=0)
                for key, role in zip(member_keys(), roles, strict=False)
            ),
            pool=(),
            train_ms=30_000,
        ),
        roster_index=7,
        head=RIGHT,
        next_head=None,
        lot_seed=rng.randbytes(64),
    )
    missing, misstating, ties = rng.choice(
        ((0, 0, 0), (0.1, 0.05, 0.3), (0.2, 0.1, 0.9), (0.5, 0.2, 0))
    )
    few = [rng.randbytes(64) for _ in range(3)]
    order = list(range(slots))
    rng.shuffle(order)  # attestations arrive in any order
    for slot in order:
        if rng.random() < missing:
            continue
        current.attests[slot] = attestation(WRONG if rng.random() < misstating else RIGHT)
        current.lots[slot] = rng.choice(few) if rng.random() < ties else rng.randbytes(64)
    return replace(current)  # which counts the attestations


def lots_and_roles(current: RoundView) -> tuple[dict[int, bytes], set[int]]:
    """Lots of the slots that attested the right head, and the slots that may witness."""
    members = enumerate(current.roster.members)
    right = to_text(RIGHT.hash)
    them = {slot: lot for slot, lot in current.lots.items() if current.attests[slot].head == right}
    return them, {slot for slot, member in members if "witness" in member.roles}


@cache
def compare_round(case: int) -> tuple[bool, bool, bool]:
    """Compare a roster's draws; whether it opened, had a large committee, and was cut in a tie."""
    rng = chance(f"roster {case}")
    current, last = attested_round(case, rng), Digest(rng.randbytes(32))
    number, seed = current.number, current.lot_seed
    due = second_draw.seed_input(NET, RUN, number, last)
    assert lots.seed_input(NET, RUN, number, last) == due
    assert current.lot_input == second_draw.lot_input(NET, RUN, number, seed)
    them, witnesses = lots_and_roles(current)
    committee = second_draw.elect(witnesses, them)
    seats = lots.seat_count(len(witnesses))
    assert list(lots.committee(current.holders(to_text(RIGHT.hash)), seats)) == sorted(committee)
    draws = MeasureDraws(is_whole=True)
    draws.draw_for(current, RIGHT)
    assert draws.last is not None
    keys, measuring = member_keys(), second_draw.measurers(witnesses, them, MEASURING)
    assert sorted(draws.last.drawn) == sorted(keys[slot] for slot in measuring)
    count = rng.randint(1, 16)
    measuring = second_draw.measurers(witnesses, them, count)
    assert list(lots.measurers(current.holders(to_text(RIGHT.hash)), count)) == sorted(measuring)
    left_out = {them[slot] for slot in them.keys() & witnesses - set(committee)}
    is_tied = bool(committee) and them[committee[-1]] in left_out
    return _opens(current, committee), len(committee) > second_draw.WITNESSES, is_tied


def _opens(current: RoundView, committee: list[int]) -> bool:
    try:
        fold.apply_open(current, current.opening(1_000))
    except RefusedError as err:
        assert err.code == "wrong-head"  # noqa: PT017 - a round without a quorum does not open
        return False
    assert list(current.elected) == sorted(committee)
    seated = {slot: current.lots[slot] for slot in committee}
    assert current.seed == second_draw.lots_digest(seated)
    return True


@pytest.mark.parametrize("case", range(ROSTERS))
def test_both_draw_the_same_of_a_roster(case: int) -> None:
    compare_round(case)


def test_the_rosters_reach_every_rule() -> None:
    opened, large, tied = map(sum, zip(*map(compare_round, range(ROSTERS)), strict=True))
    assert opened > ROSTERS // 2
    assert ROSTERS - opened > 20
    assert large > 40
    assert tied > 20


# --- competitions


@pytest.mark.parametrize("case", range(COMPETITIONS))
def test_both_draw_the_same_of_a_competition(case: int) -> None:
    rng = chance(f"competition {case}")
    competition, seed, output = Digest(rng.randbytes(32)), rng.randbytes(64), rng.randbytes(64)
    them = {PeerKey(rng.randbytes(32)): rng.randbytes(64) for _ in range(rng.choice((0, 1, 3, 30)))}
    owners = [Digest(rng.randbytes(32)) for _ in range(rng.choice((1, 2, 7, 60)))]
    able = {key: rng.choice(owners) for key in them if rng.random() < rng.choice((0.5, 1))}
    archive_key = rng.randbytes(32)
    assert draw.seed_input(competition) == second_draw.competition_seed_input(competition)
    due = second_draw.evaluator_lot_input(competition, seed)
    assert draw.lot_input(competition, seed) == due
    draw_due = second_draw.competition_draw_input(competition, plain(them))
    assert draw.draw_input(competition, them) == draw_due
    beacon = second_draw.beacon(competition, archive_key, output)
    assert draw.draw_beacon(competition, archive_key, output) == beacon
    in_set = rng.choice((1, 2, 20, rng.randint(1, 2_000), rng.randint(1, 20_000)))
    most = rng.choice((1, in_set - 1, in_set, in_set + 1, rng.randint(1, in_set))) or 1
    if (
        case % 20 == 0
    ):  # about one number of such a draw is skipped, and hardly any of a smaller one
        in_set, most = rng.randint(1_000_000, 1_048_576), 8_192
    drawn = second_draw.documents(beacon, in_set, most)
    assert list(draw.draw_documents(Digest(beacon), most, in_set)) == drawn
    seats = rng.randint(3, 16)
    ranked = second_draw.evaluators(
        beacon, plain({key: them[key] for key in able}), plain(able), seats
    )
    assert list(draw.draw_evaluators(Digest(beacon), them, able, seats)) == ranked


def plain(by_key: Mapping[PeerKey, bytes]) -> dict[bytes, bytes]:
    """Convert to the types of the second implementation."""
    return {bytes(key): value for key, value in by_key.items()}
