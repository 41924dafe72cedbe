"""What was signed last, in a file that no power cut tears.

Two places in the file take turns, each with a number and a checksum: a write that is cut off
spoils the older one only. One sync a signature, and the file never grows.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from tequio_ledger.store import files
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest, sha256
from tequio_shared.notes import Checkpoint

if TYPE_CHECKING:
    from pathlib import Path

_PLACE_BYTES = 4_096
_HEAD = struct.Struct("!8sQQ32sH")  # magic, number of the write, size, root, bytes of the origin
_MAGIC = b"tqsigned"
_NEVER = b"tqnever."
_FIRST = 2  # in the second place: what says "never" stays until that write is whole


class _Record(NamedTuple):
    number: int
    checkpoint: Checkpoint


class Memory:
    """Keeps one checkpoint; who calls `write` sees to it that nobody else does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: _Record | None = None
        self._is_read = False

    def is_there(self) -> bool:
        """Whether anything remembers what was signed, if only that nothing was."""
        return self._last is not None or self._path.exists()

    def read(self) -> Checkpoint | None:
        """Give what was signed last; None before the first time. Raises UserFacingError."""
        if not self._is_read:
            self._last = self._newest()
            self._is_read = True
        return self._last.checkpoint if self._last else None

    def begin(self) -> None:
        """Keep that nothing was signed yet, unless there is a memory. Raises UserFacingError."""
        if self._path.exists():
            return
        try:
            files.write_file(self._path, _NEVER.ljust(2 * _PLACE_BYTES, b"\0"))
        except OSError as err:
            raise UserFacingError(files.explain(err, self._path)) from err

    def write(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint after `begin`; durable when this returns.

        Raises OSError: then it counts nowhere.
        """
        self.read()
        number = self._last.number + 1 if self._last else _FIRST
        record = _encode(number, checkpoint)
        self._is_read = False  # until the disk has it, the disk knows better than we do
        with self._path.open("r+b") as file:
            file.seek(_PLACE_BYTES * (1 - number % 2))
            file.write(record)
            files.sync(file)
        self._last = _Record(number, checkpoint)
        self._is_read = True

    def _newest(self) -> _Record | None:
        try:
            with self._path.open("rb") as file:
                raw = file.read(2 * _PLACE_BYTES)
        except FileNotFoundError:
            return None
        except OSError as err:
            raise UserFacingError(files.explain(err, self._path)) from err
        found = [_parse(raw[at:]) for at in (0, _PLACE_BYTES)]
        sound = [record for record in found if record is not None]
        if not sound and raw.startswith(_NEVER):
            return None
        if not sound:
            raise UserFacingError(
                f"{self._path} is damaged, so nothing is signed: only it knows what was signed last"
            )
        return max(sound)


def _encode(number: int, checkpoint: Checkpoint) -> bytes:
    origin = checkpoint.origin.encode()
    head = _HEAD.pack(_MAGIC, number, checkpoint.size, checkpoint.root, len(origin))
    return head + origin + sha256(head, origin)


def _parse(raw: bytes) -> _Record | None:
    """Read one place; None for one that was never written, or not to its end."""
    try:
        magic, number, size, root, length = _HEAD.unpack_from(raw)
        origin = raw[_HEAD.size :][:length]
        checksum = raw[_HEAD.size + length :][:DIGEST_BYTES]
        if magic != _MAGIC or sha256(raw[: _HEAD.size], origin) != checksum:
            return None
        checkpoint = Checkpoint(origin=origin.decode(), size=size, root=Digest(root))
    except (struct.error, UnicodeDecodeError, MalformedError):
        return None
    return _Record(number, checkpoint)
