"""One process per folder: a second one is refused while the first runs."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder alone; raises UserFacingError when another process has it."""
    lock = FileLock(folder / "lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_ours(folder)
        lock.acquire()
    except Timeout as err:
        raise UserFacingError(
            f"another process uses the folder {folder}: stop it, or give this one its own folder"
        ) from err
    except OSError as err:
        raise UserFacingError(
            f"cannot use the folder {folder} ({err.strerror or err}): make room or make it "
            "writable, or give another"
        ) from err
    try:
        yield
    finally:
        lock.release()


def _check_ours(folder: Path) -> None:
    """Refuse a folder in which others may swap the key, or the code that the trainer loads.

    In a sticky folder (a mount point, as a rule) everybody's files stay their own, but for the
    folder's owner, who must be us or root.
    """
    if os.name != "posix":
        return
    found = folder.stat()
    mode, is_shared = found.st_mode, found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if is_shared and mode & stat.S_ISVTX and found.st_uid not in (0, os.geteuid()):
        raise UserFacingError(
            f"the folder {folder} belongs to somebody else, who may remove what is in it: "
            "give one of your own"
        )
    if is_shared and not mode & stat.S_ISVTX:
        raise UserFacingError(
            f"others may write in the folder {folder} (mode {stat.S_IMODE(mode):o}): "
            f"run chmod go-w {folder}"
        )
