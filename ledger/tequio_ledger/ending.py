"""SIGTERM and SIGINT, heard however busy the event loop is.

asyncio learns of a signal by its number, a byte in the pipe that wakes its loop. Every request
writes to the same pipe, and a byte that finds it full is lost: a crowd of listeners could make the
program deaf. Python's own handlers are called all the same, in the main thread.
"""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def when_asked(end: Callable[[], None]) -> None:
    """Call it in this loop when the process is asked to end; from the main thread."""
    loop = asyncio.get_running_loop()

    def heard(*_: object) -> None:
        loop.call_soon_threadsafe(end)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)  # wakes a loop that rests, whichever thread hears it
        signal.signal(number, heard)
