"""Resources that a process may run out of: file descriptors and memory of the system.

Running out damages nothing and usually passes, so it ends no program: the operation is refused, and
one line a minute is logged.
"""

from __future__ import annotations

import errno
import os
import resource
import time
from contextlib import suppress

import structlog

EXHAUSTED = {
    errno.EMFILE: "this process has no file descriptor left: raise its limit (LimitNOFILE)",
    errno.ENFILE: "the system has no file descriptor left: raise fs.file-max",
    errno.ENOMEM: "the system has no memory left",
    errno.ENOBUFS: "the system has no buffers left",
}
"""Errors of a resource that is used up, each with a sentence for the operator."""
REPORT_S = 60.0

log = structlog.get_logger(__name__)


def prepare_process() -> None:
    """Let the process open as many files as it may, and keep its new files from other users."""
    os.umask(0o077)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):  # a sandbox may forbid it: the lower limit stays
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def descriptor_limit() -> int:
    """Give the number of descriptors that this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 30


def is_exhaustion(err: BaseException) -> bool:
    """Return whether a resource of the process or of the system is used up for now."""
    return isinstance(err, MemoryError) or (isinstance(err, OSError) and err.errno in EXHAUSTED)


class ExhaustionLog:
    """Logs that something is used up, at most once in `REPORT_S`; used from one thread."""

    def __init__(self) -> None:
        self._next_s = 0.0
        self._unreported = 0

    def report(self, event: str, **fields: object) -> None:
        """Log one event, with the number of those that were not logged before it."""
        self._unreported += 1
        now_s = time.monotonic()
        if now_s >= self._next_s:
            log.warning(event, times=self._unreported, **fields)
            self._next_s, self._unreported = now_s + REPORT_S, 0
