"""Rate limits at the door: token buckets by key and by address, so that a flood costs its sender.

The bucket of an address is asked before a signature is verified, the bucket of a key only after:
otherwise anybody could empty a member's bucket with garbage in its name. Addresses count by
network, IPv4 by /24 and IPv6 by /48, for who holds one address there holds many.
"""

import threading
from collections.abc import Hashable

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger import metrics
from tequio_ledger.clock import Clock
from tequio_ledger.config.settings import LedgerSettings
from tequio_ledger.web.problems import AnyRequest
from tequio_shared import addresses
from tequio_shared.buckets import Buckets
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey

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
