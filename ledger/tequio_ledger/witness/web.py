"""The two paths of a witness: POST /add-checkpoint and GET /<origin hash>/checkpoint."""

import asyncio

import structlog
from litestar import Litestar, Response, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import HTTPException
from litestar.params import FromPath, SkipValidation

from tequio_ledger.web import problems
from tequio_ledger.web.bodies import read_body
from tequio_ledger.witness.book import Book
from tequio_ledger.witness.desk import Desk
from tequio_shared.cosigning import (
    REQUEST_BYTES,
    SIZE_TYPE,
    CosigningRefusedError,
    Status,
    conflict_body,
)
from tequio_shared.errors import PeerError, RefusedError

GivenDesk = NamedDependency[SkipValidation[Desk]]
GivenBook = NamedDependency[SkipValidation[Book]]

_TEXT = "text/plain"
_SHORT = {"cache-control": "public, max-age=10"}

log = structlog.get_logger(__name__)


@post("/add-checkpoint", status_code=200)
async def add_checkpoint(request: problems.AnyRequest, desk: GivenDesk) -> Response[bytes]:
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
            RefusedError: problems.on_refused,
            PeerError: problems.on_peer_error,
            HTTPException: problems.on_http,
            Exception: problems.on_bug,
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
