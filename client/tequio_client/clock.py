"""The wall clock, read in one place so that everything else can take it as an argument."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Tell the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
