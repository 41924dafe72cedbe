"""Badges: facts of the log that people are proud of, each with the entry that proves it.

Rules. A key has a badge from the entry on after which its fact holds, and keeps it: a badge says
that something happened, and no later entry undoes that. A successor has the badges of the key that
it replaced. Nothing in the network depends on them. Each entry costs O(1), a round's close
O(slots). (docs/protocol.md, badges)
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tequio_shared.ids import PeerKey
from tequio_shared.round.points import FLOP_PER_GFLOP


class Badge(StrEnum):
    """A fact that earns a badge."""

    FIRST_ROUND = "first-round"
    HUNDRED_ROUNDS = "hundred-rounds"
    MONTH = "month"
    EXAFLOP = "exaflop"
    AUDIT = "audit"
    MEASURE = "measure"
    JUDGE = "judge"


BADGE_ROUNDS = 100
"""Accepted contributions that earn `HUNDRED_ROUNDS`."""
BADGE_DAYS = 30
"""Days in a row, each with an accepted contribution, that earn `MONTH`."""
BADGE_GFLOP = 10**18 // FLOP_PER_GFLOP
"""Points that earn `EXAFLOP`, in GFLOP."""
DAY_MS = 86_400_000
"""Streaks count days of this length, in UTC."""


def current_streak(day: int, days: int, now_ms: int) -> int:
    """Count the days in a row that can still go on: the last one was today or yesterday (UTC)."""
    return days if day >= now_ms // DAY_MS - 1 else 0


class NextBadge(NamedTuple):
    """A badge within reach, and how far it is."""

    badge: Badge
    reached: int
    needed: int


def next_badge(earned: Container[str], rounds: int, streak: int, gflop: int) -> NextBadge | None:
    """Find the counted badge that is nearest, by share; None when all of them were earned."""
    counted = (
        NextBadge(Badge.FIRST_ROUND, rounds, 1),
        NextBadge(Badge.MONTH, streak, BADGE_DAYS),
        NextBadge(Badge.HUNDRED_ROUNDS, rounds, BADGE_ROUNDS),
        NextBadge(Badge.EXAFLOP, gflop, BADGE_GFLOP),
    )
    left = [one for one in counted if one.badge not in earned]
    return max(left, key=lambda one: one.reached / one.needed, default=None)


@dataclass(slots=True, kw_only=True)
class BadgeRecord:
    """The badges of one key, and its counts towards others; `Badges` updates it."""

    rounds: int = 0
    """Accepted contributions."""
    day: int = 0
    """Day of the last one, counted from 1970 (UTC)."""
    days: int = 0
    """Days in a row up to that one."""
    earned: dict[Badge, int] = field(default_factory=dict)
    """Log index of the proof of each badge, in the order in which they were earned."""


@dataclass(slots=True)
class Badges:
    """The badges of all keys; a fold."""

    _records: dict[PeerKey, BadgeRecord] = field(default_factory=dict)

    def of(self, key: PeerKey) -> tuple[tuple[str, int], ...]:
        """Give the badges of a key with the entries that prove them, the earliest first."""
        record = self._records.get(key)
        return tuple((str(one), index) for one, index in record.earned.items()) if record else ()

    def counts(self, key: PeerKey) -> tuple[int, int, int]:
        """Give accepted contributions, the day of the last one, and the days in a row up to it."""
        record = self._records.get(key)
        return (record.rounds, record.day, record.days) if record else (0, 0, 0)

    def award(self, index: int, key: PeerKey, badge: Badge) -> None:
        """Give a key a badge, unless it has it."""
        self._record(key).earned.setdefault(badge, index)

    def count_accepted(self, index: int, ts: int, key: PeerKey) -> None:
        """Count an accepted contribution of a round that closed at that time (ms)."""
        record, day = self._record(key), ts // DAY_MS
        if record.rounds == 0 or day != record.day:
            follows = record.rounds > 0 and day == record.day + 1
            record.day, record.days = day, record.days + 1 if follows else 1
        record.rounds += 1
        self.award(index, key, Badge.FIRST_ROUND)
        if record.rounds >= BADGE_ROUNDS:
            self.award(index, key, Badge.HUNDRED_ROUNDS)
        if record.days >= BADGE_DAYS:
            self.award(index, key, Badge.MONTH)

    def count_points(self, index: int, key: PeerKey, gflop: int) -> None:
        """Take note of the points that a key has after a round."""
        if gflop >= BADGE_GFLOP:
            self.award(index, key, Badge.EXAFLOP)

    def replace(self, former: PeerKey, successor: PeerKey) -> None:
        """Hand badges and counts of a key to its successor."""
        record = self._records.pop(former, None)
        if record is not None:
            self._records[successor] = record

    def _record(self, key: PeerKey) -> BadgeRecord:
        return self._records.setdefault(key, BadgeRecord())
