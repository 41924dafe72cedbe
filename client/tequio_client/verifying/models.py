"""Entrants' models for scoring again: a folder that somebody has, or where the submission says.

Either is held against the submission: a head's weights against the root that the log promoted, a
folder file by file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tequio_client.checkpoint import verify
from tequio_client.checkpoint.verify import CannotTellError, NotTheHeadError
from tequio_client.competition import submission as competition_submission
from tequio_client.competition.submission import OtherWeightsError
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tequio_client.audit.main import Progress
    from tequio_client.competition.submission import Origin
    from tequio_shared.competition.rules import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Where models come from: folders given by entrant, else the submission's own place.

    Without an origin, heads have to be given.
    """

    given: Mapping[str, Path]
    origin: Origin | None
    folder: Path
    progress: Progress

    def model(self, entrant: str, submission: Submission) -> Path:
        """Get it; raises UserFacingError, OtherWeightsError for what was not submitted."""
        to = self.folder / f"model-{entrant}"
        given = self.given.get(entrant)
        if given is None:
            if self.origin is None:
                raise UserFacingError(
                    f"a bundle holds no weights: give --model {entrant}=FOLDER with "
                    + (
                        f"an export of round {submission.round} of run {submission.run[:10]}"
                        if submission.run
                        else f"{submission.repo} at {submission.revision[:10]}"
                    )
                )
            return competition_submission.had(submission, to, self.origin, self.progress)
        if submission.run:
            self._check_head(given, submission)
            return given
        competition_submission.of_files(submission, given, to)
        return to

    def _check_head(self, folder: Path, submission: Submission) -> None:
        """Whether the folder is an export of the head that was submitted.

        Merged adapters are made again from their base, which then comes from the origin.
        """
        origin = self.origin
        wish = verify.Wish(folder=folder, ledger="")
        if origin is not None:
            wish = replace(wish, ledger=origin.ledger, stores=origin.stores, trust=origin.trust)
        try:
            weighed = verify.weigh(wish, self.progress)
        except NotTheHeadError as err:
            raise OtherWeightsError("; ".join(map(str, err.args))) from err
        except CannotTellError as err:
            raise UserFacingError("; ".join(map(str, err.args))) from err
        claim = weighed.claim
        if (claim.run, claim.weights_root) != (submission.run, submission.weights_root):
            raise OtherWeightsError(
                f"{folder} is the head of round {claim.round} of run {claim.run[:10]}, and that of "
                f"round {submission.round} of {submission.run[:10]} was submitted"
            )
