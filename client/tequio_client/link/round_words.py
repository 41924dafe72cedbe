"""English words for how a round ended for one key, and for how a key stands.

Used as `words` is: the command line shows a sentence as it is, the app translates it first. A
round's reasons are those of the points book: what the round did, or the protocol's reason for which
witnesses refused the work. `NEWER` is for what only a later version knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

STATES: Mapping[str, str] = {
    "pending": "Pending",
    "verified": "Verified",
    "rejected": "Rejected",
}
REASONS: Mapping[str, str] = {
    # of the round
    "void": "the round is void; its work is assigned again",
    "silent": "the round ended without your work",
    "not-selected": "too few witnesses received your work in time; this does not count against you",
    "no-points": "you were not asked to do anything that earns points",
    # the bytes
    "none": "the witnesses gave no reason",
    "length": "the contribution had the wrong length",
    "magic": "the contribution was not in the right format",
    "version": "the contribution was in a format of another version",
    "shape": "the contribution did not have the shape of the model",
    "flags": "the contribution had marks that are not allowed",
    "run": "the contribution was for another run",
    "round": "the contribution was for another round",
    "base": "the work began from another version of the model",
    "trainer": "the contribution named another trainer",
    "windows": "the work used other text than was given out",
    "tokens": "the number of tokens was not what was given out",
    "steps": "the number of steps was not what was given out",
    "payload-root": "the bytes were not those that were promised",
    "scale": "a scale in the contribution was not allowed",
    "filler": "the contribution had something where there must be nothing",
    "popcount": "a block of the contribution had too many or too few values",
    "high": "the contribution named a place outside of the model",
    "ascending": "the places in the contribution were out of order",
    "level": "a value in the contribution was not allowed",
    "hollow": "the contribution was empty",
    # what was measured
    "norm": "the contribution was far larger than the others",
    "cosine": "the contribution pointed away from what the witnesses measured themselves",
    "copy": "the contribution was nearly the same as an earlier one",
}
"""Why a round gave nothing; no full stop, for they stand in brackets too."""
NEWER = "for a reason that this version does not know ({reason})"
STANDINGS: Mapping[str, str] = {
    "newcomer": "new",
    "active": "active",
    "suspected": "under watch, and trains on as before",
    "quarantined": "quarantined: it serves the swarm, and does not train until that is over",
    "probation": "on probation, and trains again",
    "banned": "banned, and in no roster any more",
}
"""What follows `Your key is now`."""


def reason(name: str) -> str:
    """Choose the words for a reason; those of a later version have a place for `{reason}`."""
    return REASONS.get(name, NEWER)
