"""An evaluator's commitment to scores, made from the statement that will reveal them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.competition import state
from tequio_shared.ids import digest_from_text, from_text, to_text
from tequio_shared.statements.competitions import EvalCommit

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.competitions import EvalResult


def committing(author: PeerKey, result: EvalResult) -> EvalCommit:
    """The commitment that precedes the result."""
    commit = state.score_commitment(
        digest_from_text(result.competition),
        author,
        digest_from_text(result.scores),
        from_text(result.salt),
    )
    return EvalCommit(
        competition=result.competition, entrant=result.entrant, commit=to_text(commit)
    )
