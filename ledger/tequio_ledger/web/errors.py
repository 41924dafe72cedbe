"""Errors as answers: RFC 9457 problem documents with the codes of docs/protocol.md."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException
from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from tequio_shared.api.answer import PROBLEM_PREFIX, Problem
from tequio_shared.errors import PeerError, RefusedError, SignatureInvalidError, TequioError

MEDIA_TYPE = "application/problem+json"
_STATUS = {
    "malformed": 400,
    "not-canonical": 400,
    "unknown-type": 400,
    "bad-signature": 400,
    "bad-key": 400,
    "no-work": 403,
    "not-admitted": 403,
    "quarantined": 403,
    "wrong-role": 403,
    "not-found": 404,
    "method-not-allowed": 405,
    "too-large": 413,
    "wrong-network": 422,
    "expired": 422,
    "clock-skew": 422,
    "rate-limited": 429,
    "queue-full": 503,
    "no-quorum": 503,
    "read-only": 503,
    "provider-away": 503,
    "ledger-away": 503,
    "quota": 507,
}
_OTHER_REFUSAL = 409  # the rest say that the statement does not fit the log as it stands
_RETRY_AFTER_S = {429: "1", 503: "1"}
_SERVER_FAULT = 500
_OF_HTTP = {404: "not-found", 405: "method-not-allowed", 413: "too-large"}

log = structlog.get_logger(__name__)

AnyRequest = Request[Any, Any, Any]  # the framework's own three parameters: user, auth, state


def problem(
    code: str, detail: str, status: int, more: Mapping[str, str] = MappingProxyType({})
) -> Response[bytes]:
    """Answer with a problem document, and more headers if there are."""
    headers = {**more, "cache-control": "no-store"}
    if status in _RETRY_AFTER_S:
        headers["retry-after"] = _RETRY_AFTER_S[status]
    body = encode(code, detail, status)
    return Response(body, status_code=status, media_type=MEDIA_TYPE, headers=headers)


def encode(code: str, detail: str, status: int) -> bytes:
    """Write a problem document."""
    title = code.replace("-", " ")
    return msgspec.json.encode(
        Problem(type=f"{PROBLEM_PREFIX}{code}", title=title, status=status, detail=detail)
    )


def code_of(err: RefusedError | PeerError) -> str:
    """Name the problem that an error of ours stands for."""
    if isinstance(err, RefusedError):
        return err.code
    return "bad-signature" if isinstance(err, SignatureInvalidError) else "malformed"


def on_refused(_request: AnyRequest, err: RefusedError) -> Response[bytes]:
    """Answer a request that the rules do not admit."""
    return problem(err.code, str(err), _STATUS.get(err.code, _OTHER_REFUSAL))


def on_peer_error(_request: AnyRequest, err: PeerError) -> Response[bytes]:
    """Answer a request whose bytes or signature are wrong."""
    return problem(code_of(err), str(err), 400)


def on_bug(request: AnyRequest, err: Exception) -> Response[bytes]:
    """Answer when we failed ourselves; the log has the trace."""
    log.error("request failed", method=request.method, path=request.url.path, exc_info=err)
    return problem("internal", "the ledger failed to answer; its log says why", _SERVER_FAULT)


def on_database(
    judge: Callable[[DatabaseError | NoConnectionError], TequioError],
    request: AnyRequest,
    err: DatabaseError | NoConnectionError,
) -> Response[bytes]:
    """Answer when the database failed us: come back, if that is what it means."""
    why = judge(err)
    return on_refused(request, why) if isinstance(why, RefusedError) else on_bug(request, err)


def on_http(request: AnyRequest, err: HTTPException) -> Response[bytes]:
    """Answer what the framework itself refuses: routes, methods, parameters."""
    if err.status_code >= _SERVER_FAULT:
        return on_bug(request, err)
    code = _OF_HTTP.get(
        err.status_code, "malformed" if err.status_code < _SERVER_FAULT else "internal"
    )
    return problem(code, err.detail, err.status_code, err.headers or {})
