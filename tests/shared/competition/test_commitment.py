"""The commitment to scores, made once more from the words of docs/protocol.md (19.5)."""

from __future__ import annotations

import hashlib

import pytest

from tequio_shared.competition.state import score_commitment
from tequio_shared.ids import Digest, PeerKey

PARTS = [bytes([number]) * 32 for number in range(1, 5)]
"""Competition, author, SHA-256 of the evaluation, salt."""


def test_a_commitment_binds_competition_author_scores_and_salt() -> None:
    competition, author, scores, salt = PARTS
    made = score_commitment(Digest(competition), PeerKey(author), Digest(scores), salt)
    assert made == hashlib.sha256(b"tequio/v1/scored" + b"\0" + b"".join(PARTS)).digest()


@pytest.mark.parametrize("changed", range(4))
def test_each_part_changes_it(changed: int) -> None:
    other = [part if at != changed else bytes(32) for at, part in enumerate(PARTS)]
    one, two = (
        score_commitment(Digest(a), PeerKey(b), Digest(c), d) for a, b, c, d in (PARTS, other)
    )
    assert one != two
