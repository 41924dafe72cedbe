"""A seed under a passphrase: scrypt makes the key, AES-256-GCM seals.

Layout: 8 bytes that name the format, 16 of salt, 12 of nonce, then the sealed seed and its tag.
"""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from tequio_client.key_errors import IdentityError
from tequio_shared.keys import SEED_BYTES

_MAGIC = b"tqkey\x00\x00\x01"
_SALT_BYTES = 16
_NONCE_BYTES = 12
_TAG_BYTES = 16
_HEAD_BYTES = len(_MAGIC) + _SALT_BYTES + _NONCE_BYTES
_SEALED_BYTES = _HEAD_BYTES + SEED_BYTES + _TAG_BYTES

# 64 MiB and about 0.2 s for each guess (RFC 7914, section 2).
_COST = 1 << 16
_BLOCK = 8
_PARALLEL = 1


def is_sealed(content: bytes) -> bool:
    """Tell if this is what `seal` makes."""
    return len(content) == _SEALED_BYTES and content.startswith(_MAGIC)


def seal(seed: bytes, passphrase: str) -> bytes:
    """Seal a seed; each time with fresh salt and nonce."""
    salt, nonce = secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_NONCE_BYTES)
    head = _MAGIC + salt + nonce
    return head + AESGCM(_key(passphrase, salt)).encrypt(nonce, seed, head)


def unseal(content: bytes, passphrase: str) -> bytes:
    """Open what `seal` made; raises IdentityError for another passphrase or damage."""
    head, sealed = content[:_HEAD_BYTES], content[_HEAD_BYTES:]
    salt, nonce = head[len(_MAGIC) : -_NONCE_BYTES], head[-_NONCE_BYTES:]
    try:
        return AESGCM(_key(passphrase, salt)).decrypt(nonce, sealed, head)
    except InvalidTag as err:
        raise IdentityError("passphrase-wrong") from err


def _key(passphrase: str, salt: bytes) -> bytes:
    kdf = Scrypt(salt=salt, length=32, n=_COST, r=_BLOCK, p=_PARALLEL)
    return kdf.derive(passphrase.encode())
