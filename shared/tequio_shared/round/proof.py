"""Witness proofs: what a witness downloaded and checked, and what a quorum concludes from it.

A proof names the commitments it vouches for three times, and all three must agree: an exact bitmap
over the roster's slots, the Merkle root over their ids, and a Bloom filter keyed by the round seed,
by which anyone can ask "did this witness see that contribution?" without the roster.

Theory of the filter. m = ceil(14.4 n) bits and k = 10 indices: one item in a thousand is found
without being in it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ContributionId, HeadHash, from_text, to_text
from tequio_shared.limits import CONTRIBUTORS
from tequio_shared.log import merkle
from tequio_shared.round.assignment import quorum
from tequio_shared.round.marks import marks_bytes
from tequio_shared.statements.runs import WitnessProof

BLOOM_HASHES = 10

_PREFIX = b"tequio/v1/bloom\x00"
_INDEX_BYTES = 4
_DEVIATING_PART = 5  # one slot in five may be at odds
REJECTIONS = 256
"""Most rejections in one proof."""


def bloom_bits(n: int) -> int:
    """Count the bits of a filter meant for n items: ceil(14.4 n)."""
    return -(-144 * n // 10)


def bloom_bytes(n: int) -> int:
    return -(-bloom_bits(n) // 8)


def build_bloom(seed: bytes, items: Iterable[bytes], n: int) -> bytes:
    """Make the filter for at most n items; bit i&7 of byte i>>3 is bit i of the filter.

    Raises RefusedError for more items than n: more strangers would be found in it.
    """
    bits = bytearray(bloom_bytes(n))
    for number, item in enumerate(items):
        if number == n:
            raise RefusedError("malformed", f"more than {n} items for a filter of {n} items")
        for index in _indices(seed, item, n):
            bits[index >> 3] |= 1 << (index & 7)
    return bytes(bits)


@lru_cache(2 * CONTRIBUTORS)  # every witness of a round has the same items
def _indices(seed: bytes, item: bytes, n: int) -> tuple[int, ...]:
    # Keyed by the round's seed, so nobody can grind items that collide before the round begins.
    stream = hashlib.shake_256(_PREFIX + seed + item).digest(BLOOM_HASHES * _INDEX_BYTES)
    bits = bloom_bits(n)
    return tuple(
        int.from_bytes(stream[at : at + _INDEX_BYTES], "big") * bits >> 32
        for at in range(0, len(stream), _INDEX_BYTES)
    )


class Verdict(IntEnum):
    """Outcome of a round for a slot's work."""

    SILENT = 0  # no commitment
    ACCEPTED = 1
    NOT_SELECTED = 2  # too few witnesses had it in time: not a fault
    REJECTED = 3  # a quorum gave the same reason
    AUDITED = 4  # repeated another contribution instead


class RejectionReason(IntEnum):
    """Why a witness refuses a contribution: 1..31 by its bytes, from 32 on by measurement."""

    NONE = 0
    LENGTH = 1
    MAGIC = 2
    VERSION = 3
    SHAPE = 4
    FLAGS = 5
    RUN = 6
    ROUND = 7
    BASE = 8
    TRAINER = 9
    WINDOWS = 10
    TOKENS = 11
    STEPS = 12
    PAYLOAD_ROOT = 13
    SCALE = 14
    FILLER = 15
    POPCOUNT = 16
    HIGH = 17
    ASCENDING = 18
    LEVEL = 19
    HOLLOW = 20
    SEAL = 21
    NORM = 32  # far larger than the round's median
    COSINE = 33  # points away from the witness's own gradient
    COPY = 34  # shares nearly all indices with an earlier commitment


MEASURED = frozenset({RejectionReason.NORM, RejectionReason.COSINE, RejectionReason.COPY})
"""Reasons that rest on measurement: in borderline cases honest witnesses may differ."""

Verdicts = Mapping[int, tuple[Verdict, RejectionReason]]
"""By committed slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessFindings:
    """A witness proof, parsed: slots vouched for, slots refused with the reason, loss gains."""

    vouched: frozenset[int]
    rejected: Mapping[int, RejectionReason]
    gains: Mapping[int, int] = field(default_factory=dict)  # in 2^-16 nats per token


def make_proof(  # noqa: PLR0913 - the parts of a proof, all by name
    *,
    seed: bytes,
    slots: int,
    trainers: int,
    vouched: Mapping[int, ContributionId],
    rejected: Mapping[int, RejectionReason],
    head: HeadHash,
    vrf: bytes,
    marks: bytes,
) -> WitnessProof:
    """Make the proof of a witness that checked these contributions (slot to id) of a round.

    `vrf` is its proof for `RoundView.audit_lot_input`, `marks` what it read (`round/marks.py`).
    Only the first `REJECTIONS` rejected slots are named, so that the proof fits a statement. Gains
    are left empty.
    """
    # Sorted, so that two witnesses that vouch for the same set state the same root.
    ids = tuple(sorted(vouched.values()))
    bloom, root = _commit_to(ids, seed, trainers)
    return WitnessProof(
        bitmap=to_text(encode_bitmap(vouched, slots)),
        bloom=to_text(bloom),
        root=to_text(root),
        count=len(ids),
        head=to_text(head),
        rejected=tuple(
            (slot, int(reason)) for slot, reason in sorted(rejected.items())[:REJECTIONS]
        ),
        gains=(),
        vrf=to_text(vrf),
        marks=to_text(marks),
    )


def check_proof(
    proof: WitnessProof,
    *,
    seed: bytes,
    slots: int,
    trainers: int,
    commitments: Mapping[int, ContributionId],
    head: HeadHash,
) -> WitnessFindings:
    """Read a proof against the round's commitments; raises RefusedError with the broken rule."""
    vouched = decode_bitmap(from_text(proof.bitmap, None), slots)
    rejected = {slot: _reason(code) for slot, code in proof.rejected}
    # A slot without a commitment has nothing to download: the witness invented it.
    if not vouched <= commitments.keys() or not rejected.keys() <= commitments.keys():
        raise RefusedError("proof-slots", "the proof names a slot without a commitment")
    if vouched & rejected.keys():
        raise RefusedError("proof-slots", "the proof names a slot twice")
    if from_text(proof.head) != head:
        raise RefusedError("proof-head", f"the proof holds head {proof.head}, not the round's")
    ids = tuple(sorted(commitments[slot] for slot in vouched))
    bloom, root = _commit_to(ids, seed, trainers)
    if proof.count != len(ids) or from_text(proof.root) != root:
        raise RefusedError("proof-root", "the commitment root does not match the bitmap")
    # Compared rather than probed: a filter with extra ones would pass every probe.
    if from_text(proof.bloom, None) != bloom:
        raise RefusedError("proof-bloom", "the Bloom filter does not match the bitmap")
    if len(from_text(proof.marks, None)) != marks_bytes(len(ids)):
        raise RefusedError("proof-marks", f"marks of another number than {len(ids)} contributions")
    return WitnessFindings(vouched=vouched, rejected=rejected, gains=dict(proof.gains))


def verdicts(
    elected: Collection[int], proofs: Mapping[int, WitnessFindings], committed: Collection[int]
) -> dict[int, tuple[Verdict, RejectionReason]]:
    """Return the verdict on each committed slot.

    Accepted: ceil(2/3) of the elected *others* vouch for it (nobody witnesses its own work).
    Rejected: as many give one and the same reason. Anything else is not selected, which costs the
    trainer nothing: two witnesses with different reasons may both be wrong. Costs an addition for
    each slot that each proof names.
    """
    vouches, blames = _count_votes(elected, proofs)
    return {
        slot: _verdict(needed_votes(slot, elected), vouches[slot], blames.get(slot, {}))
        for slot in sorted(committed)
    }


def deviates(slot: int, seen: WitnessFindings, verdicts: Verdicts) -> bool:
    """Return whether a proof contradicts the outcome more than an honest one does twice.

    Decided slots count, except the witness's own. At odds for certain: refused for its bytes though
    accepted, or vouched for though rejected for its bytes. Doubtful: a difference over a measure,
    or an accepted slot left out; one of these may be a borderline case or out of reach, so a single
    one does not count. A proof deviates when more than a fifth are at odds.
    """
    odds = _odds(slot, seen, verdicts)
    doubtful = odds.measured + odds.missed
    return _is_too_much(odds, odds.plain, doubtful)


def earns(slot: int, seen: WitnessFindings, verdicts: Verdicts) -> bool:
    """Return whether a proof earns points: it mostly agrees with the outcome, and at least once.

    Here a difference over a measure counts like any other: vouching blindly must not pay.
    """
    odds = _odds(slot, seen, verdicts)
    is_at_odds = _is_too_much(odds, odds.plain + odds.measured, odds.missed)
    return (odds.agreed > 0 or not odds.decided) and not is_at_odds


def is_undecided(
    elected: Collection[int],
    proofs: Mapping[int, WitnessFindings],
    committed: Collection[int],
    outstanding: Collection[int],
) -> bool:
    """Return whether outstanding proofs could still accept a slot that already has votes."""
    for slot, (verdict, _) in verdicts(elected, proofs, committed).items():
        if verdict is not Verdict.NOT_SELECTED:
            continue
        votes = sum(slot in seen.vouched for at, seen in proofs.items() if at != slot)
        coming = sum(witness != slot for witness in outstanding)
        if votes > 0 and votes + coming >= needed_votes(slot, elected):
            return True
    return False


def has_quorum(elected: Collection[int], proofs: Mapping[int, WitnessFindings]) -> bool:
    """Return whether enough of the elected have answered to close the round."""
    # At least one: a round without witnesses must not close by itself.
    return len(proofs) >= max(quorum(len(elected)), 1)


def encode_bitmap(slots: Collection[int], size: int) -> bytes:
    """Bitmap with bit `slot & 7` of byte `slot >> 3` set for each slot; ceil(size / 8) bytes."""
    bits = bytearray(-(-size // 8))
    for slot in slots:
        bits[slot >> 3] |= 1 << (slot & 7)
    return bytes(bits)


def decode_bitmap(bits: bytes, size: int) -> frozenset[int]:
    """Slots of a bitmap; raises RefusedError for another length or set bits past the end."""
    if len(bits) != -(-size // 8):
        raise RefusedError("proof-bitmap", f"bitmap of {len(bits)} bytes for {size} slots")
    slots = frozenset(at for at in range(len(bits) * 8) if bits[at >> 3] >> (at & 7) & 1)
    if any(slot >= size for slot in slots):
        raise RefusedError("proof-bitmap", f"the bitmap names slot {size} or above")
    return slots


@dataclass(frozen=True, slots=True, kw_only=True)
class _Odds:
    """Agreement of a proof with the decided slots, its own excepted."""

    decided: int
    agreed: int
    plain: int  # at odds over bytes
    measured: int  # at odds over a measure
    missed: int  # accepted, but left out


def _odds(slot: int, seen: WitnessFindings, verdicts: Verdicts) -> _Odds:
    others = {other: found for other, found in verdicts.items() if other != slot}
    accepted = {other for other, (verdict, _) in others.items() if verdict is Verdict.ACCEPTED}
    rejected = {
        other: reason for other, (verdict, reason) in others.items() if verdict is Verdict.REJECTED
    }
    refused = seen.rejected.keys()
    wrongly_refused, wrongly_vouched = accepted & refused, seen.vouched & rejected.keys()
    measured = sum(seen.rejected[other] in MEASURED for other in wrongly_refused)
    measured += sum(rejected[other] in MEASURED for other in wrongly_vouched)
    return _Odds(
        decided=len(accepted) + len(rejected),
        agreed=len(accepted & seen.vouched) + len(refused & rejected.keys()),
        plain=len(wrongly_refused) + len(wrongly_vouched) - measured,
        measured=measured,
        missed=len(accepted - seen.vouched - refused),
    )


def _is_too_much(odds: _Odds, sure: int, doubtful: int) -> bool:
    """Return whether more than a fifth are at odds; a single doubtful one does not count."""
    # One doubtful slot is forgiven entirely, so a witness behind a slow line loses nothing.
    at_odds = sure if sure + doubtful <= 1 else sure + doubtful
    return at_odds * _DEVIATING_PART > odds.decided


def _reason(code: int) -> RejectionReason:
    try:
        reason = RejectionReason(code)
    except ValueError as err:
        raise RefusedError("proof-reason", f"unknown reason {code}") from err
    if reason is RejectionReason.NONE:
        raise RefusedError("proof-reason", "a rejection needs a reason")
    return reason


@lru_cache(16)  # most witnesses of a round vouch for the same contributions
def _commit_to(ids: tuple[ContributionId, ...], seed: bytes, trainers: int) -> tuple[bytes, bytes]:
    """Bloom filter and Merkle root of the ids."""
    return build_bloom(seed, ids, trainers), merkle.root(ids)


def needed_votes(slot: int, elected: Collection[int]) -> int:
    """Votes that decide on a slot: ceil(2/3) of the elected others, and at least one."""
    return max(quorum(len(elected) - (slot in elected)), 1)


def _count_votes(
    elected: Collection[int], proofs: Mapping[int, WitnessFindings]
) -> tuple[Counter[int], dict[int, Counter[RejectionReason]]]:
    """By slot: witnesses that vouch for it, and that refuse it by reason; itself left out."""
    vouches, blames = Counter[int](), dict[int, Counter[RejectionReason]]()
    for witness in elected:
        seen = proofs.get(witness)
        if seen is None:
            continue
        vouches.update(seen.vouched)
        if witness in seen.vouched:
            vouches[witness] -= 1
        for slot, reason in seen.rejected.items():
            if slot != witness:
                blames.setdefault(slot, Counter())[reason] += 1
    return vouches, blames


def _verdict(
    needed: int, vouches: int, blamed: Mapping[RejectionReason, int]
) -> tuple[Verdict, RejectionReason]:
    if vouches >= needed:
        return Verdict.ACCEPTED, RejectionReason.NONE
    # One reason must reach the quorum by itself: a hostile third must not add up with honest
    # doubts.
    for reason, votes in sorted(blamed.items()):
        if votes >= needed:
            return Verdict.REJECTED, reason
    return Verdict.NOT_SELECTED, RejectionReason.NONE
