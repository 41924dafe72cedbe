"""Serves an application with uvicorn and h11, inside the event loop of the process.

This is the only file that imports uvicorn. `bind` opens the socket before anything else is loaded,
so that a busy port is reported at once. uvicorn has no option for two limits, which are here: a
client must finish the head of a request in time, and a closed connection is aborted after a while,
even if its client accepts nothing. `connections` bounds how many connections there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import Server, ServerState

from tequio_ledger.web.connections import (
    BACKLOG,
    Acceptor,
    ConnectionLimits,
    ConnectionTable,
    OpenConnection,
    Rotation,
)
from tequio_ledger.web.limits import CONNECTION
from tequio_ledger.web.middleware import SLOW_READER_S, has_body
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_HEAD_BYTES = 1 << 14
"""Longest request line with all headers."""
MAX_HEADERS = 100
READ_BYTES = 1 << 14
"""Most that is read from a connection before others have their turn."""
MAX_PIECES = 64
"""Events of HTTP in one read: h11 needs as long for a chunk of one byte as for a long one."""
HEAD_TIMEOUT_S = 10.0
"""Longest time from opening a connection, or from the last answer, to a complete request head."""
_STOP_S = 5


def bind(host: str, port: int, option: str = "--port") -> socket.socket:
    """Listen on an address; raises UserFacingError, which names the option to change."""
    try:
        listener = _listen(host, port)
    except OSError as err:
        raise UserFacingError(_explain(err, host, port, option)) from err
    listener.setblocking(False)  # noqa: FBT003  # the standard library's own parameter
    return listener


def server_url(listener: socket.socket) -> str:
    """Give the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class WebServer:
    """Answers requests on a socket, from `serve` to `stop`."""

    def __init__(
        self, app: ASGIApp, listener: socket.socket, limits: ConnectionLimits | None = None
    ) -> None:
        """Serve `listener`; without `limits`, only all connections together are bounded."""
        limits = limits or ConnectionLimits.of_process()
        # `middleware.RequestLog` logs requests already.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        config = Config(
            _watched(app),
            http=H11Protocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # `middleware.ProxyMiddleware` trusts named proxies only
            limit_concurrency=2 * limits.most,  # `connections` has refused before
            timeout_keep_alive=int(HEAD_TIMEOUT_S),
            timeout_graceful_shutdown=_STOP_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        table = ConnectionTable(limits)
        self._server = _EmbeddedServer(config, listener, table)
        self._listener = listener  # uvicorn closes it

    async def serve(self) -> None:
        """Answer requests until `stop`, then for at most 5 s until the last answer is sent."""
        await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        """Accept no more requests."""
        self._server.should_exit = True


class _EmbeddedServer(Server):
    """uvicorn without signal handlers, and behind our own `Acceptor`.

    The process has its own handlers, for several servers.
    """

    def __init__(self, config: Config, listener: socket.socket, table: ConnectionTable) -> None:
        super().__init__(config)
        self._table = table
        self._buffer = memoryview(bytearray(READ_BYTES))  # each read is parsed before the next
        self._acceptor = Acceptor(listener, table, self._make_connection)
        self._reading = Rotation(_Connection.resume_reading)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])  # otherwise asyncio would accept, without any bound
        self._acceptor.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._acceptor.stop()
        await super().shutdown(sockets=sockets)

    def _make_connection(self) -> _Connection:
        state = self.lifespan.state
        return _Connection(
            self.config, self.server_state, state, self._table, self._buffer, self._reading
        )


class _Connection(OpenConnection):
    """One connection: uvicorn's protocol, and a deadline while no request is running.

    uvicorn's own timeout ends with the first byte of a head, so a client that sends a byte now and
    then would hold its connection permanently. This class does not parse HTTP: `_watched` reports
    when a request begins, which is when its head is complete, and when it ends.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        table: ConnectionTable,
        buffer: memoryview,
        reading: Rotation[_Connection],
    ) -> None:
        state = {**app_state, CONNECTION: self}  # uvicorn copies it to every request's scope
        self._http = H11Protocol(config, server_state, state)
        self._http.conn = _BoundedParser(h11.SERVER, MAX_HEAD_BYTES)
        self._buffer = buffer
        self._table = table
        self._reading = reading  # connections whose next part of a body waits for its turn
        self._is_paused = False
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._is_aborted = False
        self._is_receiving = False  # the body of a request
        self._under_way = 0  # pipelined requests may overlap
        self._turn: asyncio.Future[bool] | None = None  # what a request waited for last

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for types: a stream's
        self._transport = transport
        self._http.connection_made(transport)
        self._await_head()
        if self._is_aborted:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._table.remove(self)
        self._cancel_deadline()
        self._http.connection_lost(exc)
        self._end_wait()
        # Otherwise a closed connection is a cycle of objects: thousands of them make the collector
        # stop the event loop for 60 ms, again and again.
        self._http.app_state.clear()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._is_receiving:
            self._table.wait(self)  # from now on
            self._pause_reading()
        try:
            self._http.data_received(bytes(self._buffer[:nbytes]))
        except h11.LocalProtocolError:
            # The request is malformed, and its answer has begun: it is too late for status 400.
            self.abort()

    def _pause_reading(self) -> None:
        """Read on when it is the turn of this connection's network.

        Otherwise one iteration of the event loop would parse a part from each of hundreds.
        """
        if self._transport is not None and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
            self._reading.add(self._table.network_of(self), self)

    def resume_reading(self) -> None:
        self._is_paused = False
        if self._transport is not None and not self._http.flow.read_paused:
            self._transport.resume_reading()

    def eof_received(self) -> None:
        self._http.eof_received()

    def pause_writing(self) -> None:
        self._http.pause_writing()
        if self._transport is not None:
            self._table.hold(self, self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._table.release(self)
        if self._under_way and not self._is_receiving:
            self._table.serve(self)
        self._http.resume_writing()

    def write_chunk_nowait(self, framed: bytes) -> bool:
        """Write part of the answer under way, framed as a chunk, past all layers above.

        Only for an answer whose body began in chunks, while nothing else writes it. False, and
        nothing is written, if the client has not read what came before.
        """
        if self._http.flow.write_paused:
            return False
        if self._transport is not None:  # else the client is gone, and its request is cancelled
            self._transport.write(framed)
        return True

    def abort(self) -> None:
        """Close at once, or as soon as it is made, to make room for another connection."""
        self._is_aborted = True
        if self._transport is not None:
            self._transport.abort()

    def begin_request(self, *, with_body: bool) -> None:
        """Cancel the deadline: the head of a request is complete."""
        self._under_way += 1
        self._is_receiving = with_body
        if not with_body:
            self._table.serve(self)
        self._cancel_deadline()

    def end_body(self) -> None:
        """Record that the whole body is here: what follows takes our time, not the client's."""
        self._is_receiving = False
        self._table.release(self)
        self._table.serve(self)

    def hold_body(self, size_bytes: int) -> None:
        """Record that so much of a body is in memory, until it is complete or given up."""
        if self._is_receiving:
            self._table.hold(self, size_bytes)

    def queue_request(self, turn: asyncio.Future[bool]) -> None:
        """Record that the request waits for others: its connection may give way."""
        self._turn = turn
        if self._transport is None:
            self._end_wait()
        if not self._is_receiving:
            self._table.wait(self)

    def resume_request(self) -> None:
        """Record that the request is worked on."""
        if not self._is_receiving:  # otherwise it waits for its client now
            self._table.serve(self)

    def end_request(self) -> None:
        """Set the deadline for the head of the next request."""
        self._under_way -= 1
        if not self._under_way:
            if self._is_receiving and not self._http.flow.write_paused:
                self._table.release(self)  # the body was given up
            self._is_receiving = False
            self._table.wait(self)
            self._await_head()

    def _end_wait(self) -> None:
        """Give up a request that waits: those of thousands of closed connections would queue up."""
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(False)

    def _await_head(self) -> None:
        self._cancel_deadline()
        if self._transport is not None:
            self._deadline = asyncio.get_running_loop().call_later(HEAD_TIMEOUT_S, self._close)

    def _close(self) -> None:
        """Close, and abort later: a transport waits for its client to read what was sent."""
        if self._transport is not None:
            self._transport.close()
            self._deadline = asyncio.get_running_loop().call_later(
                SLOW_READER_S, self._transport.abort
            )

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _BoundedParser(h11.Connection):
    """h11 with bounds on what takes long to parse: many headers, and bodies of tiny chunks.

    A megabyte of chunks of one byte each would keep the event loop busy for most of a second.
    """

    _pieces = 0  # since data came, or the next request began

    def receive_data(self, data: bytes) -> None:
        self._pieces = 0
        super().receive_data(data)

    def start_next_cycle(self) -> None:
        self._pieces = 0
        super().start_next_cycle()

    def next_event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        event = super().next_event()
        self._pieces += 1
        if self._pieces > MAX_PIECES:
            raise h11.RemoteProtocolError("chunks that are too small")
        if isinstance(event, h11.Request) and len(event.headers) > MAX_HEADERS:
            raise h11.RemoteProtocolError("too many headers", error_status_hint=431)
        return event


def _watched(app: ASGIApp) -> ASGIApp:
    """Report to the connection when each of its requests, and its body, begins and ends."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        connection: _Connection = scope["state"][CONNECTION]
        connection.begin_request(with_body=has_body(scope))

        async def receive_watched() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                connection.end_body()
            return message

        try:
            await app(scope, receive_watched, send)
        finally:
            del scope["state"][CONNECTION]  # otherwise a cycle of objects
            connection.end_request()

    return serve


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with contextlib.ExitStack() as on_failure:
        # asyncio sets TCP_NODELAY only if the socket's protocol number says TCP. Without it, every
        # answer of two writes, a head and a body, would wait 40 ms for an acknowledgement.
        listener = on_failure.enter_context(socket.socket(family, kind, protocol))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)
        on_failure.pop_all()
    return listener


def _explain(err: OSError, host: str, port: int, option: str) -> str:
    if err.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use: choose another {option} or stop its program"
    if err.errno == errno.EACCES:
        return f"no permission to use port {port}: choose one above 1023 with {option}"
    return f"cannot listen on {host} port {port}: {err.strerror or err}"
