"""Status lines on standard output, one JSON object a second, for the program's parent process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import psutil
import trio

from tequio_client.ipc import snapshot as link_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.snapshot import Status

INTERVAL_S = 1.0
MAX_BAD_SOURCES = 8
"""Most peers that sent wrong data listed in a status."""


async def report_status(status: Callable[[], Status]) -> NoReturn:
    """Write a status line every second until cancelled, whether or not anybody reads it."""
    descriptor = sys.stdout.fileno()
    while True:
        line = link_status.encode_status(status())
        # In a thread: a full pipe that nobody reads must not block anything else.
        try:
            await trio.to_thread.run_sync(
                _write,
                descriptor,
                line,
                abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
            )
        except OSError:
            await trio.sleep_forever()  # nobody reads any more
        await trio.sleep(INTERVAL_S)


def resident_mb() -> int:
    """Main memory of this process, MiB."""
    return int(psutil.Process(os.getpid()).memory_info().rss) >> 20


def _write(descriptor: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(descriptor, left) :]
