"""Keys, shares and masks of secure aggregation (docs/groups.md, "The protocol").

Bonawitz et al., "Practical Secure Aggregation for Privacy-Preserving Machine Learning" (CCS 2017):
each pair of members adds a mask that cancels in the sum, and each member one of its own. Masks are
ChaCha20 streams (RFC 8439) as little-endian u32, added modulo 2^32. Every key is derived by HKDF
(RFC 5869) with the group and the round as salt, and is used for one message or one stream, so the
nonces are zero.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tequio_shared.errors import MalformedError
from tequio_shared.ids import Digest, sha256

if TYPE_CHECKING:
    from numpy.typing import NDArray

SECRET_BYTES = 32
"""Size of a secret, of each share of it, and of an X25519 key."""
BOX_BYTES = 2 * SECRET_BYTES + 16
"""Size of two encrypted shares with their tag."""
RandomBytes = Callable[[int], bytes]
_STREAM_NONCE, _BOX_NONCE = bytes(16), bytes(12)
_BLOCK = 1 << 20  # numbers that are masked at once: memory is some MiB
_NAME_PREFIX = b"tequio/v1/group-secret\x00"


@dataclass(frozen=True, slots=True)
class ExchangeKey:
    """An X25519 key pair of one round, made from 32 random bytes."""

    seed: bytes = field(repr=False)
    public: bytes = field(init=False)

    def __post_init__(self) -> None:
        public = X25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()
        object.__setattr__(self, "public", public)

    def shared(self, other: bytes) -> bytes:
        """Agree on a secret with the holder of a public key; MalformedError for a bad one."""
        try:
            private = X25519PrivateKey.from_private_bytes(self.seed)
            return private.exchange(X25519PublicKey.from_public_bytes(other))
        except ValueError as err:  # of a wrong size, or of small order
            raise MalformedError(f"unacceptable X25519 key {other[:SECRET_BYTES].hex()}") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSalt:
    """Derives the keys of one round of one group."""

    group: Digest
    round: int

    def derive(self, secret: bytes, purpose: bytes) -> bytes:
        salt = self.group + struct.pack("<Q", self.round)
        info = b"tequio/v1/group/" + purpose
        return HKDF(algorithm=SHA256(), length=SECRET_BYTES, salt=salt, info=info).derive(secret)

    def pair_mask(self, own: ExchangeKey, other: bytes, places: tuple[int, int]) -> bytes:
        """Key of the mask that two members share; `places` are theirs, in any order.

        The places are in it: a member that copies another's public key would otherwise share that
        one's masks, and a member between the two would add and subtract the same one.
        """
        return self.derive(own.shared(other), b"pair" + bytes(sorted(places)))

    def self_mask(self, seed: bytes) -> bytes:
        return self.derive(seed, b"self")

    def seal(self, own: ExchangeKey, other: bytes, place: tuple[int, int], shares: bytes) -> bytes:
        """Encrypt shares; `place` is the sender's and the receiver's index."""
        key, clear = self._box(own, other, place)
        return ChaCha20Poly1305(key).encrypt(_BOX_NONCE, shares, clear)

    def open(self, own: ExchangeKey, other: bytes, place: tuple[int, int], box: bytes) -> bytes:
        """Decrypt shares; raises MalformedError."""
        key, clear = self._box(own, other, place)
        try:
            return ChaCha20Poly1305(key).decrypt(_BOX_NONCE, box, clear)
        except InvalidTag as err:
            raise MalformedError("a box of shares does not open") from err

    def _box(self, own: ExchangeKey, other: bytes, place: tuple[int, int]) -> tuple[bytes, bytes]:
        # The direction is part of the key: the nonce is the same for both.
        clear = bytes(place)
        return self.derive(own.shared(other), b"box" + clear), clear


def secret_name(secret: bytes) -> Digest:
    """Commit to a random secret, or to a share of one: 32 random bytes are beyond guessing."""
    return sha256(_NAME_PREFIX, secret)


def add_masks(
    vector: NDArray[np.uint32], plus: Sequence[bytes] = (), minus: Sequence[bytes] = ()
) -> None:
    """Add and subtract the streams of these keys in place, modulo 2^32; O(keys x length)."""
    streams = [(_stream(key), True) for key in plus] + [(_stream(key), False) for key in minus]
    for first in range(0, vector.size, _BLOCK):
        part = vector[first : first + _BLOCK]
        zeros = bytes(4 * part.size)
        for stream, is_added in streams:
            mask = np.frombuffer(stream(zeros), "<u4")
            if is_added:
                part += mask
            else:
                part -= mask


def _stream(key: bytes) -> Callable[[bytes], bytes]:
    return Cipher(ChaCha20(key, _STREAM_NONCE), mode=None).encryptor().update
