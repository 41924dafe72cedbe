"""Durable files and folders: complete or absent, also after a power cut.

Content is written and synced under another name in the same folder and then renamed; the folder is
synced so that the rename survives too. Elsewhere than on POSIX a folder cannot be opened, and
renames are ordered. All functions raise OSError unless stated otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from tequio_shared.errors import UserFacingError

_PRIVATE = 0o600
_SHARED = 0o666  # less the process's umask, as any new file


def write_private(path: Path, content: bytes) -> None:
    """Replace a file that only its owner can read; durable on return."""
    _write(path, content, _PRIVATE)


def write_for_user(path: Path, content: bytes) -> None:
    """Replace a file; durable on return. Raises UserFacingError that says what to do."""
    try:
        _write(path, content, _SHARED)
    except OSError as err:
        raise UserFacingError(
            f"cannot write {path} ({err.strerror}): free some space, or choose another --dir"
        ) from err


def sync_and_rename(source: Path, target: Path, *, mode: int | None = None) -> None:
    """Sync a written file, then move it to its name in place of what is there.

    The mode is set before the move: once the file has its name, another thread may delete it.
    """
    with source.open("r+b") as file:
        sync(file)
    if mode is not None:
        source.chmod(mode)
    source.replace(target)
    sync_folder(target.parent)


def sync_and_rename_folder(source: Path, target: Path) -> None:
    """Sync every file in a written folder, then rename it, over an empty folder if need be."""
    for path in (*source.rglob("*"), source):
        if path.is_dir():
            sync_folder(path)
        else:
            _sync_path(path)
    if target.exists():
        target.rmdir()
    source.rename(target)
    sync_folder(target.parent)


def sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    if os.name == "posix":
        _sync_path(folder)


def _write(path: Path, content: bytes, mode: int) -> None:
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)  # left by a run that was cut off, perhaps with another mode

    def open_with_mode(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    with open(fresh, "xb", opener=open_with_mode) as file:
        file.write(content)
    sync_and_rename(fresh, path)


def _sync_path(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
