"""HTTP/1.1 by h11 over trio: one request and one answer for each connection.

Rules. Every wait has a deadline, also for a client that reads nothing. Nothing is read beyond the
bounds of head and body. A client that hangs up, which includes closing its side for writing,
cancels what answers it. Connections are not kept open, so that idle ones cost nothing; a proxy
in front keeps those of its visitors.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from typing import NoReturn, TypeAlias

import h11
import trio

from tequio_shared.addresses import is_address_or_localhost, is_within, parse_host, sender_of
from tequio_shared.errors import PeerError, UserFacingError

HEAD_BYTES, BODY_BYTES = 16 << 10, 256 << 10
CONNECTIONS = 256
"""Connections at a time, of all clients."""
ADDRESS_CONNECTIONS = 16
"""Connections at a time of one address that is not a proxy."""
PIECES = 64
"""Events of HTTP in one read: h11 needs as long for a chunk of one byte as for a long one."""
_READ_BYTES = 16 << 10
_DRAIN_BYTES = 4 * BODY_BYTES
_VISITOR_BITS = 64
"""An IPv6 address counts as its network: a home or a server has that many addresses."""

Network: TypeAlias = IPv4Network | IPv6Network
_LOOPBACK: tuple[Network, ...] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))
_BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError, OSError)
"""Errors of a connection whose client is gone; OSError: it had no address any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Seconds that a client has."""

    request_s: float = 10.0
    """For its whole request."""
    write_s: float = 20.0
    """To read one piece of the answer."""
    linger_s: float = 2.0
    """To read the end of the answer and close, or else the rest of its request would reset it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    """Without the query."""
    headers: Mapping[str, str]
    """By lower-case name; of a repeated one, the last."""
    body: bytes
    address: str
    """Of the visitor, as its connection or a named proxy states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class BadRequestError(PeerError):
    """A request that was not read to its end; `status` is the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class HttpAnswer:
    """The answer to one request; `send` it whole, or `stream` it."""

    def __init__(
        self, stream: trio.SocketStream, protocol: h11.Connection, deadlines: Deadlines
    ) -> None:
        self._stream, self._protocol, self._deadlines = stream, protocol, deadlines
        self.is_begun = False
        self.is_head = False
        """True for a HEAD request, whose answers have no body, refusals too."""

    async def send(self, reply: Reply) -> None:
        """Send a whole answer; raises trio's errors of a broken or slow connection."""
        self.is_begun = True
        headers = {"content-length": str(len(reply.body)), **reply.headers}
        raw = self._encode(_response(reply.status, headers))
        if reply.body and not self.is_head:
            raw += self._encode(h11.Data(data=reply.body))
        await self._send(raw + self._encode(h11.EndOfMessage()))

    async def begin_stream(self, headers: Mapping[str, str]) -> None:
        self.is_begun = True
        await self._send(self._encode(_response(200, headers)))

    async def send_piece(self, piece: bytes) -> None:
        await self._send(self._encode(h11.Data(data=piece)))

    async def end_stream(self) -> None:
        await self._send(self._encode(h11.EndOfMessage()))

    def _encode(self, event: h11.Event) -> bytes:
        return self._protocol.send(event) or b""

    async def _send(self, raw: bytes) -> None:
        with trio.fail_after(self._deadlines.write_s):
            await self._stream.send_all(raw)


def _response(status: int, headers: Mapping[str, str]) -> h11.Response:
    return h11.Response(
        status_code=status,
        headers=[
            *((name.encode(), value.encode("latin-1")) for name, value in headers.items()),
            (b"connection", b"close"),
        ],
    )


Handle: TypeAlias = Callable[[Request, HttpAnswer], Awaitable[None]]
Refuse: TypeAlias = Callable[[int, str], Reply]
"""Writes the answer to a request that cannot be read."""


class HttpServer:
    """Accepts connections, and has each request handled in a task of its own."""

    def __init__(
        self,
        handle: Handle,
        refuse: Refuse,
        *,
        proxies: Sequence[Network] = (),
        deadlines: Deadlines | None = None,
    ) -> None:
        """`proxies` may state in `x-forwarded-for` who asks."""
        self._handle, self._refuse, self._proxies = handle, refuse, proxies
        self._deadlines = deadlines or Deadlines()
        self._open: Counter[str] = Counter()  # connections by visitor

    async def serve(self, listeners: Sequence[trio.SocketListener]) -> NoReturn:
        await trio.serve_listeners(self._accept, list(listeners))
        raise AssertionError("unreachable")

    async def _accept(self, stream: trio.SocketStream) -> None:
        try:
            host = str(stream.socket.getpeername()[0])
            with self._counted(host) as is_welcome:
                if is_welcome:
                    await self._converse(stream, host)
        except* _BROKEN:
            pass  # of this connection alone
        with trio.CancelScope(shield=True), suppress(*_BROKEN):
            await stream.aclose()

    def _counted(self, host: str) -> _Place:
        most = CONNECTIONS if is_within(host, self._proxies) else ADDRESS_CONNECTIONS
        return _Place(self._open, visitor_name(host), most)

    async def _converse(self, stream: trio.SocketStream, host: str) -> None:
        protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        exchange = HttpAnswer(stream, protocol, self._deadlines)
        try:
            with trio.fail_after(self._deadlines.request_s):
                request = await self._read(stream, protocol, exchange, host)
        except trio.TooSlowError:
            return  # also a silent client, which gets no answer
        except BadRequestError as err:
            await exchange.send(self._refuse(err.status, str(err)))
        else:
            if request is None:
                return
            async with _cancelled_by_end(stream):
                await self._handle(request, exchange)
        with trio.move_on_after(self._deadlines.linger_s):
            await stream.send_eof()
            await _drain(stream)

    async def _read(
        self,
        stream: trio.SocketStream,
        protocol: h11.Connection,
        exchange: HttpAnswer,
        host: str,
    ) -> Request | None:
        """Read a request; None for a client that sent nothing. Raises BadRequestError."""
        head: h11.Request | None = None
        body, left = bytearray(), PIECES
        try:
            while left:
                event = protocol.next_event()
                left -= 1
                if event is h11.NEED_DATA:
                    await _receive(stream, protocol)
                    left = PIECES
                elif isinstance(event, h11.Request):
                    head = event
                    exchange.is_head = event.method == b"HEAD"
                    _check_length(event)
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > BODY_BYTES:
                        raise _too_large(len(body))
                else:
                    return None if head is None else self._request(head, bytes(body), host)
        except h11.RemoteProtocolError as err:
            status = err.error_status_hint
            raise BadRequestError(status, f"this is not a valid HTTP request: {err}") from err
        raise BadRequestError(400, "the body is in too many small chunks: send larger ones")

    def _request(self, head: h11.Request, body: bytes, host: str) -> Request:
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in head.headers}
        if is_within(host, _LOOPBACK) and not is_within(host, self._proxies):
            _check_own_name(headers.get("host", ""))
        forwarded = headers.get("x-forwarded-for", "")
        return Request(
            method=head.method.decode(),
            path=head.target.decode("latin-1").partition("?")[0],
            headers=headers,
            body=body,
            address=visitor_name(sender_of(host, forwarded, self._proxies)),
        )


class _Place:
    """One of the connections that a visitor may have; gives False if there are enough."""

    def __init__(self, open_: Counter[str], name: str, most: int) -> None:
        self._open, self._name, self._most = open_, name, most

    def __enter__(self) -> bool:
        self._open[self._name] += 1
        return self._open[self._name] <= self._most and self._open.total() <= CONNECTIONS

    def __exit__(self, *_: object) -> None:
        self._open[self._name] -= 1
        if not self._open[self._name]:
            del self._open[self._name]


@asynccontextmanager
async def _cancelled_by_end(stream: trio.SocketStream) -> AsyncIterator[None]:
    """Cancel the body when the client hangs up."""

    async def watch() -> None:
        with suppress(*_BROKEN):
            await _drain(stream)
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        yield
        nursery.cancel_scope.cancel()


async def _receive(stream: trio.SocketStream, protocol: h11.Connection) -> None:
    if protocol.they_are_waiting_for_100_continue:
        go_on = h11.InformationalResponse(status_code=100, headers=[])
        await stream.send_all(protocol.send(go_on) or b"")
    protocol.receive_data(await stream.receive_some(_READ_BYTES))


async def _drain(stream: trio.SocketStream) -> None:
    """Read and forget until the client closes, or has sent far too much."""
    left = _DRAIN_BYTES
    while left > 0 and (piece := await stream.receive_some(_READ_BYTES)):
        left -= len(piece)


def _check_length(head: h11.Request) -> None:
    """Raises BadRequestError before a body that is too long is read, or even sent."""
    for name, value in head.headers:
        if name == b"content-length" and int(value) > BODY_BYTES:
            raise _too_large(int(value))


def _check_own_name(host: str) -> None:
    """Raises BadRequestError for a request under a name that a stranger may have given here."""
    if not is_address_or_localhost(host):
        raise BadRequestError(
            421,
            f"{host[:100]!r} is not a name of this service: open it by its address or localhost, "
            "or name the proxy in front of it with --trusted-proxy",
        )


def _too_large(size: int) -> BadRequestError:
    return BadRequestError(413, f"a body of {size:,} bytes is too large: at most {BODY_BYTES:,}")


def visitor_name(host: str) -> str:
    """Name that the limits of a visitor are counted under."""
    address = parse_host(host)
    if address is None:
        return "unknown"
    if address.version == 4:  # noqa: PLR2004 - the protocol's version
        return str(address)
    return str(ipaddress.ip_network((address, _VISITOR_BITS), strict=False))


async def listen(host: str, port: int) -> list[trio.SocketListener]:
    """Listen for connections; port 0 is any free one. Raises UserFacingError."""
    try:
        return list(await trio.open_tcp_listeners(port, host=host))
    except OSError as err:
        raise UserFacingError(
            f"{host}:{port} cannot be listened on ({err.strerror or err}): choose another --listen"
        ) from err
