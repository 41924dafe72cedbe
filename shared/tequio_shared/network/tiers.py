"""The owner behind a key, as the log states it: an invitation, an account, or the key alone.

Rules. A key has tier 2 if it was registered under an invitation that is not revoked, tier 1 while a
connector vouches for it, tier 0 otherwise; the keys of the genesis have tier 2. It has one owner:
the invitation, the account that the connector names (under that connector: no other one can name
it; of several, the one with the earliest running vouch), or itself. Time is the `ts` of the
statement that is judged. Pure: every reader of the whole log folds the same tiers, and rosters
follow from them. (docs/protocol.md, tiers)
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, key_from_text, sha256
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    InviteRevoke,
    KeyRegister,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
)

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Entry, Statement

_OWNER = b"tequio/v1/owner\0"
TIER_BODIES = (InviteOpen, InviteClose, InviteRevoke, RoleGrant, RoleRevoke, MemberVouch)
"""Bodies that `Tiers.apply` accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouch:
    """A connector's last statement about a key."""

    index: int
    place: int
    """Log index of its first vouch for this owner, each made before the one before it ended."""
    connector: PeerKey
    owner: Digest
    ts: int
    """Milliseconds since 1970, like `until`, the end of the vouch."""
    until: int


@dataclass(slots=True)
class Vouches:
    """The vouches of all connectors; a fold.

    A vouch runs until its end, until its connector withdraws or replaces it, or until the connector
    is revoked. Connectors are independent: none can end or hide what another one stated about a
    key, or jump ahead of it.
    """

    _by_peer: dict[PeerKey, dict[PeerKey, Vouch]] = field(default_factory=dict)
    """By peer, then by connector."""
    _revoked: dict[PeerKey, int] = field(default_factory=dict)
    """Log index of the last role.revoke of each connector."""

    def apply(self, index: int, statement: Statement, body: MemberVouch) -> None:
        """Apply a vouch; one that has ended already withdraws the connector's former one."""
        words = self._by_peer.setdefault(key_from_text(body.peer), {})
        # Each connector's word stands apart: one that is stolen can hide only its own.
        former = words.pop(statement.author, None)
        if body.until <= statement.ts:
            return
        owner = owner_of(statement.author, digest_from_text(body.owner))
        # Renewed in time, a vouch stays where it was in the order: its owner does not change hands.
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
        """Void all vouches that the connector has made so far."""
        self._revoked[connector] = index

    def at(self, key: PeerKey, ts: int) -> Vouch | None:
        """Return the vouch that counts for a key at that time (ms)."""
        running = [one for one in self._standing(key) if one.until > ts]
        # The earliest, not the newest: a later connector must not be able to change the owner.
        return min(running, key=lambda one: one.place, default=None)

    def last(self, key: PeerKey) -> tuple[Vouch, int] | None:
        """Return the vouch that counted at the time of the newest one, and the last end of any."""
        standing = self._standing(key)
        counts = self.at(key, max((one.ts for one in standing), default=0))
        if counts is None:
            return None
        return counts, max(one.until for one in standing)

    def replace(self, former: PeerKey, successor: PeerKey) -> None:
        """Hand the vouches for a key to its successor, which nobody can have vouched for yet."""
        words = self._by_peer.pop(former, None)
        if words:
            self._by_peer[successor] = words

    def of(self, connector: PeerKey) -> list[PeerKey]:
        """Keys whose last vouch by this connector was not withdrawn, even if it is void."""
        return [key for key, words in self._by_peer.items() if connector in words]

    def _standing(self, key: PeerKey) -> list[Vouch]:
        return [one for one in self._by_peer.get(key, {}).values() if not self._is_void(one)]

    def _is_void(self, one: Vouch) -> bool:
        # Vouches after a new grant count again, so the index is compared and not only the key.
        return one.index < self._revoked.get(one.connector, 0)


def owner_of(connector: PeerKey, owner: Digest) -> Digest:
    """Identify an account that a connector vouches for; no other connector can name it."""
    return sha256(_OWNER, connector, owner)


class Tier(IntEnum):
    """Knowledge about the owner of a key."""

    ANONYMOUS = 0  # it did the proof of work
    VOUCHED = 1  # a connector vouches for an account behind it
    INVITED = 2  # organisers invited it


KEYS_OF_TIER: Mapping[int, str] = {
    Tier.VOUCHED: "keys that a connector vouches for or organisers invited",
    Tier.INVITED: "keys that organisers invited",
}
"""Keys that a rule with this least tier admits, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierGrant:
    """Tier and owner of a key; `since`, `run` and `until` are the grounds."""

    tier: Tier
    owner: Digest
    run: RunId | None = None
    """The only run for which it was invited."""
    until: int = 0
    """End of the vouch, ms since 1970; otherwise 0."""
    since: int | None = None
    """Log index of the registration with the invitation, or of the vouch."""


@dataclass(slots=True, kw_only=True)
class Invitation:
    """The history of one invitation; `Tiers` alone writes it."""

    index: int
    """Log index of invite.open."""
    uses: int
    until: int
    run: RunId | None
    used: int = 0
    closed: int | None = None
    """Log index of invite.close."""
    revoked: int | None = None
    """Log index of invite.revoke."""

    @property
    def is_open(self) -> bool:
        return self.closed is None and self.revoked is None

    def check(self, ts: int) -> None:
        """Raise RefusedError unless it admits a key at that time (ms)."""
        if not self.is_open:
            ended = self.closed if self.revoked is None else self.revoked
            raise RefusedError("invitation-ended", f"entry {ended} ended the invitation")
        if ts >= self.until:
            raise RefusedError("invitation-ended", f"the invitation expired at {self.until} ms")
        if self.used >= self.uses:
            raise RefusedError(
                "invitation-spent", f"the invitation has no uses left of {self.uses}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitedKey:
    index: int
    """Log index of its registration."""
    invitation: PeerKey
    run: RunId | None


@dataclass(slots=True)
class Tiers:
    """The tiers of a network's keys; only `register` and `apply` change them."""

    registered: Container[PeerKey] = ()
    """The keys that count so far; owned by the caller, which adds to it."""
    founders: frozenset[PeerKey] = frozenset()
    invitations: dict[PeerKey, Invitation] = field(default_factory=dict)
    connectors: dict[PeerKey, int] = field(default_factory=dict)
    """End of each connector's role, ms since 1970."""
    _invited: dict[PeerKey, InvitedKey] = field(default_factory=dict)
    _vouches: Vouches = field(default_factory=Vouches)

    def of(self, key: PeerKey, run: RunId, ts: int) -> TierGrant:
        """Tier and owner of a key in that run at that time (ms)."""
        known = self._by_invitation(key)
        # An invitation to another run says nothing here, but a vouch may still count.
        if known is not None and known.run in (None, run):
            return known
        vouch = self._vouches.at(key, ts)
        return _anonymous(key) if vouch is None else _vouched(vouch, vouch.until)

    def highest(self, key: PeerKey) -> TierGrant:
        """Highest tier that the log gives a key, in some run or at some time.

        For a vouched key: the owner when it was last vouched for, and the last end of any vouch.
        """
        known = self._by_invitation(key)
        if known is not None:
            return known
        vouched = self._vouches.last(key)
        return _anonymous(key) if vouched is None else _vouched(*vouched)

    def subjects(self, entry: Entry) -> Iterable[PeerKey]:
        """Keys whose tier or owner this entry changes if it is accepted."""
        match entry.statement.body:
            case KeyRegister() if len(entry.signatures) > 1:
                return (entry.statement.author,)
            case MemberVouch(peer=peer):
                return (key_from_text(peer),)
            case InviteRevoke(invitation=text):
                invitation = key_from_text(text)
                return [key for key, one in self._invited.items() if one.invitation == invitation]
            case RoleRevoke(peer=peer):
                return self._vouches.of(key_from_text(peer))
        return ()

    def register(self, index: int, entry: Entry) -> None:
        """Apply key.register; raises RefusedError unless its second signer, if any, invites it."""
        author = entry.statement.author
        # Its private key is in a link that many people hold: any of them could act as it.
        if author in self.invitations:
            raise RefusedError("wrong-invitation", "the key of an invitation cannot be registered")
        key = self._invitation_of(entry)
        if key is None:
            return
        invitation = self.invitations[key]
        # By the signed time, not the reader's: everybody who replays the log decides alike.
        invitation.check(entry.statement.ts)
        invitation.used += 1
        self._invited[author] = InvitedKey(index=index, invitation=key, run=invitation.run)

    def replace(self, former: PeerKey, successor: PeerKey) -> None:
        """Hand tier and owner of a key to its successor: an owner never holds both."""
        if former in self._invited:
            self._invited[successor] = self._invited.pop(former)
        self._vouches.replace(former, successor)

    def apply(self, index: int, statement: Statement) -> None:
        """Apply the statement at that log index; raises RefusedError unless it fits the log."""
        match statement.body:
            case InviteOpen() as body:
                self._open(index, key_from_text(body.invitation), body)
            case InviteClose(invitation=text):
                self._open_invitation(key_from_text(text)).closed = index
            case InviteRevoke(invitation=text):  # a link passed on has let strangers in
                self._unrevoked_invitation(key_from_text(text)).revoked = index
            case RoleGrant(peer=peer, until=until):
                self.connectors[key_from_text(peer)] = until
            case RoleRevoke(peer=peer):  # a stolen connector key may have vouched for anybody
                if self.connectors.pop(key_from_text(peer), None) is None:
                    raise RefusedError("wrong-grant", f"key {peer} does not belong to a connector")
                self._vouches.revoke(index, key_from_text(peer))
            case MemberVouch() as body:
                self._check_vouch(statement, key_from_text(body.peer))
                self._vouches.apply(index, statement, body)

    def _by_invitation(self, key: PeerKey) -> TierGrant | None:
        if key in self.founders:
            return TierGrant(tier=Tier.INVITED, owner=Digest(key), since=0)
        invited = self._invited.get(key)
        if invited is None or self.invitations[invited.invitation].revoked is not None:
            return None
        # All keys of one invitation share its owner: a link passed around is one person's slots.
        owner = Digest(invited.invitation)
        return TierGrant(tier=Tier.INVITED, owner=owner, run=invited.run, since=invited.index)

    def _invitation_of(self, entry: Entry) -> PeerKey | None:
        further = [key for key, _ in entry.signatures[1:]]
        if not further:
            return None
        if len(further) > 1:
            raise RefusedError(
                "wrong-invitation", f"a key can use one invitation, not {len(further)}"
            )
        if further[0] not in self.invitations:
            raise RefusedError("not-admitted", "the log has no such invitation")
        return further[0]

    def _open(self, index: int, key: PeerKey, body: InviteOpen) -> None:
        if key in self.invitations or key in self.registered:
            raise RefusedError("wrong-invitation", "the key is already registered or an invitation")
        run = RunId(digest_from_text(body.run)) if body.run else None
        self.invitations[key] = Invitation(index=index, uses=body.uses, until=body.until, run=run)

    def _open_invitation(self, key: PeerKey) -> Invitation:
        invitation = self.invitations.get(key)
        if invitation is None or not invitation.is_open:
            raise RefusedError("wrong-invitation", "no such invitation is open")
        return invitation

    def _unrevoked_invitation(self, key: PeerKey) -> Invitation:
        invitation = self.invitations.get(key)
        if invitation is None or invitation.revoked is not None:
            raise RefusedError("wrong-invitation", "the log has no such invitation to revoke")
        return invitation

    def _check_vouch(self, statement: Statement, peer: PeerKey) -> None:
        until = self.connectors.get(statement.author)
        if until is None or statement.ts >= until:
            raise RefusedError("wrong-role", "only a connector may send member.vouch")
        if peer not in self.registered:
            raise RefusedError("not-found", "the vouched key is not registered")


def _vouched(vouch: Vouch, until: int) -> TierGrant:
    return TierGrant(tier=Tier.VOUCHED, owner=vouch.owner, until=until, since=vouch.index)


def _anonymous(key: PeerKey) -> TierGrant:
    return TierGrant(tier=Tier.ANONYMOUS, owner=Digest(key))
