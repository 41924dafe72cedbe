"""Around every request: its name in the log and in the answer, its count and its time.

The name is ours, whatever the request says: it leads from an answer to the lines that the process
logged for it. Bodies, queries and headers are never logged.
"""

from __future__ import annotations

import itertools
import time
from functools import cache
from typing import TYPE_CHECKING

import structlog

from tequio_ledger import metrics

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

    from tequio_ledger.web.gate import App, Message, Receive, Scope, Send

HEADER = b"x-request-id"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "OPTIONS"})
_NO_ROUTE = "none"
_NO_ANSWER = "none"

log = structlog.get_logger(__name__)


class Traced:
    """Stands outermost; `process` tells the names of one process from those of another."""

    def __init__(self, app: App, process: str) -> None:
        self._app = app
        self._names = (f"{process}-{number}" for number in itertools.count(1))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Request(scope, next(self._names))

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                request.begin(message)
            await send(message)

        structlog.contextvars.bind_contextvars(request=request.name)  # of this task: one request
        try:
            await self._app(scope, receive, send_named)
        finally:
            request.end()


class _Request:
    """One request under way."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.name = name
        self._scope = scope
        self._since = time.perf_counter()
        self._status = _NO_ANSWER

    def begin(self, message: Message) -> None:
        """Take note of the answer's beginning."""
        self._status = str(message["status"])
        message["headers"] = [*message["headers"], (HEADER, self.name.encode())]
        _seconds_of(self._route()).observe(self._seconds())

    def end(self) -> None:
        """Count it, and tell the log."""
        said = self._scope["method"]
        method, route = said if said in _METHODS else "other", self._route()
        _count_of(method, route, self._status).inc()
        ms = round(1000 * self._seconds(), 1)
        log.debug("request", method=method, route=route, status=self._status, ms=ms)

    def _route(self) -> str:
        """The path as the application wrote it: few, whatever strangers ask for."""
        return self._scope.get("path_template") or _NO_ROUTE

    def _seconds(self) -> float:
        return time.perf_counter() - self._since


# A label's series is looked up once: these few names come with every request.
@cache
def _seconds_of(route: str) -> Histogram:
    return metrics.REQUEST_S.labels(route=route)


@cache
def _count_of(method: str, route: str, status: str) -> Counter:
    return metrics.REQUESTS.labels(method=method, route=route, status=status)
