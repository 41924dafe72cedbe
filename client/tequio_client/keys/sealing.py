"""Sealed forms of a seed: under a passphrase, or under a random key in the system's keyring.

Both are AES-256-GCM. Under a passphrase, scrypt derives the key, and the layout is 8 bytes of
format name, 16 of salt, 12 of nonce, then the encrypted seed and its tag. Under a wrapping key it
is 8 bytes of format name, 16 that name the wrapping key, 12 of nonce, then the same. Each seed gets
a fresh wrapping key, so a key never sees the same nonce twice.
"""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from tequio_client.keys.state import IdentityError
from tequio_shared.keys import SEED_BYTES

_NONCE_BYTES = 12
_TAG_BYTES = 16

_SEALED_MAGIC = b"tqkey\x00\x00\x01"
_SALT_BYTES = 16
_SEALED_HEAD_BYTES = len(_SEALED_MAGIC) + _SALT_BYTES + _NONCE_BYTES
_SEALED_BYTES = _SEALED_HEAD_BYTES + SEED_BYTES + _TAG_BYTES

# 64 MiB and about 0.2 s for each guess (RFC 7914, section 2).
_COST = 1 << 16
_BLOCK = 8
_PARALLEL = 1

WRAPPING_BYTES = 32
SLOT_BYTES = 16
_WRAPPED_MAGIC = b"tqwrap\x00\x01"
_WRAPPED_HEAD_BYTES = len(_WRAPPED_MAGIC) + SLOT_BYTES + _NONCE_BYTES
_WRAPPED_BYTES = _WRAPPED_HEAD_BYTES + SEED_BYTES + _TAG_BYTES


def is_sealed(content: bytes) -> bool:
    """Recognise the output of `seal` by its size and first bytes."""
    return len(content) == _SEALED_BYTES and content.startswith(_SEALED_MAGIC)


def seal(seed: bytes, passphrase: str) -> bytes:
    """Seal a seed under a passphrase, with fresh salt and nonce."""
    salt, nonce = secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_NONCE_BYTES)
    head = _SEALED_MAGIC + salt + nonce
    return head + AESGCM(_key(passphrase, salt)).encrypt(nonce, seed, head)


def unseal(content: bytes, passphrase: str) -> bytes:
    """Open the output of `seal`; raises IdentityError for another passphrase or damage."""
    head, sealed = content[:_SEALED_HEAD_BYTES], content[_SEALED_HEAD_BYTES:]
    salt, nonce = head[len(_SEALED_MAGIC) : -_NONCE_BYTES], head[-_NONCE_BYTES:]
    try:
        return AESGCM(_key(passphrase, salt)).decrypt(nonce, sealed, head)
    except InvalidTag as err:
        raise IdentityError("passphrase-wrong") from err


def _key(passphrase: str, salt: bytes) -> bytes:
    kdf = Scrypt(salt=salt, length=32, n=_COST, r=_BLOCK, p=_PARALLEL)
    return kdf.derive(passphrase.encode())


class UnwrapError(Exception):
    """The wrapping key is a different one, or the content is damaged."""


def is_wrapped(content: bytes) -> bool:
    """Recognise the output of `wrap` by its size and first bytes."""
    return len(content) == _WRAPPED_BYTES and content.startswith(_WRAPPED_MAGIC)


def slot_of(content: bytes) -> str:
    """Name the wrapping key that opens the content."""
    return content[len(_WRAPPED_MAGIC) :][:SLOT_BYTES].hex()


def wrap(seed: bytes) -> tuple[bytes, str, bytes]:
    """Seal a seed under a new wrapping key; returns the content, that key's name, and the key."""
    slot, wrapping = secrets.token_bytes(SLOT_BYTES), secrets.token_bytes(WRAPPING_BYTES)
    nonce = secrets.token_bytes(_NONCE_BYTES)
    head = _WRAPPED_MAGIC + slot + nonce
    return head + AESGCM(wrapping).encrypt(nonce, seed, head), slot.hex(), wrapping


def unwrap(content: bytes, wrapping: bytes) -> bytes:
    """Open the output of `wrap`; raises UnwrapError."""
    head, sealed = content[:_WRAPPED_HEAD_BYTES], content[_WRAPPED_HEAD_BYTES:]
    try:
        return AESGCM(wrapping).decrypt(head[-_NONCE_BYTES:], sealed, head)
    except (InvalidTag, ValueError) as err:
        raise UnwrapError("the wrapping key does not open this") from err
