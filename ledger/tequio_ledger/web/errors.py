"""Errors as answers: RFC 9457 problem documents with the codes of docs/protocol.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec
import structlog
from starlette.responses import Response

from tequio_ledger import metrics, resources, runtime
from tequio_ledger.store.database import FAILURES, Database
from tequio_shared.api.answer import PROBLEM_PREFIX, Problem
from tequio_shared.errors import PeerError, RefusedError, SignatureInvalidError

if TYPE_CHECKING:
    from starlette.requests import Request

    AnswerError = Callable[[Request, Exception], Response]

MEDIA_TYPE = "application/problem+json"
STATUS: Mapping[str, int] = {
    "malformed": 400,
    "not-canonical": 400,
    "unknown-type": 400,
    "bad-signature": 400,
    "bad-key": 400,
    "no-work": 403,
    "not-admitted": 403,
    "quarantined": 403,
    "key-ended": 403,
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
    "damaged": 503,
    "provider-away": 503,
    "ledger-away": 503,
    "quota": 507,
}
"""The HTTP status of each code."""
OTHER_REFUSAL = 409
"""HTTP status of all other codes: the statement does not fit the log as it is now."""
_RETRY_AFTER_S = {429: "1", 503: "1"}

_EXHAUSTION = runtime.RareLog()

log = structlog.get_logger(__name__)


def problem(
    code: str, detail: str, status: int, more: Mapping[str, str] = MappingProxyType({})
) -> Response:
    """Answer with a problem document; `more` are further headers."""
    headers = {**more, "cache-control": "no-store"}
    if status in _RETRY_AFTER_S:
        headers["retry-after"] = _RETRY_AFTER_S[status]
    title = code.replace("-", " ")
    body = msgspec.json.encode(
        Problem(type=f"{PROBLEM_PREFIX}{code}", title=title, status=status, detail=detail)
    )
    return Response(body, status_code=status, media_type=MEDIA_TYPE, headers=headers)


def code_of(err: RefusedError | PeerError) -> str:
    """Give the problem code of a protocol error."""
    if isinstance(err, RefusedError):
        return err.code
    return "bad-signature" if isinstance(err, SignatureInvalidError) else "malformed"


def answer_error(request: Request, err: Exception) -> Response:
    """Answer a request that was refused, was malformed, or failed through a fault here."""
    match err:
        case RefusedError():
            return problem(err.code, str(err), STATUS.get(err.code, OTHER_REFUSAL))
        case PeerError():
            return problem(code_of(err), str(err), 400)
        case OSError() | MemoryError() if resources.is_exhaustion(err):
            _EXHAUSTION.report("a request was refused: a resource is used up", error=str(err))
            return problem("queue-full", "the ledger is too busy: try again later", 503)
        case _:
            # The answer reveals nothing of the process; its log has the trace.
            log.error("request failed", method=request.method, path=request.url.path, exc_info=err)
            metrics.FAILURES.inc()
            return problem("internal", "internal error: see the log of the ledger", 500)


def judging(database: Database, answer: AnswerError) -> AnswerError:
    """Turn passing failures of the database into refusals before `answer` sees them."""

    def answer_judged(request: Request, err: Exception) -> Response:
        if isinstance(err, FAILURES):
            judged = database.failed_write(err)
            # a refusal asks the client to try again later; any other failure is a fault here
            err = judged if isinstance(judged, RefusedError) else err
        return answer(request, err)

    return answer_judged


def answer_missing(_request: Request) -> Response:
    return problem("not-found", "Not Found", 404)
