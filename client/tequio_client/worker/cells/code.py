"""The invitation code of a cell, and the keys that follow from it.

Twelve characters of Crockford's base32, 60 bits by chance, in groups that can be said across a
table: `K7QF-2MXD-9TRP`. Letters that look like digits are read as those.

scrypt makes two keys of a code. One is the seed of the host's key in the peer network, so a host
proves by its Noise handshake that it knows the code, before a guest sends anything. The other
authenticates a guest's key to the host. What a stranger sees of a code (announcements, the host's
public key) can be compared with guesses, but each guess takes one scrypt of 64 MiB, about 0.2 s:
all codes together take 7 thousand million years of one core (docs/decisions/0085).
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass, field

from tequio_shared.errors import UserFacingError
from tequio_shared.ids import PeerKey, sha256
from tequio_shared.keys import SEED_BYTES, Signer

CHARACTERS = 12
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ALIKE = str.maketrans("OIL", "011")
_GROUP = 4
_PURPOSE = b"tequio-cell/1"
_MAC_BYTES = 32
_FINGERPRINT = 8
# As for a key's passphrase (RFC 7914, section 2).
_COST, _BLOCK, _PARALLEL = 1 << 16, 8, 1


@dataclass(frozen=True, slots=True)
class CellKeys:
    """The keys of one code."""

    host: Signer
    guests: bytes = field(repr=False)

    def proof(self, guest: PeerKey) -> bytes:
        """Proof that the holder of this key, which Noise proves, knows the code: HMAC-SHA256."""
        return hmac.digest(self.guests, _PURPOSE + self.host.key + guest, "sha256")

    def is_proof(self, guest: PeerKey, proof: bytes) -> bool:
        return hmac.compare_digest(self.proof(guest), proof)


def make_code() -> str:
    return _in_groups("".join(secrets.choice(_ALPHABET) for _ in range(CHARACTERS)))


def parse_code(text: str) -> str:
    """Read a code as people type it; raises UserFacingError."""
    hint = "such as K7QF-2MXD-9TRP; ask the host to read it out again"
    return _read(text, CHARACTERS, "code", hint)


def derive_keys(code: str) -> CellKeys:
    """Derive the keys of a parsed code; takes 64 MiB and about 0.2 s, so in a thread."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - costs memory

    length = SEED_BYTES + _MAC_BYTES
    # No salt could be known to both sides. A table of all codes is as much work as guessing them.
    kdf = Scrypt(salt=_PURPOSE, length=length, n=_COST, r=_BLOCK, p=_PARALLEL)
    found = kdf.derive(code.encode())
    return CellKeys(Signer(found[:SEED_BYTES]), found[SEED_BYTES:])


def fingerprint(key: PeerKey) -> str:
    """Name a guest's key for people, as eight characters (40 bits)."""
    number = int.from_bytes(sha256(_PURPOSE, key)[:5], "big")
    found = (_ALPHABET[number >> 5 * at & 31] for at in range(_FINGERPRINT))
    return _in_groups("".join(found))


def parse_fingerprint(text: str) -> str:
    """Read a fingerprint as people type it; raises UserFacingError."""
    return _read(text, _FINGERPRINT, "guest", "as `tequio cell join` prints them")


def _read(text: str, characters: int, name: str, hint: str) -> str:
    """Read that many characters of the alphabet, in groups; raises UserFacingError."""
    plain = re.sub(r"[\s-]", "", text).upper().translate(_ALIKE)
    if len(plain) != characters or not set(plain) <= set(_ALPHABET):
        raise UserFacingError(
            f"invalid {name} {text[:40]!r}: expected {characters} letters and digits, {hint}"
        )
    return _in_groups(plain)


def _in_groups(plain: str) -> str:
    return "-".join(plain[at : at + _GROUP] for at in range(0, len(plain), _GROUP))
