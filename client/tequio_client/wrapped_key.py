"""A seed under a random key that is kept elsewhere: AES-256-GCM seals.

Layout: 8 bytes that name the format, 16 that name the wrapping key, 12 of nonce, then the sealed
seed and its tag. Every sealing takes a fresh wrapping key, so that no nonce meets a key twice.
"""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tequio_shared.keys import SEED_BYTES

WRAPPING_BYTES = 32
SLOT_BYTES = 16
_MAGIC = b"tqwrap\x00\x01"
_NONCE_BYTES = 12
_TAG_BYTES = 16
_HEAD_BYTES = len(_MAGIC) + SLOT_BYTES + _NONCE_BYTES
_WRAPPED_BYTES = _HEAD_BYTES + SEED_BYTES + _TAG_BYTES


class UnwrapError(Exception):
    """Another wrapping key, or damage."""


def is_wrapped(content: bytes) -> bool:
    """Tell if this is what `wrap` makes."""
    return len(content) == _WRAPPED_BYTES and content.startswith(_MAGIC)


def slot_of(content: bytes) -> str:
    """The name of the wrapping key that opens it."""
    return content[len(_MAGIC) :][:SLOT_BYTES].hex()


def wrap(seed: bytes) -> tuple[bytes, str, bytes]:
    """Seal a seed; gives the content, the wrapping key's name, and the wrapping key."""
    slot, wrapping = secrets.token_bytes(SLOT_BYTES), secrets.token_bytes(WRAPPING_BYTES)
    nonce = secrets.token_bytes(_NONCE_BYTES)
    head = _MAGIC + slot + nonce
    return head + AESGCM(wrapping).encrypt(nonce, seed, head), slot.hex(), wrapping


def unwrap(content: bytes, wrapping: bytes) -> bytes:
    """Open what `wrap` made; raises UnwrapError."""
    head, sealed = content[:_HEAD_BYTES], content[_HEAD_BYTES:]
    try:
        return AESGCM(wrapping).decrypt(head[-_NONCE_BYTES:], sealed, head)
    except (InvalidTag, ValueError) as err:
        raise UnwrapError("the wrapping key does not open this") from err
