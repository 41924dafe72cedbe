"""The last checkpoint that we verified, on disk: a log that is not its continuation is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tequio_shared.errors import UserFacingError
from tequio_shared.fields import Bytes32Text, Natural
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.notes import Checkpoint

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 4_096


class _Remembered(Struct, frozen=True, forbid_unknown_fields=True):
    origin: str
    size: Natural
    root: Bytes32Text


def recall(path: Path) -> Checkpoint | None:
    """Read the remembered checkpoint; None at the first start. Raises UserFacingError."""
    try:
        with path.open("rb") as file:
            found = msgspec.json.decode(file.read(_MOST_BYTES), type=_Remembered)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as err:
        raise UserFacingError(f"{path} cannot be read ({err}): move it away to go on") from err
    return Checkpoint(origin=found.origin, size=found.size, root=digest_from_text(found.root))


def remember(path: Path, checkpoint: Checkpoint) -> None:
    """Keep a checkpoint; on disk when this returns. Raises UserFacingError."""
    kept = _Remembered(
        origin=checkpoint.origin, size=checkpoint.size, root=to_text(checkpoint.root)
    )
    fresh = path.with_suffix(".new")
    try:
        with fresh.open("wb") as file:
            file.write(msgspec.json.encode(kept))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as err:
        raise UserFacingError(f"{path} cannot be written: {err.strerror}") from err
