"""The process: one event loop with the sequencer and the web server in it, until a signal."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import structlog

from tequio_ledger import SOFTWARE
from tequio_ledger.clock import now_ms
from tequio_ledger.folder import Folder
from tequio_ledger.service import open_ledger
from tequio_ledger.web.app import build
from tequio_ledger.web.events import Streams
from tequio_ledger.web.gate import Gate
from tequio_ledger.web.server import WebServer, address, bind
from tequio_shared import heap
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    import socket

    from litestar import Litestar

    from tequio_ledger.service import Ledger
    from tequio_ledger.settings import Settings

log = structlog.get_logger(__name__)


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; raises UserFacingError and FatalLogError."""
    with Folder(settings.folder) as folder, bind(settings.host, settings.port) as listener:
        ledger = open_ledger(settings, folder, now_ms)
        heap.settle()
        try:
            asyncio.run(_serve(ledger, listener))
        finally:
            ledger.close()


async def _serve(ledger: Ledger, listener: socket.socket) -> None:
    streams, url = Streams(), address(listener)
    server = WebServer(_gated(build(ledger, streams), ledger.settings), listener)
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    _announce(ledger, url)
    async with asyncio.TaskGroup() as tasks:
        sequencing = tasks.create_task(ledger.run())
        serving = tasks.create_task(server.serve())
        await asyncio.wait(
            {sequencing, serving, tasks.create_task(stopping.wait())},
            return_when=asyncio.FIRST_COMPLETED,
        )
        stopping.set()
        streams.is_closing = True
        ledger.sequencer.changed.set()
        server.stop()
        await serving
        sequencing.cancel()
    log.info("stopped", size=ledger.log.size)


def _gated(app: Litestar, settings: Settings) -> Gate:
    return Gate(app, settings.trusted_proxies, settings.address_streams)  # type: ignore[arg-type]


def _announce(ledger: Ledger, url: str) -> None:
    log.info(
        "tequio-ledger serves",
        software=SOFTWARE,
        network=ledger.genesis.name,
        network_id=to_text(ledger.state.net),
        url=url,
        folder=str(ledger.settings.folder),
        size=ledger.log.size,
    )
