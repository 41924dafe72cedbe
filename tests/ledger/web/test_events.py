"""Server-sent events of the real program: nothing missed, nothing twice, resumable."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx

from tequio_ledger.web.events import EventStreams
from tequio_shared.api.network import LogEvent
from tequio_shared.ids import from_text, to_text
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.statement import Entry
from tests.support.authors import Author, newcomers
from tests.support.ledgers import (
    UNLIMITED,
    Served,
    VirtualClock,
    make_settings,
    opened,
    running,
    served,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

PATIENCE_S = 60
FEW_CONNECTIONS = 128
FEW_STREAMS = 62
"""As large a part of `MAX_EVENT_STREAMS` as those are of `MAX_CONNECTIONS`."""
MANY_STREAMS = 300
"""More than the web server's library would serve at once if it was left to itself."""


def events(answer: httpx.Response) -> Iterator[tuple[int, Entry]]:
    """Read events off a stream as they come."""
    index = -1
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            index = int(value)
        if name == "data":
            yield index, Entry.parse(from_text(value, None))


def log(http: httpx.Client, author: Author, now_ms: int, count: int) -> list[int]:
    leaves = [one.leaf() for one in newcomers(to_text(author.key), author.net, count, now_ms)]
    items = http.post("/v1/statements", content=encode_bundle(leaves)).json()["items"]
    return [item["index"] for item in items]


def test_a_stream_begins_with_the_genesis_and_goes_on_live(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    with http.stream("GET", "/v1/events") as answer:
        stream = events(answer)
        assert next(stream)[1].statement.type == "net.genesis"
        wanted = log(http, author, now_ms, 3)
        got: list[int] = []
        while not got or got[-1] < wanted[-1]:
            got.append(next(stream)[0])
    assert got == list(range(1, wanted[-1] + 1))


def test_a_stream_resumes_after_the_last_event_id(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    first, second, third = log(http, author, now_ms, 3)
    for params, headers in (
        ({"after": str(first)}, {}),
        ({}, {"last-event-id": str(first)}),
        ({"after": "0"}, {"last-event-id": str(first)}),
    ):
        with http.stream("GET", "/v1/events", params=params, headers=headers) as answer:
            stream = events(answer)
            assert [next(stream)[0], next(stream)[0]] == [second, third]


def test_what_a_stream_says_is_under_the_checkpoint(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    with http.stream("GET", "/v1/events") as answer:
        stream = events(answer)
        (wanted,) = log(http, author, now_ms, 1)
        while next(stream)[0] < wanted:
            pass
        size = int(http.get("/log/checkpoint").text.split("\n")[1])
        assert size > wanted


def test_many_streams_keep_nobody_else_from_the_ledger(tmp_path: Path, now_ms: int) -> None:
    with ExitStack() as open_, served(tmp_path, *UNLIMITED, "--address-streams", "0") as program:
        host, _, port = program.url.removeprefix("http://").rpartition(":")
        streams = []
        for _ in range(MANY_STREAMS):
            line = open_.enter_context(socket.create_connection((host, int(port)), timeout=30))
            line.sendall(b"GET /v1/events?after=0 HTTP/1.1\r\nhost: ledger\r\n\r\n")
            streams.append(open_.enter_context(line.makefile("rb")))
        with httpx.Client(base_url=program.url, timeout=30) as http:
            (index,) = log(http, Author("somebody else", program.net), now_ms, 1)
        for stream in streams:
            assert f"id: {index}\n".encode() in stream


def open_stream(program: Served, version: str) -> socket.socket:
    host, _, port = program.url.removeprefix("http://").rpartition(":")
    line = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
    line.sendall(f"GET /v1/events?after=0 HTTP/{version}\r\nhost: ledger\r\n\r\n".encode())
    return line


def indices(line: socket.socket, last: int) -> list[int]:
    """Read the indices of entries up to one of them."""
    found: list[int] = []
    with line.makefile("rb") as stream:
        while not found or found[-1] < last:
            raw = stream.readline()
            assert raw, "the stream ended"
            if raw.startswith(b"id: "):
                found.append(int(raw[4:]))
    return found


def test_a_client_of_http_1_0_gets_events_without_chunks(
    program: Served, http: httpx.Client, author: Author, now_ms: int
) -> None:
    with open_stream(program, "1.0") as line:
        last = max(log(http, author, now_ms, 2))
        assert indices(line, last) == list(range(1, last + 1))


class StoppedReader:
    """A connection whose client reads nothing until `reads` is set."""

    def __init__(self) -> None:
        self.reads = False
        self.written = b""
        self.has_written = asyncio.Event()

    def write_chunk_nowait(self, framed: bytes) -> bool:
        if self.reads:
            self.written += framed
            self.has_written.set()
        return self.reads


def test_a_live_stream_whose_client_does_not_read_goes_on_by_itself(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def scenario(ledger: Ledger) -> None:
        async with running(ledger):
            streams, slow, quick = EventStreams(), StoppedReader(), StoppedReader()
            quick.reads = True
            size = ledger.published.size
            lives = [
                asyncio.create_task(streams.go_live(ledger, one, size)) for one in (slow, quick)
            ]
            await asyncio.sleep(0)
            (entry,) = newcomers("somebody", ledger.state.net, 1, clock())
            await ledger.sequencer.submit([entry])
            async with asyncio.timeout(PATIENCE_S):
                assert await lives[0] == size  # has got nothing of it, and misses nothing
                await quick.has_written.wait()
            event = LogEvent(size, entry.leaf()).encode()
            assert quick.written == b"%x\r\n%b\r\n" % (len(event), event)
            assert not lives[1].done()
            lives[1].cancel()

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(scenario(ledger))


def test_the_setting_of_connections_bounds_the_streams(tmp_path: Path) -> None:
    options = (*UNLIMITED, "--address-streams", "0", "--connections", str(FEW_CONNECTIONS))
    with served(tmp_path, *options) as program, ExitStack() as open_:
        for _ in range(FEW_STREAMS):
            stream = open_.enter_context(open_stream(program, "1.1"))
            assert b" 200 " in stream.recv(1 << 12)
        refused = open_.enter_context(open_stream(program, "1.1"))
        assert b" 503 " in refused.recv(1 << 12)
