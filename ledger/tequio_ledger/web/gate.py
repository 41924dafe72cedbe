"""Before every request: where it comes from, how long its line is, and how much one address holds.

Behind a proxy all requests come from the proxy's address. What it says in `x-forwarded-for` is
believed only of proxies that were named: anybody else could name any address there. An answer
whose reader takes nothing for a while is given up, so a slow reader holds no handler for ever.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import structlog

from tequio_ledger import metrics
from tequio_ledger.web.doors import BURST_S, NAMES
from tequio_ledger.web.problems import MEDIA_TYPE, encode
from tequio_shared.addresses import network_of
from tequio_shared.buckets import Buckets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence
    from ipaddress import IPv4Network, IPv6Network
    from typing import Any

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
