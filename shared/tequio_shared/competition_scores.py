"""What evaluators say of the entrants of a competition, and what others say against it.

Nobody can copy: an evaluator commits to its scores of an entrant, and shows them when all who were
drawn have committed, or nobody can any more. From the first one that is shown on, no commitment
counts, so that a clock that is put back gains nothing. docs/protocol.md, section 19.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tequio_shared.competition_gate import read_document
from tequio_shared.competition_state import Challenge, Committed, Scored
from tequio_shared.errors import RefusedError
from tequio_shared.evaluations import Evaluation
from tequio_shared.ids import (
    Digest,
    PeerKey,
    digest_from_text,
    from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.limits import BLOB_BYTES

if TYPE_CHECKING:
    from tequio_shared.competition_entries import Entries
    from tequio_shared.competition_gate import Network
    from tequio_shared.competition_rules import CompetitionRules
    from tequio_shared.competition_state import Draw, Mark
    from tequio_shared.statements.competitions import CompChallenge, EvalCommit, EvalResult

CHALLENGES = 16
"""Most challenges of one key in a competition."""


def commitment(competition: Digest, author: PeerKey, scores: Digest, salt: bytes) -> Digest:
    """What an evaluator commits to; `scores` names its `Evaluation`. Nobody else can open it."""
    return sha256(b"tequio/v1/scored\0", competition, author, scores, salt)


@dataclass(slots=True, kw_only=True)
class Scores:
    """The scores so far; each call takes a statement, or raises RefusedError."""

    rules: CompetitionRules
    commits: dict[tuple[str, PeerKey], Committed] = field(default_factory=dict)
    """By entrant and evaluator; so `results`."""
    results: dict[tuple[str, PeerKey], Scored] = field(default_factory=dict)
    challenges: list[Challenge] = field(default_factory=list)

    def commit(
        self, mark: Mark, author: PeerKey, body: EvalCommit, draw: Draw, entries: Entries
    ) -> None:
        """Take a drawn evaluator's commitment."""
        mark.check_within(0, self.rules.dates.scored)
        _check_drawn(author, draw)
        if entries.of(body.entrant).submission is None:
            raise RefusedError("wrong-scores", f"{body.entrant} submitted nothing")
        if (body.entrant, author) in self.commits:
            raise RefusedError("already-said", f"this key has committed for {body.entrant}")
        if any(name == body.entrant for name, _ in self.results):
            raise RefusedError("too-late", f"scores of {body.entrant} are shown already")
        self.commits[body.entrant, author] = Committed(
            said=mark, commit=digest_from_text(body.commit)
        )

    def show(
        self,
        mark: Mark,
        author: PeerKey,
        body: EvalResult,
        draw: Draw,
        entries: Entries,
        network: Network,
    ) -> None:
        """Take the scores of an entrant that a drawn evaluator committed to."""
        mark.check_within(0, self.rules.dates.shown)
        _check_drawn(author, draw)
        submission = entries.of(body.entrant).submission
        if submission is None or to_text(submission.id) != body.submission:
            raise RefusedError(
                "wrong-scores", f"{body.submission} is not what counts for {body.entrant}"
            )
        if (body.entrant, author) in self.results:
            raise RefusedError("already-said", f"this key has scored {body.entrant}")
        self._check_opens(author, body)
        if not self.are_due(body.entrant, draw, mark.ts):
            raise RefusedError(
                "too-early", f"not all who were drawn have committed for {body.entrant}"
            )
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

    def are_due(self, entrant: str, draw: Draw, at_ms: int) -> bool:
        """Whether scores of the entrant may be shown at that time: nobody else can commit then."""
        heard = all((entrant, key) in self.commits for key in draw.evaluators)
        return heard or at_ms > self.rules.dates.scored

    def hoped(self, entrant: str, draw: Draw, at_ms: int) -> int:
        """Count the scores of the entrant that are shown, or may still be at that time."""
        spots = [(entrant, key) for key in draw.evaluators]
        dates = self.rules.dates
        if at_ms <= dates.scored:
            return len(spots)
        hopes = self.commits if at_ms <= dates.shown else self.results
        return sum(spot in hopes for spot in spots)

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

    def _check_opens(self, author: PeerKey, body: EvalResult) -> None:
        committed = self.commits.get((body.entrant, author))
        if committed is None:
            raise RefusedError("not-found", f"this key committed to no scores of {body.entrant}")
        scores, salt = digest_from_text(body.scores), from_text(body.salt)
        if commitment(self.rules.id, author, scores, salt) != committed.commit:
            raise RefusedError(
                "wrong-reveal", f"the scores of {body.entrant} are not those committed to"
            )


def _check_drawn(author: PeerKey, draw: Draw) -> None:
    if author not in draw.evaluators:
        raise RefusedError("wrong-role", "this key was not drawn to evaluate")


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
