"""Statements about keys (registration, names, teams, invitations, standing), notices, releases."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Literal

import msgspec

from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    Bytes32Text,
    BytesText,
    MaybeBytes32Text,
    Natural,
    NetworkId,
    NoticeText,
    PeerKey,
    Positive,
    ReasonCode,
)
from tequio_shared.limits import NAME_CHARS, TEAM_MEMBERS
from tequio_shared.names import check_name
from tequio_shared.statements import NetworkBody, RoundBody, RunBody
from tequio_shared.version import version_number

Role = Literal["trainer", "witness"]


class KeyRegister(NetworkBody, frozen=True, kw_only=True):
    """The author's key counts from here on; the signature proves possession of it."""

    TYPE = "key.register"

    nonce: Natural
    """The work that the genesis asks of a new key (`has_work`)."""


class KeyRecovery(NetworkBody, frozen=True, kw_only=True):
    """The author commits to a recovery key, which signs too; so does the former one, if any."""

    TYPE = "key.recovery"

    recovery: Bytes32Text


class KeyReplace(NetworkBody, frozen=True, kw_only=True):
    """Registers the author's key, which takes the place of the former key and has its account.

    The recovery key of the former key signs too; the former key itself, if it has none.
    """

    TYPE = "key.replace"

    former: Bytes32Text
    nonce: Natural
    """The work that the genesis asks of a new key (`has_work`)."""


class KeyRevoke(NetworkBody, frozen=True, kw_only=True):
    """The key never acts again; signed by the key or by its recovery key."""

    TYPE = "key.revoke"

    peer: Bytes32Text


class MemberReady(RunBody, frozen=True, kw_only=True):
    """The author holds `head` and can be in the run's next roster."""

    TYPE = "member.ready"

    head: Bytes32Text
    roles: tuple[Role, ...]
    """Ascending and unique, at least one."""

    def __post_init__(self) -> None:
        if not self.roles or list(self.roles) != sorted(set(self.roles)):
            raise MalformedError(f"roles must be ascending and unique: {self.roles}")


class MemberLeave(RunBody, frozen=True, kw_only=True):
    """The author takes part in no round of the run that opens after this statement."""

    TYPE = "member.leave"

    reason: ReasonCode


class MemberName(NetworkBody, frozen=True, kw_only=True):
    """The author's key has that public name from here on; empty: none."""

    TYPE = "member.name"

    name: Annotated[str, msgspec.Meta(max_length=NAME_CHARS)]

    def __post_init__(self) -> None:
        if self.name:
            check_name(self.name)


class MemberTeam(NetworkBody, frozen=True, kw_only=True):
    """The author joins a team, whose invitation signs too, or leaves its team (0)."""

    TYPE = "member.team"

    team: Natural
    """Log index of the statement that founded the team."""


class TeamDefine(NetworkBody, frozen=True, kw_only=True):
    """The author founds a team (0), or sets everything that the owner of a team decides."""

    TYPE = "team.define"

    team: Natural
    name: Annotated[str, msgspec.Meta(max_length=NAME_CHARS)]
    """Empty only while organisers have withdrawn the name."""
    invitation: MaybeBytes32Text
    """Public key whose private key is in the join link; empty: nobody can join."""
    until: Natural
    """End of the invitation, milliseconds since 1970."""
    most: Annotated[int, msgspec.Meta(ge=0, le=TEAM_MEMBERS)]
    """The invitation admits nobody while the team has this many members."""
    goal: Natural
    """GFLOP that the team wants to earn by `goal_until`; 0: no goal."""
    goal_until: Natural
    """Milliseconds since 1970."""

    def __post_init__(self) -> None:
        if self.name or not self.team:
            check_name(self.name)
        if not bool(self.invitation) == bool(self.until) == bool(self.most):
            raise MalformedError("an invitation has a key, an end and a number of members")
        if bool(self.goal) != bool(self.goal_until):
            raise MalformedError("a goal has points and an end")


class TeamMember(NetworkBody, frozen=True, kw_only=True):
    """The author, owner of a team, removes a member or makes it the owner."""

    TYPE = "team.member"

    peer: Bytes32Text
    to: Literal["owner", "removed"]


class NameWithdraw(NetworkBody, frozen=True, kw_only=True):
    """Organisers take a name away from a key or a team; nobody can have it again."""

    TYPE = "name.withdraw"

    peer: MaybeBytes32Text
    """Empty: the name is that of a team."""
    team: Natural
    """0: the name is that of a key."""
    reason: ReasonCode

    def __post_init__(self) -> None:
        if bool(self.peer) == bool(self.team):
            raise MalformedError("a withdrawn name belongs to one key or one team")


Grantable = Literal["connector"]
"""Roles that organisers can grant to a key."""


class RoleGrant(NetworkBody, frozen=True, kw_only=True):
    """The key acts in that role from here until `until`; a later grant replaces the end."""

    TYPE = "role.grant"

    peer: Bytes32Text
    role: Grantable
    until: Natural
    """Milliseconds since 1970."""


class RoleRevoke(NetworkBody, frozen=True, kw_only=True):
    """The key loses that role, and its statements in that role no longer count."""

    TYPE = "role.revoke"

    peer: Bytes32Text
    role: Grantable


class MemberVouch(NetworkBody, frozen=True, kw_only=True):
    """The author, a connector, vouches for an account behind the peer; replaces its last vouch."""

    TYPE = "member.vouch"

    peer: Bytes32Text
    owner: Bytes32Text
    """HMAC-SHA-256 of the account under the connector's secret: equal owners are visible."""
    until: Natural
    """Milliseconds since 1970; in the past: the author no longer vouches."""


USES = 4_095
"""Most keys that one invitation admits."""


class InviteOpen(NetworkBody, frozen=True, kw_only=True):
    """An invitation: a registration that its key signs too counts as invited."""

    TYPE = "invite.open"

    invitation: Bytes32Text
    """Public key made for this invitation alone; the invitation link holds the private one."""
    uses: Annotated[int, msgspec.Meta(ge=1, le=USES)]
    until: Natural
    """Expiry, milliseconds since 1970."""
    run: MaybeBytes32Text
    """The run for which it counts; empty for the whole network."""


class InviteClose(NetworkBody, frozen=True, kw_only=True):
    """The invitation admits no more keys; those it admitted stay invited."""

    TYPE = "invite.close"

    invitation: Bytes32Text


class InviteRevoke(NetworkBody, frozen=True, kw_only=True):
    """The invitation admits no more keys, and those it admitted are no longer invited."""

    TYPE = "invite.revoke"

    invitation: Bytes32Text


_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
RepoText = Annotated[str, msgspec.Meta(max_length=193, pattern=rf"\A{_NAME}/{_NAME}\Z")]
RevisionText = Annotated[
    str, msgspec.Meta(min_length=40, max_length=40, pattern=r"\A[0-9a-f]{40}\Z")
]


BUCKET = "s3://"
_ENDPOINT = rf"https?://[a-z0-9][a-z0-9.-]{{0,251}}(:[0-9]{{1,5}})?(/{_NAME}){{0,4}}"
_REGION = "[a-z0-9-]{1,32}"
_BUCKET = (
    rf"{BUCKET}[a-z0-9][a-z0-9.-]{{1,61}}[a-z0-9](/{_NAME}){{0,8}}"
    rf"(\?(endpoint={_ENDPOINT}(&region={_REGION})?|region={_REGION}))?"
)
LocationText = Annotated[
    str, msgspec.Meta(max_length=512, pattern=rf"\A({_NAME}/{_NAME}|{_BUCKET})\Z")
]
"""`user/name` on the Hugging Face Hub, or `s3://bucket/prefix?endpoint=URL&region=NAME`."""
_COMMIT_CHARS, _HASH_CHARS = 40, 64
PublishedRevisionText = Annotated[
    str,
    msgspec.Meta(
        min_length=_COMMIT_CHARS,
        max_length=_HASH_CHARS,
        pattern=rf"\A[0-9a-f]{{{_COMMIT_CHARS}}}([0-9a-f]{{{_HASH_CHARS - _COMMIT_CHARS}}})?\Z",
    ),
]


class CheckpointPublish(RoundBody, frozen=True, kw_only=True):
    """Organisers published the head of a round on the Hugging Face Hub, or in an S3 bucket."""

    TYPE = "checkpoint.publish"

    head: Bytes32Text
    weights_root: Bytes32Text
    location: LocationText
    revision: PublishedRevisionText
    """On the Hub a commit hash, 40 digits; in a bucket the SHA-256 of the index, 64 digits."""

    def __post_init__(self) -> None:
        due = _COMMIT_CHARS if is_on_hub(self.location) else _HASH_CHARS
        if len(self.revision) != due:
            raise MalformedError(
                f"a revision of {self.location} has {due} digits, not {len(self.revision)}"
            )


def is_on_hub(location: str) -> bool:
    """Return whether a location is a repository of the Hugging Face Hub, and not a bucket."""
    return not location.startswith(BUCKET)


VersionText = Annotated[str, msgspec.Meta(max_length=20)]
"""A version that `version_number` can read."""


class NetNotice(NetworkBody, frozen=True, kw_only=True):
    """Organisers tell everybody in the network something; an empty text takes it back."""

    TYPE = "net.notice"

    text: NoticeText


class SoftwareRelease(NetworkBody, frozen=True, kw_only=True):
    """Organisers name a signed list of releases, and the oldest version that members should run.

    A later statement replaces the minimum. Nothing can check which version a member really runs.
    """

    TYPE = "software.release"

    version: VersionText
    """The newest version in the list."""
    minimum: VersionText
    """The oldest version that the network's members should run; not above `version`."""
    targets: Bytes32Text
    """SHA-256 of the list, a file of TUF targets metadata, as mirrors serve it."""
    targets_version: Positive
    """Version number in that file."""

    def __post_init__(self) -> None:
        if version_number(self.minimum) > version_number(self.version):
            raise MalformedError(f"minimum {self.minimum} is above version {self.version}")


class LogSnapshot(NetworkBody, frozen=True, kw_only=True):
    """The coordinator names the snapshot of the state after the first `size` entries."""

    TYPE = "log.snapshot"

    layout: Bytes32Text
    """Hash of the fields of which a snapshot consists (`served.snapshot.layout`)."""
    size: Positive
    state: Bytes32Text
    """SHA-256 of the snapshot."""


StandingName = Literal["active", "probation", "quarantined", "suspected"]
"""Standings that the coordinator can set; a key begins as `newcomer`, and only organisers ban."""

EVIDENCE = 16
"""Most log indices that a change names."""


class FaultReport(NetworkBody, frozen=True, kw_only=True):
    """Signed entries of one author that prove a fault of that author by themselves."""

    TYPE = "fault.report"

    leaves: Annotated[tuple[BytesText, ...], msgspec.Meta(min_length=1, max_length=2)]
    piece: MaybeBytes32Text
    """SHA-256 of a `PieceEvidence`, where the fault is in the bytes of a contribution."""


class StandingChange(NetworkBody, frozen=True, kw_only=True):
    """The coordinator states that a key's standing changes, as follows from the log."""

    TYPE = "standing.change"

    peer: Bytes32Text
    to: StandingName
    cause: ReasonCode
    evidence: Annotated[tuple[Natural, ...], msgspec.Meta(min_length=1, max_length=EVIDENCE)]
    """Log indices, ascending."""
    until: Natural
    """End of a quarantine's term in milliseconds since 1970; otherwise 0."""

    def __post_init__(self) -> None:
        if list(self.evidence) != sorted(set(self.evidence)):
            raise MalformedError(f"evidence must be ascending and unique: {self.evidence}")
        if (self.until > 0) != (self.to == "quarantined"):
            raise MalformedError(f"a term until {self.until} does not fit standing {self.to}")


class StandingAppeal(NetworkBody, frozen=True, kw_only=True):
    """The author asks an organiser to review the change of its standing at that log index."""

    TYPE = "standing.appeal"

    change: Natural
    text: MaybeBytes32Text
    """Blob with the author's explanation; the log itself holds no free text."""


class StandingRelease(NetworkBody, frozen=True, kw_only=True):
    """Organisers make a key active: a quarantine was wrong, or they vouch for a newcomer."""

    TYPE = "standing.release"

    peer: Bytes32Text
    reason: ReasonCode


class StandingUphold(NetworkBody, frozen=True, kw_only=True):
    """Organisers reviewed a standing and leave it as it is, or ban a repeated offender."""

    TYPE = "standing.uphold"

    peer: Bytes32Text
    to: Literal["banned", "unchanged"]
    reason: ReasonCode


# The work makes many keys expensive. It costs its finder 2^bits hashes and everybody else one, so
# the ledger's rate limiter and every reader can check it before they verify a signature:
#
#     hash = SHA-256("tequio/v1/work" 00 || network id || key || u64 nonce) begins with zero bits

_WORK_PREFIX = b"tequio/v1/work\0"
_HASH_BITS = 256


def find_nonce(net: NetworkId, key: PeerKey, bits: int, first: int, count: int) -> int | None:
    """Return the first of `count` nonces from `first` that is work of `bits` bits, or None."""
    bound = 1 << _HASH_BITS - bits
    begun = sha256(_WORK_PREFIX + net + key)
    for nonce in range(first, first + count):
        hashed = begun.copy()
        hashed.update(nonce.to_bytes(8, "big"))
        if int.from_bytes(hashed.digest(), "big") < bound:
            return nonce
    return None


def has_work(net: NetworkId, key: PeerKey, bits: int, nonce: int) -> bool:
    return find_nonce(net, key, bits, nonce, 1) is not None
