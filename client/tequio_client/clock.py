"""The wall clock, read in one place so that everything else can take it as an argument."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime


def now_ms() -> int:
    """Tell the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def steady_ms() -> int:
    """Tell milliseconds on a clock that nobody sets; only differences mean something."""
    return time.monotonic_ns() // 1_000_000


def utc_offset_s(at_ms: int) -> int:
    """Say by how many seconds local time is ahead of UTC at that instant, summer time included.

    Asks the system and not a table of zones: none comes with Python on Windows, and the system
    knows the volunteer's zone, also when it is changed meanwhile.
    """
    if sys.platform != "win32":
        time.tzset()
    offset = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone().utcoffset()
    return round(offset.total_seconds()) if offset else 0
