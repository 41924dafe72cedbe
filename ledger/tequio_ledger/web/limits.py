"""Limits on one sender: request rates, open event streams, and request bodies.

The bucket of an address is charged before a signature is verified, the bucket of a key only after:
otherwise anyone could empty a member's bucket with forged statements. Addresses count by network,
IPv4 by /24 and IPv6 by /48, because the holder of one address usually holds its neighbours too.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from mmap import mmap
from typing import TYPE_CHECKING, Protocol, TypeVar

from starlette.requests import ClientDisconnect, Request

from tequio_ledger import metrics
from tequio_shared import addresses
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import PeerKey
from tequio_shared.ratelimit import TokenBuckets

if TYPE_CHECKING:
    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.runtime import Clock

_R = TypeVar("_R")

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
CREDIT_S = 0.05
"""Time of the threads that an address may use before others because it used less lately."""
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
        """Charge a key for a statement or a blob that it signed.

        Raises RefusedError("rate-limited").
        """
        if not self._has_tokens(self._keys, key, 1):
            metrics.RATE_LIMITED.labels(limit="key rate").inc()
            raise RefusedError(
                "rate-limited", "too many statements and uploads of this key: try again later"
            )

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


CONNECTION = "connection"
"""Key of a request's connection in the state of its scope."""


class WaitingRequest(Protocol):
    """A request that may have to wait for a turn."""

    def queue_request(self, turn: asyncio.Future[bool]) -> None:
        """Record that the request waits: its connection may be closed to make room.

        The connection ends the wait with the result False if its client is gone.
        """

    def resume_request(self) -> None:
        """Record that the request is worked on."""


class QueuedConnection(WaitingRequest, Protocol):
    """The connection of a request that may have to wait for a turn."""

    def hold_body(self, size_bytes: int) -> None:
        """Record that so much of a body is in memory: too much of all of them is given up."""


@dataclass(slots=True)
class Turn:
    used_s: float = 0.0
    """Time of a processor that the work took. Without it, all turns count alike."""

    def run(self, work: Callable[[], _R]) -> _R:
        """Do the work of this turn and measure it; for a thread."""
        begun_s = time.thread_time()  # of this thread: by the clock, other load would count
        try:
            return work()
        finally:
            self.used_s = time.thread_time() - begun_s


class Turns:
    """Lets a few work at a time, in turns of the network addresses that wait; for one event loop.

    In one common queue, the hundreds of long answers that an attacker may request at once would all
    be made before the next one of anybody else. So each network address has a queue, and next is
    the one that used least; of several, the one that waits longest.

    Use is compared with that of the address that had the last turn, which grows steadily while
    others wait (start-time fair queueing: Goyal, Vin and Cheng, 1996). A new address begins even
    with it, so it waits for about one request of each other. What an address used while nobody
    waited does not count, and one that used less lately is ahead by at most `CREDIT_S`.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: dict[str, deque[asyncio.Future[bool]]] = {}  # the longest waiting first
        self._used_s: dict[str, float] = {}
        self._last_s = 0.0  # use of the address that had the last turn, before it

    @asynccontextmanager
    async def turn(
        self, network: str, connection: WaitingRequest | None = None
    ) -> AsyncIterator[Turn]:
        """Wait for a turn, which ends with the block; raises RefusedError if the client is gone."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(network, connection)
        turn = Turn()
        begun_s = self._use_of(network)
        self._last_s = max(self._last_s, begun_s)
        try:
            yield turn
        finally:
            if turn.used_s:
                used_s = max(begun_s, self._used_s.get(network, 0.0))  # it may have two turns
                self._used_s[network] = used_s + turn.used_s
            self._pass_on()

    async def _wait(self, network: str, connection: WaitingRequest | None) -> None:
        mine: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(mine)
        if connection is not None:
            connection.queue_request(mine)
        try:
            has_turn = await mine
        except asyncio.CancelledError:
            if not mine.cancelled() and mine.result():  # it had its turn already
                self._pass_on()
            raise
        if not has_turn:
            raise RefusedError("queue-full", "the client is gone")
        if connection is not None:
            connection.resume_request()

    def _use_of(self, network: str) -> float:
        return max(self._used_s.get(network, self._last_s), self._last_s - CREDIT_S)

    def _pass_on(self) -> None:
        """Give the turn to the next; costs as much as networks wait, at most one per connection."""
        if len(self._used_s) > MAX_NAMES:
            self._used_s = {one: s for one, s in self._used_s.items() if s > self._last_s}
        while self._waiting:
            network = min(self._waiting, key=self._use_of)
            queue = self._waiting.pop(network)
            chosen = queue.popleft()
            if queue:
                self._waiting[network] = queue
            if not chosen.done():
                chosen.set_result(True)
                return
        self._free += 1


def network_of(request: Request) -> str:
    """Give the network of a request's sender; the same for all whose address is unknown."""
    return addresses.network_of(request.client.host if request.client else "")


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Read the whole body; raises RefusedError("too-large") past the limit.

    Hundreds of bodies that grow in turns would leave holes in the heap, so until it is complete
    each has pages of its own: they occupy what was written, and go back when it is given up.
    """
    connection: QueuedConnection | None = request.scope.get("state", {}).get(CONNECTION)
    with mmap(-1, most_bytes) as body:
        async for chunk in read_chunks(request, most_bytes):
            body.write(chunk)
            if connection is not None:
                connection.hold_body(body.tell())
        return body[: body.tell()]


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
