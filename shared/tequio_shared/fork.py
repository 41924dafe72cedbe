"""Evidence that a log has two histories: what it signed, in its own words, for anybody to check.

Two checkpoints of one size with different roots prove it by themselves. Of different sizes, they
prove it as soon as the log cannot give a consistency proof between them; the proof that failed is
kept too. A file of evidence is named after what was signed: found again, after a restart or by
another way, it is the same file, and the one that is there stays as it is.
"""

from __future__ import annotations

from msgspec import Struct

from tequio_shared.errors import MalformedError
from tequio_shared.ids import sha256
from tequio_shared.notes import VerifierKey, note_text, open_checkpoint

VERSION = 1


class ForkEvidence(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file that an alarm leaves behind."""

    v: int = VERSION
    log_key: str
    """Verifier key of the log."""
    why: str
    """What was found, for people."""
    notes: tuple[str, ...]
    """Checkpoints under the log's signature, as they came."""
    proof: tuple[str, ...] = ()
    """Consistency proof between the first two that does not hold, base64, if one was given."""

    @property
    def name(self) -> str:
        """A name for these histories, whoever finds them, in which order and under whose lines."""
        signed = sorted(_signed(note.encode()) for note in self.notes)
        return sha256(self.log_key.encode(), *signed).hex()[:16]


def is_proof(evidence: ForkEvidence) -> bool:
    """Tell whether the evidence alone proves a fork: two roots for one size, both signed.

    Raises PeerError when a note does not bear the log's signature.
    """
    if len(evidence.notes) < 2:  # noqa: PLR2004 - two histories
        raise MalformedError("evidence of a fork has two checkpoints at least")
    key = VerifierKey.parse(evidence.log_key)
    signed = [open_checkpoint(note.encode(), key).checkpoint for note in evidence.notes]
    roots = {one.size: one.root for one in signed}
    return any(roots[one.size] != one.root for one in signed)


def _signed(note: bytes) -> bytes:
    """Give what a note says, as one digest; all of it, if it is none."""
    try:
        return sha256(note_text(note).encode())
    except MalformedError:
        return sha256(note)
