"""The ledger process: one event loop with the sequencer and the web server, until a signal.

On a signal, event streams are told to end, answers may be finished (`web.server`), and the rest is
cancelled. A thread that waits for a silent database cannot be cancelled: after END_S the process
exits anyway, as if it had been killed. Everything that was acknowledged is on the disk.
"""

from __future__ import annotations

import asyncio
import faulthandler
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import structlog

from tequio_ledger import SOFTWARE, runtime
from tequio_ledger.config.options import FoundSettings, with_found, with_settings
from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.ledger import Ledger, open_ledger
from tequio_ledger.runtime import now_ms
from tequio_ledger.store import database
from tequio_ledger.web import metrics_api
from tequio_ledger.web.app import build
from tequio_ledger.web.events import EventStreams
from tequio_ledger.web.middleware import (
    ConditionalRequests,
    NoSniff,
    RequestLog,
    UnreadBody,
    with_limits,
)
from tequio_ledger.web.server import WebServer, bind, server_url
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    import socket

    from starlette.types import ASGIApp


END_S = 10.0
"""Time after which the process exits in any case, with the blocking stacks on standard error."""
_NAME_BYTES = 4  # distinguishes the requests of this process in the log

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listeners:
    """The sockets on which the process listens."""

    public: socket.socket
    metrics: socket.socket | None


@click.command("serve")
@with_settings(LEDGER)
def serve(settings: LedgerSettings) -> None:
    """Serve the ledger; the first start founds the network."""
    runtime.configure_by(settings)
    with DataFolder(settings.folder) as folder, _bound(settings) as listeners:
        ledger = open_ledger(settings, folder, now_ms)
        database.watch(ledger.database.writer, "writer")
        database.watch(ledger.database.reader, "reader")
        runtime.tune_memory()
        try:
            asyncio.run(_serve(ledger, listeners))
        finally:
            ledger.close()


@click.command("settings")
@with_found(LEDGER)
def settings(found: FoundSettings[LedgerSettings]) -> None:
    """Print the settings of `serve` as a settings file, with the source of each value."""
    for line in found.listing():
        click.echo(line)
    found.convert()  # raises UserFacingError for values that are not allowed


@contextmanager
def _bound(settings: LedgerSettings) -> Iterator[_Listeners]:
    # Before anything is read: a busy port is reported at once, not after the log was checked.
    with ExitStack() as stack:
        public = stack.enter_context(bind(settings.host, settings.port))
        port, metrics = settings.metrics_port, None
        if port != "off":
            metrics = bind(settings.metrics_host, port, "--metrics-port")
            stack.enter_context(metrics)
        yield _Listeners(public=public, metrics=metrics)


async def _serve(ledger: Ledger, listeners: _Listeners) -> None:
    streams, urls = EventStreams(), _urls(listeners)
    servers = list(_servers(ledger, streams, listeners))
    stopping = asyncio.Event()
    runtime.on_stop_signal(stopping.set)
    _announce(ledger, *urls)
    async with asyncio.TaskGroup() as tasks:
        sequencing = tasks.create_task(ledger.run())
        serving = [tasks.create_task(server.serve()) for server in servers]
        await asyncio.wait(
            {sequencing, *serving, tasks.create_task(stopping.wait())},
            return_when=asyncio.FIRST_COMPLETED,
        )
        faulthandler.dump_traceback_later(END_S, exit=True)
        stopping.set()
        streams.is_closing = True
        ledger.sequencer.changed.set()
        for server in servers:
            server.stop()
        await asyncio.wait(serving)
        sequencing.cancel()
    log.info("stopped", size=ledger.log.size)


def _servers(ledger: Ledger, streams: EventStreams, listeners: _Listeners) -> Iterator[WebServer]:
    yield WebServer(_public(ledger, streams), listeners.public)
    if listeners.metrics is not None:
        yield WebServer(metrics_api.build_app(ledger, streams), listeners.metrics)


def _public(ledger: Ledger, streams: EventStreams) -> ASGIApp:
    settings = ledger.settings
    limits = settings.address_streams, settings.request_rate
    app: ASGIApp = UnreadBody(ConditionalRequests(build(ledger, streams)))
    app = NoSniff(with_limits(app, settings.trusted_proxies, *limits))
    return RequestLog(app, secrets.token_hex(_NAME_BYTES))


def _urls(listeners: _Listeners) -> tuple[str, str | None]:
    """Give the URLs of the ledger and of its metrics; before a server takes the sockets."""
    metrics = listeners.metrics
    return server_url(listeners.public), server_url(metrics) + metrics_api.PATH if metrics else None


def _announce(ledger: Ledger, url: str, metrics: str | None) -> None:
    log.info(
        "tequio-ledger serves",
        software=SOFTWARE,
        network=ledger.genesis.name,
        network_id=to_text(ledger.state.net),
        url=url,
        metrics=metrics,
        folder=str(ledger.settings.folder),
        size=ledger.log.size,
    )
