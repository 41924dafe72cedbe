"""Somebody else's number for a document: computed here, held against an evaluator's, and said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tequio_client.competition import drawn_texts, part_taking, scores, weights
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.evaluations import Evaluation
from tequio_shared.ids import to_text
from tequio_shared.scoring import DOCUMENT_TOLERANCE, is_within
from tequio_shared.statements.competitions import CompChallenge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.trainer.device import Device
    from tequio_client.verify.ledger_reader import LedgerReader
    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.competition import CompetitionView
    from tequio_shared.competition_state import Draw
    from tequio_shared.ids import PeerKey
    from tequio_shared.scoring import DocumentScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Whose score of what is doubted; without `millibits` it is scored here."""

    entrant: str
    evaluator: str
    document: int
    millibits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """With what a doubted document is scored."""

    device: Device
    progress: WorkProgress
    stores: Sequence[Path] = ()


def challenge(
    log: LedgerReader, wanted: str | None, doubt: Doubt, scorer: Scorer, folder: Path
) -> str:
    """Say that an evaluator's score of a document is not what we got."""
    view = log.wait_for(wanted)
    evaluator, theirs = _theirs(log, view, doubt)
    own = doubt.millibits
    if own is None:
        own = _own(log, view, doubt, scorer)
    if is_within(theirs.millibits, own, DOCUMENT_TOLERANCE):
        raise UserFacingError(
            f"{theirs.millibits / 1_000:,.3f} bits and {own / 1_000:,.3f} bits agree as honest "
            "computers do: there is nothing to challenge"
        )
    body = CompChallenge(
        competition=to_text(view.id),
        entrant=doubt.entrant,
        evaluator=to_text(evaluator),
        document=doubt.document,
        millibits=own,
    )
    part_taking.say(log.ledger, folder, body)
    return (
        f"challenged: document {doubt.document} takes {own / 1_000:,.3f} bits here, and "
        f"{theirs.millibits / 1_000:,.3f} bits by {to_text(evaluator)[:10]}"
    )


def _draw(view: CompetitionView) -> Draw:
    if view.draw is None:
        raise UserFacingError(f"nothing is scored in {view.rules.name}: {view.lacks()}")
    return view.draw


def _theirs(
    log: LedgerReader, view: CompetitionView, doubt: Doubt
) -> tuple[PeerKey, DocumentScore]:
    """Whom the doubt is about, and what they said of the document."""
    documents = _draw(view).documents
    if doubt.document not in documents:
        raise UserFacingError(
            f"document {doubt.document} was not drawn; those drawn are: "
            f"{', '.join(map(str, documents[:20]))}{' ...' if documents[20:] else ''}"
        )
    found = [
        scored
        for (entrant, key), scored in view.results.items()
        if entrant == doubt.entrant and to_text(key).startswith(doubt.evaluator)
    ]
    if len(found) != 1:
        said = ", ".join(to_text(key)[:10] for name, key in view.results if name == doubt.entrant)
        raise UserFacingError(
            f"{len(found)} evaluators of {doubt.entrant} have a key that begins with "
            f"{doubt.evaluator!r}; there is: {said or 'none'}"
        )
    raw = log.blob(found[0].scores)
    if raw is None:
        raise UserFacingError(f"the ledger at {log.ledger} does not have that evaluation")
    try:
        scored = Evaluation.parse(raw)
    except MalformedError as err:
        raise UserFacingError(f"that evaluation cannot be read: {err}") from err
    return found[0].evaluator, scored.documents[documents.index(doubt.document)]


def _own(log: LedgerReader, view: CompetitionView, doubt: Doubt, scorer: Scorer) -> int:
    """Score the document here."""
    submission = view.entrants[doubt.entrant].submission
    if submission is None:
        raise UserFacingError(f"{doubt.entrant} submitted nothing")
    with TemporaryDirectory(prefix="tequio-challenge-") as temporary:
        folder = Path(temporary)
        texts = drawn_texts.drawn(view, folder, log.blob, log.ledger)
        origin = weights.Origin(ledger=log.ledger, stores=scorer.stores, trust=log.trust)
        task = scores.Task(
            competition=view.id,
            entrant=doubt.entrant,
            submission=submission.id,
            evaluator=_draw(view).evaluators[0],
            model=weights.had(submission, folder / "model", origin, scorer.progress),
            texts=[texts[_draw(view).documents.index(doubt.document)]],
            scoring=view.rules.scoring,
        )
        made = scores.evaluation(task, folder / "scores", scorer.device, scorer.progress)
        return made.documents[0].millibits
