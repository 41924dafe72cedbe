"""What the system keeps of a program that crashes: nothing, for ours have keys in their memory."""

from __future__ import annotations

import sys


def leave_none() -> None:
    """From now on, neither we nor what we start leaves its memory on the disk."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows, where nothing is kept unasked

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
