"""What one sender may ask of the process: rates, event streams, and bodies that are read.

The bucket of an address is charged before a signature is verified, the bucket of a key only after:
otherwise anybody could empty a member's bucket with garbage in its name. Addresses count by
network, IPv4 by /24 and IPv6 by /48, because one holder of an address there usually holds many.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from tequio_ledger import metrics
from tequio_shared import addresses
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ratelimit import TokenBuckets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Hashable

    from starlette.requests import Request

    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.runtime import Clock
    from tequio_shared.ids import PeerKey

BURST_S = 10
"""A bucket holds what its rate gives in this time."""
REGISTRATION = 10
"""What a new key costs its address, in statements: it stays in the log permanently."""
NAMES = 65_536
"""Keys, and addresses, that are remembered."""
STREAMS = 2_000
PAGES = 1_000
CROWDED = 4
"""Streams that an address may hold while more than half of the places are taken."""
PATIENCE_S = 30.0
SLOWEST_BYTES_S = 32 << 10
"""A body may take this long, and more if it is large, at the rate of a slow line."""
_DIGITS = 16  # enough for every number that a statement can hold


class RateLimiter:
    """Token buckets by key and by address, so that a flood costs its sender; thread-safe."""

    def __init__(self, settings: LedgerSettings, clock: Clock) -> None:
        self._keys = _buckets(settings.key_rate)
        self._addresses = _buckets(settings.address_rate)
        self._clock = clock
        self._lock = threading.Lock()

    def charge_address(self, network: str, count: int) -> None:
        """Charge an address network; raises RefusedError("rate-limited")."""
        if not self._has_tokens(self._addresses, network, count):
            metrics.RATE_LIMITED.labels(limit="address rate").inc()
            raise RefusedError("rate-limited", "too many statements from this network address")

    def charge_key(self, key: PeerKey) -> None:
        """Charge a key for one statement that it signed; raises RefusedError("rate-limited")."""
        if not self._has_tokens(self._keys, key, 1):
            metrics.RATE_LIMITED.labels(limit="key rate").inc()
            raise RefusedError("rate-limited", "too many statements of this key")

    def _has_tokens(self, buckets: TokenBuckets | None, name: Hashable, count: int) -> bool:
        if buckets is None:
            return True
        with self._lock:
            return buckets.try_spend(name, count, self._clock() / 1000)


def _buckets(per_s: int) -> TokenBuckets | None:
    """Buckets of that rate; 0 sets no limit."""
    return TokenBuckets(per_s, per_s * BURST_S, names=NAMES) if per_s else None


class StreamKind(Enum):
    """What an event stream is for, and how many there may be."""

    EVENTS = STREAMS
    LIVE = PAGES


class StreamLimit:
    """Counts open event streams, by kind and by network address; used from one event loop.

    Pages and programs have places of their own, so that neither can take those of the others. While
    half of a kind's places are free, an address may hold what the settings allow; then a few only,
    so that a handful of strangers with all their places leave room for everybody else.
    """

    def __init__(self) -> None:
        self._open: dict[StreamKind, Counter[str]] = {kind: Counter() for kind in StreamKind}

    @property
    def total(self) -> int:
        """How many streams are open."""
        return sum(counts.total() for counts in self._open.values())

    def check(self, kind: StreamKind, network: str, most: int) -> None:
        """Raise RefusedError("queue-full") when one more would be too many; 0 sets no limit."""
        counts = self._open[kind]
        if counts.total() >= kind.value:
            metrics.RATE_LIMITED.labels(limit="all streams").inc()
            raise RefusedError("queue-full", f"{kind.value} event streams are open")
        if most and 2 * counts.total() >= kind.value:
            most = min(most, CROWDED)
        if most and counts[network] >= most:
            metrics.RATE_LIMITED.labels(limit="address streams").inc()
            raise RefusedError("queue-full", f"your address holds {most} event streams open")

    def enter(self, kind: StreamKind, network: str) -> None:
        """Count a stream."""
        self._open[kind][network] += 1

    def leave(self, kind: StreamKind, network: str) -> None:
        """Stop counting a stream."""
        counts = self._open[kind]
        counts[network] -= 1
        if not counts[network]:
            del counts[network]


def network_of(request: Request) -> str:
    """Name the network that a request came from; one name for all when nobody can tell."""
    return addresses.network_of(request.client.host if request.client else "")


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Read the whole body; raises RefusedError("too-large") past the limit."""
    return b"".join([chunk async for chunk in chunks(request, most_bytes)])


async def chunks(
    request: Request, most_bytes: int, patience_s: float = PATIENCE_S
) -> AsyncIterator[bytes]:
    """Read the body piece by piece; what is too large is refused before it is in memory.

    Raises RefusedError("too-large") past the limit, ("rate-limited") when it comes too slowly (half
    a body must not hold a handler permanently), MalformedError when it breaks off.
    """
    claimed_bytes(request, most_bytes)
    begun, size = asyncio.get_running_loop().time(), 0
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout_at(begun + patience_s + size / SLOWEST_BYTES_S):
                chunk = await anext(stream, None)
        except TimeoutError as err:
            metrics.RATE_LIMITED.labels(limit="slow body").inc()
            raise RefusedError("rate-limited", f"the body came too slowly: {size} bytes") from err
        except ClientDisconnect as err:
            raise MalformedError(f"the body broke off after {size} bytes") from err
        if chunk is None:
            return
        size += len(chunk)
        if size > most_bytes:
            raise RefusedError("too-large", f"a body of more than {most_bytes} bytes")
        yield chunk


def claimed_bytes(request: Request, most_bytes: int) -> int:
    """Read the body's size from its header, the limit where there is none.

    Raises RefusedError("too-large") past the limit.
    """
    text = request.headers.get("content-length")
    claimed = most_bytes if text is None else natural(text)
    if claimed > most_bytes:
        raise RefusedError("too-large", f"a body of {claimed} bytes; {most_bytes} are allowed")
    return claimed


def natural(text: str) -> int:
    """Read a number of ASCII digits; raises MalformedError, also for too many digits."""
    if not (0 < len(text) <= _DIGITS and text.isascii() and text.isdigit()):
        raise MalformedError(f"not a number: {text[:60]!r}")
    return int(text)
