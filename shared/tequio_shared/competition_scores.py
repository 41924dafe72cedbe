"""What evaluators say of the entrants of a competition, and what others say against it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tequio_shared.competition_gate import read_document
from tequio_shared.competition_state import Challenge, Scored
from tequio_shared.errors import RefusedError
from tequio_shared.evaluations import Evaluation
from tequio_shared.ids import PeerKey, digest_from_text, key_from_text, to_text
from tequio_shared.limits import BLOB_BYTES

if TYPE_CHECKING:
    from tequio_shared.competition_entries import Entries
    from tequio_shared.competition_gate import Network
    from tequio_shared.competition_rules import CompetitionRules
    from tequio_shared.competition_state import Draw, Mark
    from tequio_shared.statements.competitions import CompChallenge, EvalResult

CHALLENGES = 16
"""Most challenges of one key in a competition."""


@dataclass(slots=True, kw_only=True)
class Scores:
    """The scores so far; each call takes a statement, or raises RefusedError."""

    rules: CompetitionRules
    results: dict[tuple[str, PeerKey], Scored] = field(default_factory=dict)
    """By entrant and evaluator."""
    challenges: list[Challenge] = field(default_factory=list)

    def show(
        self,
        mark: Mark,
        author: PeerKey,
        body: EvalResult,
        draw: Draw,
        entries: Entries,
        network: Network,
    ) -> None:
        """Take a drawn evaluator's scores of an entrant."""
        mark.check_within(0, self.rules.dates.scored)
        if author not in draw.evaluators:
            raise RefusedError("wrong-role", "this key was not drawn to evaluate")
        submission = entries.of(body.entrant).submission
        if submission is None or to_text(submission.id) != body.submission:
            raise RefusedError(
                "wrong-scores", f"{body.submission} is not what counts for {body.entrant}"
            )
        if (body.entrant, author) in self.results:
            raise RefusedError("already-said", f"this key has scored {body.entrant}")
        found = read_document(Evaluation.parse, network, body.scores, "evaluation", BLOB_BYTES)
        _check_scores(author, body, found, len(draw.documents))
        self.results[body.entrant, author] = Scored(
            said=mark,
            entrant=body.entrant,
            evaluator=author,
            scores=digest_from_text(body.scores),
            millibits=body.millibits,
            size_bytes=body.size_bytes,
        )

    def challenge(
        self, mark: Mark, author: PeerKey, body: CompChallenge, draw: Draw, network: Network
    ) -> None:
        """Take somebody's other number."""
        mark.check_within(0, self.rules.dates.result)
        network.check_standing(author)
        evaluator = key_from_text(body.evaluator)
        if (body.entrant, evaluator) not in self.results:
            raise RefusedError(
                "not-found", f"{body.evaluator} has said nothing about {body.entrant}"
            )
        if body.document not in draw.documents:
            raise RefusedError(
                "wrong-challenge", f"document {body.document} is not one that was drawn"
            )
        made = Challenge(
            said=mark,
            author=author,
            entrant=body.entrant,
            evaluator=evaluator,
            document=body.document,
            millibits=body.millibits,
        )
        mine = [one for one in self.challenges if one.author == author]
        if len(mine) >= CHALLENGES:
            raise RefusedError("wrong-challenge", f"{CHALLENGES} challenges are all that a key has")
        if any(replace(one, said=mark) == made for one in mine):
            raise RefusedError("already-said", "this challenge was made already")
        self.challenges.append(made)


def _check_scores(author: PeerKey, body: EvalResult, found: Evaluation, documents: int) -> None:
    said = body.competition, body.entrant, body.submission, to_text(author)
    if said != (found.competition, found.entrant, found.submission, found.evaluator):
        raise RefusedError(
            "wrong-scores", "the evaluation is of something else, or somebody else's"
        )
    if len(found.documents) != documents:
        raise RefusedError(
            "wrong-scores", f"{len(found.documents)} scores for {documents} documents"
        )
    total = found.total
    if (body.millibits, body.size_bytes) != (total.millibits, total.size_bytes):
        raise RefusedError("wrong-scores", f"the documents sum up to {total.millibits} millibits")
