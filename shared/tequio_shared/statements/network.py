"""Statements about a key's standing: evidence, what follows from it, and the way back."""

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

# --- Statements by which a peer comes, gets ready for a run, and goes.

Role = Literal["trainer", "witness"]


class KeyRegister(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author's key counts from here on, once; the signature is the proof of possession."""

    TYPE: ClassVar[str] = "key.register"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    nonce: Natural
    """The work that the genesis asks of a new key (`tequio_shared.statements.proof_of_work`)."""


class MemberReady(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author holds `head` and can be in the next roster of the run."""

    TYPE: ClassVar[str] = "member.ready"
    SCOPE: ClassVar[Scope] = Scope.RUN

    head: Bytes32Text
    roles: tuple[Role, ...]
    """Ascending, none twice, at least one."""
    commit: Bytes32Text
    """SHA-256 of the secret that the author reveals for its first beacon."""

    def __post_init__(self) -> None:
        if not self.roles or list(self.roles) != sorted(set(self.roles)):
            raise MalformedError(f"roles are not ascending and single: {self.roles}")


class MemberLeave(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author takes part in no round of the run that opens after this."""

    TYPE: ClassVar[str] = "member.leave"
    SCOPE: ClassVar[Scope] = Scope.RUN

    reason: ReasonCode


class MemberTeam(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the author earns counts for that team from here on; empty: for none."""

    TYPE: ClassVar[str] = "member.team"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    team: MaybeTeamName


# --- Statements about connectors: whom organisers let vouch for others, and what those say.

Grantable = Literal["connector"]
"""What organisers can make of a key."""


class RoleGrant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The key speaks in that role from here until then; a later grant replaces the end."""

    TYPE: ClassVar[str] = "role.grant"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    role: Grantable
    until: Natural
    """Milliseconds since 1970."""


class RoleRevoke(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The key speaks in that role no more, and what it said in it counts no longer."""

    TYPE: ClassVar[str] = "role.revoke"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    role: Grantable


class MemberVouch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author, a connector, knows an account behind the peer; replaces its own last word."""

    TYPE: ClassVar[str] = "member.vouch"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    owner: Bytes32Text
    """HMAC-SHA-256 of the account under a secret of the connector's: equal owners show."""
    until: Natural
    """Milliseconds since 1970; in the past: the author vouches no longer."""


# --- Statements by which organisers invite: a link holds a private key, the log its public one.

USES = 4_095
"""Most keys that one invitation lets in."""


class InviteOpen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A registration that the invitation's key signs too is one of somebody invited."""

    TYPE: ClassVar[str] = "invite.open"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    invitation: Bytes32Text
    """Public key of the invitation, made for it alone; the link holds the private one."""
    uses: Annotated[int, msgspec.Meta(ge=1, le=USES)]
    until: Natural
    """Its end, milliseconds since 1970."""
    run: MaybeBytes32Text
    """The run for which it counts; nothing: all of the network."""


class InviteClose(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The invitation lets nobody in any more; whom it let in stays."""

    TYPE: ClassVar[str] = "invite.close"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    invitation: Bytes32Text


class InviteRevoke(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The invitation lets nobody in any more, and whom it let in it let in no longer."""

    TYPE: ClassVar[str] = "invite.revoke"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    invitation: Bytes32Text


# --- Statements about heads that were made public.

_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
RepoText = Annotated[str, msgspec.Meta(max_length=193, pattern=rf"\A{_NAME}/{_NAME}\Z")]
RevisionText = Annotated[
    str, msgspec.Meta(min_length=40, max_length=40, pattern=r"\A[0-9a-f]{40}\Z")
]


class CheckpointPublish(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers put the head of a round on the Hugging Face Hub."""

    TYPE: ClassVar[str] = "checkpoint.publish"
    SCOPE: ClassVar[Scope] = Scope.ROUND

    head: Bytes32Text
    weights_root: Bytes32Text
    repo: RepoText
    """The repository, `user/name`."""
    revision: RevisionText
    """Its commit."""


StandingName = Literal["active", "probation", "quarantined", "suspected"]
"""What the coordinator can say of a key; each begins as `newcomer`, and only organisers ban."""

EVIDENCE = 16
"""Most log indices that a change names."""


class FaultReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Signed entries of one author that prove a fault of that author by themselves."""

    TYPE: ClassVar[str] = "fault.report"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    leaves: Annotated[tuple[BytesText, ...], msgspec.Meta(min_length=1, max_length=2)]


class StandingChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The coordinator's word that a key's standing changes, as it follows from the log."""

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
            raise MalformedError(f"evidence is not ascending and single: {self.evidence}")
        if (self.until > 0) != (self.to == "quarantined"):
            raise MalformedError(f"a term until {self.until} for {self.to}")


class StandingAppeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author asks an organiser to look at the change of its standing at that log index."""

    TYPE: ClassVar[str] = "standing.appeal"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    change: Natural
    text: MaybeBytes32Text
    """Blob with what the author has to say; the log itself holds no free text."""


class StandingRelease(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers make a key active: a quarantine was wrong, or they vouch for a newcomer."""

    TYPE: ClassVar[str] = "standing.release"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    reason: ReasonCode


class StandingUphold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers looked at a quarantine and let it stand, or ban a repeated offender."""

    TYPE: ClassVar[str] = "standing.uphold"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    peer: Bytes32Text
    to: Literal["banned", "quarantined"]
    reason: ReasonCode
