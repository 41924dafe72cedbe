"""What a backup contains: its list of files with their hashes, written last."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tequio_ledger.store import files
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "manifest.json"
VERSION = 1
_MOST_BYTES = 1 << 30


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a backup, by its path inside."""

    path: str
    size: int
    sha256: str
    """In hex."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole backup; a folder without this file is none."""

    v: int
    software: str
    made_ms: int
    network: str
    origin: str
    network_id: str
    size: int
    """Entries in the log."""
    published: int
    """Size of its newest checkpoint."""
    files: tuple[File, ...]
    left_out: tuple[str, ...]
    """Blobs that no entry of the log needs and whose bytes were missing or damaged."""


def read(folder: Path) -> Manifest:
    """Read the manifest of a backup; raises UserFacingError."""
    place = folder / NAME
    try:
        with place.open("rb") as file:
            found = msgspec.json.decode(file.read(_MOST_BYTES), type=Manifest)
    except FileNotFoundError as err:
        raise UserFacingError(
            f"{folder} is no whole backup: it has no {NAME}; choose another with --from"
        ) from err
    except (OSError, msgspec.MsgspecError) as err:
        raise UserFacingError(f"{place} cannot be read ({err}): choose another backup") from err
    if found.v != VERSION:
        raise UserFacingError(
            f"{place} is of version {found.v}: use the tequio-ledger that made it, {found.software}"
        )
    return found


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest; durable when this returns. Raises OSError."""
    files.write_file(folder / NAME, msgspec.json.format(msgspec.json.encode(manifest)))


def copy(source: Path, target: Path, name: str) -> File:
    """Copy one file, mode 0600, its bytes on the disk, hashed on the way; raises OSError."""
    files.make_folder(target.parent)
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as old, target.open("xb") as new:
        target.chmod(0o600)
        while chunk := old.read(files.PROBE_BYTES):
            digest.update(chunk)
            size += new.write(chunk)
        files.sync(new)
    return File(name, size, digest.hexdigest())


def describe(path: Path, name: str) -> File:
    """Hash a file that is in its place; raises OSError."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return File(name, path.stat().st_size, digest.hexdigest())
