"""The memory of a program that runs for weeks: what is freed is found soon, and goes back.

Python looks through all its objects only when 70,000 more have come, and a quarter more than there
were the last time: with those of its modules, thousands of dead streams and their buffers wait for
that. Here what is loaded is set aside, and the rest is looked through five times as often.

glibc gives every thread a heap of its own, and learns to take ever larger blocks from heaps, whose
pages go back to the system only from the end.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

THRESHOLDS = (700, 10, 2)
"""Python's own, but for the last, which is 10."""
HEAPS = 2
LARGE_BYTES = 256 << 10
"""A block from this size on has pages of its own, which are given back when it is freed."""
SPARE_BYTES = 1 << 20
"""What the main heap may keep free at its end."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # malloc.h


@contextmanager
def loading() -> Iterator[None]:
    """Look for no garbage while modules are loaded: looking takes an eighth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def settle() -> None:
    """Call once, with the program's modules loaded and before it has threads."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.collect()  # it is this one whose count the next full one waits for a quarter of
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)  # glibc's alone
        mallopt(_ARENA_MAX, HEAPS)
        mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_TRIM_THRESHOLD, SPARE_BYTES)
