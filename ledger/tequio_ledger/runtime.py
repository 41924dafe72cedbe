"""The process: its clock, its signals, its log, and its memory settings."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import ParamSpec, TypeVar

import structlog
from structlog.typing import EventDict, WrappedLogger

from tequio_ledger.config.sources import ProgramSettings
from tequio_shared.ratelimit import TokenBuckets

THRESHOLDS = (700, 10, 2)
"""CPython's defaults but for the last, which is 10."""
ARENAS = 2
LARGE_BYTES = 256 << 10
"""A block of this size or more gets its own pages, which return to the system when it is freed."""
LINES_PER_S, LINES_AT_ONCE = 2, 100
"""Lines of one event in the log: on average, and together after a pause."""
SPARE_BYTES = 1 << 20
"""Free memory that the main arena may keep at its end."""
TRIM_S = 10.0
"""Time between two trims of the heap, each of which takes about a millisecond."""
RARE_S = 60.0
"""Least time between two lines about a trouble that lasts, such as a resource that is used up."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # malloc.h

PATIENCE_S = 1.0
"""Wait for a thread whose caller was cancelled."""
CANCEL_AGAIN_S = 2 * PATIENCE_S
"""Wait for a task that was cancelled, before it is cancelled once more."""
P = ParamSpec("P")
R = TypeVar("R")
Clock = Callable[[], int]
"""Milliseconds since 1970."""

log = structlog.get_logger(__name__)


def now_ms() -> int:
    """Read the wall clock; only this file does, and all other code gets a Clock as an argument."""
    return time.time_ns() // 1_000_000


def on_stop_signal(end: Callable[[], None]) -> None:
    """Call `end` in the running loop on SIGTERM or SIGINT; call this from the main thread."""
    # asyncio learns of a signal from a byte in the pipe that wakes its loop. Every request writes
    # to the same pipe, and a byte is lost if the pipe is full: many clients could make the program
    # miss a signal. Python's own handlers are called all the same, in the main thread.
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)  # wakes an idle loop, whichever thread gets the signal
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))


def configure_by(settings: ProgramSettings) -> None:
    configure(settings.log_level, as_json=settings.log_json)


def configure(level: str, *, as_json: bool = False) -> None:
    """Configure structlog for the whole process, to standard error: for people, or as JSON."""
    processors: list[structlog.typing.Processor] = [
        EventRates(),
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if as_json:
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        processors.append(
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        )
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )


class EventRates:
    """Drops lines of an event that is logged too often, and counts them in the next one.

    Strangers cause some events, such as refused statements: at a few hundred lines a second they
    would fill the operator's disk. What is logged for debugging is not dropped.
    """

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._buckets = TokenBuckets(LINES_PER_S, LINES_AT_ONCE)
        self._dropped: Counter[str] = Counter()
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()  # any thread may log

    def __call__(
        self, _logger: WrappedLogger, method_name: str, event_dict: EventDict
    ) -> EventDict:
        """Return the event to go on with it; raises DropEvent."""
        if method_name == "debug":
            return event_dict
        event = str(event_dict["event"])
        with self._lock:
            if not self._buckets.try_spend(event, 1, self._monotonic_s()):
                self._dropped[event] += 1
                raise structlog.DropEvent
            dropped = self._dropped.pop(event, 0)
        return {**event_dict, "dropped": dropped} if dropped else event_dict


class RareLog:
    """Logs a trouble that lasts, at most once in `RARE_S`; thread-safe but for the count."""

    def __init__(self) -> None:
        self._next_s = 0.0
        self._unreported = 0

    def report(self, event: str, **fields: object) -> None:
        """Log one event, with the number of those that were not logged before it."""
        self._unreported += 1
        now_s = time.monotonic()
        if now_s >= self._next_s:
            log.warning(event, times=self._unreported, **fields)
            self._next_s, self._unreported = now_s + RARE_S, 0


async def run_in_thread(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Run `work` in a thread; when cancelled, wait up to PATIENCE_S for its end."""
    # A thread cannot be cancelled. Without the wait the engine could be closed while the thread
    # still holds one of its connections.
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **named))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        done, _ = await asyncio.wait({task}, timeout=PATIENCE_S)
        for one in done:
            one.exception()  # marks it as retrieved: asyncio would report it otherwise
        raise


async def end_tasks(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel the tasks; raises the error of one that failed, even if this is cancelled too."""
    running = set(tasks)
    try:
        while running:
            for task in running:
                task.cancel()
            # Once more: until Python 3.13 a TaskGroup drops a cancellation that comes while it
            # fails, which happens to a leader that loses the lead as the ledger stops.
            _, running = await asyncio.wait(running, timeout=CANCEL_AGAIN_S)
    finally:
        for task in tasks:
            if task.done() and not task.cancelled():
                task.result()


def tune_memory() -> None:
    """Tune the process once, with its modules imported and before it starts threads.

    It runs for weeks: garbage should be found soon, and free pages returned.
    """
    gc.set_threshold(*THRESHOLDS)  # full collections come five times as often
    freeze_loaded()
    # glibc gives every thread an arena of its own, and raises the size from which a block gets its
    # own pages each time a large one is freed; pages inside an arena return to the system only from
    # its end.
    mallopt = _of_glibc("mallopt")
    mallopt(_ARENA_MAX, ARENAS)
    mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
    mallopt(_TRIM_THRESHOLD, SPARE_BYTES)


def freeze_loaded() -> None:
    """Take the objects of all loaded modules out of garbage collection."""
    # CPython's full collection waits until the objects that survived younger ones are a quarter of
    # all: with the objects of the modules in that count, thousands of dead requests and their
    # buffers wait too.
    gc.collect()
    gc.freeze()
    gc.collect()  # its count is the one a quarter of which the next full collection waits for


async def trim_regularly() -> None:
    """Return free pages within the heap to the system, again and again."""
    while True:
        await asyncio.sleep(TRIM_S)
        trim_heap()


def trim_heap() -> None:
    """Return free pages within the heap to the system: by itself glibc returns only its end.

    A thousand requests at once leave pages free, but there may be a small block in use behind them.
    """
    _of_glibc("malloc_trim")(0)


def _of_glibc(function: str) -> Callable[..., int]:
    """Find a function of glibc; other libraries have none of that name, and it does nothing."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    found: Callable[..., int] = getattr(library, function, lambda *_: 0)
    return found
