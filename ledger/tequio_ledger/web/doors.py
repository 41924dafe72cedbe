"""Rate limits at the door: token buckets by key and by address, so that a flood costs its sender.

The bucket of an address is asked before a signature is verified, the bucket of a key only after:
otherwise anybody could empty a member's bucket with garbage in its name. Addresses count by
network, IPv4 by /24 and IPv6 by /48, for who holds one address there holds many.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger.clock import Clock
from tequio_ledger.settings import Settings
from tequio_ledger.web.problems import AnyRequest
from tequio_shared import addresses
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey

BURST_S = 10
"""A bucket holds what its rate gives in this time."""
REGISTRATION = 10
"""What a new key costs its address, in statements: it stays in the log for ever."""
BUCKETS = 65_536
"""Buckets remembered; beyond that the one that was asked longest ago counts as full again."""


class Buckets:
    """Token buckets of one rate, by name; any thread may ask."""

    def __init__(self, per_s: int) -> None:
        """Make buckets that fill with so many tokens a second; 0 sets no limit."""
        self._per_s = per_s
        self._held: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()  # tokens, at ms
        self._lock = threading.Lock()

    def take(self, name: Hashable, count: int, now_ms: int) -> bool:
        """Take tokens from a bucket, all or none; say whether they were there."""
        if not self._per_s:
            return True
        most = float(self._per_s * BURST_S)
        with self._lock:
            tokens, at_ms = self._held.pop(name, (most, now_ms))
            tokens = min(most, tokens + max(now_ms - at_ms, 0) * self._per_s / 1000)
            is_there = count <= tokens
            self._held[name] = (tokens - count if is_there else tokens, now_ms)
            if len(self._held) > BUCKETS:
                self._held.popitem(last=False)
        return is_there


class Doors:
    """What one sender may still ask of the ledger now."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._keys = Buckets(settings.key_rate)
        self._addresses = Buckets(settings.address_rate)
        self._clock = clock

    def let_in(self, network: str, count: int) -> None:
        """Charge an address network; raises RefusedError("rate-limited")."""
        if not self._addresses.take(network, count, self._clock()):
            raise RefusedError("rate-limited", "too many statements from this network address")

    def let_speak(self, key: PeerKey) -> None:
        """Charge a key for one statement that it signed; raises RefusedError("rate-limited")."""
        if not self._keys.take(key, 1, self._clock()):
            raise RefusedError("rate-limited", "too many statements of this key")


GivenDoors = NamedDependency[SkipValidation[Doors]]


def network_of(request: AnyRequest) -> str:
    """Name the network that a request came from; one name for all when nobody can tell."""
    return addresses.network_of(request.client.host if request.client else "")
