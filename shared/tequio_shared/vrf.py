"""A verifiable random function: ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381, over Ed25519 keys.

The holder of a key computes one output for an input, and a proof of it. Nobody else can compute it,
and everybody can check it. So a lot drawn with it has no last mover: an author cannot choose its
own output, only withhold it. Group operations are libsodium's, in constant time for secret scalars.

Stricter than the RFC in one point: Gamma must lie in the main subgroup, as keys must
(docs/protocol.md, 2.1). Honest proofs have no other, and so each key has one valid Gamma per input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from nacl.bindings import (
    crypto_core_ed25519_add,
    crypto_core_ed25519_is_valid_point,
    crypto_core_ed25519_scalar_add,
    crypto_core_ed25519_scalar_mul,
    crypto_core_ed25519_scalar_reduce,
    crypto_core_ed25519_sub,
    crypto_scalarmult_ed25519_base_noclamp,
    crypto_scalarmult_ed25519_noclamp,
)
from nacl.exceptions import RuntimeError as SodiumError

from tequio_shared.errors import SignatureInvalidError
from tequio_shared.ids import PeerKey

CheckProof: TypeAlias = Callable[[PeerKey, bytes, bytes], bytes]
"""Checks a key's proof for an input and returns the output, as `verify` does."""
PROOF_BYTES = 80
REMEMBERED = 8_192
"""Verified proofs that are not verified again: those of two of the largest rounds."""

_SUITE = b"\x03"
_POINT_BYTES = 32
_CHALLENGE_BYTES = 16
_IDENTITY = b"\x01" + bytes(31)
_PRIME = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_TRIES = 256


def prove(seed: bytes, key: PeerKey, alpha: bytes) -> bytes:
    """Prove the output for the input `alpha` under the key of that 32-byte seed (RFC 9381, 5.1).

    The proof has 80 bytes and is the same every time.
    """
    hashed = hashlib.sha512(seed).digest()
    scalar = _reduced(_clamped(hashed[:32]))
    point = _encode_to_curve(key, alpha)
    gamma = crypto_scalarmult_ed25519_noclamp(scalar, point)
    # A deterministic nonce (RFC 8032): two proofs of one input must not give the key away.
    nonce = _reduced(hashlib.sha512(hashed[32:] + point).digest())
    challenge = _challenge(
        key,
        point,
        gamma,
        crypto_scalarmult_ed25519_base_noclamp(nonce),
        crypto_scalarmult_ed25519_noclamp(nonce, point),
    )
    widened = challenge + bytes(_POINT_BYTES - _CHALLENGE_BYTES)
    answer = crypto_core_ed25519_scalar_add(nonce, crypto_core_ed25519_scalar_mul(widened, scalar))
    return gamma + challenge + answer


@lru_cache(REMEMBERED)
def verify(key: PeerKey, alpha: bytes, proof: bytes) -> bytes:
    """Check a proof of the input under an accepted key; return the output (RFC 9381, 5.3).

    Raises SignatureInvalidError for a proof of another size, input or key. Proofs that verify are
    remembered: a ledger verifies one in a thread before its statement has its turn, and again when
    it folds its log for a snapshot.
    """
    gamma, challenge, answer = _parts(proof)
    point = _encode_to_curve(key, alpha)
    widened = challenge + bytes(_POINT_BYTES - _CHALLENGE_BYTES)
    try:
        # libsodium gives no product that is the identity: honest proofs meet none either, except
        # with a probability of 2^-250.
        first = crypto_core_ed25519_sub(
            crypto_scalarmult_ed25519_base_noclamp(answer),
            crypto_scalarmult_ed25519_noclamp(widened, key),
        )
        second = crypto_core_ed25519_sub(
            crypto_scalarmult_ed25519_noclamp(answer, point),
            crypto_scalarmult_ed25519_noclamp(widened, gamma),
        )
    except SodiumError as err:
        raise SignatureInvalidError(f"the VRF proof of {key.hex()} does not verify") from err
    if _challenge(key, point, gamma, first, second) != challenge:
        raise SignatureInvalidError(f"the VRF proof of {key.hex()} does not verify")
    return _hash_of(gamma)


def output(proof: bytes) -> bytes:
    """Output of a proof that was verified before: 64 bytes (RFC 9381, 5.2).

    Raises SignatureInvalidError for bytes that cannot be a proof.
    """
    gamma, _, _ = _parts(proof)
    return _hash_of(gamma)


def _hash_of(gamma: bytes) -> bytes:
    multiple = _times_cofactor(gamma)
    if multiple is None:
        raise AssertionError("a point in the main subgroup has a multiple")
    return hashlib.sha512(_SUITE + b"\x03" + multiple + b"\x00").digest()


def _parts(proof: bytes) -> tuple[bytes, bytes, bytes]:
    """Gamma, challenge and answer of a proof, each in its only valid spelling."""
    if len(proof) != PROOF_BYTES:
        raise SignatureInvalidError(f"a VRF proof has {PROOF_BYTES} bytes, not {len(proof)}")
    gamma = proof[:_POINT_BYTES]
    challenge = proof[_POINT_BYTES : _POINT_BYTES + _CHALLENGE_BYTES]
    answer = proof[_POINT_BYTES + _CHALLENGE_BYTES :]
    if not crypto_core_ed25519_is_valid_point(gamma):
        raise SignatureInvalidError("Gamma of the VRF proof is not in the main subgroup")
    if int.from_bytes(answer, "little") >= _ORDER:
        raise SignatureInvalidError("s of the VRF proof is not below the group order")
    return gamma, challenge, answer


def _encode_to_curve(key: PeerKey, alpha: bytes) -> bytes:
    """Point for the input, by trying one hash after another (RFC 9381, 5.4.1.1)."""
    for attempt in range(_TRIES):
        hashed = hashlib.sha512(
            _SUITE + b"\x01" + key + alpha + bytes([attempt]) + b"\x00"
        ).digest()
        point = _times_cofactor(hashed[:_POINT_BYTES])
        if point is not None:
            return point
    raise AssertionError("none of 256 hashes encodes a point")  # chance 2^-256


def _times_cofactor(encoded: bytes) -> bytes | None:
    """Eight times the point with that encoding (RFC 8032, 5.1.3), or None."""
    if int.from_bytes(encoded, "little") % 2**255 >= _PRIME:
        return None
    point = encoded
    try:
        # By additions: libsodium multiplies only points of the main subgroup, and ten times slower.
        for _ in range(3):
            point = crypto_core_ed25519_add(point, point)
    except SodiumError:
        return None
    return None if point == _IDENTITY else point


def _challenge(*points: bytes) -> bytes:
    """Challenge over five points (RFC 9381, 5.4.3)."""
    return hashlib.sha512(_SUITE + b"\x02" + b"".join(points) + b"\x00").digest()[:_CHALLENGE_BYTES]


def _clamped(raw: bytes) -> bytes:
    """Secret scalar of a key (RFC 8032, 5.1.5)."""
    return bytes([raw[0] & 248]) + raw[1:31] + bytes([raw[31] & 127 | 64])


def _reduced(number: bytes) -> bytes:
    """The little-endian number modulo the group order, in 32 bytes."""
    return crypto_core_ed25519_scalar_reduce(number.ljust(64, b"\x00"))
