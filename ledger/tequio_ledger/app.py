"""The ledger process: one event loop with the sequencer and the web server, until a signal.

On a signal, event streams end, answers may be finished (`web.server`), and the rest is
cancelled. A thread that waits for a silent database cannot be cancelled: after END_S the process
exits anyway, as if it had been killed. Everything that was acknowledged is on the disk.
"""

from __future__ import annotations

import asyncio
import faulthandler
import secrets
import socket
from contextlib import AbstractContextManager, nullcontext

import click
import structlog
from starlette.types import ASGIApp

from tequio_ledger import SOFTWARE, runtime
from tequio_ledger.config.options import with_found, with_settings
from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.config.sources import FoundSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.ledger import Ledger, open_ledger
from tequio_ledger.runtime import now_ms
from tequio_ledger.store import database
from tequio_ledger.web import metrics_api
from tequio_ledger.web.app import INSTALLED_DOCS, PublicApp
from tequio_ledger.web.connections import ConnectionLimits
from tequio_ledger.web.events import EventStreams
from tequio_ledger.web.middleware import (
    ConditionalRequests,
    NoSniff,
    RequestLog,
    UnreadBody,
    with_limits,
)
from tequio_ledger.web.server import WebServer, bind, server_url
from tequio_shared.addresses import is_loopback_host
from tequio_shared.ids import to_text

END_S = 10.0
"""Time after which the process exits in any case, with the blocking stacks on standard error."""
PAGES_AFTER_S = 3.0
"""Pause before pages are loaded unasked: members that waited for the ledger come first."""
METRICS_CONNECTIONS = 32
_NAME_BYTES = 4  # distinguishes the requests of this process in the log

log = structlog.get_logger(__name__)


@click.command("serve")
@with_settings(LEDGER)
def serve(settings: LedgerSettings) -> None:
    """Serve the ledger; the first start founds the network."""
    runtime.configure_by(settings)
    # The ports before the log is read: a busy one is reported at once, not after a long check.
    with (
        DataFolder(settings.folder) as folder,
        bind(settings.host, settings.port) as public,
        _bind_metrics(settings) as metrics,
    ):
        ledger = open_ledger(settings, folder, now_ms)
        database.watch(ledger.database.writer, "writer")
        database.watch(ledger.database.reader, "reader")
        runtime.tune_memory()
        try:
            asyncio.run(_serve(ledger, public, metrics))
        finally:
            ledger.database.close()


@click.command("settings")
@with_found(LEDGER)
def settings(found: FoundSettings[LedgerSettings]) -> None:
    """Print the settings of `serve` as a settings file, with the source of each value."""
    for line in found.listing():
        click.echo(line)
    found.convert()  # raises UserFacingError for values that are not allowed


def _bind_metrics(settings: LedgerSettings) -> AbstractContextManager[socket.socket | None]:
    if settings.metrics_port == "off":
        return nullcontext()
    return bind(settings.metrics_host, settings.metrics_port, "--metrics-port")


async def _serve(ledger: Ledger, public: socket.socket, metrics: socket.socket | None) -> None:
    settings = ledger.settings
    limits = ConnectionLimits.of_process(
        settings.address_streams, settings.trusted_proxies, most=settings.connections
    )
    streams = EventStreams(limits.most)
    app = PublicApp(ledger, streams, INSTALLED_DOCS)
    servers = [WebServer(_with_middleware(app, settings), public, limits)]
    metrics_url = None
    if metrics is not None:
        few = ConnectionLimits.of_process(most=METRICS_CONNECTIONS)
        is_loopback = is_loopback_host(settings.metrics_host)
        metrics_app = metrics_api.build_app(ledger, streams, is_loopback=is_loopback)
        servers.append(WebServer(metrics_app, metrics, few))
        metrics_url = server_url(metrics) + metrics_api.PATH
    stopping = asyncio.Event()
    runtime.on_stop_signal(stopping.set)
    _announce(ledger, server_url(public), metrics_url)
    async with asyncio.TaskGroup() as tasks:
        sequencing = tasks.create_task(ledger.run())
        serving = [tasks.create_task(server.serve()) for server in servers]
        trimming = tasks.create_task(runtime.trim_regularly())
        loading = tasks.create_task(_load_pages(app))
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
        trimming.cancel()
        loading.cancel()
    log.info("stopped", size=ledger.log.size)


async def _load_pages(app: PublicApp) -> None:
    await asyncio.sleep(PAGES_AFTER_S)
    await app.load_pages()
    runtime.freeze_loaded()


def _with_middleware(app: ASGIApp, settings: LedgerSettings) -> ASGIApp:
    limits = settings.address_streams, settings.request_rate
    app = UnreadBody(ConditionalRequests(app))
    app = NoSniff(with_limits(app, settings.trusted_proxies, *limits))
    return RequestLog(app, secrets.token_hex(_NAME_BYTES))


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
