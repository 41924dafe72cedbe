"""The one place that reads the wall clock; everything else is given a Clock."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Milliseconds since 1970."""


def now_ms() -> int:
    """The wall clock."""
    return time.time_ns() // 1_000_000
