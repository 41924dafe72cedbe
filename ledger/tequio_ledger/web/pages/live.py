"""GET /live: says when the log has grown, at most once a second, for pages that are open.

One line for whatever happened meanwhile; a page then asks for itself again and is told if nothing
of it changed.
"""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tequio_ledger.service import Ledger
from tequio_ledger.web.events import HEARTBEAT_S, Streams
from tequio_ledger.web.limits import StreamKind, network_of
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError

PAUSE_S = 1.0
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


@get("/live")
async def get_live(request: Request, ledger: Ledger, streams: Streams) -> Response:
    """Stream the log's size whenever it grew."""
    network = network_of(request)
    streams.limit.check(StreamKind.LIVE, network, ledger.settings.address_streams)
    body = _follow(ledger, streams, network)
    return StreamingResponse(body, media_type="text/event-stream", headers=_HEADERS)


async def _follow(ledger: Ledger, streams: Streams, network: str) -> AsyncIterator[bytes]:
    try:  # again: others may have come between the answer and its first byte
        streams.limit.check(StreamKind.LIVE, network, ledger.settings.address_streams)
    except RefusedError:
        return
    streams.limit.enter(StreamKind.LIVE, network)
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
        streams.limit.leave(StreamKind.LIVE, network)
