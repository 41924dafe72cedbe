"""Folder locks: one process per folder, a second one is refused."""

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
    """Lock the folder; raises UserFacingError when another process has it."""
    lock = FileLock(folder / "lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_ours(folder)
        lock.acquire()
    except Timeout as err:
        raise UserFacingError(
            f"another process uses the folder {folder}: stop it, or choose another folder"
        ) from err
    except OSError as err:
        raise UserFacingError(
            f"cannot use the folder {folder} ({err.strerror or err}): make it writable, free "
            "some space, or choose another"
        ) from err
    try:
        yield
    finally:
        lock.release()


def _check_ours(folder: Path) -> None:
    """Refuse a folder in which others could replace the key, or the code that the trainer loads.

    In a sticky folder (usually a mount point) each user's files stay their own, except from the
    folder's owner, who must be this user or root.
    """
    if os.name != "posix":
        return
    found = folder.stat()
    mode, is_shared = found.st_mode, found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if is_shared and mode & stat.S_ISVTX and found.st_uid not in (0, os.geteuid()):
        raise UserFacingError(
            f"the folder {folder} belongs to another user, who could replace its files: "
            "choose one of your own"
        )
    if is_shared and not mode & stat.S_ISVTX:
        raise UserFacingError(
            f"others can write to the folder {folder} (mode {stat.S_IMODE(mode):o}): "
            f"run chmod go-w {folder}"
        )
