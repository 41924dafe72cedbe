"""GET /v1/events: the log as server-sent events, resumable at any index.

Nothing is queued for a reader. Each stream holds a position and continues from the database, so a
slow reader costs no memory and misses nothing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import log_rows
from tequio_ledger.web.connections import MAX_CONNECTIONS
from tequio_ledger.web.limits import StreamKind, StreamLimit, network_of, parse_natural
from tequio_ledger.web.routing import get
from tequio_shared.api.network import HEARTBEAT, LogEvent
from tequio_shared.errors import RefusedError
from tequio_shared.limits import JSON_INTEGER

HEARTBEAT_S = 15
_PAGE = 64
_PAGES = 4  # cached pages, of at most 1.5 MiB each
_PIECE_BYTES = 1 << 16  # written at once: a connection buffers it while its client does not read
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class EventStreams:
    """All open streams; ends them when the service stops.

    Streams at the same position share one read: an entry costs the database one query, even with a
    thousand readers.
    """

    def __init__(self, connections: int = MAX_CONNECTIONS) -> None:
        """Allow as large a part of these connections as of the most that there may be."""
        self.is_closing = False
        self.limit = StreamLimit(connections / MAX_CONNECTIONS)
        self._pages: OrderedDict[tuple[int, int], asyncio.Task[bytes]] = OrderedDict()

    def answer(
        self, request: Request, kind: StreamKind, most: int, events: AsyncGenerator[bytes, None]
    ) -> Response:
        """Send events; raises RefusedError("queue-full") if the address has `most` streams."""
        network = network_of(request)
        self.limit.check(kind, network, most)
        body = self._counted(kind, network, most, events)
        return StreamingResponse(body, media_type="text/event-stream", headers=_HEADERS)

    async def _counted(
        self, kind: StreamKind, network: str, most: int, events: AsyncGenerator[bytes, None]
    ) -> AsyncGenerator[bytes, None]:
        try:  # again: others may have connected between the answer and its first byte
            self.limit.check(kind, network, most)
        except RefusedError:
            return
        self.limit.enter(kind, network)
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        finally:
            self.limit.leave(kind, network)

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
    events = _follow(ledger, streams, start)
    return streams.answer(request, StreamKind.EVENTS, ledger.settings.address_streams, events)


async def _follow(
    ledger: Ledger, streams: EventStreams, position: int
) -> AsyncGenerator[bytes, None]:
    yield b": tequio log\n\n"
    while not streams.is_closing:
        end = min(ledger.published.size, position + _PAGE)
        if position < end:
            page = await streams.read_page(ledger, position, end)
            for at in range(0, len(page), _PIECE_BYTES):
                yield page[at : at + _PIECE_BYTES]
            position = end
        elif not await ledger.sequencer.changed.wait(HEARTBEAT_S):
            yield HEARTBEAT


def _page(ledger: Ledger, first: int, end: int) -> bytes:
    with ledger.database.glance.connect() as connection:
        leaves = log_rows.read_leaves(connection, first, end)
    return b"".join(LogEvent(first + at, leaf).encode() for at, leaf in enumerate(leaves))
