"""GET /v1/quarantine: who is outside or watched, and why, as JSON."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from tequio_ledger.store import read
from tequio_ledger.web.answers import as_of, standing_answer
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.snapshot import snapshot
from tequio_shared.api.peers import PeerStandingAnswer, QuarantineAnswer
from tequio_shared.ids import peer_id_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.standing import Standing

NAMED = (Standing.QUARANTINED, Standing.BANNED, Standing.SUSPECTED, Standing.PROBATION)
After = Annotated[int, QueryParameter(ge=0, le=JSON_INTEGER)]
Limit = Annotated[int, QueryParameter(ge=1, le=1000)]


@get("/v1/quarantine", sync_to_thread=True)
def get_quarantine(ledger: GivenLedger, after: After = 0, limit: Limit = 100) -> QuarantineAnswer:
    """List who is quarantined, banned, suspected or on probation, the longest first."""
    with snapshot(ledger.database) as (connection, published):
        rows = read.standings(connection, NAMED, after, limit)
    held = [
        PeerStandingAnswer(
            key=to_text(row.key), peer_id=peer_id_text(row.key), standing=standing_answer(row)
        )
        for row in rows
    ]
    last = rows[-1].since if len(rows) == limit else None
    return QuarantineAnswer(held, last, as_of(published))
