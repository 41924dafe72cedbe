"""All pages in one router, with errors as pages too."""

import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.service import Ledger
from tequio_ledger.web.pages import (
    about,
    competition,
    competitions,
    entries,
    entry,
    leaderboard,
    live,
    overview,
    peer,
    quarantine,
    round_page,
    run,
    search,
    static_files,
    status,
)
from tequio_ledger.web.pages.prints import Prints
from tequio_ledger.web.pages.problem import page_errors
from tequio_ledger.web.pages.told_rounds import ToldRounds
from tequio_ledger.web.pages.turns import Turns
from tequio_ledger.web.routing import RouteGroup

ROUTES = (
    overview.get_overview,
    run.get_run,
    run.get_rounds,
    round_page.get_round,
    peer.get_peer,
    leaderboard.get_leaderboard,
    competitions.get_competitions,
    competition.get_competition,
    quarantine.get_quarantine,
    entries.get_entries,
    entry.get_entry,
    search.get_search,
    status.get_status,
    about.get_about,
    live.get_live,
    static_files.get_static,
)


def pages(
    ledger: Ledger, otherwise: Callable[[Request, Exception], Response]
) -> tuple[RouteGroup, dict[str, object]]:
    """Put the pages of a ledger together, and what their handlers need beside it.

    `otherwise` answers errors that are no reader's business.
    """
    told = ToldRounds(ledger.genesis.network_id, ledger.blobs.read)
    prints, turns = Prints(time.monotonic), Turns()

    def printed(request: Request) -> Response | None:
        """Answer with a page that was printed a moment ago, if there is one."""
        request.state.prints, request.state.turns = prints, turns
        found = prints.find(request)
        return None if found is None else found.answer(request)

    group = RouteGroup(routes=ROUTES, answer_error=page_errors(otherwise), before=printed)
    return group, {"told": told}
