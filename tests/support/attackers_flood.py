"""A flood from many addresses: unknown keys, bad signatures, garbage and unread streams."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from tequio_shared.log.tiles import encode_bundle
from tests.support.attackers import forged
from tests.support.authors import Author

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.ledgers import Served

STREAMS_EACH = 20
PAUSE_S = 0.02


@dataclass
class FloodCounts:
    """Counts of a flood so far; setting `over` ends it."""

    requests: int = 0
    streams: int = 0
    over: threading.Event = field(default_factory=threading.Event)


@contextlib.contextmanager
def flood(ledger: Served, networks: int) -> Iterator[FloodCounts]:
    """Attack from `networks` /24 networks of the loopback device until the end of the block."""
    spent = FloodCounts()
    threads = [
        threading.Thread(target=_attack, args=(ledger, f"127.0.{at}.1", spent), daemon=True)
        for at in range(1, networks + 1)
    ]
    for thread in threads:
        thread.start()
    try:
        yield spent
    finally:
        spent.over.set()
        for thread in threads:
            thread.join(20)


def _attack(ledger: Served, address: str, spent: FloodCounts) -> None:
    transport = httpx.HTTPTransport(local_address=address, verify=False)
    with (
        contextlib.ExitStack() as open_streams,
        httpx.Client(base_url=ledger.url, transport=transport, timeout=20) as http,
    ):
        for _ in range(STREAMS_EACH):
            answer = open_streams.enter_context(http.stream("GET", "/v1/events"))
            spent.streams += answer.status_code == httpx.codes.OK
        now = time.time_ns() // 1_000_000
        stranger = Author(f"flood {address}", ledger.net)
        sound = stranger.register(now)
        bodies = (
            encode_bundle([forged(sound).leaf()] * 40),
            encode_bundle([sound.leaf()[:-1]] * 100),
            encode_bundle([b"\x01\x01" + b"[" * 16_000] * 30),
            b"\xff" * 100_000,
        )
        while not spent.over.is_set():
            for body in bodies:
                with contextlib.suppress(httpx.TransportError):
                    http.post("/v1/statements", content=body)
                spent.requests += 1
            time.sleep(PAUSE_S)
