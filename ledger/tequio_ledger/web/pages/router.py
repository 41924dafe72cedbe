"""The routes of all pages, and errors as pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.web import errors
from tequio_ledger.web.events import HEARTBEAT_S, EventStreams
from tequio_ledger.web.limits import StreamKind
from tequio_ledger.web.pages import (
    cards,
    competition,
    documentation,
    feeds,
    home,
    live_map,
    log,
    peers,
    render,
    runs,
    static,
)
from tequio_ledger.web.pages.documentation import Documentation
from tequio_ledger.web.pages.render import (
    CONCURRENT_CARDS,
    MAX_WAITING_CARDS,
    PageCache,
    RenderQueue,
)
from tequio_ledger.web.pages.round_view import RoundReader
from tequio_ledger.web.pages.runs import MeasureReader
from tequio_ledger.web.pages.tallies import Tallies
from tequio_ledger.web.routing import ID_FORM, RouteGroup, get
from tequio_shared.errors import PeerError, RefusedError

PAUSE_S = 1.0
"""Between two events of GET /live."""
_TITLES = {
    400: "This address is not valid",
    404: "Page not found",
    503: "Try again in a moment",
}
_STATUS = {"not-found": 404, "read-only": 503, "queue-full": 503, "damaged": 503}
_DAMAGED = "These figures are withheld"
_SECTIONS = {
    "runs": ("/runs", "All runs", "run"),
    "competitions": ("/competitions", "All competitions", "competition"),
    "peers": ("/leaderboard", "Leaderboard", "key"),
    "entries": ("/entries", "Newest entries", ""),
}
"""By the first part of a path: a page with its name, and what the second part names."""


@get("/live")
async def get_live(request: Request, ledger: Ledger, streams: EventStreams) -> Response:
    """Stream the log's size whenever it grew.

    An open page then asks for itself again, and gets 304 if nothing on it changed.
    """
    events = _follow(ledger, streams)
    return streams.answer(request, StreamKind.LIVE, ledger.settings.address_streams, events)


async def _follow(ledger: Ledger, streams: EventStreams) -> AsyncGenerator[bytes, None]:
    sent = -1
    while not streams.is_closing:
        size = ledger.published.size
        if size != sent:
            sent = size
            yield f"event: size\ndata: {size}\n\n".encode()
            await asyncio.sleep(PAUSE_S)
        elif not await ledger.sequencer.changed.wait(HEARTBEAT_S):
            yield b": heartbeat\n\n"


def answer_error(request: Request, err: Exception) -> Response:
    """Answer refusals and malformed keys with error pages, and anything else as to a program."""
    match err:
        case RefusedError(code="damaged"):
            status, title, detail = 503, _DAMAGED, str(err)
        case RefusedError():
            status = _STATUS.get(err.code, 400)
            title, detail = _TITLES[status], str(err)
        case PeerError():
            status, title, detail = 404, _TITLES[404], _malformed(request, err)
        case _:
            return errors.answer_error(request, err)
    return render.error_page(request, status, title, detail, _section(request)[:2])


def _malformed(request: Request, err: PeerError) -> str:
    """Explain a text that nothing can have as its id."""
    kind, parts = _section(request)[2], request.scope["path"].split("/")
    if not kind:
        return str(err)
    return f"{parts[2][:60]!r} is not the id of a {kind}: an id has {ID_FORM}"


def _section(request: Request) -> tuple[str, str, str]:
    return _SECTIONS.get(request.scope["path"].split("/")[1], ("/", "Home", ""))


def answer_missing(request: Request) -> Response:
    """Answer an unknown path: a browser with a page, a program with JSON."""
    path = request.scope["path"]
    if "text/html" not in request.headers.get("accept", ""):
        return errors.answer_missing(request)
    detail = f"there's no page at {path[:120]}"
    return render.error_page(request, 404, _TITLES[404], detail, _section(request)[:2])


ROUTES = (
    home.get_home,
    home.get_join,
    live_map.get_map,
    live_map.get_run_map,
    runs.get_runs,
    runs.get_run,
    runs.get_rounds,
    runs.get_round,
    peers.get_peer,
    peers.get_leaderboard,
    peers.get_team,
    competition.get_competitions,
    competition.get_competition,
    peers.get_quarantine,
    log.get_entries,
    log.get_entry,
    home.get_search,
    home.get_status,
    home.get_about,
    home.get_api,
    documentation.get_docs,
    documentation.get_documentation,
    feeds.get_feed,
    feeds.get_run_feed,
    cards.get_network_card,
    cards.get_card,
    get_live,
    static.get_static,
    static.get_favicon,
)


def pages(ledger: Ledger, docs: Path | None) -> tuple[RouteGroup, dict[str, object]]:
    """Give the route group of a ledger's pages, and the services that only they need.

    `docs` is the documentation's folder.
    """
    site = Documentation.read(docs) if docs else None
    reader = RoundReader(ledger.blobs.read)
    cache, queue = PageCache(time.monotonic), RenderQueue()
    cards = RenderQueue(CONCURRENT_CARDS, MAX_WAITING_CARDS)

    def cached(request: Request) -> Response | None:
        request.state.page_cache, request.state.render_queue = cache, queue
        request.state.card_queue = cards
        request.state.has_docs = site is not None
        found = cache.find(request)
        return None if found is None else found.answer(request)

    answer = errors.judging(ledger.database, answer_error)
    group = RouteGroup(routes=ROUTES, answer_error=answer, before=cached)
    tallies = Tallies(ledger, ledger.clock, time.monotonic)
    return group, {
        "reader": reader,
        "measure_reader": MeasureReader(),
        "documentation": site,
        "tallies": tallies,
    }
