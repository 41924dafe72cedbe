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
from importlib import metadata
from pathlib import Path

import msgspec
import structlog

from tequio_client import files
from tequio_client.checkpoint import export
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.names import clean_text
from tequio_client.organiser.sealing import file_digest, staged_folder
from tequio_client.scoring import hub
from tequio_client.trainer import causality, device, likelihood, weights
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.likelihood import ScoredModel, ScoringDevice
from tequio_client.trainer.model_config import ModelRefusedError
from tequio_client.verify.report import WorkProgress
from tequio_client.worker.children.evaluator import missing_memory
from tequio_shared import encoding, scoring
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
from tequio_shared.scoring import DocumentScore, Refusal

log = structlog.get_logger(__name__)


def submission_of_head(run: RunId, round_number: int, weights_root: Digest) -> Submission:
    return Submission(
        run=to_text(run),
        round=round_number,
        weights_root=to_text(weights_root),
        repo="",
        revision="",
        files=(),
    )


def submission_of_repository(
    rules: CompetitionRules, repo: str, revision: str | None
) -> tuple[Submission, str]:
    """Fetch and try a folder on the Hub; returns submission and note. Raises UserFacingError."""
    from huggingface_hub.errors import RepositoryNotFoundError  # noqa: PLC0415 - not at each start

    try:
        folder = hub.fetch_repository(repo, revision, without_login=True)
    except UserFacingError as err:
        if not isinstance(err.__cause__, RepositoryNotFoundError):  # also raised for a gated one
            raise
        raise UserFacingError(
            f"nobody can fetch {repo} without a login, and so no evaluator could score it: check "
            "its name, and make it public on the Hub"
        ) from err
    files = tuple(
        SubmittedFile(
            name=name, size_bytes=(folder / name).stat().st_size, sha256=file_digest(folder / name)
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
    return made, _trial_note(rules, folder, repo)


def _trial_note(rules: CompetitionRules, folder: Path, repo: str) -> str:
    """Load a folder as an evaluator will, so that faults are found before the deadline."""
    parameters = weights.count_parameters(folder)
    most = rules.budget.parameters
    if most and parameters > most:
        raise UserFacingError(
            f"{repo} has {parameters:,} parameters, and the rules of {rules.name} allow {most:,}"
        )
    if lacking := missing_memory(parameters):
        return f"not tried here: {lacking}"
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    scored.scoring_rules(rules.scoring.window, rules.scoring.stride)
    return ""


def readable_files(folder: Path) -> list[str]:
    """The files of a model's folder that scoring may read, ascending."""
    return sorted(hub.readable(one.name for one in folder.iterdir() if one.is_file()))


class OtherWeightsError(UserFacingError):
    """The weights found are not those that were submitted."""


def fetch_model(
    submission: Submission, to: Path, origin: WeightsOrigin, progress: WorkProgress
) -> Path:
    """Fetch the submitted model into the folder `to`; raises UserFacingError."""
    if to.is_dir() and any(to.iterdir()):
        return to  # it appears whole, after all checks
    to.parent.mkdir(parents=True, exist_ok=True)
    if submission.run:
        _export_head(submission, to, origin, progress)
        return to
    only = {one.name: one.size_bytes for one in submission.files}
    try:
        repo, revision = submission.repo, submission.revision
        cached = hub.fetch_repository(repo, revision, only, without_login=True)
    except hub.OtherFilesError as err:
        raise OtherWeightsError(f"{err} that were submitted") from err
    copy_submitted_files(submission, cached, to)
    return to


def _export_head(
    submission: Submission, to: Path, origin: WeightsOrigin, progress: WorkProgress
) -> None:
    unchecked = to.with_name(f".{to.name}.unchecked")
    shutil.rmtree(unchecked, ignore_errors=True)  # of a program that was killed
    options = export.ExportOptions(
        origin=origin,
        run=submission.run,
        round=submission.round,
        target=unchecked,
        merges_adapters=True,
    )
    try:
        found = to_text(export.export_weights(options, progress).head.weights_root)
        if found != submission.weights_root:
            raise OtherWeightsError(
                f"the log promoted other weights in round {submission.round} than were submitted: "
                f"{found[:10]}, not {submission.weights_root[:10]}"
            )
        with export.disk_errors(to):
            files.sync_and_rename_folder(unchecked, to)
    finally:
        shutil.rmtree(unchecked, ignore_errors=True)


def copy_submitted_files(submission: Submission, source: Path, to: Path) -> None:
    """Copy the submitted files alone to a new folder; raises UserFacingError, OtherWeightsError."""
    with staged_folder(to) as stage:
        for one in submission.files:
            found, path = source / one.name, stage / one.name
            if not found.is_file():
                raise UserFacingError(
                    f"{submission.repo} has no {one.name} at {submission.revision[:10]} any more"
                )
            try:
                os.link(found.resolve(), path)
            except OSError:  # another file system, or one without links
                shutil.copyfile(found, path)
            size = path.stat().st_size
            if size != one.size_bytes or file_digest(path) != one.sha256:
                raise OtherWeightsError(
                    f"{one.name} of {submission.repo} is not what was submitted: {size:,} bytes, "
                    f"and {one.size_bytes:,} bytes with another hash were"
                    if size == one.size_bytes
                    else f"{one.name} of {submission.repo} is not what was submitted: it has "
                    f"{size:,} bytes, and {one.size_bytes:,} were submitted"
                )


_WORD_CHARS = 128
_WHY_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTask:
    competition: Digest
    entrant: str
    submission: Digest
    evaluator: PeerKey
    model: Path
    texts: Sequence[bytes]
    """The documents to score."""
    drawn: Sequence[bytes]
    """All drawn documents, on which the model is tried: by evaluators, by a challenger of one
    document and by a stranger who scores some again, so that they refuse the same models."""
    scoring: Scoring
    beacon: Digest
    """The competition's: no entrant knew it, and every evaluator tries the same windows."""


def evaluate_entrant(
    task: ScoringTask,
    journal: Path,
    chosen: ComputeDevice,
    progress: WorkProgress,
    after_batch: Callable[[int], None] = lambda _tokens: None,
) -> Evaluation:
    """Score what is not in the journal, paced by `after_batch`; raises UserFacingError.

    A model that may not be scored gets an evaluation that states why in each document.
    """
    done = len(read_journal(journal, task.texts))
    try:
        # With all scores in the journal, too: a crash may have come before the last trial.
        with _blame_model(task):
            scored = likelihood.open_model(task.model, tokenizer=None, prefix=None)
            scorer = ScoringDevice(device=chosen, on_tokens=after_batch)
            with progress.work(f"documents of {task.entrant}", len(task.texts)) as tick:
                tick(done)
                _score_rest(task, scored, done, journal, scorer, tick)
        documents = read_journal(journal, task.texts)
    except ModelRefusedError as err:
        log.warning("model refused", entrant=task.entrant, reason=err.reason, error=str(err))
        documents = tuple(refused_score(raw, err.reason) for raw in task.texts)
    return Evaluation(
        competition=to_text(task.competition),
        entrant=task.entrant,
        submission=to_text(task.submission),
        evaluator=to_text(task.evaluator),
        environment=Environment(
            program=f"tequio {metadata.version('tequio')}",
            torch=metadata.version("torch")[:_WORD_CHARS],
            device=clean_text(chosen.name, _WORD_CHARS).encode("ascii", "replace").decode(),
            threads=device.thread_count(),
        ),
        documents=documents,
    )


def refused_score(raw: bytes, reason: Refusal) -> DocumentScore:
    """The score of a text by a model that was refused."""
    text = _text(raw)
    made = scoring.score_unread(text, reason if text else Refusal.EMPTY)
    return msgspec.structs.replace(made, document=to_text(sha256(raw)))


def read_journal(journal: Path, texts: Sequence[bytes]) -> tuple[DocumentScore, ...]:
    """The scores in a journal that are of these texts, from the first on."""
    try:
        lines = journal.read_bytes().split(b"\n")[:-1]  # the last one has no end
    except FileNotFoundError:
        return ()
    found: list[DocumentScore] = []
    for line, text in zip(lines, texts, strict=False):
        try:
            one = encoding.read(line, DocumentScore)
        except MalformedError:
            break
        if one.document != to_text(sha256(text)):
            break
        found.append(one)
    return tuple(found)


@contextmanager
def _blame_model(task: ScoringTask) -> Iterator[None]:
    """Raise UserFacingError for whatever a model makes libraries raise."""
    try:
        yield
    except (MemoryError, *device.FORWARD_ERRORS) as err:
        why = " ".join(str(err).split())[:_WHY_CHARS]
        raise UserFacingError(
            f"the model of {task.entrant} computes nothing: {type(err).__name__}: {why}"
        ) from err


def _score_rest(
    task: ScoringTask,
    scored: ScoredModel,
    done: int,
    journal: Path,
    scorer: ScoringDevice,
    tick: Callable[[int], None],
) -> None:
    """Score all documents after the first `done`, which stay in the journal."""
    left = task.texts[done:]
    rules = scored.scoring_rules(task.scoring.window, task.scoring.stride)
    journal.parent.mkdir(parents=True, exist_ok=True)
    try:
        with journal.open("ab") as file:
            # Not written again: a crash now would cost the scores of earlier starts.
            whole = journal.read_bytes().split(b"\n")[:done]
            file.truncate(sum(len(line) + 1 for line in whole))
            found = causality.score_tried(
                scored,
                [_text(one) for one in left],
                rules,
                scorer,
                seed=task.beacon,
                tried_on=[_text(one) for one in task.drawn],
            )
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
