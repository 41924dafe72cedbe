"""Submissions: what an entrant hands in, and the same weights as an evaluator gets them."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from tequio_client.checkpoint import export
from tequio_client.checkpoint.story import HeadSelector
from tequio_client.organiser.sealing import staged_folder
from tequio_client.scoring import hub
from tequio_client.trainer import likelihood, weights
from tequio_client.worker.children.evaluator import missing_memory
from tequio_shared.competition.rules import FILES, Submission, SubmittedFile
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.competition.rules import CompetitionRules
    from tequio_shared.ids import Digest, RunId
    from tequio_shared.log.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSubmission:
    """A submission, and what there is to say about it before it is made."""

    submission: Submission
    notes: tuple[str, ...] = ()


def submission_of_head(run: RunId, round_number: int, weights_root: Digest) -> Submission:
    """A head that the log promoted."""
    return Submission(
        run=to_text(run),
        round=round_number,
        weights_root=to_text(weights_root),
        repo="",
        revision="",
        files=(),
    )


def file_digest(path: Path) -> str:
    """SHA-256 of a file, as text."""
    with path.open("rb") as file:
        return to_text(hashlib.file_digest(file, "sha256").digest())


# A repository is loaded here as an evaluator will load it: faults are found before the deadline.


def submission_of_repository(
    rules: CompetitionRules, repo: str, revision: str | None
) -> CheckedSubmission:
    """A folder on the Hub, fetched and tried; raises UserFacingError when it cannot be scored."""
    folder = hub.model_folder(repo, revision)
    files = tuple(_file(folder, name) for name in readable_files(folder))
    if len(files) > FILES:
        raise UserFacingError(
            f"{repo} has its weights in {len(files)} files, and a submission has {FILES} at most: "
            "save it with larger shards"
        )
    made = Submission(
        run="", round=0, weights_root="", repo=repo, revision=folder.name, files=files
    )
    try:
        Submission.parse(made.encode())
    except MalformedError as err:
        raise UserFacingError(f"{repo} at {folder.name} cannot be submitted: {err}") from err
    return CheckedSubmission(submission=made, notes=_tried(rules, folder, repo))


def readable_files(folder: Path) -> list[str]:
    """The files of a model's folder that scoring may read, ascending."""
    return sorted(
        one.name
        for one in folder.iterdir()
        if one.is_file() and any(fnmatch(one.name, pattern) for pattern in hub.FILE_PATTERNS)
    )


def _file(folder: Path, name: str) -> SubmittedFile:
    path = folder / name
    return SubmittedFile(name=name, size_bytes=path.stat().st_size, sha256=file_digest(path))


def _tried(rules: CompetitionRules, folder: Path, repo: str) -> tuple[str, ...]:
    """Load it as an evaluator will, where there is memory for that."""
    parameters = weights.count_parameters(folder)
    most = rules.budget.parameters
    if most and parameters > most:
        raise UserFacingError(
            f"{repo} has {parameters:,} parameters, and the rules of {rules.name} allow {most:,}"
        )
    lacking = missing_memory(parameters)
    if lacking:
        return (f"not tried here: {lacking}",)
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    scored.scoring_rules(rules.scoring.window, rules.scoring.stride)
    return ()


class OtherWeightsError(UserFacingError):
    """The weights found are not those that were submitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsOrigin:
    """Where heads come from: this ledger's seeds, or stores that are here."""

    ledger: str
    stores: Sequence[Path] = ()
    trust: Policy | None = None


def fetch_model(
    submission: Submission, to: Path, origin: WeightsOrigin, progress: WorkProgress
) -> Path:
    """The submitted model in the folder `to`; raises UserFacingError when it cannot be had."""
    if to.is_dir() and any(to.iterdir()):
        return to  # it appears whole, after all checks
    to.parent.mkdir(parents=True, exist_ok=True)
    if submission.run:
        _head(submission, to, origin, progress)
    else:
        copy_submitted_files(submission, _fetched(submission), to)
    return to


def _fetched(submission: Submission) -> Path:
    """The submitted files in the Hub's cache, and none besides."""
    only = {one.name: one.size_bytes for one in submission.files}
    try:
        return hub.model_folder(submission.repo, submission.revision, only)
    except hub.OtherFilesError as err:
        raise OtherWeightsError(f"{err} that were submitted") from err


def _head(submission: Submission, to: Path, origin: WeightsOrigin, progress: WorkProgress) -> None:
    wish = export.ExportOptions(
        ledger=origin.ledger,
        wanted=HeadSelector(run=submission.run, round=submission.round),
        target=to,
        stores=origin.stores,
        trust=origin.trust,
        merges_adapters=True,
    )
    story = export.export_head(wish, progress)
    if to_text(story.head.weights_root) != submission.weights_root:
        shutil.rmtree(to)
        raise OtherWeightsError(
            f"the log promoted other weights in round {submission.round} than were submitted: "
            f"{to_text(story.head.weights_root)[:10]}, not {submission.weights_root[:10]}"
        )


def copy_submitted_files(submission: Submission, source: Path, to: Path) -> None:
    """Bring the submitted files alone from one folder to a new one, and check them there.

    Raises UserFacingError, OtherWeightsError when a file is another one.
    """
    with staged_folder(to) as stage:
        for one in submission.files:
            found, path = source / one.name, stage / one.name
            if not found.is_file():
                raise UserFacingError(
                    f"{submission.repo} has no {one.name} at {submission.revision[:10]} any more"
                )
            _linked(found.resolve(), path)
            size = path.stat().st_size
            if size != one.size_bytes or file_digest(path) != one.sha256:
                raise OtherWeightsError(
                    f"{one.name} of {submission.repo} is not what was submitted: {size:,} bytes, "
                    f"and {one.size_bytes:,} bytes with another hash were"
                    if size == one.size_bytes
                    else f"{one.name} of {submission.repo} is not what was submitted: it has "
                    f"{size:,} bytes, and {one.size_bytes:,} were submitted"
                )


def _linked(source: Path, path: Path) -> None:
    """Give the file a second name, or copy it where that cannot be."""
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)
