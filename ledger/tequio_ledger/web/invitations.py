"""GET /v1/invitations, /v1/connectors: whom organisers let others in by, as JSON."""

from itertools import islice
from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from tequio_ledger.web.answers import as_of
from tequio_ledger.web.given import GivenLedger
from tequio_shared.api.network import (
    ConnectorAnswer,
    ConnectorsAnswer,
    InvitationAnswer,
    InvitationsAnswer,
)
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.tiers import Invitation

After = Annotated[int, QueryParameter(ge=0, le=JSON_INTEGER)]
Limit = Annotated[int, QueryParameter(ge=1, le=1000)]


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
