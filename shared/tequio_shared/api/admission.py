"""Answers about admission: invitations, and the keys that may vouch for others.

The app reads them too, so this file loads nothing heavy.
"""

from __future__ import annotations

from msgspec import Struct

from tequio_shared.api.answer import AsOf, Rows
from tequio_shared.ids import Bytes32Text, Natural, Positive


class InvitationAnswer(Struct, frozen=True, kw_only=True):
    """One invitation, and the number of keys it has admitted so far."""

    invitation: Bytes32Text
    index: Natural
    uses: Positive
    used: Natural
    until: Natural
    run: Bytes32Text | None
    closed: Natural | None
    revoked: Natural | None


class InvitationsAnswer(Struct, frozen=True):
    """A page of invitations in the order of their opening; continue after `next`."""

    invitations: Rows[InvitationAnswer]
    next: Natural | None
    as_of: AsOf


class ConnectorAnswer(Struct, frozen=True, kw_only=True):
    """One key that may vouch for others, and the end of its role."""

    key: Bytes32Text
    until: Natural


class ConnectorsAnswer(Struct, frozen=True):
    """All connectors that are not revoked, by key."""

    connectors: Rows[ConnectorAnswer]
    as_of: AsOf
