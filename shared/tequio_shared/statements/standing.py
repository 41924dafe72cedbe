"""Statements about a key's standing: evidence, what follows from it, and the way back."""

from typing import Annotated, ClassVar, Literal

import msgspec

from tequio_shared.errors import MalformedError
from tequio_shared.fields import Bytes32Text, BytesText, MaybeBytes32Text, Natural, ReasonCode
from tequio_shared.statements.scope import Scope

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
