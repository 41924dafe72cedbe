"""Statements of entrants, custodians, evaluators and challengers in a competition.

The ledger decides whether a statement is valid. What can be checked before it is asked is checked
here, so that the error can say what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.clock import now_ms
from tequio_client.competition import models
from tequio_client.keys import identity
from tequio_client.keys.state import KeyProtection
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.organiser import sealing, signing
from tequio_client.runtime import locked
from tequio_client.trainer.device import ComputeDevice
from tequio_client.verify import archive
from tequio_client.verify.fold import RunHistory
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import WorkProgress
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.competition.rules import Evaluation, Submission
from tequio_shared.competition.state import CompetitionDraw, CompetitionPhase, CompetitionView
from tequio_shared.errors import MalformedError, UserFacingError, first_error
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.network.rollback import is_given_up
from tequio_shared.round.manifest import Manifest
from tequio_shared.scoring import DOCUMENT_TOLERANCE, is_within
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompEnter,
    CompReveal,
    CompSubmit,
    EvalOffer,
)
from tequio_shared.statements.statement import Body
from tequio_shared.wording import plural


def enter(log: LedgerReader, wanted: str | None, name: str, run: str | None, folder: Path) -> str:
    """Enter a competition under a name, with a run or a model trained elsewhere."""
    view = log.wait_for(wanted)
    _check_phase(view, CompetitionPhase.OPEN, f"entries were possible until {_deadline(view)}")
    side = scorable_run(log.run(run).view.manifest) if run else ""
    if side:
        with signing.locked_folders([folder]):
            signing.load_organiser(folder, log.network)  # only an organiser enters a run
    submit_statement(
        log.ledger, folder, CompEnter(competition=to_text(view.id), entrant=name, side=side)
    )
    what = f"with the run {side[:10]}" if side else "with a model trained elsewhere"
    return f"{name} has entered {view.rules.name} {what}; submit before {_deadline(view)}"


def scorable_run(manifest: Manifest) -> str:
    """The run's id; raises UserFacingError if evaluators would have to run code of the run."""
    code = manifest.own_code
    needed = {"model", "tokenizer"} & set(code.provides) if code else set()
    if code and needed:
        raise UserFacingError(
            f"{manifest.name} cannot take part: its {' and '.join(sorted(needed))} "
            f"{'is' if len(needed) == 1 else 'are'} code of the plug-in {code.label}, and "
            "evaluators run no code of a run"
        )
    return to_text(manifest.run_id)


def submit_head(
    log: LedgerReader, wanted: str | None, name: str, run: str, number: int | None, folder: Path
) -> str:
    """Submit the head of a round, or the last head of a run within the budget."""
    view = log.wait_for(wanted, lambda found: name in found.entrants)
    history = log.run(run)
    scorable_run(history.view.manifest)
    _check_entrant(log, view, name, folder)
    number = _last_within(view, history) if number is None else number
    head = history.view.heads.get(number)
    if head is None:
        raise UserFacingError(history.view.why_unknown(number))
    submission = models.submission_of_head(history.view.manifest.run_id, number, head.weights_root)
    return _submit(log, view, name, submission, folder)


def submit_repository(
    log: LedgerReader, wanted: str | None, name: str, repo: str, revision: str | None, folder: Path
) -> str:
    """Submit a repository of the Hub, after downloading it and checking it against the rules."""
    view = log.wait_for(wanted, lambda found: name in found.entrants)
    _check_entrant(log, view, name, folder)  # before anything is fetched
    submission, note = models.submission_of_repository(view.rules, repo, revision)
    done = _submit(log, view, name, submission, folder)
    return f"{done}\n{note}" if note else done


def offer(log: LedgerReader, wanted: str | None, folder: Path) -> str:
    """Offer to evaluate."""
    view = log.wait_for(wanted)
    _check_phase(view, CompetitionPhase.OPEN, f"offers were possible until {_deadline(view)}")
    submit_statement(log.ledger, folder, EvalOffer(competition=to_text(view.id)))
    return (
        f"offered to evaluate {view.rules.name}; run `tequio competition evaluate` from "
        f"{_deadline(view)} on"
    )


def reveal(log: LedgerReader, wanted: str | None, share_file: Path, folder: Path) -> str:
    """Publish a custodian's share; returns a sentence about it."""
    share = sealing.read_share(share_file)
    view = log.wait_for(wanted)
    sealing.check_share(share, view.rules.sealed, share_file)
    if view.phase in (CompetitionPhase.OPEN, CompetitionPhase.CLOSED):
        raise UserFacingError(
            f"too early: shares of {view.rules.name} can be published after the draw at "
            f"{format_time(view.rules.dates.draw)}; before, they could be used to read the "
            "texts"
        )
    if void := view.void_reason(now_ms()):
        raise UserFacingError(
            f"{view.rules.name} ended without a ranking: {void}; no share is needed any more"
        )
    key = _key_in(folder)
    due = view.rules.custodians[share.index - 1]
    if key != due:
        raise UserFacingError(
            f"the rules name {due} as the custodian of share {share.index}, and the key in "
            f"{folder} is {key}: give the folder of that key with --dir"
        )
    submit_statement(
        log.ledger, folder, CompReveal(competition=to_text(view.id), share=share.encode())
    )
    return f"share {share.index} of {view.rules.name} is published"


def submit_statement(ledger: str, folder: Path, body: Body, *documents: bytes) -> None:
    """Upload documents and log a statement with the key in the folder; raises UserFacingError."""
    with locked(folder), shutdown.explain_unreachable_ledger(ledger):
        FolderSubmitter(ledger, folder).submit(body, *documents)


class FolderSubmitter:
    """Signs with the key in a folder, which the caller has locked: a StatementSubmitter."""

    def __init__(self, ledger: str, folder: Path) -> None:
        self._ledger, self._folder = ledger, folder
        self._signer = identity.load_or_create(folder)
        self.key, self.prove = self._signer.key, self._signer.prove

    def submit(self, body: Body, *documents: bytes) -> None:
        async def submitted() -> None:
            async with LedgerApi(self._ledger) as api:
                await signing.submit_alone(
                    api, self._folder, self._signer, body, documents=documents
                )

        refused: BaseException | None = None
        with shutdown.explain_unreachable_ledger(self._ledger):
            try:
                trio.run(submitted)
            except* LedgerRefusedError as group:  # its code tells an evaluator what to do
                refused = first_error(group)
        if refused is not None:
            raise refused


def _submit(
    log: LedgerReader, view: CompetitionView, name: str, made: Submission, folder: Path
) -> str:
    body = CompSubmit(competition=to_text(view.id), entrant=name, submission=to_text(made.id))
    submit_statement(log.ledger, folder, body, made.encode())
    what = (
        f"the head of round {made.round}"
        if made.run
        else f"{made.repo} at {made.revision}, {plural(len(made.files), 'file')}"
    )
    return f"{name} submits {what}; a later submission before {_deadline(view)} replaces it"


def _last_within(view: CompetitionView, history: RunHistory) -> int:
    """Last certified round within the budget of tokens and hours."""
    budget, trained, run = view.rules.budget, history.view.accounts.trained, history.view
    fitting = [
        number
        for number in history.view.heads
        if number in trained
        and not is_given_up(run.rollbacks, number, run.number)
        and (not budget.tokens or trained[number].tokens <= budget.tokens)
        and (not budget.hours or trained[number].ms <= budget.hours * 3_600_000)
    ]
    name = history.view.manifest.name
    if not history.view.heads:
        raise UserFacingError(f"no head of {name} is certified yet: its first round has not begun")
    if not history.view.heads.keys() & trained.keys():
        raise UserFacingError(
            f"no head of {name} that work went into is certified yet: its members do that as their "
            "next round begins"
        )
    if not fitting:
        raise UserFacingError("no certified head of this run is within the budget: give --round")
    return max(fitting)


def _check_entrant(log: LedgerReader, view: CompetitionView, name: str, folder: Path) -> None:
    _check_phase(view, CompetitionPhase.OPEN, f"submissions were possible until {_deadline(view)}")
    if name not in view.entrants:
        known = ", ".join(view.entrants) or "none"
        raise UserFacingError(
            f"{view.rules.name} has no entrant {name!r}; known entrants: {known}. "
            f"Enter with `tequio competition enter {name}`"
        )
    due = to_text(log.holder(view.entrants[name].author))
    key = _key_in(folder)
    if key != due:
        raise UserFacingError(
            f"{name} belongs to {due}, and the key in {folder} is {key}: give the folder of that "
            "key with --dir"
        )


def _key_in(folder: Path) -> str:
    """The key in a folder that no other program uses, as text; `none` if it has none."""
    if identity.protection_of(folder) is KeyProtection.ABSENT:
        return "none"
    with locked(folder):
        return to_text(identity.load(folder).key)


def _check_phase(view: CompetitionView, due: CompetitionPhase, what: str) -> None:
    if view.phase is not due:
        raise UserFacingError(f"{view.rules.name} is {view.phase}: {what}")


def _deadline(view: CompetitionView) -> str:
    return format_time(view.rules.dates.deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChallenge:
    """The score to challenge; without `millibits`, the document is scored on this computer."""

    entrant: str
    evaluator: str
    document: int
    millibits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringResources:
    device: ComputeDevice
    progress: WorkProgress
    stores: Sequence[Path] = ()


def challenge(
    log: LedgerReader,
    wanted: str | None,
    doubt: ScoreChallenge,
    scorer: ScoringResources,
    folder: Path,
) -> str:
    """Log that an evaluator's score of a document is wrong; returns a sentence about it."""
    view = log.wait_for(wanted)
    draw = view.draw
    if draw is None:
        why = view.missing_for_ranking() or f"its draw is at {format_time(view.rules.dates.draw)}"
        raise UserFacingError(f"{view.rules.name} has no scores yet: {why}")
    if doubt.document not in draw.documents:
        raise UserFacingError(
            f"document {doubt.document} was not drawn; the drawn documents are: "
            f"{', '.join(map(str, draw.documents[:20]))}{' ...' if draw.documents[20:] else ''}"
        )
    evaluator, evaluation = _challenged(log, view, doubt)
    theirs = evaluation.documents[draw.documents.index(doubt.document)]
    own = doubt.millibits
    if own is None:
        own = _own_millibits(log, view, draw, doubt, scorer)
    if is_within(theirs.millibits, own, DOCUMENT_TOLERANCE):
        raise UserFacingError(
            f"{theirs.millibits / 1_000:,.3f} bits and {own / 1_000:,.3f} bits agree within the "
            "tolerance: there is nothing to challenge"
        )
    body = CompChallenge(
        competition=to_text(view.id),
        entrant=doubt.entrant,
        evaluator=to_text(evaluator),
        document=doubt.document,
        millibits=own,
    )
    submit_statement(log.ledger, folder, body)
    return (
        f"challenged: document {doubt.document} has {own / 1_000:,.3f} bits here, and "
        f"{theirs.millibits / 1_000:,.3f} bits according to {to_text(evaluator)[:10]}"
    )


def _challenged(
    log: LedgerReader, view: CompetitionView, doubt: ScoreChallenge
) -> tuple[PeerKey, Evaluation]:
    found = [
        scored
        for (entrant, key), scored in view.results.items()
        if entrant == doubt.entrant and to_text(key).startswith(doubt.evaluator)
    ]
    if len(found) != 1:
        keys = ", ".join(to_text(key)[:10] for name, key in view.results if name == doubt.entrant)
        raise UserFacingError(
            f"{len(found)} evaluators of {doubt.entrant} have a key that begins with "
            f"{doubt.evaluator!r}; known keys: {keys or 'none'}"
        )
    raw = log.blob(found[0].scores)
    if raw is None:
        raise UserFacingError(f"the ledger at {log.ledger} does not have that evaluation")
    try:
        return found[0].evaluator, Evaluation.parse(raw)
    except MalformedError as err:
        raise UserFacingError(f"that evaluation cannot be read: {err}") from err


def _own_millibits(
    log: LedgerReader,
    view: CompetitionView,
    draw: CompetitionDraw,
    doubt: ScoreChallenge,
    scorer: ScoringResources,
) -> int:
    submission = view.entrants[doubt.entrant].submission
    if submission is None:
        raise UserFacingError(f"the entrant {doubt.entrant} has not submitted weights")
    with TemporaryDirectory(prefix="tequio-challenge-") as temporary:
        folder = Path(temporary)
        texts = archive.fetch_drawn_texts(view, folder, log.blob, log.ledger)
        origin = WeightsOrigin(ledger=log.ledger, stores=scorer.stores, trust=log.trust)
        task = models.ScoringTask(
            competition=view.id,
            entrant=doubt.entrant,
            submission=submission.id,
            evaluator=draw.evaluators[0],
            model=models.fetch_model(submission, folder / "model", origin, scorer.progress),
            texts=[texts[draw.documents.index(doubt.document)]],
            drawn=texts,
            scoring=view.rules.scoring,
            beacon=draw.beacon,
        )
        made = models.evaluate_entrant(task, folder / "scores", scorer.device, scorer.progress)
        return made.documents[0].millibits
