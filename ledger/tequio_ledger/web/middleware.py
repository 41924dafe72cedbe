"""Before every request: where it comes from, how long its line is, and how much one address holds.

Behind a proxy all requests come from the proxy's address. What it says in `x-forwarded-for` is
believed only of proxies that were named: anybody else could name any address there. An answer
whose reader takes nothing for a while is given up, so a slow reader holds no handler for ever.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import itertools
import time
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import structlog

from tequio_ledger import metrics
from tequio_ledger.web.errors import MEDIA_TYPE, encode
from tequio_ledger.web.limits import BURST_S, NAMES
from tequio_shared.addresses import network_of
from tequio_shared.ids import to_text
from tequio_shared.ratelimit import Buckets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence
    from ipaddress import IPv4Network, IPv6Network
    from typing import Any

    from prometheus_client import Counter as PrometheusClientCounter
    from prometheus_client import Histogram

# --- Answers that a reader holds already: ETag, If-None-Match and 304 (RFC 9110, 8.8.3 and
# 13.1.2).
#
# The tag of a whole answer is a hash of its bytes, so it is right whatever the answer was made
# from, and equal on every replica. Streams have none, but what names its own is left to it.

_TAG_BYTES = 16
_OK = 200
_NOT_MODIFIED = 304
_ABOUT_CONTENT = {b"content-length", b"content-type"}
_ASK_AGAIN = (b"cache-control", b"no-cache")  # keep it, but ask whether it still holds


class Conditional:
    """Stands before the application and answers 304 where nothing has changed."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; the answer to a GET gets a tag."""
        if scope["type"] == "http" and scope["method"] == "GET":
            await self._app(scope, receive, _Answer(_held(scope), send).send)
        else:
            await self._app(scope, receive, send)


class _Answer:
    """One answer: its beginning waits for the body, which tells whether it is whole."""

    def __init__(self, held: frozenset[bytes], send: Send) -> None:
        self._held = held
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        """Take what the application sends."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            await self._begin(start, message)
        else:
            await self._send(message)

    async def _begin(self, start: Message, message: Message) -> None:
        named = _header(start, b"etag")
        if start["status"] == _OK and not message.get("more_body"):
            tag = named or _tag(message.get("body", b""))
            if tag in self._held or b"*" in self._held:
                await self._not_modified(start, tag)
                return
            if not named:
                start["headers"] = [*start["headers"], (b"etag", tag)]
            if not _header(start, b"cache-control"):
                start["headers"] = [*start["headers"], _ASK_AGAIN]
        await self._send(start)
        await self._send(message)

    async def _not_modified(self, start: Message, tag: bytes) -> None:
        kept = [one for one in start["headers"] if one[0].lower() not in _ABOUT_CONTENT]
        headers = [*(one for one in kept if one[0].lower() != b"etag"), (b"etag", tag)]
        await self._send({**start, "status": _NOT_MODIFIED, "headers": headers})
        await self._send({"type": "http.response.body", "body": b""})


def _tag(body: bytes) -> bytes:
    return b'"' + to_text(hashlib.sha256(body).digest()[:_TAG_BYTES]).encode() + b'"'


def _held(scope: Scope) -> frozenset[bytes]:
    """Tags that the reader holds; weak or strong is one to a GET."""
    said = [value for name, value in scope["headers"] if name.lower() == b"if-none-match"]
    tags = (tag.strip().removeprefix(b"W/") for value in said for tag in value.split(b","))
    return frozenset(tag for tag in tags if tag)


def _header(start: Message, wanted: bytes) -> bytes:
    return next((value for name, value in start["headers"] if name.lower() == wanted), b"")


if TYPE_CHECKING:
    Network = IPv4Network | IPv6Network
    Scope = MutableMapping[str, Any]  # as ASGI has it
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = structlog.get_logger(__name__)

REQUESTS = 64
"""Requests of one network address under way at once, its event streams aside."""
TARGET_BYTES = 2_048
"""Longest path and query."""
SLOW_READER_S = 60.0
"""How long a reader may take nothing of its answer."""


class Gate:
    """Stands before the application; used from one event loop."""

    def __init__(
        self, app: App, proxies: Sequence[Network], address_streams: int, request_rate: int = 0
    ) -> None:
        """Put it up; `address_streams` 0 sets no limit on what one address holds.

        So does `request_rate` 0 on the requests of one network address per second.
        """
        self._app = app
        self._rate = (
            Buckets(request_rate, request_rate * BURST_S, names=NAMES) if request_rate else None
        )
        self._proxies = tuple(proxies)
        self._most = REQUESTS + address_streams if address_streams else 0
        self._open: Counter[str] = Counter()  # by network address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = self._sender(scope)
        scope["client"] = (host, 0)
        network = _network_of(host)
        now_s = asyncio.get_running_loop().time()
        if self._rate and not self._rate.take(network, 1, now_s):
            metrics.RATE_LIMITED.labels(limit="request rate").inc()
            await _refuse(send, "rate-limited", 429, "too many requests from this network address")
        elif len(scope["path"]) + len(scope["query_string"]) > TARGET_BYTES:
            await _refuse(send, "malformed", 400, f"a path of more than {TARGET_BYTES} bytes")
        elif self._most and self._open[network] >= self._most:
            metrics.RATE_LIMITED.labels(limit="requests under way").inc()
            await _refuse(send, "rate-limited", 429, "too many requests under way from here")
        else:
            await self._answer(network, scope, receive, send)

    async def _answer(self, network: str, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_soon(message: Message) -> None:
            async with asyncio.timeout(SLOW_READER_S):
                await send(message)

        self._open[network] += 1
        try:
            await self._app(scope, receive, send_soon)
        except TimeoutError:
            log.info("a reader that took nothing is let go", network=network)
        finally:
            self._open[network] -= 1
            if not self._open[network]:
                del self._open[network]

    def _sender(self, scope: Scope) -> str:
        """The address that asks: behind proxies that were named, the first that is none of them."""
        host = (scope.get("client") or ("", 0))[0]
        given = [value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for"]
        hops = b",".join(given).decode("latin-1").split(",") if given else []
        while hops and self._is_proxy(host):
            host = hops.pop().strip()
        return host

    def _is_proxy(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in proxy for proxy in self._proxies)


_network_of = lru_cache(NAMES)(network_of)  # the same few ask again and again


async def _refuse(send: Send, code: str, status: int, detail: str) -> None:
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
    if status == 429:  # noqa: PLR2004 - too many requests
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": encode(code, detail, status)})


# --- OPTIONS: which methods a path has (RFC 9110, 9.3.7).
#
# The framework answers it path by handler, and so forgets methods that share a path. It knows all
# of them when it refuses one that no path has: that answer, turned around, is the right one.

_NO_METHOD = "NONE"
_NOT_ALLOWED = 405
_NO_CONTENT = 204
_ALLOW = b"allow"


class Options:
    """Stands before the application and answers OPTIONS for it."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            asked = {**scope, "method": _NO_METHOD}
            await self._app(asked, receive, _Turned(send).send)
        else:
            await self._app(scope, receive, send)


class _Turned:
    """One answer: a refusal becomes what may be asked instead."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_refusal = False

    async def send(self, message: Message) -> None:
        """Take what the application sends."""
        if message["type"] == "http.response.start":
            self._is_refusal = message["status"] == _NOT_ALLOWED
            if self._is_refusal:
                allow = [one for one in message["headers"] if one[0].lower() == _ALLOW]
                message = {**message, "status": _NO_CONTENT, "headers": allow}
        elif self._is_refusal:
            message = {**message, "body": b""}
        await self._send(message)


# --- Around every request: its name in the log and in the answer, its count and its time.
#
# The name is ours, whatever the request says: it leads from an answer to the lines that the
# process logged for it. Bodies, queries and headers are never logged.

HEADER = b"x-request-id"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "OPTIONS"})
_NO_ROUTE = "none"
_NO_ANSWER = "none"


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
def _count_of(method: str, route: str, status: str) -> PrometheusClientCounter:
    return metrics.REQUESTS.labels(method=method, route=route, status=status)


# --- Around every answer: a browser takes it for what its type says, and for nothing else.
#
# Pages and what strangers brought come from one address. A browser that guessed would take a
# script for a script, whatever it was called here.

_NAME = b"x-content-type-options"
_HEADER = (_NAME, b"nosniff")


class Typed:
    """Stands before the application and says so where the application does not."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def send_typed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                if not any(name.lower() == _NAME for name, _ in headers):
                    message = {**message, "headers": [*headers, _HEADER]}
            await send(message)

        await self._app(scope, receive, send_typed)


# --- Answers that come before the whole body did: they say that the connection ends with them.
#
# The server closes such a connection; a client that is not told sends its next request into it.

_CLOSE = (b"connection", b"close")
_NO_BODY = (None, b"0")


class Unread:
    """Stands before the application and watches what of a body it takes."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; one without a body needs no watching."""
        if scope["type"] == "http" and _has_body(scope):
            body = _Body(receive, send)
            await self._app(scope, body.receive, body.send)
        else:
            await self._app(scope, receive, send)


class _Body:
    """One body on its way in."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_read = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            self._is_read = True
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._is_read:
            message = {**message, "headers": [*message["headers"], _CLOSE]}
        await self._send(message)


def _has_body(scope: Scope) -> bool:
    said = {name.lower(): value for name, value in scope["headers"]}
    return b"transfer-encoding" in said or said.get(b"content-length") not in _NO_BODY
