"""GET /v1/events: the log as server-sent events, resumable at any index.

Nothing is queued for a reader. Each stream holds a position and continues from the database, so a
slow reader costs no memory and misses nothing.

Streams that have everything are live: one task writes what comes to all of them, from one reading
of the database, framed as a chunk of HTTP once. Through its own task and all layers of the web
server an entry would cost each stream ten times as much. A stream whose client does not read fast
enough goes on by itself until it has everything again.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Protocol

import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import FAILURES
from tequio_ledger.web.connections import MAX_CONNECTIONS
from tequio_ledger.web.limits import CONNECTION, StreamKind, StreamLimit, network_of, parse_natural
from tequio_ledger.web.routing import get
from tequio_shared.api.network import HEARTBEAT, LogEvent
from tequio_shared.errors import RefusedError
from tequio_shared.limits import JSON_INTEGER

HEARTBEAT_S = 15
REST = 1.0
"""Rest of the live streams' task, as a part of the processor time for which it wrote."""
_PAGE = 64
_PAGES = 4  # cached pages, of about 64 KiB each
_PIECE_BYTES = 1 << 16  # written at once: a connection buffers it while its client does not read
_AT_ONCE = 64  # live streams written to in one iteration of the event loop
_CHUNKED_VERSION = "1.1"
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class StreamConnection(Protocol):
    def write_chunk_nowait(self, framed: bytes) -> bool:
        """Write a framed chunk; False if the client has not read what came before."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """The events of entries up to `end`, and the same as a chunk of HTTP/1.1."""

    content: bytes
    framed: bytes
    end: int

    @classmethod
    def of(cls, content: bytes, end: int) -> EventPage:
        return cls(content, b"%x\r\n%b\r\n" % (len(content), content), end)


@dataclass(slots=True)
class LiveStream:
    """A stream that is written to by the task of all; `left` is set when it no longer is."""

    position: int
    left: asyncio.Future[None]

    def leave(self) -> None:
        if not self.left.done():
            self.left.set_result(None)


log = structlog.get_logger(__name__)

_HEARTBEAT = EventPage.of(HEARTBEAT, 0)


class EventStreams:
    """All open streams; ends them when the service stops."""

    def __init__(self, connections: int = MAX_CONNECTIONS) -> None:
        """Allow as large a part of these connections as of the most that there may be."""
        self.is_closing = False
        self.limit = StreamLimit(connections / MAX_CONNECTIONS)
        self._pages: OrderedDict[tuple[int, int], asyncio.Task[EventPage]] = OrderedDict()
        self._live: dict[StreamConnection, LiveStream] = {}
        self._writing: asyncio.Task[None] | None = None  # runs while there are live streams

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

    async def go_live(self, ledger: Ledger, connection: StreamConnection, position: int) -> int:
        """Let a stream that has all entries before `position` get the next; returns its new one.

        Returns when the client does not read fast enough, or the service stops.
        """
        stream = LiveStream(position, asyncio.get_running_loop().create_future())
        self._live[connection] = stream
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(ledger))
        try:
            await stream.left
        finally:
            del self._live[connection]
        return stream.position

    async def _write(self, ledger: Ledger) -> None:
        """Write to all live streams; costs one system call for each of them and each page.

        Entries that come while it rests are written together, so any number of streams leaves half
        of the time to everything else.
        """
        try:
            while self._live and not self.is_closing:
                if not await self._wait_for_entries(ledger):
                    await self._write_pages(dict.fromkeys(self._positions(), _HEARTBEAT))
                    continue
                end, pages = ledger.published.size, {}
                for position in self._positions():
                    if position < end:
                        last = min(end, position + _PAGE)
                        pages[position] = await self.read_page(ledger, position, last)
                await asyncio.sleep(REST * await self._write_pages(pages))
        except FAILURES as err:
            log.info("live streams read the database by themselves", error=str(err))
        finally:
            for stream in self._live.values():
                stream.leave()

    def _positions(self) -> set[int]:
        """Positions of the live streams: few, as all that were written to have the same."""
        return {stream.position for stream in self._live.values()}

    async def _wait_for_entries(self, ledger: Ledger) -> bool:
        """Wait until there is something to write; False when there is nothing for a while."""
        loop = asyncio.get_running_loop()
        silent_until_s = loop.time() + HEARTBEAT_S
        while ledger.published.size <= min(self._positions(), default=0) and not self.is_closing:
            # woken, too, by entries that are not published yet
            left_s = silent_until_s - loop.time()
            if left_s <= 0 or not await ledger.sequencer.changed.wait(left_s):
                return False
        return True

    async def _write_pages(self, pages: dict[int, EventPage]) -> float:
        """Write to each live stream the page of its position; returns its processor time, s."""
        spent_s, since_s = 0.0, time.thread_time()
        for number, (connection, stream) in enumerate(list(self._live.items()), 1):
            page = pages.get(stream.position)
            if page is not None and not stream.left.done():
                if connection.write_chunk_nowait(page.framed):
                    stream.position = max(stream.position, page.end)
                else:
                    stream.leave()
            if number % _AT_ONCE == 0:
                spent_s += time.thread_time() - since_s
                await asyncio.sleep(0)
                since_s = time.thread_time()
        return spent_s + time.thread_time() - since_s

    async def read_page(self, ledger: Ledger, first: int, end: int) -> EventPage:
        """Give the encoded events from entry `first` on, at most those before `end`."""
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
    events = _follow(ledger, streams, start, _connection(request))
    return streams.answer(request, StreamKind.EVENTS, ledger.settings.address_streams, events)


async def _follow(
    ledger: Ledger, streams: EventStreams, position: int, connection: StreamConnection | None
) -> AsyncGenerator[bytes, None]:
    yield b": tequio log\n\n"
    while not streams.is_closing:
        end = min(ledger.published.size, position + _PAGE)
        if position < end:
            page = await streams.read_page(ledger, position, end)
            yield page.content
            position = page.end
        elif connection is not None:
            position = await streams.go_live(ledger, connection, position)
        elif not await ledger.sequencer.changed.wait(HEARTBEAT_S):
            yield HEARTBEAT


def _connection(request: Request) -> StreamConnection | None:
    """Give the connection if its answer is sent in chunks, as in every version but HTTP/1.0."""
    connection: StreamConnection | None = request.scope.get("state", {}).get(CONNECTION)
    return connection if request.scope["http_version"] == _CHUNKED_VERSION else None


def _page(ledger: Ledger, first: int, end: int) -> EventPage:
    """Read entries until they fill what is written at once; at least one."""
    with ledger.database.glance.connect() as connection:
        leaves = log_rows.read_leaves(connection, first, end)
    events: list[bytes] = []
    size_bytes = 0
    for leaf in leaves:
        event = LogEvent(first + len(events), leaf).encode()
        size_bytes += len(event)
        if events and size_bytes > _PIECE_BYTES:
            break
        events.append(event)
    return EventPage.of(b"".join(events), first + len(events))
