"""Memory settings of a process that runs for weeks: garbage is found soon, free pages returned.

CPython's full collection waits until the objects that survived younger ones are a quarter of all:
with the objects of the loaded modules in that count, thousands of dead streams and their buffers
wait too. So what is loaded is frozen, and full collections come five times as often.

glibc gives every thread an arena of its own, and raises the size from which a block gets its own
pages each time a large one is freed; pages inside an arena return to the system only from its end.
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
"""CPython's defaults but for the last, which is 10."""
ARENAS = 2
LARGE_BYTES = 256 << 10
"""A block of this size or more gets its own pages, which return to the system when it is freed."""
SPARE_BYTES = 1 << 20
"""Free memory that the main arena may keep at its end."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # malloc.h


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection while modules are imported, of which it takes an eighth."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def tune() -> None:
    """Tune the process once, with its modules imported and before it starts threads."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.collect()  # its count is the one a quarter of which the next full collection waits for
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)  # only glibc has it
        mallopt(_ARENA_MAX, ARENAS)
        mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_TRIM_THRESHOLD, SPARE_BYTES)
