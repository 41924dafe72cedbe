"""The proof of work of a new key: a nonce under which a hash of network and key begins with zeros.

It costs its finder 2^bits hashes and everybody else one, so the ledger's rate limiter and every
reader of the log can check it before they verify a signature.

    hash = SHA-256("tequio/v1/work" 00 || network id || key || u64 nonce)
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import NetworkId, PeerKey, to_text
from tequio_shared.statements.network import KeyRegister

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Statement

PREFIX = b"tequio/v1/work\0"
_HASH_BITS = 256


def find_nonce(net: NetworkId, key: PeerKey, bits: int, first: int, count: int) -> int | None:
    """Return the first of `count` nonces from `first` that is work of `bits` bits, or None."""
    bound = 1 << _HASH_BITS - bits
    begun = sha256(PREFIX + net + key)
    for nonce in range(first, first + count):
        hashed = begun.copy()
        hashed.update(nonce.to_bytes(8, "big"))
        if int.from_bytes(hashed.digest(), "big") < bound:
            return nonce
    return None


def has_work(net: NetworkId, key: PeerKey, bits: int, nonce: int) -> bool:
    return find_nonce(net, key, bits, nonce, 1) is not None


def check_work(statement: Statement, net: NetworkId, bits: int) -> None:
    """Raise RefusedError("no-work") for a registration with less than `bits` bits of work.

    Other statements need none.
    """
    body = statement.body
    if not isinstance(body, KeyRegister):
        return
    if not has_work(net, statement.author, bits, body.nonce):
        raise RefusedError(
            "no-work",
            f"nonce {body.nonce} is not a proof of {bits} bits for key {to_text(statement.author)}",
        )
