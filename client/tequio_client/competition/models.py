"""Entrants' models: submitted, fetched by an evaluator, and scored on the drawn documents.

A crash costs one document at most: each document's score is a line in a journal, on the disk before
the next is scored. A line that a crash cut short is scored again, any other is not.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path

import msgspec

from tequio_client import files
from tequio_client.checkpoint import export
from tequio_client.checkpoint.history import HeadSelector
from tequio_client.names import clean_text
from tequio_client.organiser.sealing import file_digest, staged_folder
from tequio_client.scoring import hub
from tequio_client.trainer import device, likelihood, weights
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.likelihood import ScoredModel
from tequio_client.verify.report import WorkProgress
from tequio_client.worker.children.evaluator import missing_memory
from tequio_shared.competition.rules import (
    FILES,
    CompetitionRules,
    Environment,
    Evaluation,
    Scoring,
    Submission,
    SubmittedFile,
)
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, PeerKey, RunId, sha256, to_text
from tequio_shared.log.policy import Policy
from tequio_shared.scoring import DocumentScore


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSubmission:
    """A submission, and what there is to say about it before it is made."""

    submission: Submission
    notes: tuple[str, ...] = ()


def submission_of_head(run: RunId, round_number: int, weights_root: Digest) -> Submission:
    return Submission(
        run=to_text(run),
        round=round_number,
        weights_root=to_text(weights_root),
        repo="",
        revision="",
        files=(),
    )


# A repository is loaded here as an evaluator will load it: faults are found before the deadline.


def submission_of_repository(
    rules: CompetitionRules, repo: str, revision: str | None
) -> CheckedSubmission:
    """A folder on the Hub, fetched and tried; raises UserFacingError when it cannot be scored."""
    folder = hub.model_folder(repo, revision)
    files = tuple(
        SubmittedFile(
            name=name,
            size_bytes=(folder / name).stat().st_size,
            sha256=file_digest(folder / name),
        )
        for name in readable_files(folder)
    )
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


_WORDS = 128
_WHY = 300
_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTask:
    """One entrant's model to be scored, by whom and for which competition."""

    competition: Digest
    entrant: str
    submission: Digest
    evaluator: PeerKey
    model: Path
    texts: Sequence[bytes]
    scoring: Scoring


def evaluate_entrant(
    task: ScoringTask,
    journal: Path,
    chosen: ComputeDevice,
    progress: WorkProgress,
    after_batch: Callable[[int], None] = lambda _tokens: None,
) -> Evaluation:
    """Score what the journal does not have yet, which is paced by `after_batch`.

    Raises UserFacingError.
    """
    done = read_journal(journal, task.texts)
    if len(done) < len(task.texts):
        with _blamed(task):
            scored = likelihood.open_model(task.model, tokenizer=None, prefix=None)
            means = likelihood.ScoringDevice(device=chosen, on_tokens=after_batch)
            with progress.work(f"documents of {task.entrant}", len(task.texts)) as tick:
                tick(len(done))
                _score(task, scored, journal, means, tick)
        done = read_journal(journal, task.texts)
    return Evaluation(
        competition=to_text(task.competition),
        entrant=task.entrant,
        submission=to_text(task.submission),
        evaluator=to_text(task.evaluator),
        environment=environment(chosen),
        documents=done,
    )


def read_journal(journal: Path, texts: Sequence[bytes]) -> tuple[DocumentScore, ...]:
    """The scores in a journal that are of these texts, from the first on."""
    try:
        lines = journal.read_bytes().split(b"\n")
    except FileNotFoundError:
        return ()
    found: list[DocumentScore] = []
    for line, text in zip(lines, texts, strict=False):
        try:
            one = msgspec.json.decode(line, type=DocumentScore)
        except (msgspec.MsgspecError, ValueError):
            break
        if one.document != to_text(sha256(text)):
            break
        found.append(one)
    return tuple(found)


def environment(chosen: ComputeDevice) -> Environment:
    return Environment(
        program=f"tequio {metadata.version('tequio')}",
        torch=metadata.version("torch")[:_WORDS],
        device=clean_text(chosen.name, _WORDS).encode("ascii", "replace").decode(),
        threads=device.thread_count(),
    )


@contextmanager
def _blamed(task: ScoringTask) -> Iterator[None]:
    """Whatever a model makes libraries raise is its own fault; raises UserFacingError."""
    try:
        yield
    except (MemoryError, *device.FORWARD_ERRORS) as err:
        why = " ".join(str(err).split())[:_WHY]
        raise UserFacingError(
            f"the model of {task.entrant} computes nothing: {type(err).__name__}: {why}"
        ) from err


def _score(
    task: ScoringTask,
    scored: ScoredModel,
    journal: Path,
    means: likelihood.ScoringDevice,
    tick: Callable[[int], None],
) -> None:
    first = len(read_journal(journal, task.texts))
    left = task.texts[first:]
    rules = scored.scoring_rules(task.scoring.window, task.scoring.stride)
    journal.parent.mkdir(parents=True, exist_ok=True)
    _cut(journal, first)
    try:
        with journal.open("ab") as file:
            found = likelihood.score_documents(scored, map(_text, left), rules, means)
            for raw, one in zip(left, found, strict=True):
                named = msgspec.structs.replace(one, document=to_text(sha256(raw)))
                file.write(msgspec.json.encode(named) + b"\n")
                files.sync(file)
                tick(1)
    except OSError as err:
        raise UserFacingError(f"cannot write {journal}: {err.strerror}") from err


def _text(raw: bytes) -> str:
    """Decode a text; one that is not UTF-8 is empty, for every evaluator."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def _cut(journal: Path, lines: int) -> None:
    """Leave the first lines alone, whole."""
    if journal.exists():
        kept = journal.read_bytes().split(b"\n")[:lines]
        journal.write_bytes(b"".join(line + b"\n" for line in kept))
