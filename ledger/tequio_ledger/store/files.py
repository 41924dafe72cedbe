"""Files that survive a power cut: written under another name, synced, renamed, the folder synced.

A power cut leaves the old file or the new one, never a part. A disk that refuses writes for now
(full, read-only, over quota) raises UnwritableError: nothing is damaged, and the caller can try
again later.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from tequio_shared.errors import RefusedError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROBE_BYTES = 1 << 20
"""Room that must be there before the ledger trusts a disk again that was full."""

_PASSING = {
    errno.ENOSPC: "the disk of {} is full: free some space",
    errno.EDQUOT: "the disk quota for {} is used up: free some space",
    errno.EFBIG: "a limit on the size of files keeps {} from growing: raise it (ulimit -f)",
    errno.EROFS: "{} is on a read-only file system: mount it for writing or choose another --dir",
    errno.EACCES: "{} may not be written: change its owner or choose another folder",
    errno.EPERM: "{} may not be written: change its owner or its attributes",
}


class UnwritableError(RefusedError):
    """The disk takes no writes for now; reading goes on, and writing when the cause is gone."""

    def __init__(self, message: str) -> None:
        super().__init__("read-only", message)


def explain(err: OSError, path: Path) -> str:
    """Say in one sentence what a file system error means for the service."""
    known = _PASSING.get(err.errno or 0)
    return known.format(path) if known else f"{path} cannot be used: {err.strerror or err}"


def is_passing(err: OSError) -> bool:
    """Whether it may go away while the process lives, and has damaged nothing."""
    return err.errno in _PASSING


def probe(folder: Path) -> None:
    """Write, sync and remove a little; raises OSError."""
    place = folder / "probe.new"
    try:
        with place.open("wb") as file:
            file.write(bytes(PROBE_BYTES))
            sync(file)
    finally:
        place.unlink(missing_ok=True)


def sync(file: IO[bytes]) -> None:
    """Bring what was written to an open file to the disk; raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def write_file(path: Path, content: bytes) -> None:
    """Put a file in its place, mode 0600, whole and durable when this returns; raises OSError."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        sync(file)
    rename(fresh, path)


def rename(source: Path, target: Path) -> None:
    """Move a synced file or folder to its name, the name durable; raises OSError."""
    source.rename(target)
    sync_folder(target.parent)


def make_folder(path: Path) -> None:
    """Make a folder and what it lies in, each name durable; raises OSError."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True, mode=0o700)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def building(target: Path) -> Iterator[Path]:
    """Give a folder beside its place to be filled; at the end all of it is durable and there.

    When the block fails nothing is left behind. Raises UserFacingError when something is there
    already, and for what the file system says inside the block.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserFacingError(f"{target} is there already and not empty: choose another folder")
    fresh = target.with_name(target.name + ".new")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        make_folder(fresh)
    except OSError as err:
        raise UserFacingError(explain(err, target.parent)) from err
    try:
        yield fresh
        for folder in (fresh, *(path for path in fresh.rglob("*") if path.is_dir())):
            sync_folder(folder)
        rename(fresh, target)
    except OSError as err:
        raise UserFacingError(explain(err, target)) from err
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
