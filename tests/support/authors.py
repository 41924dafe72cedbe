"""Authors of statements: a key and the end of its chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import ZERO_DIGEST, Digest, NetworkId, PeerKey, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import KeyRecovery, KeyRegister, find_nonce
from tequio_shared.statements.statement import Entry, make, sign

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Body

LIFE_MS = 60_000
WORK_BITS = 8
"""Proof of work that test networks require of a new key: 0.1 ms."""


def registration(net: NetworkId, key: PeerKey, bits: int = WORK_BITS) -> KeyRegister:
    """The registration of a key, with its proof of work."""
    nonce = find_nonce(net, key, bits, 0, 1 << 40)
    assert nonce is not None
    return KeyRegister(nonce=nonce)


class Author:
    """Signs statements in order; the key is derived from the name."""

    def __init__(self, name: str, net: NetworkId) -> None:
        self.signer = Signer(sha256(b"test author", name.encode()))
        self.net = net
        self.seq = 0
        self.last: Digest = ZERO_DIGEST

    @property
    def key(self) -> PeerKey:
        """The author's key."""
        return self.signer.key

    def sign(
        self,
        body: Body,
        now_ms: int,
        *others: Signer,
        run: RunId | None = None,
        number: int | None = None,
    ) -> Entry:
        """Sign the next statement of the chain."""
        statement = make(
            body=body,
            author=self.key,
            seq=self.seq + 1,
            ts=now_ms,
            exp=now_ms + LIFE_MS,
            prev=self.last,
            run=run,
            round=number,
        )
        self.seq, self.last = statement.seq, statement.digest
        return sign(self.net, statement, self.signer, *others)

    def bind_recovery(self, number: int, now_ms: int) -> Entry:
        """Bind the recovery key of that number, from 0 on: a statement that every key may make."""
        keys = (
            Signer(sha256(self.key, b"recovery", bytes([at % 256, at // 256])))
            for at in (number, number - 1)
            if at >= 0
        )
        fresh, *former = keys
        return self.sign(KeyRecovery(recovery=to_text(fresh.key)), now_ms, fresh, *former)

    def register(self, now_ms: int, *invitation: Signer) -> Entry:
        """Sign the registration of the key, under an invitation if there is one."""
        return self.sign(registration(self.net, self.key), now_ms, *invitation)


def newcomers(name: str, net: NetworkId, count: int, now_ms: int) -> list[Entry]:
    """Sign the registrations of `count` keys: the cheapest entries that a log accepts."""
    return [Author(f"{name} {number}", net).register(now_ms) for number in range(count)]
