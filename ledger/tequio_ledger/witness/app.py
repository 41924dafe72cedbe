"""The witness process: a folder with its key and checkpoints, and a web server, until a signal."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Annotated

import click
import platformdirs
import structlog
from msgspec import Meta, field
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from tequio_ledger import runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.config.settings import LOOPBACK, Folder, Host, Port, TrustedProxies
from tequio_ledger.config.sources import Parse, Program, ProgramSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.runtime import now_ms
from tequio_ledger.store import files
from tequio_ledger.web import errors
from tequio_ledger.web.connections import ConnectionLimits
from tequio_ledger.web.limits import read_body
from tequio_ledger.web.middleware import with_limits
from tequio_ledger.web.routing import RouteGroup, application, get, post
from tequio_ledger.web.server import WebServer, bind, server_url
from tequio_ledger.witness.witness import CheckpointStore, WitnessService
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.keys import Signer
from tequio_shared.log.cosigning import (
    REQUEST_BYTES,
    SIZE_TYPE,
    CosigningRefusedError,
    CosigningStatus,
    encode_conflict,
)
from tequio_shared.log.notes import KeyKind, VerifierKey

KEY = "witness"
LOGS = "logs"
"""Folder of the last checkpoints; made before the key."""
REQUEST_RATE = 50
"""Requests per second per IP prefix, and ten times as many in a burst; a log sends one a second."""
_TEXT = "text/plain"
_SHORT = {"cache-control": "public, max-age=10"}

log = structlog.get_logger(__name__)


def _logs(text: str) -> tuple[VerifierKey, ...]:
    keys = tuple(_log(part) for part in text.split())
    if not keys:
        raise ValueError("the verifier key of at least one log")
    if len({key.name for key in keys}) != len(keys):
        raise ValueError("keys of different logs: one origin is repeated")
    return keys


def _log(text: str) -> VerifierKey:
    try:
        key = VerifierKey.parse(text)
    except PeerError as err:
        raise ValueError(f"verifier keys of logs, which {text!r} is not ({err})") from err
    if key.kind is not KeyKind.LOG:
        raise ValueError(f"verifier keys of logs, which {text!r} is not (a cosigner's key)")
    return key


class WitnessSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    """All settings of the witness; to add one: a field, and a line in `installer/witness.toml`."""

    folder: Annotated[
        Folder, Meta(description="Folder of the witness's key and of what it cosigned.")
    ] = field(name="dir", default=Path(platformdirs.user_data_dir("tequio-witness")))
    host: Host = LOOPBACK
    port: Port = 8_601
    name: Annotated[
        str,
        Meta(
            min_length=1,
            title="the name of the witness's key, such as witness.example/w1",
            description="Name of the witness's key: an address without a scheme, such as "
            "witness.example/w1. Required.",
        ),
    ]
    logs: Annotated[
        tuple[VerifierKey, ...],
        Parse(_logs),
        Meta(description="Verifier key of a log to cosign. Required; repeatable."),
    ] = field(name="log")
    trusted_proxies: TrustedProxies = field(name="trusted-proxy", default=())


WITNESS = Program(WitnessSettings, "TEQUIO_WITNESS_", "tequio-ledger witness --help")


@post("/add-checkpoint")
async def add_checkpoint(request: Request, service: WitnessService) -> Response:
    """Cosign a checkpoint that continues the last one, or say why not (c2sp.org/tlog-witness)."""
    body = await read_body(request, REQUEST_BYTES)
    try:
        lines = await asyncio.to_thread(service.add_checkpoint, body)
    except CosigningRefusedError as err:
        return _refusal(err)
    except OSError as err:
        log.error("cosigned nothing, because the disk failed", error=str(err))  # noqa: TRY400 - the sentence says it
        raise RefusedError("read-only", "this witness cannot write now: try again later") from err
    return Response(lines, media_type=_TEXT)


@get("/{name}/checkpoint")
async def get_checkpoint(name: str, store: CheckpointStore) -> Response:
    """Give the last checkpoint of a log that this witness cosigned, by the hash of its origin."""
    note = store.notes.get(name)
    if note is None:
        raise RefusedError("not-found", "this witness has cosigned no checkpoint of this log")
    return Response(note, media_type=_TEXT, headers=_SHORT)


@get("/healthz")
async def get_health() -> dict[str, str]:
    """Answer that the witness is running."""
    return {"status": "ok"}


def build(service: WitnessService, store: CheckpointStore) -> ASGIApp:
    """Put the application together."""
    routes = (add_checkpoint, get_checkpoint, get_health)
    group = RouteGroup(routes=routes, answer_error=errors.answer_error)
    return application((group,), {"service": service, "store": store}, errors.answer_missing)


def _refusal(err: CosigningRefusedError) -> Response:
    if err.status is CosigningStatus.CONFLICT:
        return Response(
            encode_conflict(err.size), status_code=err.status, headers={"content-type": SIZE_TYPE}
        )
    return Response(f"{err}\n".encode(), status_code=err.status, media_type=_TEXT)


def serve(settings: WitnessSettings) -> None:
    """Serve until SIGTERM or SIGINT; raises UserFacingError."""
    with DataFolder(settings.folder) as folder, bind(settings.host, settings.port) as listener:
        signer = _signer(folder)
        try:
            own = VerifierKey(name=settings.name, kind=KeyKind.COSIGNER, key=signer.key)
        except MalformedError as err:
            raise UserFacingError(f"--name cannot be the name of a key: {err}") from err
        logs = {key.name: key for key in settings.logs}
        store = CheckpointStore(folder.path / LOGS, logs, own)
        service = WitnessService(store, signer, now_ms)
        asyncio.run(_serve(build(service, store), settings, listener, own))


def _signer(folder: DataFolder) -> Signer:
    """Read the witness's key, made at the first start.

    Raises UserFacingError for a key without its checkpoints: it could be shown another history.
    """
    seen = folder.path / LOGS
    if folder.holds_key(KEY) and not seen.is_dir():
        raise UserFacingError(
            f"{folder.key_file(KEY)} exists without {seen}, which records what it cosigned: "
            "restore that folder, or start a new witness in another folder, with another name and "
            "key"
        )
    with files.explained(seen):
        files.make_folder(seen)
    return folder.signer(KEY)


async def _serve(
    app: ASGIApp, settings: WitnessSettings, listener: socket.socket, own: VerifierKey
) -> None:
    url = server_url(listener)
    proxies = settings.trusted_proxies
    limits = ConnectionLimits.of_process(1, proxies)
    server = WebServer(with_limits(app, proxies, 1, REQUEST_RATE), listener, limits)
    runtime.on_stop_signal(server.stop)
    log.info(
        "tequio-ledger witness serves",
        url=url,
        key=own.text(),
        logs=[key.name for key in settings.logs],
        folder=str(settings.folder),
    )
    await server.serve()
    log.info("stopped")


@click.command("witness")
@with_settings(WITNESS)
def witness(settings: WitnessSettings) -> None:
    """Watch other logs: cosign each checkpoint that continues the last one of its log.

    The logs' operators post to /add-checkpoint; they and their clients need the key that is printed
    at the start. Do not lose the folder: a witness that forgets can be shown another history.
    """
    runtime.configure_by(settings)
    serve(settings)
