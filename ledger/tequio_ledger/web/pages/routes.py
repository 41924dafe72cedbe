"""All pages in one router, with errors as pages too."""

import time

from litestar import Response, Router
from litestar.di import Provide
from litestar.exceptions import ValidationException

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
    problem,
    quarantine,
    round_page,
    run,
    search,
    static_files,
    status,
)
from tequio_ledger.web.pages.prints import Prints
from tequio_ledger.web.pages.told_rounds import ToldRounds
from tequio_ledger.web.pages.turns import Turns
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.errors import PeerError, RefusedError

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


def pages(ledger: Ledger) -> Router:
    """Put the pages of a ledger together."""
    told = ToldRounds(ledger.genesis.network_id, ledger.blobs.read)
    prints, turns = Prints(time.monotonic), Turns()

    async def look(request: AnyRequest) -> Response[bytes] | None:
        """Answer with a page that was printed a moment ago, if there is one."""
        request.state.prints, request.state.turns = prints, turns
        found = prints.find(request)
        return None if found is None else found.answer(request)

    return Router(
        path="/",
        route_handlers=ROUTES,
        before_request=look,
        dependencies={"told": Provide(lambda: told, sync_to_thread=False)},
        exception_handlers={
            RefusedError: problem.on_refused,
            PeerError: problem.on_peer_error,
            ValidationException: problem.on_bad_value,
        },
        include_in_schema=False,
    )
