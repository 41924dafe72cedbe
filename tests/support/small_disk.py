"""A disk that a test can fill: separate space for one program's folder.

Where a file system can be mounted (root on Linux), it is a small one in memory: writing to it when
it is full fails with ENOSPC, as on any disk. Elsewhere a limit keeps the processes from extending
files, which they see as EFBIG.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SIZE_MB = 128
"""Enough space for a ledger of two thousand small rounds."""
BALLAST = "ballast"


class SmallDisk:
    """The disk of one folder; call `unmount` at the end."""

    def __init__(self, folder: Path) -> None:
        """Create the folder; it links to the mount point, so that temporary folders can go."""
        self._folder = folder
        self._mounted = _mounted()
        if self._mounted is None:
            folder.mkdir(mode=0o700)
        else:
            folder.symlink_to(self._mounted, target_is_directory=True)

    def fill(self, pids: Iterable[int]) -> None:
        """Leave no free space; `pids` are the processes that use the disk."""
        if self._mounted is None:
            _limit(pids, 0)
            return
        with (self._folder / BALLAST).open("wb", buffering=0) as ballast, suppress(OSError):
            while ballast.write(bytes(1 << 16)):
                pass

    def empty(self, pids: Iterable[int]) -> None:
        """Free the space again."""
        if self._mounted is not None:
            (self._folder / BALLAST).unlink(missing_ok=True)
        else:
            _limit(pids, resource.RLIM_INFINITY)

    def unmount(self) -> None:
        """Unmount the disk and delete its mount point."""
        if self._mounted is not None:
            subprocess.run(["umount", "--lazy", str(self._mounted)], check=True)  # noqa: S607 - in PATH
            self._mounted.rmdir()


def _mounted() -> Path | None:
    """Mount a new file system in memory; None if we may not mount one."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    point = Path(tempfile.mkdtemp(prefix="tequio-disk-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=0700", "tmpfs", str(point)]
    if subprocess.run(command, check=False, capture_output=True).returncode == 0:
        return point
    point.rmdir()
    return None


def _limit(pids: Iterable[int], most_bytes: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most_bytes, hard))
