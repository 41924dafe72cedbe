"""Rankings and sums over a span of time, made for all readers at once and no more often than due.

Each reads a row of every member in every round of its span, or of every vouched key, and is the
same for all readers, under every host name and for each page of it. A long count is given out for
longer: each of these few takes at most one part in `REST` of a core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar, cast

from sqlalchemy import Connection

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import queries, ranking
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages.text import DAY_MS

T = TypeVar("T")

PLACES = 1_000
"""Places of a ranking, at most."""
CHEAP_S = 0.05
"""Time below which a tally is made for each page, like all else on it."""
REST = 50
"""A dearer one is given out for this many times as long as it took."""


@dataclass(frozen=True, slots=True)
class Tally(Generic[T]):
    """The result of a count, and the size of the log at that time."""

    found: T
    size: int


@dataclass(slots=True)
class _Held:
    lock: Lock
    tally: Tally[object] | None = None
    until_s: float = 0.0


class Tallies:
    """The newest tallies of a ledger; thread-safe.

    `elapsed_s` is a clock that never goes back; `clock` gives milliseconds since 1970.
    """

    def __init__(
        self, ledger: Ledger, clock: Callable[[], int], elapsed_s: Callable[[], float]
    ) -> None:
        self._ledger, self._clock, self._elapsed_s = ledger, clock, elapsed_s
        self._lock = Lock()
        self._held: dict[tuple[str, int | None], _Held] = {}

    def owners(self, span_ms: int | None) -> Tally[list[ranking.Owner]]:
        """Give the first owners by points of the last `span_ms`, or of all time."""
        return self._give(
            "owners", span_ms, lambda connection, since: ranking.owners(connection, since, PLACES)
        )

    def teams(self, span_ms: int | None) -> Tally[list[ranking.Team]]:
        """Give the first teams by points of the last `span_ms`, or of all time."""
        return self._give(
            "teams", span_ms, lambda connection, since: ranking.teams(connection, since, PLACES)
        )

    def points_per_day(self, days: int) -> Tally[dict[int, int]]:
        """Sum up everybody's GFLOP by day since 1970 (UTC), for the last days."""
        return self._give(
            "days",
            days * DAY_MS,
            lambda connection, since: queries.points_per_day(connection, since or 0),
        )

    def _give(
        self, kind: str, span_ms: int | None, count: Callable[[Connection, int | None], T]
    ) -> Tally[T]:
        with self._lock:
            held = self._held.setdefault((kind, span_ms), _Held(Lock()))
        # Those who ask during a count get the tally before it. The first one is worth waiting for:
        # their own would take as long.
        if not held.lock.acquire(blocking=held.tally is None):
            return cast("Tally[T]", held.tally)
        try:
            if held.tally is None or self._elapsed_s() >= held.until_s:
                since_ms = None if span_ms is None else self._clock() - span_ms
                with snapshot(self._ledger) as (connection, published):
                    begun_s = self._elapsed_s()
                    found = count(connection, since_ms)
                    ended_s = self._elapsed_s()
                took_s = ended_s - begun_s
                held.tally = Tally(found, published.size)
                held.until_s = ended_s + (REST * took_s if took_s >= CHEAP_S else 0.0)
            return cast("Tally[T]", held.tally)
        finally:
            held.lock.release()
