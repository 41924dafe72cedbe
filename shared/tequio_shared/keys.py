"""Ed25519 keys: signing, verifying, and which public keys are acceptable at all.

libsodium only. Verifiers disagree on small-order and non-canonical keys (OpenSSL accepts one
signature under the identity point for every message), so a key counts only once `check_key` passed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from nacl.bindings import crypto_core_ed25519_is_valid_point
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from tequio_shared import vrf
from tequio_shared.errors import MalformedError, SignatureInvalidError
from tequio_shared.ids import PeerKey

KEY_BYTES = 32
SEED_BYTES = 32
SIGNATURE_BYTES = 64

_CHECKED = 16_384
"""Keys whose check is cached: it takes as long as verifying a signature."""


class StatementSigner(Protocol):
    """Key of an author of statements: a `Signer`, or the simulator's, which signs nothing."""

    @property
    def key(self) -> PeerKey: ...

    def sign(self, message: bytes) -> bytes:
        """Sign a message: 64 bytes."""

    def prove(self, alpha: bytes) -> bytes:
        """Prove the output of the key's verifiable random function: 80 bytes."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key, made from its 32-byte seed; raises MalformedError for another size."""

    seed: bytes = field(repr=False)
    key: PeerKey = field(init=False)
    _signing: SigningKey = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.seed) != SEED_BYTES:
            raise MalformedError(f"a seed has {SEED_BYTES} bytes, not {len(self.seed)}")
        signing = SigningKey(self.seed)
        object.__setattr__(self, "_signing", signing)
        object.__setattr__(self, "key", PeerKey(bytes(signing.verify_key)))

    def sign(self, message: bytes) -> bytes:
        """Sign with Ed25519: 64 bytes, the same every time."""
        return self._signing.sign(message).signature

    def prove(self, alpha: bytes) -> bytes:
        """Prove the output of the key's verifiable random function: 80 bytes (`vrf`)."""
        return vrf.prove(self.seed, self.key, alpha)


@lru_cache(_CHECKED)
def check_key(raw: bytes) -> PeerKey:
    """Accept a public key on the main subgroup, in its canonical encoding.

    Raises SignatureInvalidError for other sizes, points off the curve, the identity, points of
    small order and mixtures with them.
    """
    if len(raw) != KEY_BYTES or not crypto_core_ed25519_is_valid_point(raw):
        raise SignatureInvalidError(f"unacceptable Ed25519 key {raw[:KEY_BYTES].hex()}")
    return PeerKey(raw)


def verify(key: PeerKey, signature: bytes, message: bytes) -> None:
    """Return if the signature over the message holds; raises SignatureInvalidError."""
    if len(key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        raise SignatureInvalidError(
            f"key of {len(key)} and signature of {len(signature)} bytes; expected 32 and 64"
        )
    try:
        VerifyKey(key).verify(message, signature)
    except BadSignatureError as err:
        raise SignatureInvalidError(f"the signature by {key.hex()} does not verify") from err
