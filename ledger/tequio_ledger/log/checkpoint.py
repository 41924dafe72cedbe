"""The log's own checkpoints: what is published, and whether a stored one is what was signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.log.damage import damage
from tequio_shared import merkle
from tequio_shared.errors import PeerError
from tequio_shared.notes import VerifierKey, open_checkpoint

if TYPE_CHECKING:
    from tequio_ledger.store.log_rows import Head, StoredCheckpoint
    from tequio_shared.ids import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The signed state of the log that everybody may see."""

    size: int
    root: Digest
    note: bytes


NOTHING = Published(size=0, root=merkle.EMPTY_ROOT, note=b"")


def checked(stored: StoredCheckpoint, log_key: str) -> Published:
    """Give a stored checkpoint if its note says what its row says, under our own signature.

    Raises UserFacingError.
    """
    try:
        checkpoint = open_checkpoint(stored.note, VerifierKey.parse(log_key)).checkpoint
    except PeerError as err:
        raise damage(f"checkpoint {stored.size} is not ours ({err})") from err
    if (checkpoint.size, checkpoint.root) != (stored.size, stored.root):
        raise damage(f"checkpoint {stored.size} is not what its row says")
    return Published(size=stored.size, root=stored.root, note=stored.note)


def newest(stored: StoredCheckpoint | None, head: Head, log_key: str) -> Published:
    """Give the newest stored checkpoint, held against the log's head; raises UserFacingError."""
    if stored is None:
        return NOTHING
    if stored.size > head.size:
        raise damage(f"checkpoint {stored.size} is ahead of the log's {head.size} entries")
    published = checked(stored, log_key)
    if stored.size == head.size and stored.root != head.root:
        raise damage(f"checkpoint {stored.size} was signed over another root")
    return published
