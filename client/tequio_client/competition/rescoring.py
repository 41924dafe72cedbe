"""Scores computed again on this computer, and compared with the medians and with each evaluator.

No evaluator can have known which documents are scored again: a random draw, in which those that
were challenged have up to half of the places. Anybody may challenge, also a liar to turn this check
away from the lies. A median outside the tolerance of the protocol is a mismatch: most evaluators of
that entrant stated what this computer does not find. A single evaluator is only named, as the
medians pass over it.

The entrants' models are compared with what was submitted, wherever they come from: a head's weights
with the root that the log promoted, a folder file by file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tequio_client.checkpoint import verify
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.verify import CannotVerifyError, NotTheHeadError
from tequio_client.competition import models
from tequio_client.competition.models import OtherWeightsError
from tequio_client.names import short_id
from tequio_client.trainer import weights
from tequio_client.trainer.device import ComputeDevice
from tequio_client.verify.competition import JudgedCompetition
from tequio_client.verify.report import LogPlace, LogReport, WorkProgress
from tequio_client.worker import shutdown
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText, JudgedEntrant
from tequio_shared.competition.rules import Submission
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import PeerKey, key_from_text
from tequio_shared.scoring import DOCUMENT_TOLERANCE, DocumentScore, is_within

_NOBODY = PeerKey(bytes(32))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Entrants' models: local folders, else the place that the submission names.

    Without an origin, all of them have to be local.
    """

    local: Mapping[str, Path]
    origin: WeightsOrigin | None
    folder: Path
    progress: WorkProgress

    def model(self, entrant: str, submission: Submission) -> Path:
        """Find or fetch it; raises UserFacingError, OtherWeightsError for other weights."""
        to = self.folder / f"model-{entrant}"
        local = self.local.get(entrant)
        if local is None:
            if self.origin is None:
                raise UserFacingError(
                    f"a bundle holds no weights: give --model {entrant}=FOLDER with "
                    + (
                        f"an export of round {submission.round} of run {submission.run[:10]}"
                        if submission.run
                        else f"{submission.repo} at {submission.revision[:10]}"
                    )
                )
            with shutdown.ungrouped_errors():
                return models.fetch_model(submission, to, self.origin, self.progress)
        if submission.run:
            self._check_head(local, submission)
            return local
        models.copy_submitted_files(submission, local, to)
        return to

    def _check_head(self, folder: Path, submission: Submission) -> None:
        """Check that the folder is an export of the submitted head.

        Merged adapters are made again from their base, which then comes from the origin.
        """
        origin = self.origin or WeightsOrigin(ledger="")
        try:
            claim = verify.check_folder(folder, origin, self.progress).claim
        except NotTheHeadError as err:
            raise OtherWeightsError("; ".join(map(str, err.args))) from err
        except CannotVerifyError as err:
            raise UserFacingError("; ".join(map(str, err.args))) from err
        if (claim.run, claim.weights_root) != (submission.run, submission.weights_root):
            raise OtherWeightsError(
                f"{folder} is the head of round {claim.round} of run {claim.run[:10]}, and that of "
                f"round {submission.round} of {submission.run[:10]} was submitted"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoringContext:
    source: ModelSource
    device: ComputeDevice
    rng: Random


def rescore(
    judged: JudgedCompetition, most: int, context: RescoringContext, report: LogReport
) -> list[str]:
    """Score at most `most` documents of each entrant; returns a line on each deviating evaluator.

    What is wrong goes into the report.
    """
    lines: list[str] = []
    for contender in judged.contenders:
        entrant = judged.view.entrants[contender.entrant]
        medians = result.judging_medians(contender, [DrawnText.of(one) for one in judged.texts])
        if medians is None or entrant.submission is None:
            continue
        chosen = choose_documents(judged, contender.entrant, most, context.rng)
        place = LogPlace(entry=judged.view.phase_starts[CompetitionPhase.DECIDED].index)
        try:
            model = context.source.model(contender.entrant, entrant.submission)
            _check_size(judged, contender, model, entrant.submission, report)
            scores = _scored(judged, contender, model, chosen, context)
        except OtherWeightsError as err:
            report.mismatch(f"model of entrant {contender.entrant}", place, str(err))
            continue
        except UserFacingError as err:
            report.missing(f"model of entrant {contender.entrant}", place, str(err))
            continue
        for at, ours in zip(chosen, scores, strict=True):
            _compare(judged, contender, at, medians[at], ours, report)
            lines += _deviating(judged, contender, at, ours)
        report.checked["documents scored again"] += len(chosen)
    return lines


def choose_documents(judged: JudgedCompetition, entrant: str, most: int, rng: Random) -> list[int]:
    """Choose the drawn documents to score: their places among these, ascending.

    Challenged ones get half of the choice, and more only where there are too few others.
    """
    drawn = judged.view.draw.documents if judged.view.draw else ()
    challenged = {one.document for one in judged.view.challenges if one.entrant == entrant}
    shuffled = rng.sample(range(len(drawn)), len(drawn))
    doubted = [at for at in shuffled if drawn[at] in challenged]
    others = [at for at in shuffled if drawn[at] not in challenged]
    half = (most + 1) // 2
    return sorted((doubted[:half] + others + doubted[half:])[:most])


def _check_size(
    judged: JudgedCompetition,
    contender: JudgedEntrant,
    model: Path,
    submission: Submission,
    report: LogReport,
) -> None:
    """Check the size of a model from a folder; the log knows that of a run's model."""
    most = judged.view.rules.budget.parameters
    if not most or submission.run:
        return
    found = weights.count_parameters(model)
    if found > most:
        report.mismatch(
            f"size of entrant {contender.entrant}",
            LogPlace(entry=judged.view.entrants[contender.entrant].entered.index),
            "its model has more parameters than the rules allow",
            expected=f"{most} at most",
            found=found,
        )


def _scored(
    judged: JudgedCompetition,
    contender: JudgedEntrant,
    model: Path,
    chosen: Sequence[int],
    context: RescoringContext,
) -> tuple[DocumentScore, ...]:
    task = models.ScoringTask(
        competition=judged.view.id,
        entrant=contender.entrant,
        submission=contender.submission,
        evaluator=_NOBODY,
        model=model,
        texts=[judged.texts[at] for at in chosen],
        drawn=judged.texts,
        scoring=judged.view.rules.scoring,
        beacon=judged.view.known_draw.beacon,
    )
    journal = context.source.folder / f"{contender.entrant}.scores"
    return models.evaluate_entrant(task, journal, context.device, context.source.progress).documents


def _compare(
    judged: JudgedCompetition,
    contender: JudgedEntrant,
    at: int,
    median: DocumentScore,
    ours: DocumentScore,
    report: LogReport,
) -> None:
    if _agree(median, ours):
        return
    theirs = ", ".join(
        f"{short_id(one.evaluator)} {one.documents[at].millibits}"
        for one in contender.evaluations
        if at < len(one.documents)
    )
    why = f"it differs from the median by more than one part in {DOCUMENT_TOLERANCE:,}"
    if median.refusal is not ours.refusal:
        why = f"{ours.refusal.sentence}; according to the evaluators: {median.refusal.sentence}"
    report.mismatch(
        f"score of document {_number(judged, at)} for entrant {contender.entrant}",
        LogPlace(entry=judged.view.phase_starts[CompetitionPhase.DECIDED].index),
        f"scored again here, {why}; evaluators said: {theirs}",
        expected=ours.millibits,
        found=median.millibits,
    )


def _deviating(
    judged: JudgedCompetition, contender: JudgedEntrant, at: int, ours: DocumentScore
) -> Iterator[str]:
    for one in contender.evaluations:
        if at >= len(one.documents) or _agree(one.documents[at], ours):
            continue
        scored = judged.view.results[contender.entrant, key_from_text(one.evaluator)]
        yield (
            f"evaluator {short_id(one.evaluator)} (entry {scored.revealed_at.index}) said "
            f"{one.documents[at].millibits} millibits for document {_number(judged, at)} of "
            f"{contender.entrant}; here it is {ours.millibits}"
        )


def _agree(theirs: DocumentScore, ours: DocumentScore) -> bool:
    is_near = is_within(theirs.millibits, ours.millibits, DOCUMENT_TOLERANCE)
    return theirs.refusal is ours.refusal and is_near


def _number(judged: JudgedCompetition, at: int) -> int:
    return judged.view.draw.documents[at] if judged.view.draw else at
