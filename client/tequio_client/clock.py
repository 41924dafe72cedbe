"""The wall clock, read in one place so that everything else can take it as an argument; back-off.

Every program imports this module, also the app, so it imports the standard library alone.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from random import Random


def now_ms() -> int:
    """Read the wall clock, milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def steady_ms() -> int:
    """Milliseconds on a clock that is never set; only differences mean something."""
    return time.monotonic_ns() // 1_000_000


def utc_offset_s(at_ms: int) -> int:
    """Compute the seconds by which local time is ahead of UTC at that instant.

    From the system and not from a time zone table: Python on Windows comes with none, and the
    system knows the user's zone even after it changed.
    """
    if sys.platform != "win32":
        time.tzset()
    offset = local_time(at_ms).utcoffset()
    return round(offset.total_seconds()) if offset else 0


def local_time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC).astimezone()


def midnight_ms(now_ms: int) -> int:
    """Find the start of today in this computer's time zone."""
    today = local_time(now_ms)
    began = datetime.combine(today.date(), time_of_day())
    return round(began.astimezone().timestamp() * 1000)


def tomorrow_ms(now_ms: int) -> int:
    """Find 8 o'clock of tomorrow in this computer's time zone."""
    today = local_time(now_ms)
    morning = datetime.combine(today.date() + timedelta(days=1), time_of_day(8))
    return round(morning.astimezone().timestamp() * 1000)


FIRST_S = 0.25
LONGEST_S = 30.0


class BackOff:
    """Pauses between the retries of one task: exponential, and with jitter.

    Without jitter, many workers that lost a ledger together would return to it together.
    """

    def __init__(self, rng: Random, longest_s: float = LONGEST_S, first_s: float = FIRST_S) -> None:
        self._rng = rng
        self._longest_s = longest_s
        self._first_s = self._next_s = first_s

    def next_s(self, least_s: float = 0.0) -> float:
        """Compute the next pause, at least what the other side asked for; doubles each time."""
        pause = self._next_s * self._rng.uniform(0.5, 1.0)
        self._next_s = min(self._next_s * 2, self._longest_s)
        return max(pause, least_s)

    def reset(self) -> None:
        """Restart from the first pause, after a success."""
        self._next_s = self._first_s
