"""The key of this installation: one file, made at first use, and readable by its owner alone.

The file holds the 32-byte Ed25519 seed as it is, or sealed under a passphrase (`sealed_key`).
Whoever has the seed is this peer, in the network and in the ledger.
"""

from __future__ import annotations

import os
import secrets
import stat
from typing import TYPE_CHECKING

from tequio_client import private_file
from tequio_shared.errors import UserFacingError
from tequio_shared.keys import SEED_BYTES, Signer

if TYPE_CHECKING:
    from pathlib import Path

FILE = "identity.key"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MOST_BYTES = 4_096


def load_or_create(folder: Path, passphrase: str | None = None) -> Signer:
    """Read the folder's key, or make one; raises UserFacingError.

    The caller holds the folder's lock. With a passphrase a new key is sealed under it.
    """
    path = folder / FILE
    try:
        if path.exists():
            return Signer(_seed(path, _read(path), passphrase))
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        seed = secrets.token_bytes(SEED_BYTES)
        private_file.write(path, _content(seed, passphrase))
    except OSError as err:
        raise UserFacingError(f"the key file {path} cannot be used: {err.strerror}") from err
    return Signer(seed)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if os.name == "posix" and mode & _OTHERS:  # Windows keeps others out by the profile folder
            raise UserFacingError(
                f"others may read the key file {path} (mode {stat.S_IMODE(mode):o}): "
                f"run chmod 600 {path}"
            )
        return file.read(_MOST_BYTES)


def _seed(path: Path, content: bytes, passphrase: str | None) -> bytes:
    if len(content) == SEED_BYTES:
        return content
    from tequio_client import sealed_key  # noqa: PLC0415 - its library costs memory; few seal

    if not sealed_key.is_sealed(content):
        raise UserFacingError(
            f"the key file {path} has {len(content)} bytes instead of {SEED_BYTES}: "
            "restore it from a backup, or move it away to become a new peer"
        )
    if passphrase is None:
        raise UserFacingError(f"the key file {path} is sealed: a passphrase is needed")
    return sealed_key.unseal(content, passphrase)


def _content(seed: bytes, passphrase: str | None) -> bytes:
    if passphrase is None:
        return seed
    from tequio_client import sealed_key  # noqa: PLC0415 - as above

    return sealed_key.seal(seed, passphrase)
