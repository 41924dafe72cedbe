"""Many readers of the event stream at once: completeness and delay of events."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from ledgers.posts import bundles, newcomers

if TYPE_CHECKING:
    from ledgers.program import LedgerProgram

EVENTS = 40
PATIENCE_S = 120.0
PAUSE_S = 0.05
_AT_ONCE = 50


def listeners(program: LedgerProgram, count: int) -> dict[str, float]:
    """Open streams, log EVENTS statements one by one, and wait until every stream has them all."""
    last = int(httpx.get(f"{program.url}/log/checkpoint").text.split("\n")[1]) - 1
    return asyncio.run(_listen(program, count, last))


async def _listen(program: LedgerProgram, count: int, last: int) -> dict[str, float]:
    url = urlsplit(program.url)
    opened, delays = asyncio.Semaphore(_AT_ONCE), list[float]()
    logged_s: dict[int, float] = {}
    ready = [asyncio.Event() for _ in range(count)]
    async with asyncio.TaskGroup() as tasks:
        followers = [
            tasks.create_task(_follow(url.hostname or "", url.port or 0, last, opened, one))
            for one in ready
        ]
        await asyncio.gather(*(one.wait() for one in ready))
        await _log(program, last, logged_s)
    complete = 0
    for follower in followers:
        seen = follower.result()
        complete += sorted(seen) == list(range(last + 1, last + 1 + EVENTS))
        delays += [max(0.0, at_s - logged_s[index]) for index, at_s in seen.items()]
    delays.sort()
    return {
        "listeners": count,
        "listeners_complete": complete,
        "event_p50_ms": round(1e3 * delays[len(delays) // 2], 1),
        "event_p99_ms": round(1e3 * delays[int(len(delays) * 0.99)], 1),
        "listeners_resident_mb": round(program.resident_bytes() / 1e6, 1),
    }


async def _log(program: LedgerProgram, last: int, logged_s: dict[int, float]) -> None:
    requests = bundles(newcomers(program.net, f"events after {last}", EVENTS), 1)
    async with httpx.AsyncClient(base_url=program.url, timeout=60) as client:
        for request in requests:
            begun_s = time.perf_counter()
            answer = await client.post("/v1/statements", content=request)
            (item,) = answer.raise_for_status().json()["items"]
            logged_s[item["index"]] = begun_s
            await asyncio.sleep(PAUSE_S)


async def _follow(
    host: str, port: int, last: int, opened: asyncio.Semaphore, ready: asyncio.Event
) -> dict[int, float]:
    """Read one stream until it has all events; return the time of each."""
    seen: dict[int, float] = {}
    async with opened:
        reader, writer = await asyncio.open_connection(host, port)
        request = f"GET /v1/events?after={last} HTTP/1.1\r\nhost: {host}\r\n\r\n"
        writer.write(request.encode())
        while b"tequio log" not in await reader.readline():
            pass
    ready.set()
    async with asyncio.timeout(PATIENCE_S):
        while len(seen) < EVENTS:
            line = await reader.readline()
            if line.startswith(b"id: "):
                seen[int(line[4:])] = time.perf_counter()
    writer.close()
    return seen
