"""Six lies of a colluding ledger about a competition that was decided honestly.

Each lie changes a `RewrittenLog` into one that such a ledger would publish, with all signatures. It
names the entry at which an auditor must find it, and words that the finding must contain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING

import msgspec

from tequio_client.organiser import sealing
from tequio_shared.competition import result as competition_result
from tequio_shared.competition.result import DrawnText
from tequio_shared.competition.sealed_archive import HEAD_BYTES, ArchiveHead
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import (
    PeerKey,
    digest_from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.statements.competitions import (
    CompClose,
    CompResult,
    CompReveal,
    CompSubmit,
    EvalResult,
)
from tests.support import rewritten_rules
from tests.support.score_commitments import committing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.verify.competition import JudgedCompetition
    from tequio_shared.competition.result import JudgedEntrant
    from tequio_shared.competition.rules import CompetitionOutcome, Evaluation, Submission
    from tequio_shared.competition.state import CompetitionDraw
    from tests.support.rewritten_log import RewrittenLog

SECOND_MS = 1_000
_OTHER = to_text(sha256(b"other weights"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """One of the six."""

    name: str
    tell: Callable[[RewrittenLog, JudgedCompetition], int]
    """Changes the log of a judged competition; returns the entry at fault."""
    says: tuple[str, ...]
    """Words that a finding at that entry must contain."""


def count_a_liar(log: RewrittenLog, judged: JudgedCompetition) -> int:
    """One evaluator halves the last entrant's score, and only that score is ranked."""
    last = _last(judged)
    lied = _halved(last.evaluations[0])
    _replace_scores(log, judged, lied)
    due = _outcome(judged, replace(last, evaluations=(lied, *last.evaluations[1:])))
    total = lied.total
    nanobits = total.millibits * 1_000_000 // total.size_bytes
    outcome = placed(due, last.entrant, millibits=total.millibits, nanobits_per_byte=nanobits)
    return decide(log, first(outcome, last.entrant))


def swap_a_document(log: RewrittenLog, judged: JudgedCompetition) -> int:
    """The archive has an easy text in place of one that was committed to."""
    rules, raw = judged.view.rules, log.blobs[digest_from_text(judged.view.rules.sealed.archive)]
    head, key = ArchiveHead.parse(raw[:HEAD_BYTES]), _draw(judged).key
    plain = b"".join(sealing.decrypt(key, head, BytesIO(raw[HEAD_BYTES:])))
    text = judged.texts[0]
    swapped = plain.replace(text, (b"easy " * len(text))[: len(text)])
    archive = log.put(b"".join(sealing.encrypt(key, head, (swapped,))))
    sealed = msgspec.structs.replace(rules.sealed, archive=archive)
    rewritten_rules.follow(log, judged, msgspec.structs.replace(rules, sealed=sealed))
    return judged.view.phase_starts[CompetitionPhase.OPEN].index


def show_a_share_early(log: RewrittenLog, judged: JudgedCompetition) -> int:
    """A custodian reveals a share a second before the deadline."""
    early = judged.view.rules.dates.deadline - SECOND_MS
    return log.bring_forward(log.index_of(CompReveal), log.index_of(CompClose), early)


def change_weights(log: RewrittenLog, judged: JudgedCompetition) -> int:
    """The last entrant submits again after the deadline, and all claim to have scored that."""
    view, last = judged.view, _last(judged)
    entrant = view.entrants[last.entrant]
    if entrant.submission is None or entrant.submitted is None:
        raise AssertionError("a ranked entrant has submitted")
    name = log.put(_other_weights(entrant.submission).encode())
    evaluations = []
    for one in last.evaluations:
        evaluations.append(msgspec.structs.replace(_halved(one), submission=name))
        _replace_scores(log, judged, evaluations[-1])
    better = replace(last, submission=digest_from_text(name), evaluations=tuple(evaluations))
    decide(log, _outcome(judged, better))
    body = CompSubmit(competition=to_text(view.id), entrant=last.entrant, submission=name)
    return log.insert(log.index_of(CompClose) + 1, entrant.submitted.author, body)


def change_a_rank(log: RewrittenLog, judged: JudgedCompetition) -> int:
    """The last entrant is ranked first, with unchanged scores."""
    return decide(log, first(judged.outcome, _last(judged).entrant))


def let_anybody_evaluate(log: RewrittenLog, judged: JudgedCompetition) -> int:
    """An evaluator that was not drawn scores the last entrant, and its scores count."""
    last, at = _last(judged), max(one.revealed_at.index for one in judged.view.results.values())
    stranger = _not_drawn(log, judged, at)
    extra = msgspec.structs.replace(_halved(last.evaluations[0]), evaluator=to_text(stranger))
    decide(log, _outcome(judged, replace(last, evaluations=(*last.evaluations, extra))))
    return log.insert(at + 1, stranger, _result_of(log, extra))


LIES = (
    Lie(
        name="a lying evaluator is counted",
        tell=count_a_liar,
        says=("millibits of entrant", "which is an outlier, scored alone"),
    ),
    Lie(
        name="a document is swapped after sealing",
        tell=swap_a_document,
        says=("texts", "not the sealed ones", "does not match its commitment"),
    ),
    Lie(
        name="a share is shown before the deadline",
        tell=show_a_share_early,
        says=("comp.reveal statement", "too-early"),
    ),
    Lie(
        name="weights are changed after submission",
        tell=change_weights,
        says=("comp.submit statement", "too-late"),
    ),
    Lie(name="a rank is changed", tell=change_a_rank, says=("rank of entrant", "expected")),
    Lie(
        name="an evaluator that was not drawn is counted",
        tell=let_anybody_evaluate,
        says=("eval.result statement", "not drawn"),
    ),
)


def placed(outcome: CompetitionOutcome, entrant: str, **changes: int) -> CompetitionOutcome:
    """The same outcome with another row for an entrant."""
    places = tuple(
        msgspec.structs.replace(one, **changes) if one.entrant == entrant else one
        for one in outcome.places
    )
    return msgspec.structs.replace(outcome, places=places)


def first(outcome: CompetitionOutcome, entrant: str) -> CompetitionOutcome:
    """The same outcome with that entrant first, and all others behind it."""
    for one in outcome.places:
        rank = 1 if one.entrant == entrant else one.rank + 1
        outcome = placed(outcome, one.entrant, rank=rank)
    return outcome


def decide(log: RewrittenLog, outcome: CompetitionOutcome) -> int:
    """Have the organisers state another outcome; returns the entry."""
    at = log.index_of(CompResult)
    body = log.entries[at].statement.body
    return log.change(at, msgspec.structs.replace(body, outcome=log.put(outcome.encode())))


def _last(judged: JudgedCompetition) -> JudgedEntrant:
    name = judged.outcome.places[-1].entrant
    return next(one for one in judged.contenders if one.entrant == name)


def _halved(scores: Evaluation) -> Evaluation:
    documents = tuple(
        msgspec.structs.replace(one, millibits=one.millibits // 2) for one in scores.documents
    )
    return msgspec.structs.replace(scores, documents=documents)


def _replace_scores(log: RewrittenLog, judged: JudgedCompetition, scores: Evaluation) -> None:
    """Replace an evaluator's commitment and result by these scores."""
    author, result = key_from_text(scores.evaluator), _result_of(log, scores)
    commits = judged.view.commits
    log.change(commits[result.entrant, author].committed_at.index, committing(author, result))
    log.change(judged.view.results[result.entrant, author].revealed_at.index, result)


def _result_of(log: RewrittenLog, scores: Evaluation) -> EvalResult:
    """The statement of these scores, whose document it stores."""
    total = scores.total
    return EvalResult(
        competition=scores.competition,
        entrant=scores.entrant,
        submission=scores.submission,
        scores=log.put(scores.encode()),
        salt=_OTHER,
        millibits=total.millibits,
        size_bytes=total.size_bytes,
    )


def _outcome(judged: JudgedCompetition, changed: JudgedEntrant) -> CompetitionOutcome:
    """The outcome with one entrant's evaluations replaced."""
    texts = [DrawnText.of(one) for one in judged.texts]
    contenders = [changed if one.entrant == changed.entrant else one for one in judged.contenders]
    return competition_result.compute_outcome(
        judged.view.id, _draw(judged).beacon, texts, contenders
    )


def _draw(judged: JudgedCompetition) -> CompetitionDraw:
    if judged.view.draw is None:
        raise AssertionError("a judged competition has a draw")
    return judged.view.draw


def _other_weights(was: Submission) -> Submission:
    if was.run:
        return msgspec.structs.replace(was, weights_root=_OTHER)
    files = tuple(msgspec.structs.replace(one, sha256=_OTHER) for one in was.files)
    return msgspec.structs.replace(was, files=files)


def _not_drawn(log: RewrittenLog, judged: JudgedCompetition, at: int) -> PeerKey:
    """A key that offered and was not drawn; or else an uninvolved key that is known by then."""
    view = judged.view
    drawn = set(_draw(judged).evaluators)
    parts = {
        *drawn,
        *view.rules.custodian_keys,
        *(one.author for one in view.entrants.values()),
    }
    known = {one.statement.author for one in log.entries[:at]} & set(log.signers)
    in_vain = set(view.offers) - drawn
    return min(
        in_vain or known - parts - log.genesis.organiser_keys - {log.genesis.coordinator_key}
    )
