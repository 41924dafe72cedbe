"""The two paths of a witness: POST /add-checkpoint and GET /<origin hash>/checkpoint."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import click
import structlog
from litestar import Litestar, Response, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import HTTPException
from litestar.params import FromPath, SkipValidation

from tequio_ledger import runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.data_folder import Folder
from tequio_ledger.runtime import now_ms
from tequio_ledger.store import files
from tequio_ledger.web import errors
from tequio_ledger.web.middleware import Gate
from tequio_ledger.web.server import WebServer, address, bind
from tequio_ledger.web.write_api import read_body
from tequio_ledger.witness.settings import WITNESS
from tequio_ledger.witness.witness import Book, Desk
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.log.policy import (
    REQUEST_BYTES,
    SIZE_TYPE,
    CosigningRefusedError,
    Status,
    conflict_body,
)

if TYPE_CHECKING:
    import socket

    from tequio_ledger.web.middleware import App
    from tequio_ledger.witness.settings import WitnessSettings
    from tequio_shared.keys import Signer


GivenDesk = NamedDependency[SkipValidation[Desk]]
GivenBook = NamedDependency[SkipValidation[Book]]

_TEXT = "text/plain"
_SHORT = {"cache-control": "public, max-age=10"}

log = structlog.get_logger(__name__)


@post("/add-checkpoint", status_code=200)
async def add_checkpoint(request: errors.AnyRequest, desk: GivenDesk) -> Response[bytes]:
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


@get("/{name:str}/checkpoint", sync_to_thread=False)
def get_checkpoint(name: FromPath[str], book: GivenBook) -> Response[bytes]:
    """Give the last checkpoint that we cosigned of a log, by its origin's hash."""
    note = book.note(name)
    if note is None:
        raise RefusedError("not-found", "this witness has cosigned nothing of such a log")
    return Response(note, media_type=_TEXT, headers=_SHORT)


@get("/healthz", sync_to_thread=False)
def get_health() -> dict[str, str]:
    """Say that we are there."""
    return {"status": "ok"}


def build(desk: Desk, book: Book) -> Litestar:
    """Put the application together."""
    return Litestar(
        route_handlers=(add_checkpoint, get_checkpoint, get_health),
        dependencies={
            "desk": Provide(lambda: desk, sync_to_thread=False),
            "book": Provide(lambda: book, sync_to_thread=False),
        },
        exception_handlers={
            RefusedError: errors.on_refused,
            PeerError: errors.on_peer_error,
            HTTPException: errors.on_http,
            Exception: errors.on_bug,
        },
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,  # `read_body` has the limit
    )


def _refusal(err: CosigningRefusedError) -> Response[bytes]:
    if err.status is Status.CONFLICT:
        return Response(
            conflict_body(err.size), status_code=err.status, headers={"content-type": SIZE_TYPE}
        )
    return Response(f"{err}\n".encode(), status_code=err.status, media_type=_TEXT)


# --- The witness process: a folder with its key and what it saw, a web server, until a signal.

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
    app: Litestar, settings: WitnessSettings, listener: socket.socket, own: VerifierKey
) -> None:
    url = address(listener)
    app_ = cast("App", app)  # the framework types its messages one by one
    gate = Gate(app_, settings.trusted_proxies, 1, REQUEST_RATE)
    server = WebServer(gate, listener)
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
