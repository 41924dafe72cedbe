"""Serves an application on a socket of ours, inside the event loop of the one process.

uvicorn with h11; the only file that imports it. The socket is bound here, before anything is read,
so that a busy port is reported at once. uvicorn has no option for two limits, which are here: a
client must finish a request's head in time, and a connection ends for good some time after it was
closed, even if its reader accepts nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from typing import TYPE_CHECKING, Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import Server

from tequio_ledger.web.middleware import SLOW_READER_S
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.types import ASGIApp, Receive, Scope, Send
    from uvicorn.server import ServerState

HEAD_BYTES = 1 << 16
"""Longest request line with all headers."""
HEAD_S = 10.0
"""Longest time from an open connection, or the last answer, to the whole head of a request."""
CONNECTIONS = 4_096
"""Connections open at once, of all addresses together: every event stream is one. A request on one
more is answered with 503."""
_BACKLOG = 1024
_STOP_S = 5
_CONNECTION = "connection"  # what a request's state calls the connection that it came by


def bind(host: str, port: int, option: str = "--port") -> socket.socket:
    """Listen on an address; raises UserFacingError, which names the option, when that cannot be."""
    try:
        listener = _listen(host, port)
    except OSError as err:
        raise UserFacingError(_explain(err, host, port, option)) from err
    listener.setblocking(False)  # noqa: FBT003  # the standard library's own parameter
    return listener


def address(listener: socket.socket) -> str:
    """Write the URL that the socket answers at."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class WebServer:
    """Answers requests at a socket: `serve` until `stop`."""

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        # What uvicorn logs of a request is in our own log already (`middleware.RequestLog`).
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        config = Config(
            _Watched(app),
            http=_Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # `middleware.ProxyMiddleware` believes named proxies alone
            limit_concurrency=CONNECTIONS,
            backlog=_BACKLOG,
            timeout_keep_alive=int(HEAD_S),
            timeout_graceful_shutdown=_STOP_S,
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
        self._server = _EmbeddedServer(config)
        self._listener = listener  # uvicorn closes it

    async def serve(self) -> None:
        """Answer requests until `stop` was called and the last answer is out, or 5 s later."""
        await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        """Accept no more requests."""
        self._server.should_exit = True


class _EmbeddedServer(Server):
    """uvicorn without signal handlers: the process has its own (`ending`), for several servers."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class _Connection(asyncio.Protocol):
    """One connection: uvicorn's protocol, and a deadline while no request is under way.

    uvicorn's own timeout ends with the first byte of a head, so a client that sent a byte now and
    then would hold its connection permanently. Of HTTP this class knows nothing: `_Watched` reports
    when a request begins, which is when its head is complete, and when it ends.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        **options: Any,  # noqa: ANN401 - passed on as uvicorn gives them
    ) -> None:
        state = {**app_state, _CONNECTION: self}  # uvicorn copies it to every request's scope
        self._http = H11Protocol(config, server_state, state, **options)
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._under_way = 0  # of pipelined requests, one may begin before the last has ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for types: a stream's
        self._transport = transport
        self._http.connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._cancel_deadline()
        self._http.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._http.data_received(data)

    def eof_received(self) -> None:
        self._http.eof_received()

    def pause_writing(self) -> None:
        self._http.pause_writing()

    def resume_writing(self) -> None:
        self._http.resume_writing()

    def begin_request(self) -> None:
        """Stop the clock: a head is complete."""
        self._under_way += 1
        self._cancel_deadline()

    def end_request(self) -> None:
        """Start the clock for the next request's head."""
        self._under_way -= 1
        if not self._under_way:
            self._await_head()

    def _await_head(self) -> None:
        self._cancel_deadline()
        if self._transport is not None:
            self._deadline = asyncio.get_running_loop().call_later(HEAD_S, self._close)

    def _close(self) -> None:
        """Close; a transport waits for its reader, so what is unread then is dropped later."""
        if self._transport is not None:
            self._transport.close()
            self._deadline = asyncio.get_running_loop().call_later(
                SLOW_READER_S, self._transport.abort
            )

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Watched:
    """Tells a request's connection when it begins and ends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection: _Connection = scope["state"].pop(_CONNECTION)
        connection.begin_request()
        try:
            await self._app(scope, receive, send)
        finally:
            connection.end_request()


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with contextlib.ExitStack() as on_failure:
        # By the protocol's number asyncio knows TCP, and only then it sets TCP_NODELAY: without it
        # every answer of two writes, a head and a body, would wait 40 ms for an acknowledgement.
        listener = on_failure.enter_context(socket.socket(family, kind, protocol))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(_BACKLOG)
        on_failure.pop_all()
    return listener


def _explain(err: OSError, host: str, port: int, option: str) -> str:
    if err.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use: stop what listens there or choose another {option}"
        )
    if err.errno == errno.EACCES:
        return f"port {port} needs more rights: choose one above 1023 with {option}"
    return f"cannot listen on {host} port {port}: {err.strerror or err}"
