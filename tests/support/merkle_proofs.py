"""Proofs over a whole list of leaf hashes, as RFC 6962 defines them (section 2.1)."""

from __future__ import annotations

from collections.abc import Sequence

from tequio_shared.ids import Digest
from tequio_shared.log.merkle import root_of_hashes


def inclusion_proof(hashes: Sequence[bytes], index: int) -> list[Digest]:
    """Prove leaf `index`: its audit path, the sibling first; raises IndexError outside the tree."""
    if not 0 <= index < len(hashes):
        raise IndexError(f"leaf {index} of {len(hashes)}")
    if len(hashes) == 1:
        return []
    split = 1 << (len(hashes) - 1).bit_length() - 1
    if index < split:
        return [*inclusion_proof(hashes[:split], index), root_of_hashes(hashes[split:])]
    return [*inclusion_proof(hashes[split:], index - split), root_of_hashes(hashes[:split])]


def consistency_proof(hashes: Sequence[bytes], old_size: int) -> list[Digest]:
    """Prove that the tree over the first `old_size` hashes is the beginning of this one.

    Raises IndexError unless 1 <= old_size <= len(hashes).
    """
    if not 1 <= old_size <= len(hashes):
        raise IndexError(f"old size {old_size} of {len(hashes)}")
    return _subproof(hashes, old_size, is_whole=True)


def _subproof(hashes: Sequence[bytes], old_size: int, *, is_whole: bool) -> list[Digest]:
    """Section 2.1.2; `is_whole` while the old tree is a subtree that the verifier has."""
    if old_size == len(hashes):
        return [] if is_whole else [root_of_hashes(hashes)]
    split = 1 << (len(hashes) - 1).bit_length() - 1
    if old_size <= split:
        left = _subproof(hashes[:split], old_size, is_whole=is_whole)
        return [*left, root_of_hashes(hashes[split:])]
    right = _subproof(hashes[split:], old_size - split, is_whole=False)
    return [*right, root_of_hashes(hashes[:split])]
