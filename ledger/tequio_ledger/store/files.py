"""Files that survive a power cut: written under another name, synced, renamed, the folder synced.

A power cut leaves the old file or the new one, never a part of one. A disk that refuses writes for
now (full, read-only, over quota) raises UnwritableError, and so does a process that may open no
further file: nothing is damaged, and the caller can retry later.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tequio_ledger.resources import EXHAUSTED
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.ids import Digest

PROBE_BYTES = 1 << 20
"""Free space that must be available before the ledger trusts a full disk again."""
SYNC_WAITS = sys.platform == "linux"
"""True if `os.sync` returns when all is written; elsewhere it may return before."""

_PART, _LOCK = ".tequio-part", "lock"

_PASSING = {
    errno.ENOSPC: "the disk of {} is full: free some space",
    errno.EDQUOT: "the disk quota for {} is used up: free some space",
    errno.EFBIG: "a limit on the size of files keeps {} from growing: raise it (ulimit -f)",
    errno.EROFS: "{} is on a read-only file system: mount it for writing or choose another --dir",
    errno.EACCES: "{} may not be written: change its owner or choose another folder",
    errno.EPERM: "{} may not be written: change its owner or its attributes",
    **{number: "{} cannot be used for now: " + why for number, why in EXHAUSTED.items()},
}


class UnwritableError(RefusedError):
    """The disk accepts no writes for now; reading goes on, and writing resumes later."""

    def __init__(self, message: str) -> None:
        super().__init__("read-only", message)


def explain(err: OSError, path: Path) -> str:
    """Explain a file system error in one sentence to the operator."""
    known = _PASSING.get(err.errno or 0)
    return known.format(path) if known else f"{path} cannot be used: {err.strerror or err}"


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Translate file system errors inside the block to UserFacingError."""
    try:
        yield
    except OSError as err:
        raise UserFacingError(explain(err, path)) from err


def is_passing(err: OSError) -> bool:
    """Return whether the cause may go away while the process lives, and has damaged nothing."""
    return err.errno in _PASSING


def probe(folder: Path) -> None:
    """Write, sync and remove a small file; raises OSError."""
    place = folder / "probe.new"
    try:
        with place.open("wb") as file:
            file.write(bytes(PROBE_BYTES))  # one byte would still fit on a disk that is full
            sync(file)
    finally:
        place.unlink(missing_ok=True)


def sync(file: IO[bytes]) -> None:
    """Flush an open file to the disk; raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def read_secret(path: Path, most_bytes: int) -> bytes:
    """Read a file that only its owner may read; raises OSError, and UserFacingError for another."""
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UserFacingError(
                f"others may read the secret {path} (mode {mode:o}): run chmod 600 {path}"
            )
        return file.read(most_bytes)


def write_file(path: Path, content: bytes) -> None:
    """Replace a file, mode 0600; complete and durable when this returns. Raises OSError."""
    fresh = path.with_name(path.name + ".new")
    # With O_EXCL below: a file that another user left there would keep its owner and mode.
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        sync(file)
    rename(fresh, path)


def rename(source: Path, target: Path) -> None:
    """Rename a synced file or folder, durably; raises OSError."""
    source.rename(target)
    sync_folder(target.parent)


def make_folder(path: Path, *, durably: bool = True) -> None:
    """Make a folder and its parents; raises OSError."""
    if path.is_dir():
        return
    make_folder(path.parent, durably=durably)
    path.mkdir(exist_ok=True, mode=0o700)
    if durably:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk; raises OSError."""
    # A rename is durable when the folder is: without this, a power cut may bring back the old name.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_all(folder: Path) -> None:
    """Flush a folder and everything in it to the disk; raises OSError."""
    if SYNC_WAITS:
        os.sync()
        return
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            sync_folder(path)
        else:
            with path.open("rb") as file:
                sync(file)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; at the end it is synced and renamed to `target`.

    When the block fails nothing is left behind; what a killed process leaves, the next call beside
    it deletes. Raises UserFacingError when `target` exists and is not empty, and for file system
    errors inside the block.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserFacingError(f"{target} exists and is not empty: choose another folder")
    with explained(target.parent):
        make_folder(target.parent)
        _delete_left_parts(target.parent)
        # A name of its own: TARGET.new may be somebody's only backup.
        made = tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_PART, dir=target.parent)
    part, fresh = Path(made), Path(made, "made")
    try:
        with explained(target), (part / "begun").open("wb") as lock:
            # Locked before it has the name that the next call looks for.
            with suppress(OSError):  # without locks, as on some shares, the part of a killed stays
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                (part / "begun").rename(part / _LOCK)
            fresh.mkdir(mode=0o700)
            yield fresh
            sync_all(fresh)
            rename(fresh, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _delete_left_parts(folder: Path) -> None:
    """Delete the temporary folders whose process has ended: a living one holds its lock."""
    for part in folder.glob(f".*{_PART}"):
        with suppress(OSError), (part / _LOCK).open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(part)


def blob_path(digest: Digest) -> str:
    """The path of a blob, in a folder or a bucket."""
    name = digest.hex()
    return f"sha256/{name[:2]}/{name[2:4]}/{name}"
