"""Who holds the log's key: signs checkpoints that continue the last one, and nothing else.

Rules: never a smaller size, never another root for a size, and for a larger size only with a
consistency proof from the last one. What was signed last is on the disk before the signature is
given. So whoever commands the sequencer or restores its database, but not this memory, cannot
fork the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tequio_ledger.signing.memory import Memory
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.merkle import verify_consistency
from tequio_shared.notes import sign_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.keys import Signer
    from tequio_shared.notes import Checkpoint

    Prove = Callable[[int], Sequence[Digest]]


class WouldForkError(UserFacingError):
    """A signature was asked for that would give the log a second history."""


class CheckpointSigner(Protocol):
    """Signs a log's checkpoints: the notary of this process, or the one of another."""

    @property
    def key(self) -> PeerKey:
        """The log's public key."""

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Give the signed note; `prove` makes the consistency proof from an old size.

        Blocks. Raises WouldForkError, and OSError when the memory cannot be written.
        """


class Notary:
    """The key and its memory; one caller at a time."""

    def __init__(self, signer: Signer, path: Path) -> None:
        self._signer = signer
        self._path = path
        self._memory = Memory(path)

    @property
    def key(self) -> PeerKey:
        """The log's public key."""
        return self._signer.key

    @property
    def last(self) -> Checkpoint | None:
        """What was signed last; None before the first time."""
        return self._memory.read()

    @property
    def last_size(self) -> int:
        """Size that was signed last; 0 for none."""
        return self.last.size if self.last else 0

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Sign a checkpoint that continues the last one; a key without a memory signs nothing."""
        if not self._memory.is_there():
            raise WouldForkError(
                f"{self._path} is missing, and it alone knows what this key signed last: bring it "
                "back from where the key is, or promise that nobody holds a checkpoint beyond this "
                "log with `tequio-ledger restore --confirm`"
            )
        last = self.last
        if last is not None:
            _check_continues(last, checkpoint, prove)
        if checkpoint != last:
            self._memory.write(checkpoint)
        return sign_checkpoint(checkpoint, self._signer)


def _check_continues(last: Checkpoint, new: Checkpoint, prove: Prove) -> None:
    if new.origin != last.origin:
        raise WouldForkError(f"this key signs the log {last.origin!r}, not {new.origin!r}")
    if new.size < last.size:
        raise WouldForkError(
            f"size {last.size} of {last.origin} was signed already, so {new.size} is not: entries "
            "were lost, restore a newer backup"
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
