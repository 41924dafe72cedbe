"""Who may hold an event stream open: so many of a kind, so many for one network address.

Pages and programs have places of their own, so that neither can take those of the others. While
half of a kind's places are free, an address may hold what the settings say; then a few only, so
that a handful of strangers who took all that they may leave room for everybody else.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum

from tequio_ledger import metrics
from tequio_shared.errors import RefusedError

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
