"""GET /v1/events: the log as server-sent events, resumable at any index.

Nothing is queued for a reader: each stream holds a position and reads on from the database, so a
slow reader costs no memory and misses nothing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter, SkipValidation
from litestar.response import Stream

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import log_rows
from tequio_ledger.web.errors import AnyRequest
from tequio_ledger.web.limits import Kind, Places, network_of
from tequio_ledger.web.log_files import GivenLedger
from tequio_ledger.web.write_api import natural
from tequio_shared.api.log import HEARTBEAT, LogEvent
from tequio_shared.errors import RefusedError
from tequio_shared.ids import JSON_INTEGER

HEARTBEAT_S = 15
_PAGE = 256
_PAGES = 4  # pages remembered; one has at most 6 MiB
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class Streams:
    """All open streams; ends them when the service stops.

    Streams at the same place share what is read for them: when an entry is logged, a thousand
    readers cost the database one question.
    """

    def __init__(self) -> None:
        self.is_closing = False
        self.places = Places()
        self._pages: OrderedDict[tuple[int, int], asyncio.Task[bytes]] = OrderedDict()

    async def page(self, ledger: Ledger, first: int, end: int) -> bytes:
        """Give the events of entries [first, end)."""
        reading = self._pages.get((first, end))
        if reading is None or (reading.done() and reading.exception()):
            reading = asyncio.create_task(asyncio.to_thread(_page, ledger, first, end))
            self._pages[first, end] = reading
            if len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        return await asyncio.shield(reading)  # others may still want it when this reader is gone


After = Annotated[int, QueryParameter(ge=-1, le=JSON_INTEGER)]
GivenStreams = NamedDependency[SkipValidation[Streams]]


@get("/v1/events")
async def get_events(
    request: AnyRequest,
    ledger: GivenLedger,
    streams: GivenStreams,
    after: After = -1,
) -> Stream:
    """Stream every entry after an index: `id` is its index, data the leaf in base64url."""
    resumed = request.headers.get("last-event-id", "")
    start = (natural(resumed) if resumed else after) + 1
    network = network_of(request)
    streams.places.check(Kind.EVENTS, network, ledger.settings.address_streams)
    body = _follow(ledger, streams, network, start)
    return Stream(body, media_type="text/event-stream", headers=_HEADERS)


async def _follow(
    ledger: Ledger, streams: Streams, network: str, start: int
) -> AsyncIterator[bytes]:
    try:  # again: others may have come between the answer and its first byte
        streams.places.check(Kind.EVENTS, network, ledger.settings.address_streams)
    except RefusedError:
        return
    streams.places.enter(Kind.EVENTS, network)
    position = start
    try:
        yield b": tequio log\n\n"
        while not streams.is_closing:
            end = min(ledger.published.size, position + _PAGE)
            if position < end:
                yield await streams.page(ledger, position, end)
                position = end
            elif not await ledger.sequencer.changed.wait(HEARTBEAT_S):
                yield HEARTBEAT
    finally:
        streams.places.leave(Kind.EVENTS, network)


def _page(ledger: Ledger, first: int, end: int) -> bytes:
    with ledger.database.glance.connect() as connection:
        leaves = log_rows.read_leaves(connection, first, end)
    return b"".join(LogEvent(first + at, leaf).encode() for at, leaf in enumerate(leaves))
