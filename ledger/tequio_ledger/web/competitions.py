"""GET /v1/competitions: who trains against whom, and what came of it, as JSON."""

from itertools import islice
from typing import Annotated

import msgspec

from tequio_ledger.service import Ledger
from tequio_ledger.web.answers import as_of
from tequio_ledger.web.competition_answers import competition_answer, competition_line
from tequio_ledger.web.competition_now import competition_now
from tequio_ledger.web.routing import get
from tequio_shared.api.competitions import CompetitionAnswer, CompetitionsAnswer
from tequio_shared.competition_state import Phase
from tequio_shared.ids import digest_from_text
from tequio_shared.limits import JSON_INTEGER

After = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]


@get("/v1/competitions")
async def get_competitions(
    ledger: Ledger, after: After = 0, limit: Limit = 100
) -> CompetitionsAnswer:
    """List competitions in the order in which they were opened, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    views = ledger.state.competitions.views
    later = (one for one, view in views.items() if view.began[Phase.OPEN].index > after)
    now_ms = ledger.clock()
    found = (competition_now(ledger.state, one, now_ms) for one in islice(later, limit))
    page = [competition_line(one) for one in found]
    last = page[-1].opened_index if len(page) == limit else None
    return CompetitionsAnswer(page, last, as_of(published))


@get("/v1/competitions/{competition}")
async def get_competition(ledger: Ledger, competition: str) -> CompetitionAnswer:
    """Describe one competition."""
    published = await ledger.sequencer.settled()
    now = competition_now(ledger.state, digest_from_text(competition), ledger.clock())
    return competition_answer(now, published)
