"""The causes of a change of standing in words, for people: ledger and client say the same."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tequio_shared.standing import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

WORDS: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.EARNED: "enough contributions were accepted",
        Cause.TWO_COMMITMENTS: "signed two different commitments for one round",
        Cause.TWO_STATEMENTS: "signed two different statements under one number",
        Cause.BAD_HEADER: "signed a contribution header that breaks a rule",
        Cause.BAD_PAYLOAD: "committed to bytes that break a rule, say the witnesses",
        Cause.NOT_ELECTED: "signed a witness proof without having been elected",
        Cause.BAD_PROOF: "signed a witness proof that does not hold",
        Cause.STRIKE: "a contribution was far from the others, say two witnesses or more",
        Cause.STRIKES: "contributions were again far from the others, say two witnesses or more",
        Cause.DEVIATION: "witness proofs were contradicted by the other witnesses",
        Cause.TERM_SERVED: "the term of a quarantine is over",
        Cause.UNANSWERED: "no organiser answered an appeal in time",
    }
)
"""What each cause says of the key."""


def words_of(cause: int | None) -> str:
    """Say why; empty for a standing that no change led to, such as a release or a registration."""
    if cause is None:
        return ""
    try:
        return WORDS[Cause(cause)]
    except ValueError:
        return f"cause {cause}, which a newer tequio knows"
