"""A folder on the Hub as a submission, file by file.

It is looked at as an evaluator will look at it, so that what cannot be scored is found while
there is time.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import TYPE_CHECKING

from tequio_client.competition.submission import Looked, file_digest
from tequio_client.scoring import hub
from tequio_client.trainer import model_folder, weight_files
from tequio_client.worker.children.evaluator import memory_lack
from tequio_shared.competition_rules import FILES, Submission, SubmittedFile
from tequio_shared.errors import MalformedError, UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.competition_rules import CompetitionRules


def of_repository(rules: CompetitionRules, repo: str, revision: str | None) -> Looked:
    """A folder on the Hub, fetched and tried; raises UserFacingError when it cannot be scored."""
    folder = hub.folder(repo, revision)
    files = tuple(_file(folder, name) for name in read_names(folder))
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
    return Looked(submission=made, notes=_tried(rules, folder, repo))


def read_names(folder: Path) -> list[str]:
    """The files of a model's folder that scoring may read, ascending."""
    return sorted(
        one.name
        for one in folder.iterdir()
        if one.is_file() and any(fnmatch(one.name, pattern) for pattern in hub.PATTERNS)
    )


def _file(folder: Path, name: str) -> SubmittedFile:
    path = folder / name
    return SubmittedFile(name=name, size_bytes=path.stat().st_size, sha256=file_digest(path))


def _tried(rules: CompetitionRules, folder: Path, repo: str) -> tuple[str, ...]:
    """Load it as an evaluator will, where there is memory for that."""
    parameters = weight_files.parameters(folder)
    most = rules.budget.parameters
    if most and parameters > most:
        raise UserFacingError(
            f"{repo} has {parameters:,} parameters, and the rules of {rules.name} allow {most:,}"
        )
    lacking = memory_lack(parameters)
    if lacking:
        return (f"not tried here: {lacking}",)
    scored = model_folder.open_folder(folder, tokenizer=None, prefix=None)
    scored.rules(rules.scoring.window, rules.scoring.stride)
    return ()
