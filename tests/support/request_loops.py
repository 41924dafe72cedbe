"""Request loops against a served ledger: floods from a few networks, and honest senders.

All requests come from one machine, so each names its network in `x-forwarded-for`, which the ledger
trusts as if a proxy had set it. Raw HTTP/1.1, since a client library would be the bottleneck.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CALM_S = 0.1
"""Pause of an honest peer between two requests."""
CONNECTIONS = 4
"""Connections of one flood."""

Request = tuple[str, str, bytes]
"""Method, path, body."""


@dataclass
class SenderReplies:
    """The answers to one sender, and how long it waited for them."""

    statuses: Counter[int] = field(default_factory=Counter)
    waits_s: list[float] = field(default_factory=list)
    broken: int = 0
    """Requests without an answer."""

    @property
    def asked(self) -> int:
        """The number of requests sent."""
        return self.statuses.total() + self.broken

    @property
    def served(self) -> int:
        """The number of successful requests."""
        return sum(count for status, count in self.statuses.items() if status < 300)


class RequestConnection:
    """One connection, reopened when the ledger closes it."""

    def __init__(self, url: str, network: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self._place = host, int(port)
        self._head = f"host: x\r\nx-forwarded-for: {network}\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, request: Request, told: SenderReplies) -> None:
        """Send one request, read its whole answer, and count it in `replies`."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            status = await self._ask(*request)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            told.broken += 1
            await self.close()
            return
        told.statuses[status] += 1
        told.waits_s.append(loop.time() - begun)

    async def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()
        self._reader = self._writer = None

    async def _ask(self, method: str, path: str, body: bytes) -> int:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(*self._place)
        length = f"content-length: {len(body)}\r\n" if body else ""
        self._writer.write(f"{method} {path} HTTP/1.1\r\n{self._head}{length}\r\n".encode() + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        size = re.search(r"\r\ncontent-length: (\d+)", head)
        await self._reader.readexactly(int(size[1]) if size else 0)
        if "connection: close" in head:
            await self.close()
        return int(head.split(" ", 2)[1])


async def flood(
    url: str, network: str, make: Callable[[int], Request], over: asyncio.Event
) -> SenderReplies:
    """Send requests as fast as answers come, over several connections, until `over` is set."""
    told, numbers = SenderReplies(), iter(range(1 << 40))

    async def one() -> None:
        line = RequestConnection(url, network)
        while not over.is_set():
            await line.ask(make(next(numbers)), told)
        await line.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(CONNECTIONS):
            tasks.create_task(one())
    return told


async def calmly(url: str, network: str, requests: list[Request]) -> SenderReplies:
    """Send one request after the other with pauses, as an honest peer does."""
    told, line = SenderReplies(), RequestConnection(url, network)
    for request in requests:
        await line.ask(request, told)
        await asyncio.sleep(CALM_S)
    await line.close()
    return told


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answers to all senders."""

    honest: list[SenderReplies]
    floods: dict[str, SenderReplies]
    seconds: float


async def meet(
    url: str,
    people: dict[str, list[Request]],
    floods: dict[str, Callable[[int], Request]],
) -> Outcome:
    """Run floods while honest senders ask; both are given by network."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    begun = loop.time()
    async with asyncio.TaskGroup() as tasks:
        flooding = {
            network: tasks.create_task(flood(url, network, make, over))
            for network, make in floods.items()
        }
        asking = [
            tasks.create_task(calmly(url, network, requests))
            for network, requests in people.items()
        ]
        await asyncio.wait(asking)
        over.set()
    return Outcome(
        honest=[one.result() for one in asking],
        floods={network: one.result() for network, one in flooding.items()},
        seconds=loop.time() - begun,
    )
