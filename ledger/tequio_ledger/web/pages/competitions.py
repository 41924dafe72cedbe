"""GET /competitions: who trains against whom, the newest first."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.log.checkpoint import Published
from tequio_ledger.service import Ledger
from tequio_ledger.web.competition_now import CompetitionNow, competition_now
from tequio_ledger.web.pages import competition_scores, competition_words, press
from tequio_ledger.web.pages.competition import stated_outcome
from tequio_ledger.web.pages.words import Mark
from tequio_ledger.web.routing import get
from tequio_shared.competition_state import Phase
from tequio_shared.limits import JSON_INTEGER

ROWS = 30
Before = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionCard:
    """One competition in the list."""

    now: CompetitionNow
    mark: Mark
    gist: str
    coming: tuple[str, int] | None
    leaders: str
    """Who won; empty until organisers stated it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionsPage:
    """Some of them."""

    cards: tuple[CompetitionCard, ...]
    older: int | None
    is_first: bool


@get("/competitions")
async def get_competitions(
    request: Request, ledger: Ledger, before: Before = JSON_INTEGER
) -> Response:
    """List competitions."""
    published = await ledger.sequencer.settled()
    views = ledger.state.competitions.views
    earlier = [one for one, view in views.items() if view.began[Phase.OPEN].index < before]
    now_ms = ledger.clock()
    shown = [competition_now(ledger.state, one, now_ms) for one in reversed(earlier[-ROWS:])]
    older = shown[-1].opened_index if len(earlier) > ROWS else None
    return await press.in_turn(
        request, _printed, request, ledger, published, shown, older, is_first=before == JSON_INTEGER
    )


def _printed(
    request: Request,
    ledger: Ledger,
    published: Published,
    shown: list[CompetitionNow],
    older: int | None,
    *,
    is_first: bool,
) -> Response:
    now_ms = ledger.clock()
    view = CompetitionsPage(
        cards=tuple(
            CompetitionCard(
                now=one,
                mark=competition_words.mark(one, now_ms),
                gist=competition_words.gist(one.rules),
                coming=competition_words.coming(one, now_ms),
                leaders=_leaders(ledger, one),
            )
            for one in shown
        ),
        older=older,
        is_first=is_first,
    )
    frame = press.frame(request, ledger, published)
    return press.page(request, "competitions.html", frame, view)


def _leaders(ledger: Ledger, now: CompetitionNow) -> str:
    outcome = stated_outcome(ledger, now)
    return competition_scores.leaders(outcome) if outcome else ""
