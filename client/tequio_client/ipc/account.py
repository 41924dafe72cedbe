"""Questions about our key: its standing, team, linked account and successors (`ipc.control`).

Times are in milliseconds since 1970, points are GFLOP. Lists are bounded, newest or best first.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc.facts import MAX_ROWS, Count, Name, ShortText, Text
from tequio_client.ipc.points import RankRow
from tequio_shared.ids import Bytes32Text, MaybeBytes32Text
from tequio_shared.limits import TEAM_MEMBERS

MAX_BADGES = 64
MAX_LINK_DAYS = 365
"""Longest validity of a team's join link."""


class AskAccount(msgspec.Struct, frozen=True, kw_only=True, tag="account"):
    """Ask for the standing and the recovery key of our key."""


class BadgeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A badge of our key, and the log entry that proves it."""

    badge: Name
    entry: Count


class AccountReply(msgspec.Struct, frozen=True, kw_only=True, tag="account"):
    """Our key as the ledger describes it; the empty standing: it is not registered yet."""

    key: Name
    standing: Name = ""
    since: Count = 0
    """Entry that set the standing."""
    until_ms: Count = 0
    why: ShortText = ""
    appeal: Count | None = None
    """Entry of the open appeal."""
    recovery: Name = ""
    """The recovery key; empty: there is none."""
    replaces: Name = ""
    name: Name = ""
    """The public name; empty: none."""
    tier: Count = 0
    """Present knowledge about the owner: 0 none, 1 an account, 2 an invitation."""
    team: Count = 0
    """Entry that founded the team for which it earns; 0: none."""
    team_name: Name = ""
    can_be_named: bool = False
    """The network knows enough of the key to let it have a name."""
    badges: Annotated[tuple[BadgeRow, ...], msgspec.Meta(max_length=MAX_BADGES)] = ()
    """The earliest first."""
    own_gflop: Count = 0
    """Points for its own work."""
    accepted: Count = 0
    """Accepted contributions."""
    streak_day: Count = 0
    """Day of the last one, counted from 1970 (UTC)."""
    streak_days: Count = 0
    """Days in a row with one, up to that day."""


class RequestAppeal(msgspec.Struct, frozen=True, kw_only=True, tag="appeal"):
    """Appeal against the standing of our key; the text becomes public."""

    text: Text = ""


class RequestName(msgspec.Struct, frozen=True, kw_only=True, tag="name"):
    """Give our key a public name; empty: none."""

    name: Name = ""


class AskTeam(msgspec.Struct, frozen=True, kw_only=True, tag="team"):
    """Ask for the team of a join link or code; empty: for our own."""

    link: Text = ""


class RequestMembership(msgspec.Struct, frozen=True, kw_only=True, tag="membership"):
    """Join the team of a join link or code; empty: leave our team."""

    link: Text = ""


class RequestTeam(msgspec.Struct, frozen=True, kw_only=True, tag="set-team"):
    """Found a team, or change ours, which we own; what is None stays as it is."""

    name: Name | None = None
    days: Annotated[int, msgspec.Meta(ge=0, le=MAX_LINK_DAYS)] | None = None
    """Make a join link that is valid this long; 0: nobody can join any more."""
    most: Annotated[int, msgspec.Meta(ge=1, le=TEAM_MEMBERS)] = TEAM_MEMBERS
    """Members above which the link admits nobody."""
    goal: Count | None = None
    """GFLOP; 0: no goal."""
    goal_until_ms: Count = 0


class RequestTeamMember(msgspec.Struct, frozen=True, kw_only=True, tag="team-member"):
    """Remove a member from our team, which we own, or make it the owner."""

    peer: Bytes32Text
    to: Annotated[str, msgspec.Meta(pattern="^(owner|removed)$")]


class TeamReply(msgspec.Struct, frozen=True, kw_only=True, tag="team"):
    """A team as the ledger describes it; `team` is 0 if our key is in none."""

    team: Count = 0
    name: Name = ""
    """Empty: the organisers withdrew it."""
    page: ShortText = ""
    """Address of its page."""
    owner: Name = ""
    """Key of the owner."""
    owner_name: Name = ""
    is_ours: bool = False
    """Our key owns it."""
    is_member: bool = False
    """Our key is in it."""
    members: Count = 0
    gflop: Count = 0
    link: ShortText = ""
    """Join link of the team, if our key owns the team and the link was made with this key."""
    code: ShortText = ""
    """The same for people in this network."""
    until_ms: Count = 0
    """End of the join link; 0: nobody can join."""
    most: Count = 0
    goal: Count = 0
    goal_until_ms: Count = 0
    reached: Count = 0
    rows: Annotated[tuple[RankRow, ...], msgspec.Meta(max_length=MAX_ROWS)] = ()
    """The best members first; all of them, unless there are more than `MAX_ROWS`."""


class RequestConnection(msgspec.Struct, frozen=True, kw_only=True, tag="connect"):
    """Ask the connector at that address for a code, to link an account to our key."""

    connector: Text
    provider: Name = ""
    """Empty: the only one that the connector has."""


class AskConnection(msgspec.Struct, frozen=True, kw_only=True, tag="connection"):
    """Ask the connector whether the person has used the code."""

    connector: Text
    code: Bytes32Text


class ConnectionReply(msgspec.Struct, frozen=True, kw_only=True, tag="connection"):
    """A connector's code, or what became of it."""

    code: MaybeBytes32Text = ""
    """A secret of this code, for `AskConnection`; empty: the account is linked."""
    user_code: ShortText = ""
    """To be entered at `url`, signed in at the provider."""
    url: ShortText = ""
    provider: ShortText = ""
    expires_s: Count = 0
    interval_s: Count = 0
    """Seconds until the next question."""
    problem: ShortText = ""
    """Cause of a delay, in the connector's words."""
    outcome: Text = ""
    """The result in words, once the account is linked."""


class RequestRecovery(msgspec.Struct, frozen=True, kw_only=True, tag="bind"):
    """Bind a recovery key to our key; `former` is the seed of the present one, if there is one."""

    seed: Bytes32Text
    former: MaybeBytes32Text = ""


class RequestRevocation(msgspec.Struct, frozen=True, kw_only=True, tag="revoke"):
    """Revoke a key of the same owner; `seed` is that of its recovery key."""

    key: Bytes32Text
    seed: Bytes32Text


class RequestReplacement(msgspec.Struct, frozen=True, kw_only=True, tag="replace"):
    """Have a new key take the place of another; the worker goes on with its own until restarted.

    `recovery` is the seed of the recovery key; empty: `former` is our key and has none.
    """

    former: Bytes32Text
    seed: Bytes32Text
    recovery: MaybeBytes32Text = ""


class KeyChangeReply(msgspec.Struct, frozen=True, kw_only=True, tag="key-changed"):
    """The statement is in the log."""

    key: Name
    """The key that the statement is about."""


TeamQuestion: TypeAlias = AskTeam | RequestMembership | RequestTeam | RequestTeamMember
StatementRequest: TypeAlias = (
    RequestAppeal
    | RequestName
    | RequestMembership
    | RequestTeam
    | RequestTeamMember
    | RequestRecovery
    | RequestRevocation
    | RequestReplacement
)
"""Questions that send a statement, which may be logged later if the ledger does not answer."""
KeyRequest: TypeAlias = StatementRequest | AskTeam | RequestConnection | AskConnection
"""Questions that change something, and may hold secrets: nobody keeps them or their replies."""
AccountQuestion: TypeAlias = AskAccount | KeyRequest
AccountAnswer: TypeAlias = AccountReply | TeamReply | ConnectionReply | KeyChangeReply
