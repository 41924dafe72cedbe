"""What a browser is told when a page cannot be shown."""

from litestar import Response
from litestar.exceptions import NotFoundException, ValidationException

from tequio_ledger.web import problems
from tequio_ledger.web.pages import press
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.errors import PeerError, RefusedError

_TITLES = {
    400: "That address makes no sense",
    404: "Not found",
    503: "Come back in a moment",
}
_STATUS = {"not-found": 404, "read-only": 503, "queue-full": 503}
_PROGRAMS = ("/v1/", "/log/")
"""Below these nobody is told anything in HTML."""


def on_refused(request: AnyRequest, err: RefusedError) -> Response[bytes]:
    """Answer for a page that is not there, or not now."""
    status = _STATUS.get(err.code, 400)
    return press.problem(request, status, _TITLES[status], str(err))


def on_peer_error(request: AnyRequest, err: PeerError) -> Response[bytes]:
    """Answer for an address that holds no key, hash or number."""
    return press.problem(request, 404, _TITLES[404], str(err))


def on_bad_value(request: AnyRequest, err: ValidationException) -> Response[bytes]:
    """Answer for a number or name behind the question mark that cannot be one."""
    faults = err.extra if isinstance(err.extra, list) else []
    said = "; ".join(f"{one.get('key')}: {one.get('message')}" for one in faults)
    return press.problem(request, 400, _TITLES[400], said or err.detail)


def on_missing(request: AnyRequest, err: NotFoundException) -> Response[bytes]:
    """Answer for an address that leads nowhere: a browser with a page, a program with JSON."""
    path, is_read = request.scope["path"], "text/html" in request.headers.get("accept", "")
    if path.startswith(_PROGRAMS) or not is_read:
        return problems.on_http(request, err)
    return press.problem(request, 404, _TITLES[404], f"there is no page {path[:120]}")
