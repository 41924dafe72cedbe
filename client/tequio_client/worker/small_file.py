"""Small files that are there as a whole, or as they were before, whatever happens meanwhile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Give the file this content; on the disk when this returns. Raises UserFacingError."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("wb") as file:
            file.write(content)
        keep(fresh, path)
    except OSError as err:
        raise UserFacingError(
            f"{path} cannot be written ({err.strerror}): make room, or give another --dir"
        ) from err


def keep(source: Path, target: Path) -> None:
    """Bring a written file to the disk, then to its name. Raises OSError."""
    with source.open("r+b") as file:
        os.fsync(file.fileno())
    source.replace(target)
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and renames are ordered
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
