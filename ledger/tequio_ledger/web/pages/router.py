"""All pages in one router, with errors as pages too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from litestar import Response, Router, get
from litestar.di import Provide
from litestar.exceptions import NotFoundException, ValidationException
from litestar.response import Stream

from tequio_ledger.ledger import Ledger
from tequio_ledger.web import errors
from tequio_ledger.web.errors import AnyRequest
from tequio_ledger.web.events import HEARTBEAT_S, GivenStreams, Streams
from tequio_ledger.web.limits import Kind, network_of
from tequio_ledger.web.log_files import GivenLedger
from tequio_ledger.web.pages import competition, home, log, peers, render, rounds, runs, static
from tequio_ledger.web.pages.render import Prints, Turns
from tequio_ledger.web.pages.round_view import ToldRounds
from tequio_shared.errors import PeerError, RefusedError

# --- GET /live: says when the log has grown, at most once a second, for pages that are open.
#
# One line for whatever happened meanwhile; a page then asks for itself again and is told if
# nothing of it changed.

PAUSE_S = 1.0
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


@get("/live")
async def get_live(request: AnyRequest, ledger: GivenLedger, streams: GivenStreams) -> Stream:
    """Stream the log's size whenever it grew."""
    network = network_of(request)
    streams.places.check(Kind.LIVE, network, ledger.settings.address_streams)
    body = _follow(ledger, streams, network)
    return Stream(body, media_type="text/event-stream", headers=_HEADERS)


async def _follow(ledger: Ledger, streams: Streams, network: str) -> AsyncIterator[bytes]:
    try:  # again: others may have come between the answer and its first byte
        streams.places.check(Kind.LIVE, network, ledger.settings.address_streams)
    except RefusedError:
        return
    streams.places.enter(Kind.LIVE, network)
    said = -1
    try:
        while not streams.is_closing:
            size = ledger.published.size
            if size != said:
                said = size
                yield f"event: size\ndata: {size}\n\n".encode()
                await asyncio.sleep(PAUSE_S)
            elif not await ledger.sequencer.changed.wait(HEARTBEAT_S):
                yield b": heartbeat\n\n"
    finally:
        streams.places.leave(Kind.LIVE, network)


# --- What a browser is told when a page cannot be shown.

_TITLES = {
    400: "That address makes no sense",
    404: "Not found",
    503: "Come back in a moment",
}
_STATUS = {"not-found": 404, "read-only": 503, "queue-full": 503}
_PROGRAMS = ("/v1/", "/log/")
"""Below these nobody is told anything in HTML."""


def on_refused(request: AnyRequest, err: RefusedError) -> Response[bytes]:
    """Answer for a page that is not there, or not now."""
    status = _STATUS.get(err.code, 400)
    return render.problem(request, status, _TITLES[status], str(err))


def on_peer_error(request: AnyRequest, err: PeerError) -> Response[bytes]:
    """Answer for an address that holds no key, hash or number."""
    return render.problem(request, 404, _TITLES[404], str(err))


def on_bad_value(request: AnyRequest, err: ValidationException) -> Response[bytes]:
    """Answer for a number or name behind the question mark that cannot be one."""
    faults = err.extra if isinstance(err.extra, list) else []
    said = "; ".join(f"{one.get('key')}: {one.get('message')}" for one in faults)
    return render.problem(request, 400, _TITLES[400], said or err.detail)


def on_missing(request: AnyRequest, err: NotFoundException) -> Response[bytes]:
    """Answer for an address that leads nowhere: a browser with a page, a program with JSON."""
    path, is_read = request.scope["path"], "text/html" in request.headers.get("accept", "")
    if path.startswith(_PROGRAMS) or not is_read:
        return errors.on_http(request, err)
    return render.problem(request, 404, _TITLES[404], f"there is no page {path[:120]}")


ROUTES = (
    home.get_overview,
    runs.get_run,
    runs.get_rounds,
    rounds.get_round,
    peers.get_peer,
    peers.get_leaderboard,
    competition.get_competitions,
    competition.get_competition,
    peers.get_quarantine,
    log.get_entries,
    log.get_entry,
    home.get_search,
    home.get_status,
    home.get_about,
    get_live,
    static.get_static,
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
            RefusedError: on_refused,
            PeerError: on_peer_error,
            ValidationException: on_bad_value,
        },
        include_in_schema=False,
    )
