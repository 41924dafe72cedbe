"""The signer of checkpoints, and its record of the last one, which survives a power cut.

Two places in the file are written in turn, each with a number and a checksum: an interrupted write
damages only the older one. Each signature costs one sync, and the file never grows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from tequio_ledger import resources
from tequio_ledger.store import files
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest, PeerKey, sha256
from tequio_shared.keys import Signer
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import Checkpoint, sign_checkpoint

Prove = Callable[[int], Sequence[Digest]]
"""Makes the consistency proof from an old size."""

_PLACE_BYTES = 4_096
_HEAD = struct.Struct("!8sQQ32sH")  # magic, number of the write, size, root, bytes of the origin
_MAGIC = b"tqsigned"
_NEVER = b"tqnever."
_FIRST = 2  # in the second place: the mark "never signed" stays until that write is complete


class WouldForkError(UserFacingError):
    """The requested signature would give the log a second history."""


class CheckpointSigner(Protocol):
    """Signs a log's checkpoints, in this process or in another."""

    @property
    def key(self) -> PeerKey:
        """The log's public key."""

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Give the signed note; blocks.

        Raises WouldForkError, and OSError when the record cannot be written.
        """


class Notary:
    """Signs checkpoints that continue the last one, and nothing else; for one caller at a time.

    Rules: never a smaller size, never another root for a size, and for a larger size only with a
    consistency proof from the last one. The record is on the disk before the signature is given. So
    an attacker who controls the sequencer or restores its database, but not this record, cannot
    fork the log.
    """

    def __init__(self, signer: Signer, path: Path) -> None:
        self.key = signer.key
        self._signer = signer
        self._path = path
        self._memory = SignatureMemory(path)

    @property
    def last(self) -> Checkpoint | None:
        """The last checkpoint signed; None before the first."""
        return self._memory.read()

    @property
    def last_size(self) -> int:
        """The last size signed; 0 before the first."""
        return self.last.size if self.last else 0

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Sign a checkpoint that continues the last one; a key without a record signs nothing."""
        if not self._memory.is_there():
            raise WouldForkError(
                f"{self._path} is missing, and only this file records what the key signed last: "
                "restore it from where the key comes from, or confirm that nobody holds a "
                "checkpoint beyond this log with `tequio-ledger restore --confirm`"
            )
        last = self.last
        if last is not None:
            _check_continues(last, checkpoint, prove)
        if checkpoint != last:  # one signed before gets the same signature, without a write
            self._memory.write(checkpoint)
        return sign_checkpoint(checkpoint, self._signer)


def _check_continues(last: Checkpoint, new: Checkpoint, prove: Prove) -> None:
    if new.origin != last.origin:
        raise WouldForkError(f"this key signs the log {last.origin!r}, not {new.origin!r}")
    if new.size < last.size:
        raise WouldForkError(
            f"size {last.size} of {last.origin} was signed already, so size {new.size} cannot be: "
            "entries were lost, restore a newer backup"
        )
    if last.size == 0:
        return
    proof = prove(last.size) if new.size > last.size else ()
    try:
        verify_consistency(last.size, last.root, new.size, new.root, proof)
    except PeerError as err:
        raise WouldForkError(
            f"the first {last.size} entries of {last.origin} are not those that were signed "
            f"({err}): restore a newer backup"
        ) from err


class _Record(NamedTuple):
    number: int
    checkpoint: Checkpoint


class SignatureMemory:
    """The record of the last checkpoint signed; for one writer at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: _Record | None = None
        self._is_read = False

    def is_there(self) -> bool:
        """Return whether a record exists, if only that nothing was signed."""
        return self._last is not None or self._path.exists()

    def read(self) -> Checkpoint | None:
        """Give the last checkpoint signed; None before the first.

        Raises UserFacingError, UnwritableError when it cannot be read for now.
        """
        if not self._is_read:
            self._last = self._newest()
            self._is_read = True
        return self._last.checkpoint if self._last else None

    def begin(self) -> None:
        """Record that nothing was signed yet, unless there is a record. Raises UserFacingError."""
        if self._path.exists():
            return
        with files.explained(self._path):
            files.write_file(self._path, _NEVER.ljust(2 * _PLACE_BYTES, b"\0"))

    def write(self, checkpoint: Checkpoint) -> None:
        """Record a checkpoint after `begin`; durable when this returns.

        Raises OSError: then it must not be signed.
        """
        self.read()
        number = self._last.number + 1 if self._last else _FIRST
        record = _encode(number, checkpoint)
        self._is_read = False  # if the write fails, only the disk knows which record it has
        with self._path.open("r+b") as file:
            file.seek(_PLACE_BYTES * (1 - number % 2))
            file.write(record)
            files.sync(file)
        self._last = _Record(number, checkpoint)
        self._is_read = True

    def _newest(self) -> _Record | None:
        with files.explained(self._path):
            try:
                with self._path.open("rb") as file:
                    raw = file.read(2 * _PLACE_BYTES)
            except FileNotFoundError:  # nothing else may count as "never signed"
                return None
            except OSError as err:
                if resources.is_exhaustion(err):  # passes: the caller tries again later
                    raise UnwritableError(files.explain(err, self._path)) from err
                raise
        found = [_parse(raw[at:]) for at in (0, _PLACE_BYTES)]
        sound = [record for record in found if record is not None]
        if not sound and raw.startswith(_NEVER):
            return None
        if not sound:
            raise UserFacingError(
                f"{self._path} is damaged, so nothing is signed: only this file records what was "
                "signed last"
            )
        return max(sound)


def _encode(number: int, checkpoint: Checkpoint) -> bytes:
    origin = checkpoint.origin.encode()
    head = _HEAD.pack(_MAGIC, number, checkpoint.size, checkpoint.root, len(origin))
    return head + origin + sha256(head, origin)


def _parse(raw: bytes) -> _Record | None:
    """Parse one place; None for one that was never written, or only in part."""
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
