"""The witness process: a folder with its key and what it saw, a web server, until a signal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from tequio_ledger import ending
from tequio_ledger.clock import now_ms
from tequio_ledger.folder import Folder
from tequio_ledger.store import files
from tequio_ledger.web.middleware import limited
from tequio_ledger.web.server import WebServer, address, bind
from tequio_ledger.witness.book import Book
from tequio_ledger.witness.desk import Desk
from tequio_ledger.witness.web import build
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.notes import KeyKind, VerifierKey

if TYPE_CHECKING:
    import socket

    from starlette.types import ASGIApp

    from tequio_ledger.witness.settings import WitnessSettings
    from tequio_shared.keys import Signer

KEY = "witness"
LOGS = "logs"
"""Folder of what was seen; made before the key."""
REQUEST_RATE = 50
"""Requests per second of one network address, ten times that at once; a log asks once a second."""

log = structlog.get_logger(__name__)


def serve(settings: WitnessSettings) -> None:
    """Serve until SIGTERM or SIGINT; raises UserFacingError."""
    with Folder(settings.folder) as folder, bind(settings.host, settings.port) as listener:
        signer = _signer(folder)
        try:
            own = VerifierKey(name=settings.name, kind=KeyKind.COSIGNER, key=signer.key)
        except MalformedError as err:
            raise UserFacingError(f"--name cannot be the name of a key: {err}") from err
        logs = {key.name: key for key in settings.logs}
        book = Book(folder.path / LOGS, logs, own)
        desk = Desk(logs, book, own, signer, now_ms)
        asyncio.run(_serve(build(desk, book), settings, listener, own))


def _signer(folder: Folder) -> Signer:
    """Give the witness's key, made at the first start.

    Raises UserFacingError for one that outlived what it saw: it could be shown another history.
    """
    seen = folder.path / LOGS
    if folder.holds_key(KEY) and not seen.is_dir():
        raise UserFacingError(
            f"{folder.key_file(KEY)} is here without {seen}, which knows what it cosigned: bring "
            "that back, or begin anew in another folder, under another name and key"
        )
    try:
        files.make_folder(seen)
    except OSError as err:
        raise UserFacingError(files.explain(err, seen)) from err
    return folder.signer(KEY)


async def _serve(
    app: ASGIApp, settings: WitnessSettings, listener: socket.socket, own: VerifierKey
) -> None:
    url = address(listener)
    server = WebServer(limited(app, settings.trusted_proxies, 1, REQUEST_RATE), listener)
    ending.when_asked(server.stop)
    log.info(
        "tequio-ledger witness serves",
        url=url,
        key=own.text(),
        logs=[key.name for key in settings.logs],
        folder=str(settings.folder),
    )
    await server.serve()
    log.info("stopped")
