"""What a browser is told when a page cannot be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.web import errors
from tequio_ledger.web.pages import press
from tequio_shared.errors import PeerError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

_TITLES = {
    400: "That address makes no sense",
    404: "Not found",
    503: "Come back in a moment",
}
_STATUS = {"not-found": 404, "read-only": 503, "queue-full": 503}
_PROGRAMS = ("/v1/", "/log/")
"""Below these nothing is answered in HTML."""


def page_errors(
    otherwise: Callable[[Request, Exception], Response],
) -> Callable[[Request, Exception], Response]:
    """Answer errors of pages with pages: what does not exist, or not now, or was never a key."""

    def answer(request: Request, err: Exception) -> Response:
        match err:
            case RefusedError():
                status = _STATUS.get(err.code, 400)
                return press.problem(request, status, _TITLES[status], str(err))
            case PeerError():
                return press.problem(request, 404, _TITLES[404], str(err))
            case _:
                return otherwise(request, err)

    return answer


def answer_missing(request: Request) -> Response:
    """Answer an address that leads nowhere: a browser with a page, a program with JSON."""
    path, is_read = request.scope["path"], "text/html" in request.headers.get("accept", "")
    if path.startswith(_PROGRAMS) or not is_read:
        return errors.answer_missing(request)
    return press.problem(request, 404, _TITLES[404], f"there is no page {path[:120]}")
