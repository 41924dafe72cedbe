"""The ends of keys: which were revoked, which key took whose place, and who may decide on it.

Rules. A key is ended once, by `key.revoke` or by `key.replace`, and never acts again. An owner can
commit to a recovery key beforehand, which is kept offline: from then on it alone replaces the key
or binds another recovery key, and it can still replace a key that was revoked. So a thief, who has
the key and not the recovery key, can stop the key but not take its account along. Without a
recovery key, the key decides itself. A successor is new: `key.replace` registers its author, so
there are never two histories to merge, and no cycles. (docs/protocol.md, keys that end)
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, key_from_text, to_text
from tequio_shared.statements.network import KeyRecovery, KeyReplace, KeyRevoke

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Entry, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """`index` is the log index of the `key.replace`."""

    index: int
    successor: PeerKey


@dataclass(slots=True)
class KeyLinks:
    """Revoked and replaced keys, and recovery keys; only `NetworkView` applies entries."""

    registered: Container[PeerKey] = ()
    """The keys that count so far; owned by the caller, which adds to it."""
    founders: frozenset[PeerKey] = frozenset()
    revoked: dict[PeerKey, int] = field(default_factory=dict)
    """Log index of each key's `key.revoke`; stays when the key is replaced afterwards."""
    replaced: dict[PeerKey, Replacement] = field(default_factory=dict)
    formers: dict[PeerKey, PeerKey] = field(default_factory=dict)
    """The key that each successor took the place of."""
    recovery: dict[PeerKey, PeerKey] = field(default_factory=dict)
    """The recovery key of each key that has one; a successor inherits it."""
    recovery_keys: set[PeerKey] = field(default_factory=set)
    """All that were ever bound: none of them may become a peer's key."""

    def is_ended(self, key: PeerKey) -> bool:
        return key in self.replaced or key in self.revoked

    def check(self, key: PeerKey) -> None:
        """Raise RefusedError("key-ended") for a key that was revoked or replaced."""
        # The replacement first: it tells the reader which key counts now.
        if key in self.replaced:
            one = self.replaced[key]
            raise RefusedError(
                "key-ended",
                f"entry {one.index} replaced key {to_text(key)} by {to_text(one.successor)}",
            )
        if key in self.revoked:
            raise RefusedError("key-ended", f"entry {self.revoked[key]} revoked key {to_text(key)}")

    def holder(self, key: PeerKey) -> PeerKey:
        """The key that has the account of a key now: itself, or its last successor.

        Costs one step for each replacement since; callers ask for keys of the round in progress.
        """
        while key in self.replaced:
            key = self.replaced[key].successor
        return key

    def holder_at(self, key: PeerKey, index: int) -> PeerKey:
        """The key that had the account of a key when the entry at an index was logged."""
        while key in self.replaced and self.replaced[key].index < index:
            key = self.replaced[key].successor
        return key

    def line_of(self, key: PeerKey) -> Iterator[PeerKey]:
        """The key, and the keys that it took the place of, the last one first."""
        yield key
        while key in self.formers:
            key = self.formers[key]
            yield key

    def is_paid(self, key: PeerKey, index: int) -> bool:
        """Return whether a round that closes at that log index pays the holder of the key.

        Not once the key, or one that followed it by then, was revoked.
        """
        while self.revoked.get(key, index) >= index:
            one = self.replaced.get(key)
            if one is None or one.index >= index:
                return True
            key = one.successor
        return False

    def bind(self, entry: Entry, body: KeyRecovery) -> None:
        """Apply key.recovery; raises RefusedError unless all who must agree have signed."""
        key, recovery = entry.statement.author, key_from_text(body.recovery)
        former = self.recovery.get(key)
        if key in self.founders:
            raise RefusedError("wrong-role", "the keys of the genesis have no recovery key")
        if recovery in self.registered:
            raise RefusedError("wrong-key", "a registered key cannot be a recovery key")
        if recovery == former:
            raise RefusedError("already-said", "this recovery key is already bound to the key")
        # The former one too: otherwise the thief of a key would bind one of his own.
        _check_signers(entry, {recovery} if former is None else {recovery, former})
        self.recovery[key] = recovery
        self.recovery_keys.add(recovery)

    def revoke(self, index: int, entry: Entry, body: KeyRevoke) -> PeerKey:
        """Apply key.revoke, and return the key that it ends; raises RefusedError."""
        author, key = entry.statement.author, key_from_text(body.peer)
        self._check_can_end(key)
        self.check(key)
        if author == key:
            _check_signers(entry, set())
        else:
            # A stranger can write the statement down, but not sign for the key.
            recovery = self.recovery.get(key, key)
            signed = {signer for signer, _ in entry.signatures[1:]}
            _check_signers(entry, {recovery} if recovery in signed else {key})
        self.revoked[key] = index
        return key

    def check_replace(self, entry: Entry, body: KeyReplace) -> PeerKey:
        """Return the key that key.replace ends; raises RefusedError unless it may."""
        author, former = entry.statement.author, key_from_text(body.former)
        if author in self.registered:
            raise RefusedError("wrong-state", f"key {to_text(author)} is already registered")
        if author in self.recovery_keys:
            raise RefusedError("wrong-key", "a recovery key cannot be registered")
        self._check_can_end(former)
        recovery = self.recovery.get(former)
        if recovery is None:
            self.check(former)
        _check_signers(entry, {former if recovery is None else recovery})
        return former

    def replace(self, index: int, former: PeerKey, successor: PeerKey) -> None:
        """Record a replacement that `check_replace` accepted; the recovery key stays bound."""
        self.replaced[former] = Replacement(index=index, successor=successor)
        self.formers[successor] = former
        recovery = self.recovery.pop(former, None)
        if recovery is not None:
            self.recovery[successor] = recovery

    def _check_can_end(self, key: PeerKey) -> None:
        if key not in self.registered:
            raise RefusedError("not-found", f"no key {to_text(key)} is registered")
        if key in self.founders:
            raise RefusedError("wrong-role", "the keys of the genesis cannot be ended")


def ended_by(statement: Statement) -> PeerKey | None:
    """Key that this statement ends if it is accepted, or None."""
    match statement.body:
        case KeyRevoke(peer=text) | KeyReplace(former=text):
            return key_from_text(text)
    return None


def _check_signers(entry: Entry, due: set[PeerKey]) -> None:
    """Raise RefusedError unless exactly these keys signed besides the author."""
    signed = {key for key, _ in entry.signatures[1:]}
    if signed != due:
        names = ", ".join(sorted(map(to_text, due))) or "nobody"
        raise RefusedError(
            "wrong-key",
            f"{entry.statement.type} needs, besides its author's, the signature of {names}",
        )
