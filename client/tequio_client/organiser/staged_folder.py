"""A new folder that is there whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def staged(to: Path) -> Iterator[Path]:
    """Give a folder that only its owner can read, and its name when the block is done.

    On any error nothing is left. Raises UserFacingError when there is something already, or the
    disk does not take it.
    """
    try:
        if to.exists() and (not to.is_dir() or any(to.iterdir())):
            raise UserFacingError(f"{to} is there already and not empty; name a new folder")
        to.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{to.name}-", dir=to.parent))
        try:
            yield stage
            files.settle_folder(stage, to)
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
    except OSError as err:
        raise UserFacingError(f"cannot write {to}: {err.strerror or err}") from err
