"""A moment, by the wall clock, by a clock that nobody sets, and in local time.

Local time comes from a function that says how far it is ahead of UTC at a given instant, not from
a zone or from fields of the clock: ends of hours and months lie in the future, beyond the next
change to or from summer time, so that today's offset would be an hour wrong there. The function
is `clock.utc_offset_s` in a program, any zone's in a test.

Durations that must not be fooled by a clock that is set (how long a game has been closed) are
differences of `steady_ms`; dates (the hours of the week, the month) are those of `ms`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tequio_client.link.preferences import DAYS, HOURS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.link.preferences import Week

HOUR_MS = 3_600_000
_SECOND_MS = 1_000
_MOST_CHANGES = 4
"""Changes of the clocks that are looked beyond: two come within a year."""
_MONTH_HOURS = 24 * 33
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Now."""

    ms: int
    """Since 1970, by the wall clock."""
    steady_ms: int
    """By a clock that only goes forward, at its own pace."""
    offset_s: Callable[[int], int]
    """How many seconds local time is ahead of UTC at an instant, in milliseconds since 1970."""

    def month(self) -> str:
        """Local month, as in `2026-11`."""
        return self._month(self.ms)

    def day(self) -> str:
        """Local day, as in `2026-11-20`."""
        return f"{self._local(self.ms):%Y-%m-%d}"

    def month_end_ms(self) -> int:
        """When the next local month begins, to the second."""
        now = self._month(self.ms)
        end_ms = self.ms + _MONTH_HOURS * HOUR_MS
        return _first(lambda at: self._month(at) != now, self.ms, end_ms)

    def is_in(self, week: Week) -> bool:
        """Whether the local hour is one of these."""
        return self._is_in(week, self.ms)

    def next_in_ms(self, week: Week) -> int | None:
        """When the first of these hours begins, if it is none of them now; None: never.

        An hour that summer time skips is none, one that comes twice counts twice.
        """
        if not any(week):
            return None
        at = self.ms
        for _ in range(_MOST_CHANGES):
            begin, at = at, self._next_by_offset(week, at)
            if self.offset_s(begin) == self.offset_s(at):
                return at
            at = self._change_ms(begin, at)  # before that the clocks are changed: look from there
            if self._is_in(week, at):
                return at
        return None

    def _next_by_offset(self, week: Week, at_ms: int) -> int:
        """When the next of these hours begins, if the clocks are not changed before."""
        offset_ms = self.offset_s(at_ms) * _SECOND_MS
        hour = (at_ms + offset_ms) // HOUR_MS + 1
        while not week[(hour // HOURS + _EPOCH.weekday()) % DAYS] >> hour % HOURS & 1:
            hour += 1
        return hour * HOUR_MS - offset_ms

    def _change_ms(self, begin_ms: int, end_ms: int) -> int:
        """When the clocks are changed between the two, to the second."""
        offset = self.offset_s(begin_ms)
        return _first(lambda at: self.offset_s(at) != offset, begin_ms, end_ms)

    def _is_in(self, week: Week, at_ms: int) -> bool:
        local = self._local(at_ms)
        return bool(week[local.weekday()] >> local.hour & 1)

    def _month(self, at_ms: int) -> str:
        return f"{self._local(at_ms):%Y-%m}"

    def _local(self, at_ms: int) -> datetime:
        return _EPOCH + timedelta(milliseconds=at_ms, seconds=self.offset_s(at_ms))


def _first(holds: Callable[[int], bool], begin_ms: int, end_ms: int) -> int:
    """First full second at which it holds: not at the beginning, and from then on to the end."""
    low, high = begin_ms // _SECOND_MS, -(-end_ms // _SECOND_MS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle * _SECOND_MS) else (middle, high)
    return high * _SECOND_MS
