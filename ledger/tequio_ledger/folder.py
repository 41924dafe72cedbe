"""The data folder: made once, locked by one process, home of the database, blobs and keys."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from typing import TYPE_CHECKING, Self

from tequio_shared.errors import UserFacingError
from tequio_shared.keys import Signer

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_SEED_BYTES = 32
_KEY_FILE_BYTES = 4_096


class Folder:
    """An open data folder; while it is open no other process gets it."""

    def __init__(self, path: Path) -> None:
        """Make the folder if it is missing and lock it; raises UserFacingError."""
        self.path = path
        self._lock = _lock(path)

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.path / "ledger.sqlite"

    @property
    def blobs(self) -> Path:
        """Where blobs live, by digest."""
        return self.path / "blobs"

    def signer(self, name: str) -> Signer:
        """The key of that name, made at first use (mode 0600); raises UserFacingError."""
        path = self.path / f"{name}.key"
        if not path.exists():
            _write_seed(path, secrets.token_bytes(_SEED_BYTES))
        return Signer(_read_seed(path))

    def holds_key(self, name: str) -> bool:
        """Whether the key of that name is there already."""
        return (self.path / f"{name}.key").exists()

    def close(self) -> None:
        """Let the next process have it."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        err: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def explain(err: OSError, path: Path) -> str:
    """Say in one sentence what a file system error means for the service."""
    reasons = {
        errno.ENOSPC: f"the disk of {path} is full: free some space and start again",
        errno.EDQUOT: f"the disk quota for {path} is used up: free some space and start again",
        errno.EROFS: f"{path} is on a read-only file system: choose another with --dir",
        errno.EACCES: f"{path} may not be written: change its owner or choose another folder",
    }
    return reasons.get(err.errno or 0, f"{path} cannot be used: {err.strerror or err}")


def _lock(path: Path) -> int:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as err:
        raise UserFacingError(explain(err, path)) from err
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as err:
        os.close(handle)
        raise UserFacingError(
            f"{path} is in use by another tequio-ledger: stop it or choose another --dir"
        ) from err
    return handle


def _write_seed(path: Path, seed: bytes) -> None:
    fresh = path.with_suffix(".new")
    try:
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(seed.hex().encode() + b"\n")
            file.flush()
            os.fsync(handle)
        fresh.rename(path)
    except OSError as err:
        raise UserFacingError(explain(err, path)) from err


def _read_seed(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            seed = bytes.fromhex(file.read(_KEY_FILE_BYTES).decode("ascii"))
    except (OSError, ValueError) as err:
        raise UserFacingError(f"the key file {path} cannot be read: {err}") from err
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserFacingError(
            f"others may read the key file {path} (mode {mode:o}): run chmod 600 {path}"
        )
    if len(seed) != _SEED_BYTES:
        raise UserFacingError(f"the key file {path} is not a key of {_SEED_BYTES} bytes in hex")
    return seed
