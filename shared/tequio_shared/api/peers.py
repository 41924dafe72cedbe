"""Answers about peers: their chains and points, standing and tier, rounds and rank."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared.api.answer import AsOf, Rows, Text
from tequio_shared.api.runs import OutcomeText
from tequio_shared.badges import Badge
from tequio_shared.ids import (
    STEERING,
    Bytes32Text,
    Digest,
    Natural,
    Positive,
    digest_from_text,
)
from tequio_shared.limits import NAME_CHARS
from tequio_shared.network.standing import Standing
from tequio_shared.network.tiers import Tier
from tequio_shared.statements.network import EVIDENCE

# A reader accepts any word or number here: a newer ledger may have more of them.
StandingText = Annotated[Text, Meta(extra_json_schema={"enum": [one.value for one in Standing]})]
BadgeText = Annotated[Text, Meta(extra_json_schema={"enum": [one.value for one in Badge]})]
TierNumber = Annotated[Natural, Meta(extra_json_schema={"enum": [int(one) for one in Tier]})]


PublicName = Annotated[str, Meta(max_length=NAME_CHARS, pattern=rf"\A[^\n{STEERING}]*\Z")]
"""Text that cannot disturb the text around it, whatever a dishonest ledger sends."""


class StandingAnswer(Struct, frozen=True, kw_only=True):
    """The standing of a key in the network, and the log entries that explain it."""

    standing: StandingText
    since: Natural
    cause: Natural | None
    why: Annotated[str, Meta(max_length=256)]
    """The cause in words, for people: the only field that does not follow from the log."""
    evidence: Annotated[tuple[Natural, ...], Meta(max_length=EVIDENCE)]
    until: Natural
    """End of a quarantine's term in milliseconds since 1970, or 0."""
    appeal: Natural | None


class TierAnswer(Struct, frozen=True, kw_only=True):
    """The tier and owner of a key by the log, and the entry that states them."""

    tier: TierNumber
    owner: Bytes32Text
    run: Bytes32Text | None
    until: Natural
    since: Natural | None


class BadgeAnswer(Struct, frozen=True):
    """A badge, and the log entry that proves it."""

    badge: BadgeText
    index: Natural


class PeerAnswer(Struct, frozen=True, kw_only=True):
    """One key: the end of its chain of statements, its points, and its standing."""

    key: Bytes32Text
    peer_id: Text
    registered_index: Natural
    last_seq: Natural
    last_hash: Bytes32Text
    gflop: Natural
    unvested: Natural
    """Part of `gflop` that can still be lost (docs/protocol.md, 13.1)."""
    forfeited: Natural
    """Earned and lost: not part of `gflop`."""
    received: Natural
    """Part of `gflop` for the work of other keys, which gave parts of their points."""
    recovery: Bytes32Text | None
    """The recovery key."""
    replaces: Bytes32Text | None
    """The key whose place it took, with `registered_index`."""
    replaced_by: Bytes32Text | None
    """The key that took its place; entry and standing `replaced` are in `standing`."""
    name: PublicName = ""
    """Empty without one."""
    badges: Annotated[tuple[BadgeAnswer, ...], Meta(max_length=64)] = ()
    """The earliest first."""
    accepted: Natural = 0
    """Accepted contributions."""
    streak_day: Natural = 0
    """Day of the last one, counted from 1970 (UTC)."""
    streak_days: Natural = 0
    """Days in a row with one, up to that day."""
    team: Natural = 0
    """The entry that founded its team; 0 without one."""
    standing: StandingAnswer
    tier: TierAnswer
    as_of: AsOf

    @property
    def last(self) -> Digest:
        """Digest of the last logged statement, zero without one."""
        return digest_from_text(self.last_hash)


class PeersAnswer(Struct, frozen=True):
    """A page of keys in order of registration; continue after `next`."""

    peers: Rows[PeerAnswer]
    next: Bytes32Text | None
    as_of: AsOf


class PeerStandingAnswer(Struct, frozen=True, kw_only=True):
    """One key that is quarantined, banned, suspected or on probation, or has an open appeal."""

    key: Bytes32Text
    peer_id: Text
    standing: StandingAnswer


class QuarantineAnswer(Struct, frozen=True):
    """A page of such keys, by the entry that changed their standing; continue after `next`."""

    peers: Rows[PeerStandingAnswer]
    next: Natural | None
    as_of: AsOf


class AttendedAnswer(Struct, frozen=True, kw_only=True):
    """One finished round that a key was in, or received points of, and its claimed points."""

    run: Bytes32Text
    round: Natural
    roster_index: Natural
    closed_index: Natural
    outcome: OutcomeText
    gflop: Natural


class PeerRoundsAnswer(Struct, frozen=True):
    """A page of a key's rounds, the last ended first; continue before `next`."""

    rounds: Rows[AttendedAnswer]
    next: Natural | None
    as_of: AsOf


class RankedAnswer(Struct, frozen=True, kw_only=True):
    """One key's rank by points, from 1 on."""

    rank: Positive
    key: Bytes32Text
    name: PublicName = ""
    gflop: Natural


class TeamMemberAnswer(Struct, frozen=True, kw_only=True):
    """A member of a team, and its points for the team."""

    rank: Positive
    """By these points, then by the time of joining."""
    key: Bytes32Text
    name: PublicName = ""
    since: Natural
    """The entry with which it, or the first key that it succeeded, joined."""
    gflop: Natural


class TeamAnswer(Struct, frozen=True, kw_only=True):
    """A team, and a page of its members, the best first; continue after `next`."""

    team: Natural
    name: PublicName = ""
    """Empty: organisers withdrew it."""
    owner: Bytes32Text
    founded: Natural
    """Milliseconds since 1970; so are all times here."""
    ended: Natural
    """0: it has members."""
    members: Natural
    gflop: Natural
    """Paid by rounds for the team, also to members that left, but not to restricted keys."""
    invitation: Bytes32Text | None
    until: Natural
    """End of the invitation, or 0."""
    most: Natural
    """The invitation admits nobody while the team has this many members; 0 without one."""
    goal: Natural
    """GFLOP that the team wants to earn; 0 without a goal."""
    goal_since: Natural
    goal_until: Natural
    reached: Natural
    """GFLOP that rounds paid since the goal was set, until its end."""
    rows: Rows[TeamMemberAnswer]
    next: Natural | None
    as_of: AsOf


class RankingAnswer(Struct, frozen=True):
    """Keys by points, the best first, and the number of keys with any; continue after `next`."""

    rows: Rows[RankedAnswer]
    next: Bytes32Text | None
    ranked: Natural
    as_of: AsOf
