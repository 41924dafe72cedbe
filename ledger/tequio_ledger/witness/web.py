"""The two paths of a witness: POST /add-checkpoint and GET /<origin hash>/checkpoint."""

import asyncio

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from tequio_ledger.web import errors
from tequio_ledger.web.limits import read_body
from tequio_ledger.web.routing import RouteGroup, application, get, post
from tequio_ledger.witness.book import Book
from tequio_ledger.witness.desk import Desk
from tequio_shared.cosigning import (
    REQUEST_BYTES,
    SIZE_TYPE,
    CosigningRefusedError,
    Status,
    conflict_body,
)
from tequio_shared.errors import RefusedError

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
    if err.status is Status.CONFLICT:
        return Response(
            conflict_body(err.size), status_code=err.status, headers={"content-type": SIZE_TYPE}
        )
    return Response(f"{err}\n".encode(), status_code=err.status, media_type=_TEXT)
