"""Thousands of open event streams in one process, which counts what each of them gets.

Run as a program: `many_streams.py HOST PORT STREAMS AFTER`. It prints `ready` when all are open,
then reads a number of entries, waits until each stream has got them, and prints a line of JSON:
`least` is the least that a stream got, `arrivals` the times at which some streams got each entry.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from functools import partial

SAMPLED = 32
PATIENCE_S = 60.0
_PAUSE_S = 0.1
_OPENED_AT_ONCE = 100
_EVENT = b"\nevent: entry\n"
_ID = re.compile(rb"id: (\d+)\nevent: entry\n")


class CountedStream(asyncio.Protocol):
    """One stream; only the sampled ones read the indices of their entries."""

    def __init__(self, request: bytes, arrivals: dict[int, list[float]] | None) -> None:
        self.entries = 0
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lost = False
        self._request = request
        self._arrivals = arrivals
        self._rest = b""  # the end of what was read, in which a mark may have begun

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        transport.write(self._request)  # type: ignore[attr-defined]  # a stream's

    def data_received(self, data: bytes) -> None:
        if not self.opened.done():
            if b" 200 " not in data.partition(b"\r\n")[0]:
                self.opened.set_exception(SystemExit(data.decode("utf-8", "replace")[:400]))
                return
            self.opened.set_result(None)
        text = self._rest + data
        self.entries += text.count(_EVENT)
        if self._arrivals is not None:
            now_s = time.perf_counter()
            for found in _ID.finditer(text):
                self._arrivals.setdefault(int(found[1]), []).append(now_s)
        end = text.rfind(_EVENT)
        # From the last mark on nothing of it may be counted again.
        tail = text[end + len(_EVENT) :] if end >= 0 else text
        self._rest = tail[-64:]

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if not self.opened.done():
            self.opened.set_exception(SystemExit(f"a stream was closed: {exc}"))


async def _listen(host: str, port: int, count: int, after: int) -> None:
    loop = asyncio.get_running_loop()
    request = f"GET /v1/events?after={after} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()
    arrivals: dict[int, list[float]] = {}
    streams: list[CountedStream] = []
    for first in range(0, count, _OPENED_AT_ONCE):
        opened = []
        for at in range(first, min(first + _OPENED_AT_ONCE, count)):
            sampled = arrivals if at < SAMPLED else None
            made = partial(CountedStream, request, sampled)
            opened.append((await loop.create_connection(made, host, port))[1])
        await asyncio.gather(*(one.opened for one in opened))
        streams += opened
    print("ready", flush=True)
    wanted = int(await asyncio.to_thread(sys.stdin.read))
    deadline_s = time.monotonic() + PATIENCE_S
    while min(one.entries for one in streams) < wanted and time.monotonic() < deadline_s:  # noqa: ASYNC110 - looks rarely, and costs streams nothing
        await asyncio.sleep(_PAUSE_S)
    report = {
        "least": min(one.entries for one in streams),
        "lost": sum(one.lost for one in streams),
        "arrivals": arrivals,
    }
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    asyncio.run(_listen(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
