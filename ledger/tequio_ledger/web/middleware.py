"""ASGI middleware around every request: one class for each promise.

From the outside in: the request log, so that refusals are counted too; `nosniff`; the address
behind the proxies; the limits on requests; closing connections whose body was not read; and entity
tags, next to the application.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import time
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import structlog

from tequio_ledger import metrics
from tequio_ledger.web.errors import problem
from tequio_ledger.web.limits import CONNECTION, MAX_NAMES, Turns, make_buckets
from tequio_shared.addresses import network_of, sender_of
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ipaddress import IPv4Network, IPv6Network

    from prometheus_client import Counter as CountMetric
    from prometheus_client import Histogram
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    Network = IPv4Network | IPv6Network

log = structlog.get_logger(__name__)

MAX_REQUESTS = 64
"""Concurrent requests of one network address, without its event streams."""
MAX_TARGET_BYTES = 2_048
"""Longest path and query together."""
SLOW_READER_S = 60.0
"""Longest time in which a client accepts no byte of its answer."""
REQUEST_ID = b"x-request-id"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "OPTIONS"})
_TAGGED = frozenset({"GET", "HEAD"})
_NONE = "none"
"""The route of a request that has none, and the status of one without an answer."""
_NOSNIFF_NAME = b"x-content-type-options"
_NOSNIFF = (_NOSNIFF_NAME, b"nosniff")
_CLOSE = (b"connection", b"close")
_NO_BODY = (None, b"0")
_TAG_BYTES = 16
_OK = 200
_NOT_MODIFIED = 304
_REPLACED = {b"content-length", b"content-type", b"etag"}  # in an answer without content
_REVALIDATE = (b"cache-control", b"no-cache")  # may be stored, but not used without asking


def with_limits(
    app: ASGIApp, proxies: Sequence[Network], address_streams: int, request_rate: int = 0
) -> ASGIApp:
    """Put the limits on requests around an application, by the address behind the proxies."""
    return ProxyMiddleware(RequestLimits(app, address_streams, request_rate), proxies)


class RequestLog:
    """Gives every request an id, and logs, counts and times it.

    The id is made here and never read from the request. It is a header of the answer and stands in
    every line logged for the request. Bodies, queries and headers are never logged. `process`
    distinguishes the ids of one process from those of another.
    """

    def __init__(self, app: ASGIApp, process: str) -> None:
        self._app = app
        self._ids = (f"{process}-{number}" for number in itertools.count(1))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, since, status = next(self._ids), time.perf_counter(), _NONE

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
                message["headers"] = [*message["headers"], (REQUEST_ID, request_id.encode())]
                _seconds_of(_route_of(scope)).observe(time.perf_counter() - since)
            await send(message)

        structlog.contextvars.bind_contextvars(request=request_id)  # this task serves one request
        try:
            await self._app(scope, receive, send_with_id)
        except Exception as err:
            # The handler's own errors are answers by now: this one interrupted an answer.
            log.error("answer interrupted", path=scope["path"], exc_info=err)  # noqa: TRY400 - exc_info has it
            raise
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route, ms = _route_of(scope), round(1000 * (time.perf_counter() - since), 1)
            _count_of(method, route, status).inc()
            log.debug("request", method=method, route=route, status=status, ms=ms)


def _route_of(scope: Scope) -> str:
    """Give the path template: there are few, however many paths strangers request."""
    return scope.get("path_template") or _NONE


# prometheus_client locks at every lookup of a label, and these few labels come with each request
@cache
def _seconds_of(route: str) -> Histogram:
    return metrics.REQUEST_S.labels(route=route)


@cache
def _count_of(method: str, route: str, status: str) -> CountMetric:
    return metrics.REQUESTS.labels(method=method, route=route, status=status)


class NoSniff:
    """Adds `x-content-type-options: nosniff` to every answer that does not have it.

    Pages and uploads of strangers share one origin. A browser that guessed types would run a
    stranger's script, whatever type the answer states.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_typed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                if not any(name.lower() == _NOSNIFF_NAME for name, _ in headers):
                    message = {**message, "headers": [*headers, _NOSNIFF]}
            await send(message)

        await self._app(scope, receive, send_typed)


class ProxyMiddleware:
    """Replaces a proxy's address by the sender's.

    Behind a proxy all requests come from the proxy's address. `x-forwarded-for` counts only if the
    settings name the proxy: any other sender could write any address there.
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[Network]) -> None:
        self._app = app
        self._proxies = tuple(proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = (scope.get("client") or ("", 0))[0]
            lines = [one for name, one in scope["headers"] if name.lower() == b"x-forwarded-for"]
            forwarded = b",".join(lines).decode("latin-1")
            scope["client"] = (sender_of(host, forwarded, self._proxies), 0)
        await self._app(scope, receive, send)


class RequestLimits:
    """Limits the requests of one network address, the length of their target, and slow readers.

    Used from one event loop, behind `ProxyMiddleware`. Requests begin in turns of their network
    addresses, at most one in each iteration of the event loop: hundreds of connections may have
    sent many in advance, and those that began at once would be served before anybody else's. An
    answer whose client accepts nothing for `slow_reader_s` is abandoned, so a slow client cannot
    hold a handler permanently.
    """

    def __init__(
        self,
        app: ASGIApp,
        address_streams: int,
        request_rate: int = 0,
        slow_reader_s: float = SLOW_READER_S,
    ) -> None:
        """Limit requests; 0 sets no limit.

        `address_streams` is the limit on event streams of one address, which are requests too;
        `request_rate` is in requests of one network address per second.
        """
        self._app = app
        self._slow_reader_s = slow_reader_s
        self._rate = make_buckets(request_rate)
        self._turns = Turns(1)
        self._most = MAX_REQUESTS + address_streams if address_streams else 0
        self._open: Counter[str] = Counter()  # by network address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        network = _network_of(scope["client"][0])
        try:
            async with self._turns.turn(network, scope.get("state", {}).get(CONNECTION)):
                await asyncio.sleep(0)  # the next one begins in the next iteration
        except RefusedError:  # the client is gone
            return
        refusal = self._refusal(scope, network)
        if refusal is None:
            await self._answer(network, scope, receive, send)
        else:
            refusal.headers["connection"] = "close"
            await refusal(scope, receive, send)

    def _refusal(self, scope: Scope, network: str) -> Response | None:
        now_s = asyncio.get_running_loop().time()
        if self._rate and not self._rate.try_spend(network, 1, now_s):
            metrics.RATE_LIMITED.labels(limit="request rate").inc()
            return problem("rate-limited", "too many requests from this network address", 429)
        if len(scope["path"]) + len(scope["query_string"]) > MAX_TARGET_BYTES:
            return problem("malformed", f"a path of more than {MAX_TARGET_BYTES} bytes", 400)
        if self._most and self._open[network] >= self._most:
            metrics.RATE_LIMITED.labels(limit="requests under way").inc()
            return problem(
                "rate-limited", "too many concurrent requests from this network address", 429
            )
        return None

    async def _answer(self, network: str, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_soon(message: Message) -> None:
            async with asyncio.timeout(self._slow_reader_s):
                await send(message)

        self._open[network] += 1
        try:
            await self._app(scope, receive, send_soon)
        except TimeoutError:
            log.info("answer abandoned, its client accepts nothing", network=network)
        finally:
            self._open[network] -= 1
            if not self._open[network]:
                del self._open[network]


_network_of = lru_cache(MAX_NAMES)(network_of)  # parsing an address for each request costs more


class UnreadBody:
    """Adds `connection: close` to an answer that is sent before the whole body was read.

    The server closes such a connection; without the header a client would send its next request
    into it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await self._app(scope, receive, send)
            return
        is_read = False

        async def receive_watched() -> Message:
            nonlocal is_read
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                is_read = True
            return message

        async def send_warned(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_read:
                message = {**message, "headers": [*message["headers"], _CLOSE]}
            await send(message)

        await self._app(scope, receive_watched, send_warned)


def has_body(scope: Scope) -> bool:
    headers = {name.lower(): value for name, value in scope["headers"]}
    return b"transfer-encoding" in headers or headers.get(b"content-length") not in _NO_BODY


class ConditionalRequests:
    """Answers 304 if the client has the content: ETag and If-None-Match (RFC 9110, 8.8.3, 13.1.2).

    The tag of a whole answer is a hash of its bytes, so it is correct whatever the answer was made
    from, and equal on every replica. Streams and answers without content have no tag; a tag set by
    the application stays.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in _TAGGED:
            await self._app(scope, receive, _TaggedAnswer(_tags_held(scope), send).send)
        else:
            await self._app(scope, receive, send)


class _TaggedAnswer:
    """One answer: its start waits for the first body message, which shows whether it is whole."""

    def __init__(self, held: frozenset[bytes], send: Send) -> None:
        self._held = held
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            body = message.get("body")
            if start["status"] == _OK and body and not message.get("more_body"):
                named = _header(start, b"etag")
                tag = named or _tag(body)
                if tag in self._held or b"*" in self._held:
                    await self._not_modified(start, tag)
                    return
                if not named:
                    start["headers"] = [*start["headers"], (b"etag", tag)]
                if not _header(start, b"cache-control"):
                    start["headers"] = [*start["headers"], _REVALIDATE]
            await self._send(start)
        await self._send(message)

    async def _not_modified(self, start: Message, tag: bytes) -> None:
        kept = [one for one in start["headers"] if one[0].lower() not in _REPLACED]
        headers = [*kept, (b"etag", tag)]
        await self._send({**start, "status": _NOT_MODIFIED, "headers": headers})
        await self._send({"type": "http.response.body", "body": b""})


def _tag(body: bytes) -> bytes:
    return b'"' + to_text(hashlib.sha256(body).digest()[:_TAG_BYTES]).encode() + b'"'


def _tags_held(scope: Scope) -> frozenset[bytes]:
    """List the tags that the client holds; for a GET, weak and strong tags compare alike."""
    values = [value for name, value in scope["headers"] if name.lower() == b"if-none-match"]
    tags = (tag.strip().removeprefix(b"W/") for value in values for tag in value.split(b","))
    return frozenset(tag for tag in tags if tag)


def _header(start: Message, wanted: bytes) -> bytes:
    return next((value for name, value in start["headers"] if name.lower() == wanted), b"")
