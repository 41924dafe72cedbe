"""Scores computed again on this computer, and held against what counts and against each evaluator.

Which documents are scored again, an evaluator cannot have known: those that were challenged, then a
draw of our own. Outside the tolerance of the protocol, a median is a mismatch: most evaluators of
that entrant said what this computer cannot find. One evaluator alone is named, and no more: the
medians have passed over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.audit.findings import Place
from tequio_client.competition import scores
from tequio_client.competition.submission import OtherWeightsError
from tequio_client.names import short
from tequio_client.trainer import weights
from tequio_shared.competition import result
from tequio_shared.competition.result import Text
from tequio_shared.competition.state import Phase
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import PeerKey, key_from_text
from tequio_shared.scoring import DOCUMENT_TOLERANCE, DocumentScore, is_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from random import Random

    from tequio_client.audit.findings import Report
    from tequio_client.audit.main import Progress
    from tequio_client.trainer.device import Device
    from tequio_client.verifying.judgement import Judged
    from tequio_shared.competition.result import Contender
    from tequio_shared.competition.rules import Submission

_NOBODY = PeerKey(bytes(32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What scores, and where; `model_of` gets an entrant's model, or raises UserFacingError."""

    model_of: Callable[[str, Submission], Path]
    device: Device
    folder: Path
    chance: Random
    progress: Progress


def rescore(judged: Judged, most: int, means: Means, report: Report) -> list[str]:
    """Score so many documents of each entrant; gives a line on each evaluator who is off.

    What is wrong goes into the report.
    """
    lines: list[str] = []
    for contender in judged.contenders:
        entrant = judged.view.entrants[contender.entrant]
        middle = result.judging_medians(contender, [Text.of(one) for one in judged.texts])
        if middle is None or entrant.submission is None:
            continue
        chosen = choose(judged, contender.entrant, most, means.chance)
        place = Place(entry=judged.view.began[Phase.DECIDED].index)
        try:
            model = means.model_of(contender.entrant, entrant.submission)
            _check_size(judged, contender, model, entrant.submission, report)
            found = _scored(judged, contender, model, chosen, means)
        except OtherWeightsError as err:
            report.mismatch(f"model of entrant {contender.entrant}", place, str(err))
            continue
        except UserFacingError as err:
            report.missing(f"model of entrant {contender.entrant}", place, str(err))
            continue
        for at, ours in zip(chosen, found, strict=True):
            _hold(judged, contender, at, middle[at], ours, report)
            lines += _deviating(judged, contender, at, ours)
        report.checked["documents scored again"] += len(chosen)
    return lines


def choose(judged: Judged, entrant: str, most: int, chance: Random) -> list[int]:
    """Which of the drawn documents to score, by their place among these, ascending."""
    drawn = judged.view.draw.documents if judged.view.draw else ()
    challenged = {one.document for one in judged.view.challenges if one.entrant == entrant}
    first = [at for at, number in enumerate(drawn) if number in challenged]
    others = [at for at, number in enumerate(drawn) if number not in challenged]
    return sorted((first + chance.sample(others, len(others)))[:most])


def _check_size(
    judged: Judged, contender: Contender, model: Path, submission: Submission, report: Report
) -> None:
    """The log knows the size of a run's model; that of a folder is seen here."""
    most = judged.view.rules.budget.parameters
    if not most or submission.run:
        return
    found = weights.parameters(model)
    if found > most:
        report.mismatch(
            f"size of entrant {contender.entrant}",
            Place(entry=judged.view.entrants[contender.entrant].entered.index),
            "its model has more parameters than the rules allow",
            expected=f"{most} at most",
            found=found,
        )


def _scored(
    judged: Judged, contender: Contender, model: Path, chosen: Sequence[int], means: Means
) -> tuple[DocumentScore, ...]:
    task = scores.Task(
        competition=judged.view.id,
        entrant=contender.entrant,
        submission=contender.submission,
        evaluator=_NOBODY,
        model=model,
        texts=[judged.texts[at] for at in chosen],
        scoring=judged.view.rules.scoring,
    )
    journal = means.folder / f"{contender.entrant}.scores"
    return scores.evaluation(task, journal, means.device, means.progress).documents


def _hold(
    judged: Judged,
    contender: Contender,
    at: int,
    middle: DocumentScore,
    ours: DocumentScore,
    report: Report,
) -> None:
    if _agree(middle, ours):
        return
    said = ", ".join(
        f"{short(one.evaluator)} {one.documents[at].millibits}"
        for one in contender.evaluations
        if at < len(one.documents)
    )
    report.mismatch(
        f"score of document {_number(judged, at)} for entrant {contender.entrant}",
        Place(entry=judged.view.began[Phase.DECIDED].index),
        f"scored again here, it differs from the median by more than one part in "
        f"{DOCUMENT_TOLERANCE:,}; evaluators said: {said}",
        expected=ours.millibits,
        found=middle.millibits,
    )


def _deviating(judged: Judged, contender: Contender, at: int, ours: DocumentScore) -> Iterator[str]:
    for one in contender.evaluations:
        if at >= len(one.documents) or _agree(one.documents[at], ours):
            continue
        scored = judged.view.results[contender.entrant, key_from_text(one.evaluator)]
        yield (
            f"evaluator {short(one.evaluator)} (entry {scored.said.index}) said "
            f"{one.documents[at].millibits} millibits for document {_number(judged, at)} of "
            f"{contender.entrant}; here it is {ours.millibits}"
        )


def _agree(said: DocumentScore, ours: DocumentScore) -> bool:
    if said.refusal is not ours.refusal:
        return False
    return is_within(said.millibits, ours.millibits, DOCUMENT_TOLERANCE)


def _number(judged: Judged, at: int) -> int:
    return judged.view.draw.documents[at] if judged.view.draw else at
