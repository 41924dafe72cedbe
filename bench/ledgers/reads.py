"""Requests per second over HTTP of what readers request most: tiles, the checkpoint, a page."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ledgers.program import LedgerProgram

CONNECTIONS = 16
_LENGTH = b"content-length: "


def rate(program: LedgerProgram, path: str, seconds: float = 5.0) -> float:
    """Request one path from several connections; return answers per second."""
    return round(asyncio.run(_ask(program.url, path, seconds)))


async def _ask(url: str, path: str, seconds: float) -> float:
    end_s = time.perf_counter() + seconds
    begun_s = time.perf_counter()
    counts = await asyncio.gather(*(_connection(url, path, end_s) for _ in range(CONNECTIONS)))
    return sum(counts) / (time.perf_counter() - begun_s)


async def _connection(url: str, path: str, end_s: float) -> int:
    """Repeat a request on one connection, without a client library, which would dominate."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    request = f"GET {path} HTTP/1.1\r\nhost: bench\r\naccept-encoding: identity\r\n\r\n".encode()
    count = 0
    while time.perf_counter() < end_s:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{path}: {head.decode()}")
        await reader.readexactly(_body_bytes(head))
        count += 1
    writer.close()
    return count


def _body_bytes(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    (length,) = (line for line in lines if line.startswith(_LENGTH))
    return int(length.removeprefix(_LENGTH))
