"""Statements about keys: registration, teams, vouching, invitations, standing and appeals."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec

from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    Bytes32Text,
    BytesText,
    MaybeBytes32Text,
    MaybeTeamName,
    Natural,
    ReasonCode,
)
from tequio_shared.statements.envelope import Scope

Role = Literal["trainer", "witness"]


class KeyRegister(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author's key counts from here on; the signature proves possession of it."""

    TYPE: ClassVar[str] = "key.register"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    nonce: Natural
    """The work that the genesis asks of a new key (`tequio_shared.statements.proof_of_work`)."""


class MemberReady(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author holds `head` and can be in the run's next roster."""

    TYPE: ClassVar[str] = "member.ready"
    SCOPE: ClassVar[Scope] = Scope.RUN

    head: Bytes32Text
    roles: tuple[Role, ...]
    """Ascending and unique, at least one."""
    commit: Bytes32Text
    """SHA-256 of the secret that the author reveals for its first beacon."""

    def __post_init__(self) -> None:
        if not self.roles or list(self.roles) != sorted(set(self.roles)):
            raise MalformedError(f"roles must be ascending and unique: {self.roles}")


class MemberLeave(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author takes part in no round of the run that opens after this statement."""

    TYPE: ClassVar[str] = "member.leave"
    SCOPE: ClassVar[Scope] = Scope.RUN

    reason: ReasonCode


class MemberTeam(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author's earnings count for that team from here on; empty: for no team."""

    TYPE: ClassVar[str] = "member.team"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    team: MaybeTeamName


Grantable = Literal["connector"]
"""Roles that organisers can grant to a key."""


class RoleGrant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The key acts in that role from here until `until`; a later grant replaces the end."""

    TYPE: ClassVar[str] = "role.grant"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    role: Grantable
    until: Natural
    """Milliseconds since 1970."""


class RoleRevoke(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The key loses that role, and its statements in that role no longer count."""

    TYPE: ClassVar[str] = "role.revoke"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    role: Grantable


class MemberVouch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author, a connector, vouches for an account behind the peer; replaces its last vouch."""

    TYPE: ClassVar[str] = "member.vouch"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    owner: Bytes32Text
    """HMAC-SHA-256 of the account under the connector's secret: equal owners are visible."""
    until: Natural
    """Milliseconds since 1970; in the past: the author no longer vouches."""


USES = 4_095
"""Most keys that one invitation admits."""


class InviteOpen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An invitation: a registration that its key signs too counts as invited."""

    TYPE: ClassVar[str] = "invite.open"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    invitation: Bytes32Text
    """Public key made for this invitation alone; the invitation link holds the private one."""
    uses: Annotated[int, msgspec.Meta(ge=1, le=USES)]
    until: Natural
    """Expiry, milliseconds since 1970."""
    run: MaybeBytes32Text
    """The run for which it counts; empty for the whole network."""


class InviteClose(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The invitation admits no more keys; those it admitted stay invited."""

    TYPE: ClassVar[str] = "invite.close"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    invitation: Bytes32Text


class InviteRevoke(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The invitation admits no more keys, and those it admitted are no longer invited."""

    TYPE: ClassVar[str] = "invite.revoke"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    invitation: Bytes32Text


_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
RepoText = Annotated[str, msgspec.Meta(max_length=193, pattern=rf"\A{_NAME}/{_NAME}\Z")]
RevisionText = Annotated[
    str, msgspec.Meta(min_length=40, max_length=40, pattern=r"\A[0-9a-f]{40}\Z")
]


class CheckpointPublish(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers published the head of a round on the Hugging Face Hub."""

    TYPE: ClassVar[str] = "checkpoint.publish"
    SCOPE: ClassVar[Scope] = Scope.ROUND

    head: Bytes32Text
    weights_root: Bytes32Text
    repo: RepoText
    """The repository, `user/name`."""
    revision: RevisionText
    """Commit hash in that repository."""


StandingName = Literal["active", "probation", "quarantined", "suspected"]
"""Standings that the coordinator can set; a key begins as `newcomer`, and only organisers ban."""

EVIDENCE = 16
"""Most log indices that a change names."""


class FaultReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Signed entries of one author that prove a fault of that author by themselves."""

    TYPE: ClassVar[str] = "fault.report"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    leaves: Annotated[tuple[BytesText, ...], msgspec.Meta(min_length=1, max_length=2)]


class StandingChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The coordinator states that a key's standing changes, as follows from the log."""

    TYPE: ClassVar[str] = "standing.change"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

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


class StandingAppeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author asks an organiser to review the change of its standing at that log index."""

    TYPE: ClassVar[str] = "standing.appeal"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    change: Natural
    text: MaybeBytes32Text
    """Blob with the author's explanation; the log itself holds no free text."""


class StandingRelease(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers make a key active: a quarantine was wrong, or they vouch for a newcomer."""

    TYPE: ClassVar[str] = "standing.release"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    reason: ReasonCode


class StandingUphold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers reviewed a quarantine and uphold it, or ban a repeated offender."""

    TYPE: ClassVar[str] = "standing.uphold"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    to: Literal["banned", "quarantined"]
    reason: ReasonCode
