"""Statements by which organisers invite: a link holds a private key, the log its public one."""

from typing import Annotated, ClassVar

import msgspec

from tequio_shared.fields import Bytes32Text, MaybeBytes32Text, Natural
from tequio_shared.statements.scope import Scope

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
