"""The last checkpoint that we verified, on disk: a log that is not its continuation is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tequio_client import files
from tequio_shared.errors import UserFacingError
from tequio_shared.fields import Bytes32Text, Natural
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.notes import NOTE_BYTES, Checkpoint

if TYPE_CHECKING:
    from pathlib import Path

FILE = "log.json"
"""Its name in a program's folder."""
_MOST_BYTES = 2 * NOTE_BYTES  # a note in JSON


class _Remembered(Struct, frozen=True, forbid_unknown_fields=True):
    origin: str
    size: Natural
    root: Bytes32Text
    note: str = ""
    """As the log signed it."""


def recall(path: Path) -> Checkpoint | None:
    """Read the remembered checkpoint; None at the first start. Raises UserFacingError."""
    found = _read(path)
    if found is None:
        return None
    return Checkpoint(origin=found.origin, size=found.size, root=digest_from_text(found.root))


def recall_note(path: Path) -> bytes:
    """Read it as its log signed it; nothing at the first start. Raises UserFacingError."""
    found = _read(path)
    return b"" if found is None else found.note.encode()


def remember(path: Path, checkpoint: Checkpoint, note: bytes = b"") -> None:
    """Keep a checkpoint and its note; on disk when this returns. Raises UserFacingError."""
    kept = _Remembered(
        origin=checkpoint.origin,
        size=checkpoint.size,
        root=to_text(checkpoint.root),
        note=note.decode(),
    )
    files.write_or_explain(path, msgspec.json.encode(kept))


def _read(path: Path) -> _Remembered | None:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MOST_BYTES), type=_Remembered)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as err:
        raise UserFacingError(f"{path} cannot be read ({err}): move it away to go on") from err
