"""Scores of a competition's submissions, and challenges to them.

Nobody can copy scores: an evaluator commits to its scores of an entrant, and reveals them when all
drawn evaluators have committed, or nobody can any more. Once the first is revealed, no commitment
counts, so a clock that is set back gains nothing. The functions apply a statement to the
competition's view, or raise RefusedError. docs/protocol.md, section 19.
"""

from __future__ import annotations

from dataclasses import replace

from tequio_shared.competition.rules import Evaluation, evaluation_bytes
from tequio_shared.competition.state import (
    CompetitionContext,
    CompetitionView,
    EvaluationChallenge,
    EvaluatorScores,
    ScoreCommitment,
    SignedEntry,
    read_document,
    score_commitment,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, digest_from_text, from_text, key_from_text, to_text
from tequio_shared.statements.competitions import CompChallenge, EvalCommit, EvalResult

CHALLENGES = 16
"""Most challenges by one key in a competition."""


def commit(view: CompetitionView, entry: SignedEntry, body: EvalCommit) -> None:
    """Apply eval.commit of a drawn evaluator."""
    entry.check_within(0, view.rules.dates.scored)
    _check_drawn(view, entry.author)
    if view.entrant(body.entrant).submission is None:
        raise RefusedError("wrong-scores", f"{body.entrant} has submitted no model")
    if (body.entrant, entry.author) in view.commits:
        raise RefusedError("already-said", f"this key has committed for {body.entrant}")
    # One revealed score is enough to copy from, so no further commitment can count.
    if any(name == body.entrant for name, _ in view.results):
        raise RefusedError("too-late", f"scores of {body.entrant} are already revealed")
    view.commits[body.entrant, entry.author] = ScoreCommitment(
        committed_at=entry, commit=digest_from_text(body.commit)
    )


def reveal(
    view: CompetitionView, entry: SignedEntry, body: EvalResult, network: CompetitionContext
) -> None:
    """Apply eval.result: the scores of an entrant that a drawn evaluator committed to."""
    entry.check_within(0, view.rules.dates.reveal_until)
    _check_drawn(view, entry.author)
    submission = view.entrant(body.entrant).submission
    if submission is None or to_text(submission.id) != body.submission:
        raise RefusedError(
            "wrong-scores",
            f"{body.submission} is not the submission that counts for {body.entrant}",
        )
    if (body.entrant, entry.author) in view.results:
        raise RefusedError("already-said", f"this key has scored {body.entrant}")
    # Before the document is read: a copier has no commitment, and must not cause the read.
    _check_opens(view, entry.author, body)
    if not view.may_reveal(body.entrant, entry.ts):
        raise RefusedError(
            "too-early", f"not all drawn evaluators have committed for {body.entrant}"
        )
    documents = len(view.known_draw.documents)
    most = evaluation_bytes(documents)
    found = read_document(Evaluation.parse, network, body.scores, "evaluation", most)
    _check_scores(entry.author, body, found, documents)
    view.results[body.entrant, entry.author] = EvaluatorScores(
        revealed_at=entry,
        entrant=body.entrant,
        evaluator=entry.author,
        scores=digest_from_text(body.scores),
        millibits=body.millibits,
        size_bytes=body.size_bytes,
    )


def challenge(
    view: CompetitionView, entry: SignedEntry, body: CompChallenge, network: CompetitionContext
) -> None:
    """Apply comp.challenge: another number for a document."""
    entry.check_within(0, view.rules.dates.result)
    network.check_standing(entry.author)
    evaluator = key_from_text(body.evaluator)
    if (body.entrant, evaluator) not in view.results:
        raise RefusedError(
            "not-found", f"{body.evaluator} has published no scores of {body.entrant}"
        )
    if body.document not in view.known_draw.documents:
        raise RefusedError("wrong-challenge", f"document {body.document} was not drawn")
    made = EvaluationChallenge(
        challenged_at=entry,
        author=entry.author,
        entrant=body.entrant,
        evaluator=evaluator,
        document=body.document,
        millibits=body.millibits,
    )
    # Bounded per key: nobody can fill the log with challenges.
    mine = [one for one in view.challenges if one.author == entry.author]
    if len(mine) >= CHALLENGES:
        raise RefusedError("wrong-challenge", f"a key may make {CHALLENGES} challenges at most")
    if any(replace(one, challenged_at=entry) == made for one in mine):
        raise RefusedError("already-said", "this challenge has been made already")
    view.challenges.append(made)


def _check_drawn(view: CompetitionView, author: PeerKey) -> None:
    if author not in view.known_draw.evaluators:
        raise RefusedError("wrong-role", "this key was not drawn to evaluate")


def _check_opens(view: CompetitionView, author: PeerKey, body: EvalResult) -> None:
    committed = view.commits.get((body.entrant, author))
    if committed is None:
        raise RefusedError("not-found", f"this key committed to no scores of {body.entrant}")
    scores, salt = digest_from_text(body.scores), from_text(body.salt)
    if score_commitment(view.id, author, scores, salt) != committed.commit:
        raise RefusedError(
            "wrong-reveal", f"the scores of {body.entrant} do not match the commitment"
        )


def _check_scores(author: PeerKey, body: EvalResult, found: Evaluation, documents: int) -> None:
    claimed = body.competition, body.entrant, body.submission, to_text(author)
    if claimed != (found.competition, found.entrant, found.submission, found.evaluator):
        raise RefusedError(
            "wrong-scores", "the evaluation is for another entrant or by another evaluator"
        )
    if len(found.documents) != documents:
        raise RefusedError(
            "wrong-scores", f"{len(found.documents)} scores for {documents} documents"
        )
    # Readers show the sums without fetching the blob, so they must match it.
    total = found.total
    if (body.millibits, body.size_bytes) != (total.millibits, total.size_bytes):
        raise RefusedError("wrong-scores", f"the documents add up to {total.millibits} millibits")
