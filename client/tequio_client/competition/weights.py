"""An entrant's model as a folder that can be scored: exactly what was submitted, or nothing.

A head comes by the code behind `tequio checkpoint export`, which holds it against the root in the
log; a folder comes from the Hub by its commit, and each file's size and SHA-256 are checked.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.checkpoint import export
from tequio_client.checkpoint.story import Wanted
from tequio_client.competition import submission as submissions
from tequio_client.organiser.staged_folder import staged
from tequio_client.scoring import hub
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.competition_rules import Submission
    from tequio_shared.policy import Policy


class OtherWeightsError(UserFacingError):
    """What is there is not what was submitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where heads come from: this ledger's seeds, or stores that are here."""

    ledger: str
    stores: Sequence[Path] = ()
    trust: Policy | None = None


def had(submission: Submission, to: Path, origin: Origin, progress: WorkProgress) -> Path:
    """The submitted model in the folder `to`; raises UserFacingError when it cannot be had."""
    if to.is_dir() and any(to.iterdir()):
        return to  # it appears whole, after all checks
    to.parent.mkdir(parents=True, exist_ok=True)
    if submission.run:
        _head(submission, to, origin, progress)
    else:
        of_files(submission, _fetched(submission), to)
    return to


def _fetched(submission: Submission) -> Path:
    """The submitted files in the Hub's cache, and none besides."""
    only = {one.name: one.size_bytes for one in submission.files}
    try:
        return hub.folder(submission.repo, submission.revision, only)
    except hub.OtherFilesError as err:
        raise OtherWeightsError(f"{err} that were submitted") from err


def _head(submission: Submission, to: Path, origin: Origin, progress: WorkProgress) -> None:
    wish = export.Wish(
        ledger=origin.ledger,
        wanted=Wanted(run=submission.run, round=submission.round),
        target=to,
        stores=origin.stores,
        trust=origin.trust,
        is_whole=True,
    )
    story = export.run(wish, progress)
    if to_text(story.head.weights_root) != submission.weights_root:
        shutil.rmtree(to)
        raise OtherWeightsError(
            f"the log promoted other weights in round {submission.round} than were submitted: "
            f"{to_text(story.head.weights_root)[:10]}, not {submission.weights_root[:10]}"
        )


def of_files(submission: Submission, source: Path, to: Path) -> None:
    """Bring the submitted files alone from one folder to a new one, and check them there.

    Raises UserFacingError, OtherWeightsError when a file is another one.
    """
    with staged(to) as stage:
        for one in submission.files:
            found, path = source / one.name, stage / one.name
            if not found.is_file():
                raise UserFacingError(
                    f"{submission.repo} has no {one.name} at {submission.revision[:10]} any more"
                )
            _linked(found.resolve(), path)
            size = path.stat().st_size
            if size != one.size_bytes or submissions.file_digest(path) != one.sha256:
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
