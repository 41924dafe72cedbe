"""GET /v1/events: the log as server-sent events, resumable at any index.

Nothing is queued for a reader. Each stream holds a position and continues from the database, so a
slow reader costs no memory and misses nothing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import log_rows
from tequio_ledger.web.limits import StreamKind, StreamLimit, network_of, parse_natural
from tequio_ledger.web.routing import get
from tequio_shared.api.log import HEARTBEAT, LogEvent
from tequio_shared.errors import RefusedError
from tequio_shared.limits import JSON_INTEGER

HEARTBEAT_S = 15
_PAGE = 256
_PAGES = 4  # cached pages, of at most 6 MiB each
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class EventStreams:
    """All open streams; ends them when the service stops.

    Streams at the same position share one read: an entry costs the database one query, even with a
    thousand readers.
    """

    def __init__(self) -> None:
        self.is_closing = False
        self.limit = StreamLimit()
        self._pages: OrderedDict[tuple[int, int], asyncio.Task[bytes]] = OrderedDict()

    async def read_page(self, ledger: Ledger, first: int, end: int) -> bytes:
        """Give the encoded events of entries [first, end)."""
        reading = self._pages.get((first, end))
        if reading is None or (reading.done() and reading.exception()):
            reading = asyncio.create_task(asyncio.to_thread(_page, ledger, first, end))
            self._pages[first, end] = reading
            if len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        return await asyncio.shield(reading)  # other readers may wait for it


After = Annotated[int, msgspec.Meta(ge=-1, le=JSON_INTEGER)]


@get("/v1/events")
async def get_events(
    request: Request, ledger: Ledger, streams: EventStreams, after: After = -1
) -> Response:
    """Stream every entry after an index: `id` is its index, data the leaf in base64url."""
    resumed = request.headers.get("last-event-id", "")
    start = (parse_natural(resumed) if resumed else after) + 1
    network = network_of(request)
    streams.limit.check(StreamKind.EVENTS, network, ledger.settings.address_streams)
    body = _follow(ledger, streams, network, start)
    return StreamingResponse(body, media_type="text/event-stream", headers=_HEADERS)


async def _follow(
    ledger: Ledger, streams: EventStreams, network: str, start: int
) -> AsyncIterator[bytes]:
    try:  # again: others may have connected between the answer and its first byte
        streams.limit.check(StreamKind.EVENTS, network, ledger.settings.address_streams)
    except RefusedError:
        return
    streams.limit.enter(StreamKind.EVENTS, network)
    position = start
    try:
        yield b": tequio log\n\n"
        while not streams.is_closing:
            end = min(ledger.published.size, position + _PAGE)
            if position < end:
                yield await streams.read_page(ledger, position, end)
                position = end
            elif not await ledger.sequencer.changed.wait(HEARTBEAT_S):
                yield HEARTBEAT
    finally:
        streams.limit.leave(StreamKind.EVENTS, network)


def _page(ledger: Ledger, first: int, end: int) -> bytes:
    with ledger.database.glance.connect() as connection:
        leaves = log_rows.read_leaves(connection, first, end)
    return b"".join(LogEvent(first + at, leaf).encode() for at, leaf in enumerate(leaves))
