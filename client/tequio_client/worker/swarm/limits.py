"""Limits for each peer, each network address, and all of them together.

`RateLimiter` guards the peer port. It is pure bookkeeping under a given clock, and all its tables
are bounded, since strangers choose the keys. A network address is checked before a peer has proven
its key, the peer itself afterwards:

* An address is only slowed down or counted, never banned: many people may share it.
* A peer that sends what no honest program sends is banned by its key, longer each time.

`ByteBudget` caps uploads and downloads as chosen by this computer's owner. Times are in seconds,
sizes in bytes.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import trio

from tequio_shared.addresses import is_loopback, network_of
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import PeerKey, peer_id_text
from tequio_shared.ratelimit import TokenBuckets

T = TypeVar("T")

CONNECTIONS = 200
"""Maximum connections of all peers together."""
HANDSHAKES = 256
"""Maximum connections of all addresses that have not proven a key yet."""
BURST_S = 10.0
"""Seconds of unused rate that can be used later."""
MIN_CHARGE_BYTES = 16_384
"""Minimum charge for a read: small messages cost time, not bytes."""
BANS = 4_096
"""Maximum banned keys; beyond it the oldest ban ends."""
LONGEST_BAN_S = 3_600.0
FORGIVEN_FAULTS = 3
"""Faults forgiven at once: versions differ, and links break in the middle of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerLimits:
    """Limits of the peer port, and the patience with peers.

    An address counts by its network, IPv4 by /24 and IPv6 by /48, because the holder of one address
    there usually holds many. Loopback, used by demos and tests, has higher limits.
    """

    streams: int = 32
    """Open inbound streams of one peer."""
    inbound: int = 150
    """Inbound part of CONNECTIONS: a flood leaves room for peers that we choose."""
    connections: int = 32
    """Inbound connections of one network address."""
    handshakes: int = 8
    """Part of `connections` that has not proven a key yet."""
    arrivals_per_s: float = 2.0
    """New inbound connections of one network address."""
    bytes_per_s: float = 160e6
    """Bytes from and to one network address, each way; a short read counts as MIN_CHARGE_BYTES.

    A line of 1 Gbit/s, with what its short reads are charged: a fetch at full speed is not slowed.
    """
    gossip_per_s: float = 100.0
    """Gossip messages and control entries of one forwarder."""
    faults_per_s: float = 0.05
    """Messages that no honest program sends; with FORGIVEN_FAULTS used up, the peer is banned."""
    records_per_s: float = 10.0
    """Address records sent by one peer."""
    dials_per_s: float = 2.0
    """Dials of addresses that one network address named."""
    dials_to_per_s: float = 1.0
    """Dials of claimed addresses in one network."""
    dial_backs_per_s: float = 0.5
    """Times that one network address may have us try whether it can be reached."""
    introductions_per_s: float = 2.0
    """Times that one network address may have us introduce it to another peer."""
    loopback_factor: int = 16
    first_ban_s: float = 60.0
    """First ban of a peer that sent garbage; each further one is twice as long."""
    connect_s: float = 15.0
    silence_s: float = 45.0
    """A connection on which nothing arrives for this long is closed, not even a ping."""
    repeat_topics_s: float = 30.0
    """Interval at which each peer is sent our gossip topics again."""


class RateLimiter:
    """Present allowance of each address and each peer; `clock` gives seconds that never go back."""

    def __init__(self, limits: PeerLimits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self._clock = clock
        self._inbound: Counter[str] = Counter()  # by network address
        self._handshakes: Counter[str] = Counter()
        self._arrivals = TokenBuckets(limits.arrivals_per_s, limits.arrivals_per_s * BURST_S)
        # One second of bytes and no BURST_S: ten times as much at once would be the flood itself.
        self._bytes = TokenBuckets(limits.bytes_per_s, limits.bytes_per_s)
        self._gossip = TokenBuckets(limits.gossip_per_s, limits.gossip_per_s * BURST_S)
        self._records = TokenBuckets(limits.records_per_s, limits.records_per_s * BURST_S)
        self._dials = TokenBuckets(limits.dials_per_s, limits.dials_per_s * BURST_S)
        self._dials_to = TokenBuckets(limits.dials_to_per_s, limits.dials_to_per_s * BURST_S)
        self._dial_backs = TokenBuckets(limits.dial_backs_per_s, limits.dial_backs_per_s * BURST_S)
        introductions = limits.introductions_per_s
        self._introductions = TokenBuckets(introductions, introductions * BURST_S)
        self._faults = TokenBuckets(limits.faults_per_s, FORGIVEN_FAULTS)
        self._bans: OrderedDict[PeerKey, _Ban] = OrderedDict()  # the newest last
        self.read_bytes = 0  # over all sockets since the start: contents, gossip and what frames it
        self.written_bytes = 0

    @property
    def inbound(self) -> int:
        return self._inbound.total()

    @contextmanager
    def admit_connection(self, host: str) -> Iterator[ExitStack]:
        """Count an inbound connection while it lasts, and its handshake until `close` of the stack.

        Raises PeerError when there are too many.
        """
        network = network_of(host)
        self._check_arrival(network)
        with counted(self._inbound, network), ExitStack() as handshake:
            handshake.enter_context(counted(self._handshakes, network))
            yield handshake

    def delay_s(self, network: str, size_bytes: int, *, is_ours: bool) -> float:
        """Count bytes and charge an address; returns the pause before more are read or sent."""
        if is_ours:
            self.written_bytes += size_bytes
        else:
            self.read_bytes += size_bytes
        charged_bytes = max(size_bytes, MIN_CHARGE_BYTES)
        return self._bytes.spend(
            (network, is_ours), charged_bytes, self._clock(), self._times(network)
        )

    def allows_gossip(self, forwarder: PeerKey, count: int) -> bool:
        """Check and charge `count` more control entries of the peer."""
        return self._gossip.try_spend(forwarder, count, self._clock())

    def gossip_allowed(self, forwarder: PeerKey, count: int) -> int:
        """Charge the peer for as many of `count` forwarded messages as its rate allows."""
        return self._gossip.spend_some(forwarder, count, self._clock())

    def allows_records(self, peer: PeerKey, count: int) -> bool:
        """Check and charge `count` more address records of the peer."""
        return self._records.try_spend(peer, count, self._clock())

    def check_claimed_dial(self, source: str) -> None:
        """Charge `source` for a dial of an address that it named; PeerError after too many."""
        if not self._dials.try_spend(source, 1, self._clock(), self._times(source)):
            raise PeerError(f"too many dials of addresses that {source} named")

    def check_dial_to(self, network: str) -> None:
        """Charge a network address for a dial that somebody else asked for; PeerError likewise."""
        if not self._dials_to.try_spend(network, 1, self._clock(), self._times(network)):
            raise PeerError(f"too many dials to {network}")

    def allows_dial_back(self, network: str) -> bool:
        """Check and charge one more attempt to reach a peer of this network address."""
        return self._dial_backs.try_spend(network, 1, self._clock(), self._times(network))

    def allows_introduction(self, network: str) -> bool:
        """Check and charge one more introduction of a peer of this network address."""
        return self._introductions.try_spend(network, 1, self._clock(), self._times(network))

    def record_fault(self, peer: PeerKey) -> bool:
        """Count a message that no honest program sends; returns whether the peer is banned now."""
        now = self._clock()
        if self._faults.try_spend(peer, 1, now):
            return False
        # An ended ban stays in the table on purpose: it is what makes the next one longer.
        before = self._bans.pop(peer, None)
        length_s = min(2 * before.length_s if before else self.limits.first_ban_s, LONGEST_BAN_S)
        self._bans[peer] = _Ban(until_s=now + length_s, length_s=length_s)
        if len(self._bans) > BANS:
            self._bans.popitem(last=False)
        return True

    def is_banned(self, peer: PeerKey) -> bool:
        ban = self._bans.get(peer)
        return ban is not None and self._clock() < ban.until_s

    def check_not_banned(self, peer: PeerKey) -> None:
        if self.is_banned(peer):
            raise PeerError(f"{peer_id_text(peer)} is banned for sending garbage")

    def _check_arrival(self, network: str) -> None:
        times = self._times(network)
        if self.inbound >= self.limits.inbound or self._handshakes.total() >= HANDSHAKES:
            raise PeerError("too many connections")
        if self._inbound[network] >= self.limits.connections * times:
            raise PeerError(f"too many connections from {network}")
        if self._handshakes[network] >= self.limits.handshakes * times:
            raise PeerError(f"too many connections without a key from {network}")
        # The bucket comes last: a connection refused above must not cost the address a token.
        if not self._arrivals.try_spend(network, 1, self._clock(), times):
            raise PeerError(f"connections come too fast from {network}")

    def _times(self, network: str) -> int:
        return self.limits.loopback_factor if is_loopback(network) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ban:
    until_s: float
    length_s: float


@contextmanager
def counted(counter: Counter[T], name: T) -> Iterator[None]:
    """Count one more of that name during the block."""
    counter[name] += 1
    try:
        yield
    finally:
        counter[name] -= 1
        # Strangers choose the names, and those at zero would accumulate.
        if not counter[name]:
            del counter[name]


class ByteBudget:
    """A token bucket: at most `bytes_per_s` over time, `burst_bytes` at once; None: unlimited.

    Callers are served in order. More than a burst may be taken: it is paid off afterwards, so
    that one piece larger than the burst still passes.
    """

    def __init__(self, bytes_per_s: float | None = None, *, burst_bytes: int = 1 << 20) -> None:
        self._burst = burst_bytes
        self._owed_bytes, self._since_s = 0.0, 0.0  # what was to be paid off at that time
        self._waiting_bytes = 0
        self._turn = trio.Lock()
        self._changed = trio.Event()  # replaced when less is to be waited for
        self._rate: float | None = None
        self.limit(bytes_per_s)

    def limit(self, bytes_per_s: float | None) -> None:
        """Change the rate, also for callers that wait already."""
        if bytes_per_s is not None and bytes_per_s <= 0:
            raise RefusedError("bad-budget", f"{bytes_per_s} bytes a second")
        self.charge(0)  # pays off at the old rate until now
        self._rate = bytes_per_s
        self._wake()

    def wait_s(self) -> float:
        """How long a caller that comes now waits, behind those that wait already."""
        return self._until_paid_s(self._waiting_bytes)

    async def until_paid(self) -> None:
        """Wait, in order, until no more than a burst is to be paid off.

        A caller that charges at once, with nothing awaited between, is before all that wait.
        """
        async with self._turn:
            while left_s := self._until_paid_s():
                with trio.move_on_after(left_s) as patience:
                    await self._changed.wait()
                if patience.cancelled_caught:
                    return

    async def acquire(self, size_bytes: int) -> None:
        self._waiting_bytes += size_bytes
        try:
            await self.until_paid()
            self.charge(size_bytes)
        finally:
            self._waiting_bytes -= size_bytes

    def charge(self, size_bytes: int) -> None:
        """Charge what is sent at once, later callers pay it off; below 0: give it back."""
        if self._rate is None:
            return
        self._owed_bytes = max(0.0, self._still_owed_bytes() + size_bytes)
        self._since_s = trio.current_time()
        if size_bytes < 0:
            self._wake()

    def _until_paid_s(self, more_bytes: int = 0) -> float:
        if self._rate is None:
            return 0.0
        left_bytes = self._still_owed_bytes() + more_bytes - self._burst
        return max(0.0, left_bytes / self._rate)

    def _still_owed_bytes(self) -> float:
        paid_bytes = (self._rate or 0.0) * (trio.current_time() - self._since_s)
        return max(0.0, self._owed_bytes - paid_bytes)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
