"""The server: what one connection may hold, for how long, and an end in order."""

from __future__ import annotations

import asyncio
import gc
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.web.connections import OpenConnection
from tequio_ledger.web.limits import CONNECTION, Turns
from tequio_ledger.web.server import MAX_HEAD_BYTES, MAX_HEADERS, MAX_PIECES, WebServer, bind
from tequio_shared.errors import RefusedError
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
PATIENCE_S = 20.0


class Held:
    """An application that answers `/` at once, and any other path when it may."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with two bytes."""
        if scope["path"] != "/":
            self.asked.set()
            await self.may_answer.wait()
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})


def served(
    scenario: Callable[[Held, WebServer, int], Awaitable[None]], other: ASGIApp | None = None
) -> None:
    async def run() -> None:
        app = Held()
        with bind("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            server = WebServer(other or app, listener)
            async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
                serving = tasks.create_task(server.serve())
                await scenario(app, server, port)
                app.may_answer.set()
                server.stop()
                await serving

    asyncio.run(run())


async def answer_of(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(2)
    return head.split(b"\r\n", 1)[0]


def test_a_connection_serves_one_request_after_the_other_without_delay() -> None:
    async def scenario(_app: Held, _server: WebServer, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(GET)
            assert await answer_of(reader) == b"HTTP/1.1 200 OK"
        writer.close()

    served(scenario)


@attack("D9", layer="net", ends="a request whose connection ends is given up")
def test_requests_of_closed_connections_wait_for_no_turn() -> None:
    turns, seen = Turns(1), asyncio.Queue[str]()

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.put_nowait("waits")
        try:
            async with turns.turn("network", scope["state"][CONNECTION]):
                pass
        except RefusedError:
            seen.put_nowait("is given up")

    async def scenario(_app: Held, _server: WebServer, port: int) -> None:
        async with turns.turn("other"):
            for _ in range(20):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(GET)
                assert await seen.get() == "waits"
                writer.close()
                assert await seen.get() == "is given up"

    served(scenario, app)


def test_answers_are_sent_at_once() -> None:
    """Nagle's algorithm would hold a body back until its head was acknowledged."""
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP, "asyncio looks at this alone"


def test_the_head_of_a_pipelined_request_is_bounded_too() -> None:
    async def scenario(app: Held, _server: WebServer, port: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n")
        await app.asked.wait()
        sent = 0
        try:
            async with asyncio.timeout(1):  # then the server has stopped reading
                while sent < 256 * MAX_HEAD_BYTES:
                    writer.write(b"x-more: " + b"y" * 8_000 + b"\r\n")
                    await writer.drain()
                    sent += 8_010
        except (TimeoutError, ConnectionError):
            pass
        assert sent < 256 * MAX_HEAD_BYTES
        app.may_answer.set()
        writer.transport.abort()

    served(scenario)


async def refusal_of(port: int, request: bytes) -> bytes:
    """Send a request; return all that is answered until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with suppress(ConnectionError):
        writer.write(request)
        await writer.drain()
    answer = b""
    with suppress(ConnectionError):
        while more := await reader.read(1 << 16):
            answer += more
    writer.transport.abort()
    return answer


CHUNKED = b"POST /slow HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


@attack("D4", layer="net", ends="refused with 400 after a few hundred")
@pytest.mark.parametrize(
    "request_",
    [
        CHUNKED + b"1\r\na\r\n" * MAX_PIECES,
        b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: b\r\n" * MAX_HEADERS + b"\r\n",
    ],
)
def test_what_takes_long_to_parse_is_refused(request_: bytes) -> None:
    async def scenario(app: Held, _server: WebServer, port: int) -> None:
        app.may_answer.set()
        assert (await refusal_of(port, request_)).startswith(b"HTTP/1.1 400 ")
        longer = CHUNKED + b"40\r\n" + bytes(64) + b"\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(longer + b"0\r\n\r\n")
        assert await answer_of(reader) == b"HTTP/1.1 200 OK"
        writer.close()

    served(scenario)


@attack("D8", layer="net", ends="its connection is closed, and nothing is logged")
def test_a_body_that_is_malformed_after_its_answer_began_is_not_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def streaming(_scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def run() -> None:
        with bind("127.0.0.1", 0) as listener:
            server = WebServer(streaming, listener)
            async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
                serving = tasks.create_task(server.serve())
                reader, writer = await asyncio.open_connection(*listener.getsockname())
                writer.write(CHUNKED)
                await reader.readuntil(b"ok")
                writer.write(b"no chunk\r\n")
                with suppress(ConnectionError):
                    assert not (await reader.read()).startswith(b"HTTP/1.1")
                writer.transport.abort()
                server.stop()
                await serving

    asyncio.run(run())
    assert not caplog.records


def test_a_closed_connection_is_freed_at_once() -> None:
    """A cycle would wait for the collector, which stops the event loop."""

    async def scenario(_app: Held, _server: WebServer, port: int) -> None:
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET)
            assert await answer_of(reader) == b"HTTP/1.1 200 OK"
            writer.close()
            await writer.wait_closed()
        await asyncio.sleep(0.2)
        # Not isinstance: that asks each object for its class, and some of torch warn.
        assert not any(type(one) is OpenConnection for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        served(scenario)
    finally:
        gc.enable()


def test_a_request_under_way_is_answered_after_stop_and_its_connection_closed() -> None:
    async def scenario(app: Held, server: WebServer, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n")
        await app.asked.wait()
        server.stop()
        await asyncio.sleep(0.3)
        app.may_answer.set()
        assert await answer_of(reader) == b"HTTP/1.1 200 OK"
        assert await reader.read() == b""
        writer.close()

    served(scenario)
