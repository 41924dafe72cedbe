"""The work of a new key: a nonce under which a hash of network and key begins with zero bits.

It costs its finder 2^bits hashes and everybody else one, so a ledger's door and every reader of
the log can ask for it before they verify a signature.

    hash = SHA-256("tequio/v1/work" 00 || network id || key || u64 nonce)
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tequio_shared.statements.network import KeyRegister

if TYPE_CHECKING:
    from tequio_shared.ids import NetworkId, PeerKey
    from tequio_shared.statements.statement import Statement

PREFIX = b"tequio/v1/work\0"
_HASH_BITS = 256


def find_nonce(net: NetworkId, key: PeerKey, bits: int, first: int, count: int) -> int | None:
    """The first nonce from `first` on, of `count`, that is work of so many bits; None: not here."""
    bound = 1 << _HASH_BITS - bits
    begun = sha256(PREFIX + net + key)
    for nonce in range(first, first + count):
        hashed = begun.copy()
        hashed.update(nonce.to_bytes(8, "big"))
        if int.from_bytes(hashed.digest(), "big") < bound:
            return nonce
    return None


def has_work(net: NetworkId, key: PeerKey, bits: int, nonce: int) -> bool:
    """Whether the nonce is work of so many bits for this key in this network."""
    return find_nonce(net, key, bits, nonce, 1) is not None


def check_work(statement: Statement, net: NetworkId, bits: int) -> None:
    """Raise RefusedError("no-work") for a registration without work of so many bits.

    Of every other statement nothing is asked.
    """
    body = statement.body
    if not isinstance(body, KeyRegister):
        return
    if not has_work(net, statement.author, bits, body.nonce):
        raise RefusedError(
            "no-work",
            f"nonce {body.nonce} is no work of {bits} bits for key {to_text(statement.author)}",
        )
