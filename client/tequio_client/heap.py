"""Memory settings of a process that runs for weeks: frequent collection, freed pages returned.

CPython delays a full collection until the objects that survived younger ones are a quarter of all.
Loaded modules count too, so thousands of dead streams with their buffers would wait. Therefore
loaded objects are frozen, and full collections come five times as often.

glibc gives each thread its own arena, and raises the threshold above which a block gets its own
pages each time a large block is freed; pages inside an arena return to the system only from its
end.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

THRESHOLDS = (700, 10, 2)
"""CPython's defaults except the last, which is 10 there."""
ARENAS = 2
LARGE_BYTES = 256 << 10
"""Blocks of this size or more get their own pages, which return to the system when freed."""
SPARE_BYTES = 1 << 20
"""Free memory that the main arena may hold at its end."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # malloc.h
_PAGE_OUT = 21  # MADV_PAGEOUT of madvise(2)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection during imports, where it takes an eighth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collect_due() -> None:
    """Collect what CPython would collect by itself, where automatic collection is off."""
    counts, thresholds = gc.get_count(), gc.get_threshold()
    for generation in (2, 1, 0):
        if counts[generation] > thresholds[generation]:
            gc.collect(generation)
            return


def return_memory() -> None:
    """Give up what a process that rests does not need: garbage, free memory, and code.

    The code of libraries is read again from its files when it is used.
    """
    gc.collect()
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        getattr(library, "malloc_trim", lambda _: 0)(0)  # only glibc has it
        for start, end in _code_ranges(Path("/proc/self/maps").read_text("utf-8")):
            # Older kernels and files of other users refuse it; then the pages stay.
            library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _PAGE_OUT)


def _code_ranges(maps: str) -> Iterator[tuple[int, int]]:
    """The read-only mappings of files; see proc_pid_maps(5)."""
    for line in maps.splitlines():
        place, mode, _, _, inode, *_ = line.split()
        if mode.startswith("r") and "w" not in mode and inode != "0":
            start, _, end = place.partition("-")
            yield int(start, 16), int(end, 16)


def tune_memory() -> None:
    """Tune the process once, after its imports and before it starts threads."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.collect()  # resets the count that delays the next full collection
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)  # only glibc has it
        mallopt(_ARENA_MAX, ARENAS)
        mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_TRIM_THRESHOLD, SPARE_BYTES)
