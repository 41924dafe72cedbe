"""A disk that a test can fill: room of its own for one program's folder.

Where a file system can be mounted (root on Linux), a small one in memory: what is written to it
when it is full fails as on any disk, with ENOSPC. Elsewhere the processes are forbidden to write
beyond the end of any file, which they see as EFBIG.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SIZE_MB = 64
BALLAST = "ballast"


class SmallDisk:
    """The room for one folder; `unmount` when all is over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700)
        self._is_mounted = _mount(folder)

    def fill(self, pids: Iterable[int]) -> None:
        """Leave no byte; `pids` are the processes that use it."""
        if not self._is_mounted:
            _limit(pids, 0)
            return
        with (self._folder / BALLAST).open("wb", buffering=0) as ballast, suppress(OSError):
            while ballast.write(bytes(1 << 16)):
                pass

    def empty(self, pids: Iterable[int]) -> None:
        """Give the room back."""
        if self._is_mounted:
            (self._folder / BALLAST).unlink(missing_ok=True)
        else:
            _limit(pids, resource.RLIM_INFINITY)

    def unmount(self) -> None:
        """Give back what the disk itself takes."""
        if self._is_mounted:
            subprocess.run(["umount", "--lazy", str(self._folder)], check=True)  # noqa: S607 - found in PATH


def _mount(folder: Path) -> bool:
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=0700", "tmpfs", str(folder)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _limit(pids: Iterable[int], most_bytes: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most_bytes, hard))
