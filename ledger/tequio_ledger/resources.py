"""Resources that a process may run out of: file descriptors and memory of the system.

Running out damages nothing and usually passes, so it ends no program: the operation is refused, and
one line a minute is logged (`runtime.RareLog`).
"""

from __future__ import annotations

import errno
import os
import resource
from contextlib import suppress

EXHAUSTED = {
    errno.EMFILE: "this process has no file descriptor left: raise its limit (LimitNOFILE)",
    errno.ENFILE: "the system has no file descriptor left: raise fs.file-max",
    errno.ENOMEM: "the system has no memory left",
    errno.ENOBUFS: "the system has no buffers left",
}
"""Errors of a resource that is used up, each with a sentence for the operator."""


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
