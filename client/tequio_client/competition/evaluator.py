"""The duties of an evaluator in one competition, done step by step.

It scores, commits to its scores, and reveals them when nobody can copy them any more. Every step
begins from the log and from the files in its folder, and leaves its results there: a program that
was killed continues where it was, and scores nothing twice.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog

from tequio_client import files
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.clock import now_ms
from tequio_client.competition import models
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.trainer import weights
from tequio_client.trainer.device import ComputeDevice
from tequio_client.verify import archive
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import WorkProgress
from tequio_client.worker.children import evaluator as evaluator_child
from tequio_client.worker.children.evaluator import EVALUATION_FILE, missing_memory
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.competition import state
from tequio_shared.competition.draw import lot_input
from tequio_shared.competition.rules import Evaluation
from tequio_shared.competition.state import CompetitionPhase, CompetitionView
from tequio_shared.errors import MalformedError, TequioError, UserFacingError, first_error
from tequio_shared.ids import (
    Digest,
    PeerKey,
    digest_from_text,
    from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.statements.competitions import EvalCommit, EvalLot, EvalOffer, EvalResult
from tequio_shared.statements.statement import Body
from tequio_shared.wording import plural

log = structlog.get_logger(__name__)

FIRST_PAUSE_MS = 10_000
LONGEST_PAUSE_MS = 900_000
"""Between two tries at a model that could not be fetched or scored."""
SALT_BYTES = 32
_SALT, _TRIES, _JOURNAL = "salt", "tries", "scores.jsonl"
_LEAST_PARTS = 2
_ALREADY_LOGGED = "already-said"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScores:
    """One entrant's scores by this computer, and the salt of the commitment to them.

    Both are on disk before the commitment: scores that are lost after it cannot be revealed, and do
    not count.
    """

    evaluation: Evaluation
    salt: bytes

    @property
    def document(self) -> bytes:
        return self.evaluation.encode()

    @property
    def commit(self) -> Digest:
        found = self.evaluation
        competition, author = digest_from_text(found.competition), key_from_text(found.evaluator)
        return state.score_commitment(competition, author, sha256(self.document), self.salt)

    @property
    def commit_statement(self) -> EvalCommit:
        found = self.evaluation
        return EvalCommit(
            competition=found.competition, entrant=found.entrant, commit=to_text(self.commit)
        )

    @property
    def result_statement(self) -> EvalResult:
        found, total = self.evaluation, self.evaluation.total
        return EvalResult(
            competition=found.competition,
            entrant=found.entrant,
            submission=found.submission,
            scores=to_text(sha256(self.document)),
            salt=to_text(self.salt),
            millibits=total.millibits,
            size_bytes=total.size_bytes,
        )


def store_scores(folder: Path, evaluation: Evaluation) -> OwnScores:
    """Write scores to the disk, the salt first; raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    salt = _salt(folder)
    if salt is None:
        salt = secrets.token_bytes(SALT_BYTES)
        files.write_private(folder / _SALT, to_text(salt).encode() + b"\n")
    files.write_private(folder / EVALUATION_FILE, evaluation.encode())
    return OwnScores(evaluation=evaluation, salt=salt)


def stored_scores(folder: Path) -> OwnScores | None:
    salt = _salt(folder)
    try:
        found = Evaluation.parse((folder / EVALUATION_FILE).read_bytes())
    except (OSError, MalformedError):
        return None
    return None if salt is None else OwnScores(evaluation=found, salt=salt)


def _salt(folder: Path) -> bytes | None:
    try:
        return from_text((folder / _SALT).read_text("ascii").strip(), SALT_BYTES)
    except (OSError, UnicodeDecodeError, MalformedError):
        return None


class TimeLimit:
    """Passes progress on to another, and ends the work by a UserFacingError after a time."""

    def __init__(self, progress: WorkProgress, end_ms: int, clock: Callable[[], int]) -> None:
        self._progress, self._end_ms, self._clock = progress, end_ms, clock

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        with self._progress.work(what, total) as tick:

            def step(steps: int) -> None:
                tick(steps)
                if self._clock() > self._end_ms:
                    raise UserFacingError(f"its time ended at {format_time(self._end_ms)}")

            yield step


class ScoresRefusedError(UserFacingError):
    """The ledger does not accept this statement from this key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorContext:
    folder: Path
    device: ComputeDevice
    progress: WorkProgress
    report: Callable[[str], None]
    """Called with a line for people at each step."""
    stores: Sequence[Path] = ()
    after_batch: Callable[[int], None] = lambda _tokens: None
    """Called with the tokens of every computed batch; may sleep."""
    set_deadline: Callable[[int | None], None] = lambda _ms: None
    """Called with the time by which the present model has to be scored (ms), or None after it."""
    clock: Callable[[], int] = now_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class _Retry:
    """The next try at a model that failed, and the pause before it."""

    at_ms: int
    pause_ms: int


class StatementSubmitter(Protocol):
    """Logs statements of one key, for a program without an event loop."""

    @property
    def key(self) -> PeerKey: ...

    @property
    def prove(self) -> Callable[[bytes], bytes] | None:
        """The key's verifiable random function; None where another program draws the lot."""

    def submit(self, body: Body, *documents: bytes) -> None:
        """Upload the documents, then log the statement; the ledger has both when it returns.

        Raises LedgerRefusedError, and UserFacingError if the ledger does not answer.
        """


class Evaluator:
    """Evaluates with one key; nothing else uses the folder meanwhile."""

    def __init__(
        self, reader: LedgerReader, context: EvaluatorContext, submitter: StatementSubmitter
    ) -> None:
        self._reader = reader
        self._context = context
        self._submitter = submitter
        self.key = submitter.key
        self._retries: dict[tuple[Digest, str], _Retry] = {}  # by competition and entrant
        self._reported: set[tuple[Digest, str]] = set()

    def step(self, view: CompetitionView) -> bool:
        """Do what is due; False if nothing is left to do in this competition."""
        match view.phase:
            case CompetitionPhase.OPEN:
                return True
            case CompetitionPhase.CLOSED:
                self._draw_lot(view)
                return self.key in view.offers
            case CompetitionPhase.DRAWN:
                return self._waits_for_shares(view)
            case CompetitionPhase.REVEALED:
                return self._score(view)
        return False

    def offer(self, view: CompetitionView) -> None:
        """Offer to evaluate, if we may and have the memory; says once why not."""
        if self.key in view.offers or (view.id, "offer") in self._reported:
            return
        if why := self._unfit_reason(view):  # memory may be there later
            self._report_once(view, "unfit", f"no offer: {why}")
            return
        try:
            self._submit(EvalOffer(competition=to_text(view.id)))
        except ScoresRefusedError as err:  # a key that is vouched for later may evaluate then
            self._report_once(view, "refused", f"no offer: {err}")
        else:
            self._report_once(view, "offer", "offered to evaluate")

    def _draw_lot(self, view: CompetitionView) -> None:
        offer, prove = view.offers.get(self.key), self._submitter.prove
        if offer is None or offer.lot is not None or prove is None:
            return
        proof = to_text(prove(lot_input(view.id, view.seed)))
        if self._submit(EvalLot(competition=to_text(view.id), vrf=proof)):
            self._report(view, "drew our lot; the draw comes next")

    def _waits_for_shares(self, view: CompetitionView) -> bool:
        if self.key not in view.candidates:
            if self.key in view.offers:
                self._report_once(view, "candidate", "this key cannot be drawn here")
            return False
        return self._context.clock() <= view.rules.dates.scored

    def _score(self, view: CompetitionView) -> bool:
        if view.draw is None or self.key not in view.draw.evaluators:
            if self.key in view.offers:
                self._report_once(view, "drawn", "others were drawn: nothing to do")
            return False
        self._report_once(
            view, "drawn", f"drawn to evaluate {plural(len(view.submissions), 'model')}"
        )
        for name in sorted(view.submissions, key=lambda one: self._turn(view, one)):
            self._try(view, name)
        if any(self._is_left(view, name) for name in view.submissions):
            return True
        self._finish(view)
        return False

    def _turn(self, view: CompetitionView, name: str) -> tuple[bool, int]:
        """Revealing takes no time and comes first; a model that ended us before comes last."""
        try:
            tries = (self._folder(view, name) / _TRIES).stat().st_size
        except OSError:  # reported when the entrant is scored
            tries = 0
        return (name, self.key) not in view.commits, tries

    def _is_left(self, view: CompetitionView, name: str) -> bool:
        """True if an entrant can still be scored, or its scores be revealed."""
        spot, dates = (name, self.key), view.rules.dates
        if spot in view.results:
            return False
        return self._context.clock() <= (
            dates.reveal_until if spot in view.commits else dates.scored
        )

    def _try(self, view: CompetitionView, name: str) -> None:
        """Do what is due; an entrant that fails does not hold up the others, and is tried again."""
        retry = self._retries.get((view.id, name))
        if not self._is_left(view, name) or (retry and self._context.clock() < retry.at_ms):
            return
        try:
            if (name, self.key) in view.commits:
                self._reveal(view, name)
            else:
                self._commit(view, name)
        except* (TequioError, OSError) as group:
            pause_ms = min(retry.pause_ms * 2, LONGEST_PAUSE_MS) if retry else FIRST_PAUSE_MS
            at_ms = self._context.clock() + pause_ms
            self._retries[view.id, name] = _Retry(at_ms=at_ms, pause_ms=pause_ms)
            then = f"; again in {pause_ms // 1_000} s" if self._is_left(view, name) else ""
            self._report(view, f"{name} is not scored yet: {first_error(group)}{then}")

    def _commit(self, view: CompetitionView, name: str) -> None:
        """Score an entrant, and commit to the scores before anybody reveals any."""
        folder = self._folder(view, name)
        scores = self._stored(view, name) or store_scores(folder, self._score_in_time(view, name))
        if self._submit(scores.commit_statement):
            self._report(view, f"{name} is scored, and committed to; shown when all have committed")
        shutil.rmtree(self._model(view, name), ignore_errors=True)

    def _reveal(self, view: CompetitionView, name: str) -> None:
        """Reveal what was committed to, once nobody can copy it any more."""
        if view.draw is None or not view.may_reveal(name, self._context.clock()):
            return
        scores = self._stored(view, name)
        if scores is None or scores.commit != view.commits[name, self.key].commit:
            line = f"the scores of {name} that we committed to are not in the folder"
            self._report_once(view, f"lost {name}", line)
            return
        if self._submit(scores.result_statement, scores.document):
            found = scores.evaluation
            reasons = ", ".join(one.sentence for one in found.refusals)
            bits = f"{found.total.bits_per_byte:.6f} bits per byte"
            self._report(view, f"{name}: {f'refused, as {reasons}' if reasons else bits}, logged")

    def _score_in_time(self, view: CompetitionView, name: str) -> Evaluation:
        """Score an entrant within its part of the time; the try is counted on disk first."""
        end_ms = self._end_ms(view)
        folder = self._folder(view, name)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / _TRIES).open("ab") as file:
            file.write(b".")
            files.sync(file)
        self._context.set_deadline(end_ms)
        try:
            return self._evaluate(view, name, end_ms)
        finally:
            self._context.set_deadline(None)

    def _end_ms(self, view: CompetitionView) -> int:
        """The end of a model's part of the time: a slow one takes none from the others."""
        now = self._context.clock()
        left = sum(self._stored(view, name) is None for name in view.submissions)
        parts = max(left // 2, _LEAST_PARTS) if left > 1 else 1
        return now + max(view.rules.dates.scored - now, 0) // parts

    def _evaluate(self, view: CompetitionView, name: str, end_ms: int) -> Evaluation:
        context, reader = self._context, self._reader
        progress = TimeLimit(context.progress, end_ms, context.clock)
        submission = view.entrants[name].submission
        if view.draw is None or submission is None:
            raise AssertionError(f"{name} has nothing to score")
        folder = self._folder(view, name)
        texts = archive.fetch_drawn_texts(view, folder.parent, reader.blob, reader.ledger)
        origin = WeightsOrigin(ledger=reader.ledger, stores=context.stores, trust=reader.trust)
        model = models.fetch_model(submission, self._model(view, name), origin, progress)
        self._check_size(view, model)
        task = models.ScoringTask(
            competition=view.id,
            entrant=name,
            submission=submission.id,
            evaluator=self.key,
            model=model,
            texts=texts,
            drawn=texts,
            scoring=view.rules.scoring,
            beacon=view.draw.beacon,
        )
        evaluation = models.evaluate_entrant(
            task, folder / _JOURNAL, context.device, progress, context.after_batch
        )
        context.device.release_memory()
        return evaluation

    def _stored(self, view: CompetitionView, name: str) -> OwnScores | None:
        scores = stored_scores(self._folder(view, name))
        if scores is None or view.draw is None:
            return None
        found = scores.evaluation
        due = to_text(view.id), to_text(view.submissions[name]), to_text(self.key)
        is_due = (found.competition, found.submission, found.evaluator) == due
        return scores if is_due and len(found.documents) == len(view.draw.documents) else None

    def _folder(self, view: CompetitionView, name: str) -> Path:
        return evaluator_child.competition_folder(self._context.folder, view.id) / name

    def _model(self, view: CompetitionView, name: str) -> Path:
        return evaluator_child.models_folder(self._context.folder) / to_text(view.id) / name

    def _check_size(self, view: CompetitionView, model: Path) -> None:
        parameters = weights.count_parameters(model)
        most = view.rules.budget.parameters
        if most and parameters > most:
            raise UserFacingError(f"it has {parameters:,} parameters, and {most:,} are allowed")
        if lacking := missing_memory(parameters):
            raise UserFacingError(lacking)

    def _unfit_reason(self, view: CompetitionView) -> str:
        """The reason why this key or computer cannot evaluate; empty if it can."""
        if self.key in view.rules.custodian_keys:
            return "a custodian does not evaluate"
        if self.key in self._reader.network.genesis.organiser_keys:
            return "an organiser does not evaluate"
        for entrant in view.entrants.values():
            if entrant.author == self.key:
                return "an entrant does not evaluate"
            history = None if entrant.side is None else self._reader.runs.get(entrant.side)
            if history is not None and self.key in history.view.accounts.rostered:
                return f"this key trained in a run that is in it, as {entrant.name}"
        return missing_memory(self._largest(view))

    def _largest(self, view: CompetitionView) -> int:
        """Parameters of the largest model that may come, as far as anybody can know."""
        if view.rules.budget.parameters:
            return view.rules.budget.parameters
        sides = {one.side for one in view.entrants.values()}
        runs = (history for run, history in self._reader.runs.items() if run in sides)
        return max((history.view.manifest.parameters for history in runs), default=0)

    def _submit(self, body: Body, *documents: bytes) -> bool:
        """Submit a statement; False if it was logged before.

        Raises ScoresRefusedError, and UserFacingError if the ledger does not answer.
        """
        try:
            self._submitter.submit(body, *documents)
        except LedgerRefusedError as err:
            if err.code != _ALREADY_LOGGED:
                raise ScoresRefusedError(f"the ledger says no: {err}") from err
            return False
        return True

    def _finish(self, view: CompetitionView) -> None:
        if self._mark_reported(view, "finish"):
            return
        dates = view.rules.dates
        missed = [name for name in view.submissions if (name, self.key) not in view.commits]
        hidden = [name for name in view.submissions if (name, self.key) in view.withheld]
        if missed:
            end = format_time(dates.scored)
            self._report(view, f"the time to score ended at {end}; not scored: {', '.join(missed)}")
        if hidden:
            end = format_time(dates.reveal_until)
            self._report(view, f"the time to show ended at {end}; not shown: {', '.join(hidden)}")
        if not missed and not hidden:
            self._report(view, "all models are scored")

    def _mark_reported(self, view: CompetitionView, what: str) -> bool:
        """True if it was marked before."""
        was_reported = (view.id, what) in self._reported
        self._reported.add((view.id, what))
        return was_reported

    def _report_once(self, view: CompetitionView, what: str, line: str) -> None:
        if not self._mark_reported(view, what):
            self._report(view, line)

    def _report(self, view: CompetitionView, line: str) -> None:
        self._context.report(f"{view.rules.name}: {line}")
        log.info("evaluator", competition=to_text(view.id)[:10], line=line)
