"""Where a folder is made: beside the place that it will have, and moved there when it is whole.

What was fetched stays until then, so that an export that was cut off goes on where it was.
"""

from __future__ import annotations

import errno
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.locks import locked
from tequio_client.worker.endings import first_of
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_OURS = (errno.EACCES, errno.EROFS, errno.EPERM)


class Workplace:
    """A work folder that is locked; `settle` makes what is in it the export."""

    def __init__(self, target: Path, folder: Path) -> None:
        self.target = target
        self.folder = folder
        self.fetched = folder / "fetched"
        self.made = folder / "made"

    def fresh(self) -> Path:
        """An empty folder to write the export in."""
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir(parents=True)
        return self.made

    def settle(self) -> None:
        """Give what was made its place, whole; then nothing of the work is left."""
        files.settle_folder(self.made, self.target)
        shutil.rmtree(self.fetched, ignore_errors=True)


@contextmanager
def workplace(target: Path) -> Iterator[Workplace]:
    """Work on an export to `target`; raises UserFacingError when it is taken or the disk is full.

    What was fetched stays unless it was settled.
    """
    target = target.absolute()
    folder = target.parent / f".{target.name}.part"
    _check_free(target)
    place = Workplace(target, folder)
    try:
        with locked(folder), roomy(target):
            yield place
    finally:
        if not place.fetched.exists():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def roomy(place: Path) -> Iterator[None]:
    """Say of a disk without room, or one that cannot be written, what to do about it."""
    try:
        yield
    except* OSError as group:
        error = first_of(group)
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise UserFacingError(
                f"the disk that holds {place.parent} is full: make room and run this again; "
                "what was fetched already is kept"
            ) from group
        if isinstance(error, OSError) and error.errno in _NOT_OURS:
            raise UserFacingError(
                f"{place.parent} cannot be written ({error.strerror}): choose another place"
            ) from group
        raise


def check_room(folder: Path, needed_bytes: int) -> None:
    """Raise UserFacingError unless so much is free in that folder."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise UserFacingError(
            f"{needed_bytes / 1e9:.1f} GB are needed in {folder} and {free / 1e9:.1f} GB are free: "
            "make room, or choose another place with --to"
        )


def _check_free(target: Path) -> None:
    try:
        is_taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except OSError as err:
        raise UserFacingError(f"{target} cannot be looked at: {err.strerror}") from err
    if is_taken:
        raise UserFacingError(
            f"{target} is there already and not empty: choose another place with --to"
        )
    if not target.parent.is_dir():
        raise UserFacingError(f"the folder {target.parent} is not there: make it first")
