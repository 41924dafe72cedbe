"""Backups of a key as a file: sealed under a passphrase, and read back before it gets its name."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.keys import sealing
from tequio_client.keys.state import IdentityError

if TYPE_CHECKING:
    from pathlib import Path


SUFFIX = ".tequio-key"
MIN_PASSPHRASE_CHARACTERS = 8
"""Minimum characters of a passphrase."""
_MOST_BYTES = 4_096


def check_passphrase(passphrase: str) -> None:
    """Raise IdentityError for a passphrase that is too short."""
    if len(passphrase) < MIN_PASSPHRASE_CHARACTERS:
        raise IdentityError("passphrase-short", least=MIN_PASSPHRASE_CHARACTERS)


def save_backup(path: Path, seed: bytes, passphrase: str) -> None:
    """Write the backup, replacing any file there; raises IdentityError.

    The path either gets a complete backup that was opened once, or keeps the file that it had.
    """
    check_passphrase(passphrase)
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        files.write_private(part, sealing.seal(seed, passphrase))
        _prove(part, path, seed, passphrase)
        files.sync_and_rename(part, path)
    except OSError as err:
        raise _unusable(path, err) from err
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def read_backup(path: Path, passphrase: str) -> bytes:
    """Read the seed from a backup; raises IdentityError."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError as err:
        raise _unusable(path, err) from err
    if not sealing.is_sealed(content):
        raise IdentityError("backup-foreign", path=str(path))
    try:
        return sealing.unseal(content, passphrase)
    except IdentityError as err:
        raise IdentityError("backup-wrong", path=str(path)) from err


def _prove(part: Path, path: Path, seed: bytes, passphrase: str) -> None:
    if sealing.unseal(part.read_bytes(), passphrase) != seed:
        raise IdentityError("backup-differs", path=str(path))


def _unusable(path: Path, err: OSError) -> IdentityError:
    return IdentityError("backup-unusable", path=str(path), why=err.strerror or str(err))
