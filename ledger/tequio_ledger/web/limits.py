"""Rate limits at the door: token buckets by key and by address, so that a flood costs its sender.

The bucket of an address is asked before a signature is verified, the bucket of a key only after:
otherwise anybody could empty a member's bucket with garbage in its name. Addresses count by
network, IPv4 by /24 and IPv6 by /48, for who holds one address there holds many.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable
from enum import Enum

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger import metrics
from tequio_ledger.config.settings import LedgerSettings
from tequio_ledger.runtime import Clock
from tequio_ledger.web.errors import AnyRequest
from tequio_shared import addresses
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey
from tequio_shared.ratelimit import Buckets

BURST_S = 10
"""A bucket holds what its rate gives in this time."""
REGISTRATION = 10
"""What a new key costs its address, in statements: it stays in the log for ever."""
NAMES = 65_536
"""Keys, and addresses, that are remembered."""


class Doors:
    """What one sender may still ask of the ledger now; any thread may ask."""

    def __init__(self, settings: LedgerSettings, clock: Clock) -> None:
        self._keys = _buckets(settings.key_rate)
        self._addresses = _buckets(settings.address_rate)
        self._clock = clock
        self._lock = threading.Lock()

    def let_in(self, network: str, count: int) -> None:
        """Charge an address network; raises RefusedError("rate-limited")."""
        if not self._take(self._addresses, network, count):
            metrics.RATE_LIMITED.labels(limit="address rate").inc()
            raise RefusedError("rate-limited", "too many statements from this network address")

    def let_speak(self, key: PeerKey) -> None:
        """Charge a key for one statement that it signed; raises RefusedError("rate-limited")."""
        if not self._take(self._keys, key, 1):
            metrics.RATE_LIMITED.labels(limit="key rate").inc()
            raise RefusedError("rate-limited", "too many statements of this key")

    def _take(self, buckets: Buckets | None, name: Hashable, count: int) -> bool:
        if buckets is None:
            return True
        with self._lock:
            return buckets.take(name, count, self._clock() / 1000)


def _buckets(per_s: int) -> Buckets | None:
    """Buckets of that rate; 0 sets no limit."""
    return Buckets(per_s, per_s * BURST_S, names=NAMES) if per_s else None


GivenDoors = NamedDependency[SkipValidation[Doors]]


def network_of(request: AnyRequest) -> str:
    """Name the network that a request came from; one name for all when nobody can tell."""
    return addresses.network_of(request.client.host if request.client else "")


# --- Who may hold an event stream open: so many of a kind, so many for one network address.
#
# Pages and programs have places of their own, so that neither can take those of the others. While
# half of a kind's places are free, an address may hold what the settings say; then a few only, so
# that a handful of strangers who took all that they may leave room for everybody else.

STREAMS = 2_000
PAGES = 1_000
CROWDED = 4
"""What an address may hold where more than half of the places are taken."""


class Kind(Enum):
    """What a stream is for, and how many there may be."""

    EVENTS = STREAMS
    LIVE = PAGES


class Places:
    """Counts open streams; used from one event loop."""

    def __init__(self) -> None:
        self._held: dict[Kind, Counter[str]] = {kind: Counter() for kind in Kind}  # by network

    @property
    def taken(self) -> int:
        """How many streams are open."""
        return sum(held.total() for held in self._held.values())

    def check(self, kind: Kind, network: str, most: int) -> None:
        """Raise RefusedError("queue-full") when one more would be too many; 0 sets no limit."""
        held = self._held[kind]
        if held.total() >= kind.value:
            metrics.RATE_LIMITED.labels(limit="all streams").inc()
            raise RefusedError("queue-full", f"{kind.value} event streams are open")
        if most and 2 * held.total() >= kind.value:
            most = min(most, CROWDED)
        if most and held[network] >= most:
            metrics.RATE_LIMITED.labels(limit="address streams").inc()
            raise RefusedError("queue-full", f"your address holds {most} event streams open")

    def enter(self, kind: Kind, network: str) -> None:
        """Count a stream."""
        self._held[kind][network] += 1

    def leave(self, kind: Kind, network: str) -> None:
        """Count it no more."""
        held = self._held[kind]
        held[network] -= 1
        if not held[network]:
            del held[network]
