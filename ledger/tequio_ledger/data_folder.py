"""The data folder: locked by one process; contains the database, the blobs and the keys."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path
from typing import Self

from tequio_ledger.store import files
from tequio_shared.errors import UserFacingError
from tequio_shared.keys import Signer

_SEED_BYTES = 32
_KEY_FILE_BYTES = 4_096


class DataFolder:
    """A data folder and the paths in it; a `with` block locks it against other processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / "ledger.sqlite"
        """The SQLite file."""
        self.blobs = path / "blobs"
        """The folder of the blobs, by digest."""
        self.mark = path / "signing.json"
        """File that says why the ledger must not sign; absent while it may."""
        self._lock = -1

    def key_file(self, name: str) -> Path:
        return self.path / f"{name}.key"

    def signer(self, name: str) -> Signer:
        """Read the key of that name, made at first use (mode 0600); raises UserFacingError."""
        return Signer(self.secret(name))

    def secret(self, name: str) -> bytes:
        """Read a secret of 32 bytes, made and stored like a key; raises UserFacingError."""
        path = self.key_file(name)
        if not path.exists():
            with files.explained(path):
                files.write_file(path, secrets.token_hex(_SEED_BYTES).encode() + b"\n")
        return _read_seed(path)  # also the fresh one: it must be readable at the next start

    def holds_key(self, name: str) -> bool:
        return self.key_file(name).exists()

    def is_locked(self) -> bool:
        """Return whether a process has locked the folder."""
        try:
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def __enter__(self) -> Self:
        """Make the folder if it is missing and lock it; raises UserFacingError."""
        with files.explained(self.path):
            files.make_folder(self.path)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            os.close(self._lock)
            raise UserFacingError(
                f"{self.path} is in use by another tequio-ledger: stop it or choose another --dir"
            ) from err
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)


def _read_seed(path: Path) -> bytes:
    try:
        seed = bytes.fromhex(files.read_secret(path, _KEY_FILE_BYTES).decode("ascii"))
    except (OSError, ValueError) as err:
        raise UserFacingError(f"the key file {path} cannot be read: {err}") from err
    if len(seed) != _SEED_BYTES:
        raise UserFacingError(f"the key file {path} does not contain {_SEED_BYTES} bytes in hex")
    return seed
