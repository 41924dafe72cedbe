"""Check a file with evidence of a fork without anything else."""

from __future__ import annotations

from tequio_shared.log.cosigning import ForkEvidence
from tequio_shared.log.notes import VerifierKey, open_checkpoint


def proves_fork(evidence: ForkEvidence) -> bool:
    """Return whether the evidence alone proves a fork: two signed roots for one size.

    Raises PeerError when a note does not bear the log's signature.
    """
    assert len(evidence.notes) > 1
    key = VerifierKey.parse(evidence.log_key)
    signed = [open_checkpoint(note.encode(), key).checkpoint for note in evidence.notes]
    roots = {one.size: one.root for one in signed}
    return any(roots[one.size] != one.root for one in signed)
