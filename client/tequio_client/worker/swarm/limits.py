"""The door of a peer: who may come in, how much they may take, and who is kept out for a while.

Pure bookkeeping under a clock that is given; everything in it is bounded. A network address is
asked before a peer has shown its key, the peer after. What comes from an address is only ever
slowed down or counted: many people may share it. A peer that sends what no honest program sends
is kept out by its key.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from tequio_shared.addresses import is_loopback, network_of
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import peer_id_text
from tequio_shared.ratelimit import Buckets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_shared.ids import PeerKey

# --- A byte budget: a token bucket that caps what goes up or comes down in a second.


class ByteBudget:
    """At most `bytes_per_s` over time, and `burst_bytes` at once; None is no cap.

    Takers are served in order. More than a burst may be taken: it is paid off afterwards, so
    that one piece larger than the burst still passes.
    """

    def __init__(self, bytes_per_s: float | None = None, *, burst_bytes: int = 1 << 20) -> None:
        self._burst = burst_bytes
        self._free_at = -1e9  # when the bucket was or will be full again, in trio's time
        self._rate: float | None = None
        self.limit(bytes_per_s)

    def limit(self, bytes_per_s: float | None) -> None:
        """Have another rate from now on; who waits already waits as long as it was told."""
        if bytes_per_s is not None and bytes_per_s <= 0:
            raise RefusedError("bad-budget", f"{bytes_per_s} bytes a second")
        self._rate = bytes_per_s

    def wait_s(self) -> float:
        """How long a taker would have to wait now."""
        if self._rate is None:
            return 0.0
        return max(0.0, self._free_at - self._burst / self._rate - trio.current_time())

    async def take(self, size_bytes: int) -> None:
        """Return when `size_bytes` may pass."""
        if self._rate is None:
            await trio.lowlevel.checkpoint()
            return
        wait = self.wait_s()
        self._free_at = max(self._free_at, trio.current_time()) + size_bytes / self._rate
        await trio.sleep(wait)


# --- What one peer, and one network address, may take of us. Times in seconds, sizes in bytes.

CONNECTIONS = 200
"""Of all peers together."""
INBOUND = 150
"""Of these, opened by others: a flood from outside leaves the peers that we chose their place."""
HANDSHAKES = 256
"""Connections of all addresses that have not shown a key yet."""
BURST_S = 10.0
"""What is not used of a rate can be used later, up to so many seconds of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerLimits:
    """The doors of a peer, and how soon a silent one is let go.

    An address counts by its network, IPv4 by /24 and IPv6 by /48, for who holds one address
    there holds many. From loopback come the peers of a demo and of tests: it may do more.
    """

    streams: int = 32
    """Inbound streams of one peer that may be open at once."""
    connections: int = 32
    """Inbound connections of one network address."""
    handshakes: int = 8
    """Of these, such as have not shown a key yet."""
    arrivals_per_s: float = 2.0
    """Inbound connections of one network address."""
    bytes_per_s: float = 64e6
    """Bytes from and to one network address, each way; a read of few counts as SMALL_BYTES."""
    gossip_per_s: float = 100.0
    """Gossip messages and control entries of one forwarder."""
    faults_per_s: float = 0.05
    """Messages that no honest program sends; more than ten seconds' worth, and 3, is too much."""
    records_per_s: float = 10.0
    """Address records that one peer may bring."""
    loopback_times: int = 16
    """How much more the loopback address may do."""
    out_s: float = 60.0
    """How long a peer that sent garbage is kept out, the first time; then twice as long."""
    connect_s: float = 15.0
    ping_every_s: float = 15.0
    ping_wait_s: float = 5.0
    ping_misses: int = 2


SMALL_BYTES = 16_384
"""What a read costs at least: small messages cost time, not bytes."""


OUT = 4_096
"""Keys kept out at most; then the one put out first comes in again."""
LONGEST_OUT_S = 3_600.0
FAULTS = 3
"""Faults that are forgiven at once: versions differ, links break in the middle."""


class Arrival:
    """A connection that came in; `show_key` once its peer is known."""

    def __init__(self, handshakes: Counter[str], network: str) -> None:
        self._handshakes = handshakes
        self._network = network
        self._is_known = False
        handshakes[network] += 1

    def show_key(self) -> None:
        """Note that the peer has shown its key, or has gone without."""
        if not self._is_known:
            self._is_known = True
            _decrease(self._handshakes, self._network)


class Door:
    """What everybody may still do now; used from one event loop."""

    def __init__(self, limits: PeerLimits, clock: Callable[[], float]) -> None:
        """Open the door; `clock` gives seconds that never go back."""
        self._limits = limits
        self._clock = clock
        self._inbound: Counter[str] = Counter()  # by network address
        self._handshakes: Counter[str] = Counter()
        self._arrivals = Buckets(limits.arrivals_per_s, limits.arrivals_per_s * BURST_S)
        self._bytes = Buckets(limits.bytes_per_s, limits.bytes_per_s)
        self._gossip = Buckets(limits.gossip_per_s, limits.gossip_per_s * BURST_S)
        self._records = Buckets(limits.records_per_s, limits.records_per_s * BURST_S)
        self._faults = Buckets(limits.faults_per_s, FAULTS)
        self._out: OrderedDict[PeerKey, tuple[float, float]] = OrderedDict()  # until, for how long

    @contextmanager
    def arrived(self, host: str) -> Iterator[Arrival]:
        """Count an inbound connection while it lasts; raises PeerError when there are too many."""
        network = network_of(host)
        self._check_arrival(network)
        self._inbound[network] += 1
        arrival = Arrival(self._handshakes, network)
        try:
            yield arrival
        finally:
            arrival.show_key()
            _decrease(self._inbound, network)

    def places(self) -> int:
        """How many inbound connections there are."""
        return self._inbound.total()

    def delay_s(self, network: str, size_bytes: int, *, is_ours: bool) -> float:
        """Charge an address for bytes; say how long to wait before the next are read or sent."""
        return self._bytes.owe((network, is_ours), size_bytes, self._clock(), self._times(network))

    def takes_gossip(self, forwarder: PeerKey, count: int) -> bool:
        """Whether the peer may forward so many messages more."""
        return self._gossip.take(forwarder, count, self._clock())

    def takes_records(self, peer: PeerKey, count: int) -> bool:
        """Whether the peer may bring so many address records more."""
        return self._records.take(peer, count, self._clock())

    def fault(self, peer: PeerKey) -> bool:
        """Note that a peer sent what no honest program sends; say whether it is out now."""
        now = self._clock()
        if self._faults.take(peer, 1, now):
            return False
        _, before_s = self._out.pop(peer, (0.0, 0.0))
        for_s = min(2 * before_s or self._limits.out_s, LONGEST_OUT_S)
        self._out[peer] = (now + for_s, for_s)
        if len(self._out) > OUT:
            self._out.popitem(last=False)
        return True

    def is_out(self, peer: PeerKey) -> bool:
        """Whether the peer is kept out now."""
        until, _ = self._out.get(peer, (0.0, 0.0))
        return self._clock() < until

    def check(self, peer: PeerKey) -> None:
        """Raise PeerError when the peer is kept out."""
        if self.is_out(peer):
            raise PeerError(f"{peer_id_text(peer)} sent garbage and is kept out for a while")

    def _check_arrival(self, network: str) -> None:
        times = self._times(network)
        if self._inbound.total() >= INBOUND or self._handshakes.total() >= HANDSHAKES:
            raise PeerError("too many connections")
        if self._inbound[network] >= self._limits.connections * times:
            raise PeerError(f"too many connections from {network}")
        if self._handshakes[network] >= self._limits.handshakes * times:
            raise PeerError(f"too many connections without a key from {network}")
        if not self._arrivals.take(network, 1, self._clock(), times):
            raise PeerError(f"connections come too fast from {network}")

    def _times(self, network: str) -> int:
        return self._limits.loopback_times if is_loopback(network) else 1


def _decrease(counter: Counter[str], name: str) -> None:
    counter[name] -= 1
    if not counter[name]:
        del counter[name]
