"""Statements about connectors: whom organisers let vouch for others, and what those say."""

from typing import ClassVar, Literal

import msgspec

from tequio_shared.fields import Bytes32Text, Natural
from tequio_shared.statements.scope import Scope

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
