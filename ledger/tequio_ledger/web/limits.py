"""Limits on one sender: request rates, open event streams, and request bodies.

The bucket of an address is charged before a signature is verified, the bucket of a key only after:
otherwise anyone could empty a member's bucket with forged statements. Addresses count by network,
IPv4 by /24 and IPv6 by /48, because the holder of one address usually holds its neighbours too.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from starlette.requests import ClientDisconnect, Request

from tequio_ledger import metrics
from tequio_shared import addresses
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import PeerKey
from tequio_shared.ratelimit import TokenBuckets

if TYPE_CHECKING:
    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.runtime import Clock


BURST_S = 10
"""Burst length: a bucket holds this many seconds of its rate."""
REGISTRATION_COST = 10
"""Price of a new key in statements: it stays in the log permanently."""
MAX_NAMES = 65_536
"""Keys, and addresses, whose buckets are remembered."""
MAX_EVENT_STREAMS = 2_000
MAX_PAGE_STREAMS = 1_000
CROWDED_STREAMS = 4
"""Streams per address while more than half of all streams are in use."""
BODY_PATIENCE_S = 30.0
MIN_BODY_BYTES_S = 32 << 10
"""A body may take `BODY_PATIENCE_S`, plus its size at this rate of a slow connection."""
TURNS_HALF_LIFE_S = 5.0
"""Time after which what an address has used of the threads counts half."""
_SPENT_LITTLE_S = 0.001  # and is forgotten
_DIGITS = 16  # of the largest number that a statement can hold


class StatementLimiter:
    """Token buckets by key and by address, so that a flood costs its sender; thread-safe."""

    def __init__(self, settings: LedgerSettings, clock: Clock) -> None:
        self._keys = make_buckets(settings.key_rate)
        self._addresses = make_buckets(settings.address_rate)
        self._clock = clock
        self._lock = threading.Lock()

    def charge_address(self, network: str, count: int) -> None:
        """Charge an address network; raises RefusedError("rate-limited")."""
        if not self._has_tokens(self._addresses, network, count):
            metrics.RATE_LIMITED.labels(limit="address rate").inc()
            raise RefusedError(
                "rate-limited", "too many statements from this network address: try again later"
            )

    def charge_key(self, key: PeerKey) -> None:
        """Charge a key for one statement that it signed; raises RefusedError("rate-limited")."""
        if not self._has_tokens(self._keys, key, 1):
            metrics.RATE_LIMITED.labels(limit="key rate").inc()
            raise RefusedError("rate-limited", "too many statements of this key: try again later")

    def _has_tokens(self, buckets: TokenBuckets | None, name: Hashable, count: int) -> bool:
        if buckets is None:
            return True
        with self._lock:
            return buckets.try_spend(name, count, self._clock() / 1000)


def make_buckets(per_s: int) -> TokenBuckets | None:
    """Make buckets of a rate; 0 sets no limit."""
    return TokenBuckets(per_s, per_s * BURST_S, names=MAX_NAMES) if per_s else None


class StreamKind(Enum):
    """Purpose of an event stream; the value is the number of streams allowed."""

    EVENTS = MAX_EVENT_STREAMS
    LIVE = MAX_PAGE_STREAMS


class StreamLimit:
    """Counts open event streams, by kind and by network address; used from one event loop.

    Pages and programs have separate limits, so that neither can use up the other's. While half of
    a kind's streams are free, an address may hold as many as the settings allow; after that only a
    few, so that a handful of addresses cannot lock everyone else out. A stream never waits for its
    client, so nothing closes it for a new connection: `part` leaves room in a process that may have
    fewer connections.
    """

    def __init__(self, part: float = 1.0) -> None:
        self._open: dict[StreamKind, Counter[str]] = {kind: Counter() for kind in StreamKind}
        self._most = {kind: max(int(kind.value * part), 1) for kind in StreamKind}

    @property
    def total(self) -> int:
        return sum(counts.total() for counts in self._open.values())

    def check(self, kind: StreamKind, network: str, most: int) -> None:
        """Raise RefusedError("queue-full") when one more would be too many; 0 sets no limit."""
        counts, most_of_all = self._open[kind], self._most[kind]
        if counts.total() >= most_of_all:
            metrics.RATE_LIMITED.labels(limit="all streams").inc()
            raise RefusedError("queue-full", f"all {most_of_all} event streams are in use")
        if most and 2 * counts.total() >= most_of_all:
            most = min(most, CROWDED_STREAMS)
        if most and counts[network] >= most:
            metrics.RATE_LIMITED.labels(limit="address streams").inc()
            raise RefusedError("queue-full", f"your address has {most} event streams open already")

    def enter(self, kind: StreamKind, network: str) -> None:
        self._open[kind][network] += 1

    def leave(self, kind: StreamKind, network: str) -> None:
        counts = self._open[kind]
        counts[network] -= 1
        if not counts[network]:
            del counts[network]


class QueuedConnection(Protocol):
    """The connection of a request that may have to wait for a turn."""

    def queue_request(self) -> None:
        """Record that the request waits: its connection may be closed to make room."""

    def resume_request(self) -> None:
        """Record that the request is worked on."""


class Turns:
    """Lets a few work at a time, next of all the network address that has used least time lately.

    In one common queue, the hundreds of long answers that an attacker may request at once would all
    be made before the next one of anybody else. Used from one event loop.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # the longest waiting first
        self._spent_s: dict[str, float] = {}
        self._halve_s = 0.0

    @asynccontextmanager
    async def turn(
        self, network: str, connection: QueuedConnection | None = None
    ) -> AsyncIterator[bool]:
        """Wait for a turn, which ends with the block; yields whether there was a wait."""
        loop = asyncio.get_running_loop()
        is_free = self._free > 0
        if is_free:
            self._free -= 1
        else:
            mine: asyncio.Future[None] = loop.create_future()
            self._waiting.setdefault(network, deque()).append(mine)
            if connection is not None:
                connection.queue_request()
            try:
                await mine
            except asyncio.CancelledError:
                if not mine.cancelled():  # it had its turn already
                    self._pass_on(loop.time())
                raise
            if connection is not None:
                connection.resume_request()
        begun_s = loop.time()
        try:
            yield not is_free
        finally:
            now_s = loop.time()
            self._spent_s[network] = self._spent_s.get(network, 0.0) + now_s - begun_s
            self._pass_on(now_s)

    def _pass_on(self, now_s: float) -> None:
        """Give the turn to the next; costs as much as networks wait, at most one per connection."""
        if now_s >= self._halve_s:
            self._halve_s = now_s + TURNS_HALF_LIFE_S
            self._spent_s = {one: s / 2 for one, s in self._spent_s.items() if s > _SPENT_LITTLE_S}
        while self._waiting:
            network = min(self._waiting, key=lambda one: self._spent_s.get(one, 0.0))
            queue = self._waiting.pop(network)
            chosen = queue.popleft()
            if queue:
                self._waiting[network] = queue
            if not chosen.done():
                chosen.set_result(None)
                return
        self._free += 1


def network_of(request: Request) -> str:
    """Give the network of a request's sender; the same for all whose address is unknown."""
    return addresses.network_of(request.client.host if request.client else "")


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Read the whole body; raises RefusedError("too-large") past the limit."""
    return b"".join([chunk async for chunk in read_chunks(request, most_bytes)])


async def read_chunks(
    request: Request, most_bytes: int, patience_s: float = BODY_PATIENCE_S
) -> AsyncIterator[bytes]:
    """Read the body in chunks; a body that is too large is refused before it is in memory.

    Raises RefusedError("too-large") past the limit, ("rate-limited") when the body comes too slowly
    (half a body must not hold a handler permanently), MalformedError when it breaks off.
    """
    content_length(request, most_bytes)
    begun, size = asyncio.get_running_loop().time(), 0
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout_at(begun + patience_s + size / MIN_BODY_BYTES_S):
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


def content_length(request: Request, most_bytes: int) -> int:
    """Read the body's size from its header; without one, the size is the limit.

    Raises RefusedError("too-large") past the limit.
    """
    text = request.headers.get("content-length")
    claimed = most_bytes if text is None else parse_natural(text)
    if claimed > most_bytes:
        raise RefusedError(
            "too-large", f"a body of {claimed} bytes; at most {most_bytes} are allowed"
        )
    return claimed


def parse_natural(text: str) -> int:
    """Parse ASCII digits; raises MalformedError, also for too many digits."""
    if not (0 < len(text) <= _DIGITS and text.isascii() and text.isdigit()):
        raise MalformedError(f"not a number: {text[:60]!r}")
    return int(text)
