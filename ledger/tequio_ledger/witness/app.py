"""The witness process: a folder with its key and what it saw, a web server, until a signal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click
import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from tequio_ledger import runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.data_folder import Folder
from tequio_ledger.runtime import now_ms
from tequio_ledger.store import files
from tequio_ledger.web import errors
from tequio_ledger.web.limits import read_body
from tequio_ledger.web.middleware import limited
from tequio_ledger.web.routing import RouteGroup, application, get, post
from tequio_ledger.web.server import WebServer, address, bind
from tequio_ledger.witness.settings import WITNESS
from tequio_ledger.witness.witness import Book, Desk
from tequio_shared.errors import MalformedError, RefusedError, UserFacingError
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.log.policy import (
    REQUEST_BYTES,
    SIZE_TYPE,
    CosigningRefusedError,
    CosigningStatus,
    encode_conflict,
)

if TYPE_CHECKING:
    import socket

    from tequio_ledger.witness.settings import WitnessSettings
    from tequio_shared.keys import Signer

# --- The two paths of a witness: POST /add-checkpoint and GET /<origin hash>/checkpoint.

_TEXT = "text/plain"
_SHORT = {"cache-control": "public, max-age=10"}

log = structlog.get_logger(__name__)


@post("/add-checkpoint")
async def add_checkpoint(request: Request, desk: Desk) -> Response:
    """Cosign a checkpoint that continues what we saw, or say why not (c2sp.org/tlog-witness)."""
    body = await read_body(request, REQUEST_BYTES)
    try:
        lines = await asyncio.to_thread(desk.add_checkpoint, body)
    except CosigningRefusedError as err:
        return _refusal(err)
    except OSError as err:
        log.error("the disk takes nothing, so nothing is cosigned", error=str(err))  # noqa: TRY400 - the sentence says it
        raise RefusedError("read-only", "this witness cannot write now: come back later") from err
    return Response(lines, media_type=_TEXT)


@get("/{name}/checkpoint")
async def get_checkpoint(name: str, book: Book) -> Response:
    """Give the last checkpoint that we cosigned of a log, by its origin's hash."""
    note = book.note(name)
    if note is None:
        raise RefusedError("not-found", "this witness has cosigned nothing of such a log")
    return Response(note, media_type=_TEXT, headers=_SHORT)


@get("/healthz")
async def get_health() -> dict[str, str]:
    """Say that we are there."""
    return {"status": "ok"}


def build(desk: Desk, book: Book) -> ASGIApp:
    """Put the application together."""
    routes = (add_checkpoint, get_checkpoint, get_health)
    group = RouteGroup(routes=routes, answer_error=errors.answer_error)
    return application((group,), {"desk": desk, "book": book}, errors.answer_missing)


def _refusal(err: CosigningRefusedError) -> Response:
    if err.status is CosigningStatus.CONFLICT:
        return Response(
            encode_conflict(err.size), status_code=err.status, headers={"content-type": SIZE_TYPE}
        )
    return Response(f"{err}\n".encode(), status_code=err.status, media_type=_TEXT)


KEY = "witness"
LOGS = "logs"
"""Folder of what was seen; made before the key."""
REQUEST_RATE = 50
"""Requests per second of one network address, ten times that at once; a log asks once a second."""


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
    runtime.when_asked(server.stop)
    log.info(
        "tequio-ledger witness serves",
        url=url,
        key=own.text(),
        logs=[key.name for key in settings.logs],
        folder=str(settings.folder),
    )
    await server.serve()
    log.info("stopped")


# --- `tequio-ledger witness`.


@click.command("witness")
@with_settings(WITNESS)
def witness(settings: WitnessSettings) -> None:
    """Watch other logs: cosign each checkpoint that continues what was seen of its log before.

    The logs' operators post to /add-checkpoint; they and their clients need the key that is told
    at the start. Keep the folder: a witness that forgets can be shown another history.
    """
    runtime.configure_by(settings)
    serve(settings)
