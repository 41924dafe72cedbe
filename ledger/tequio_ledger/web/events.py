"""GET /v1/events: the log as server-sent events, resumable at any index.

Nothing is queued for a reader: each stream holds a position and reads on from the database, so a
slow reader costs no memory and misses nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter, SkipValidation
from litestar.response import Stream

from tequio_ledger.service import Ledger
from tequio_ledger.store import log_rows
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text

HEARTBEAT_S = 15
STREAMS = 2_000
_PAGE = 256
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class Streams:
    """Counts open streams and ends them all when the service stops."""

    def __init__(self) -> None:
        self.open = 0
        self.is_closing = False


After = Annotated[int, QueryParameter(ge=-1)]
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
    if resumed and not resumed.isdigit():
        raise RefusedError("malformed", "Last-Event-ID is not an index")
    if streams.open >= STREAMS:
        raise RefusedError("queue-full", f"{STREAMS} event streams are open")
    start = (int(resumed) if resumed else after) + 1
    body = _follow(ledger, streams, start)
    return Stream(body, media_type="text/event-stream", headers=_HEADERS)


async def _follow(ledger: Ledger, streams: Streams, start: int) -> AsyncIterator[bytes]:
    streams.open += 1
    position = start
    try:
        yield b": tequio log\n\n"
        while not streams.is_closing:
            end = min(ledger.log.published.size, position + _PAGE)
            if position < end:
                yield await asyncio.to_thread(_page, ledger, position, end)
                position = end
            elif not await ledger.sequencer.changed.wait(HEARTBEAT_S):
                yield b": heartbeat\n\n"
    finally:
        streams.open -= 1


def _page(ledger: Ledger, first: int, end: int) -> bytes:
    with ledger.database.reader.begin() as connection:
        leaves = log_rows.read_leaves(connection, first, end)
    return b"".join(_event(first + at, leaf) for at, leaf in enumerate(leaves))


def _event(index: int, leaf: bytes) -> bytes:
    return f"id: {index}\nevent: entry\ndata: {to_text(leaf)}\n\n".encode()
