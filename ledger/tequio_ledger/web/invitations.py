"""GET /v1/invitations, /v1/connectors: whom organisers let others in by, as JSON."""

from itertools import islice
from typing import Annotated

import msgspec
from litestar import get
from litestar.params import QueryParameter

from tequio_ledger.web.answers import AsOf, as_of
from tequio_ledger.web.given import GivenLedger
from tequio_shared.fields import Bytes32Text, Natural, Positive
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.tiers import Invitation

After = Annotated[int, QueryParameter(ge=0, le=JSON_INTEGER)]
Limit = Annotated[int, QueryParameter(ge=1, le=1000)]


class InvitationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One invitation, and how many keys it let in so far."""

    invitation: Bytes32Text
    index: Natural
    uses: Positive
    used: Natural
    until: Natural
    run: Bytes32Text | None
    closed: Natural | None
    revoked: Natural | None


class InvitationsAnswer(msgspec.Struct, frozen=True):
    """A page of invitations in the order in which they were opened; go on after `next`."""

    invitations: list[InvitationAnswer]
    next: Natural | None
    as_of: AsOf


class ConnectorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One key that may vouch for others, and until when."""

    key: Bytes32Text
    until: Natural


class ConnectorsAnswer(msgspec.Struct, frozen=True):
    """All connectors that were not revoked, by key."""

    connectors: list[ConnectorAnswer]
    as_of: AsOf


@get("/v1/invitations")
async def get_invitations(
    ledger: GivenLedger, after: After = 0, limit: Limit = 100
) -> InvitationsAnswer:
    """List invitations, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    known = ledger.state.tiers.invitations
    later = ((key, one) for key, one in known.items() if one.index > after)
    page = [_invitation(key, one) for key, one in islice(later, limit)]
    last = page[-1].index if len(page) == limit else None
    return InvitationsAnswer(page, last, as_of(published))


@get("/v1/connectors")
async def get_connectors(ledger: GivenLedger) -> ConnectorsAnswer:
    """List the keys that may vouch for others."""
    published = await ledger.sequencer.settled()
    known = sorted(ledger.state.tiers.connectors.items())
    page = [ConnectorAnswer(key=to_text(key), until=until) for key, until in known]
    return ConnectorsAnswer(page, as_of(published))


def _invitation(key: PeerKey, one: Invitation) -> InvitationAnswer:
    return InvitationAnswer(
        invitation=to_text(key),
        index=one.index,
        uses=one.uses,
        used=one.used,
        until=one.until,
        run=None if one.run is None else to_text(one.run),
        closed=one.closed,
        revoked=one.revoked,
    )
