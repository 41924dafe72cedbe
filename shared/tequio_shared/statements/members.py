"""Statements by which a peer comes, gets ready for a run, and goes."""

from typing import ClassVar, Literal

import msgspec

from tequio_shared.errors import MalformedError
from tequio_shared.fields import Bytes32Text, MaybeTeamName, Natural, ReasonCode
from tequio_shared.statements.scope import Scope

Role = Literal["trainer", "witness"]


class KeyRegister(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author's key counts from here on, once; the signature is the proof of possession."""

    TYPE: ClassVar[str] = "key.register"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    nonce: Natural
    """The work that the genesis asks of a new key (`tequio_shared.work`)."""


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
