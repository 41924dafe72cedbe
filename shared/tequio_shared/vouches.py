"""What connectors said of keys: each speaks for itself, and the earliest word that stands counts.

A vouch stands until its end, until its connector withdraws or replaces it, or until the connector
is revoked. No connector can end or hide what another one said of a key, or come before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_shared.ids import Digest, digest_from_text, key_from_text, sha256

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Statement
    from tequio_shared.statements.connectors import MemberVouch

_OWNER = b"tequio/v1/owner\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouch:
    """A connector's last word on a key."""

    index: int
    place: int
    """Log index of the first of its words that name this owner, each said before the last ended."""
    connector: PeerKey
    owner: Digest
    ts: int
    """When it was said, ms since 1970; so is its end, `until`."""
    until: int


@dataclass(slots=True)
class Vouches:
    """The standing words of all connectors; a fold."""

    _by_peer: dict[PeerKey, dict[PeerKey, Vouch]] = field(default_factory=dict)
    """By connector within."""
    _revoked: dict[PeerKey, int] = field(default_factory=dict)
    """Log index of the last role.revoke of each."""

    def take(self, index: int, statement: Statement, body: MemberVouch) -> None:
        """Take a connector's word; one that has ended already withdraws its former one."""
        words = self._by_peer.setdefault(key_from_text(body.peer), {})
        former = words.pop(statement.author, None)
        if body.until <= statement.ts:
            return
        owner = owner_of(statement.author, digest_from_text(body.owner))
        goes_on = (
            former is not None
            and former.owner == owner
            and former.until > statement.ts
            and not self._is_void(former)
        )
        words[statement.author] = Vouch(
            index=index,
            place=former.place if former is not None and goes_on else index,
            connector=statement.author,
            owner=owner,
            ts=statement.ts,
            until=body.until,
        )

    def revoke(self, index: int, connector: PeerKey) -> None:
        """Void all that the connector said so far."""
        self._revoked[connector] = index

    def at(self, key: PeerKey, ts: int) -> Vouch | None:
        """Find the vouch that counts for a key at that time (ms)."""
        running = [one for one in self._standing(key) if one.until > ts]
        return min(running, key=lambda one: one.place, default=None)

    def last(self, key: PeerKey) -> tuple[Vouch, int] | None:
        """Find the vouch that counted at the time of the newest one, and the last end of any."""
        standing = self._standing(key)
        counts = self.at(key, max((one.ts for one in standing), default=0))
        if counts is None:
            return None
        return counts, max(one.until for one in standing)

    def of(self, connector: PeerKey) -> list[PeerKey]:
        """Name the keys for which a connector vouched last or was revoked since."""
        return [key for key, words in self._by_peer.items() if connector in words]

    def _standing(self, key: PeerKey) -> list[Vouch]:
        return [one for one in self._by_peer.get(key, {}).values() if not self._is_void(one)]

    def _is_void(self, one: Vouch) -> bool:
        return one.index < self._revoked.get(one.connector, 0)


def owner_of(connector: PeerKey, owner: Digest) -> Digest:
    """Name an account that a connector vouches for; no other connector can name it."""
    return sha256(_OWNER, connector, owner)
