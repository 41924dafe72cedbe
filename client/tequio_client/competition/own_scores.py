"""Scores that an evaluator commits to and shows later: on the disk, with their salt, before both.

Who loses them after the commitment cannot show them any more; they do not count then.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.worker.children.evaluator import EVALUATION
from tequio_shared import competition_scores
from tequio_shared.errors import MalformedError
from tequio_shared.evaluations import Evaluation
from tequio_shared.ids import Digest, digest_from_text, from_text, key_from_text, sha256, to_text
from tequio_shared.statements.competitions import EvalCommit, EvalResult

if TYPE_CHECKING:
    from pathlib import Path


SALT_BYTES = 32
_SALT, _TRIES = "salt", "tries"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScores:
    """One entrant's scores by this computer, and the salt of the commitment to them."""

    evaluation: Evaluation
    salt: bytes

    @property
    def document(self) -> bytes:
        """What the result names."""
        return self.evaluation.encode()

    @property
    def commit(self) -> Digest:
        """What is committed to."""
        found = self.evaluation
        competition, author = digest_from_text(found.competition), key_from_text(found.evaluator)
        return competition_scores.commitment(competition, author, sha256(self.document), self.salt)

    @property
    def committing(self) -> EvalCommit:
        """The word that commits."""
        found = self.evaluation
        return EvalCommit(
            competition=found.competition, entrant=found.entrant, commit=to_text(self.commit)
        )

    @property
    def showing(self) -> EvalResult:
        """The word that shows."""
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


def keep(place: Path, made: Evaluation) -> OwnScores:
    """Bring scores to the disk, the salt first; raises OSError."""
    place.mkdir(parents=True, exist_ok=True)
    salt = _salt(place)
    if salt is None:
        salt = secrets.token_bytes(SALT_BYTES)
        files.write_private(place / _SALT, to_text(salt).encode() + b"\n")
    files.write_private(place / EVALUATION, made.encode())
    return OwnScores(evaluation=made, salt=salt)


def kept(place: Path) -> OwnScores | None:
    """What an earlier life left there whole."""
    salt = _salt(place)
    try:
        found = Evaluation.parse((place / EVALUATION).read_bytes())
    except (OSError, MalformedError):
        return None
    return None if salt is None else OwnScores(evaluation=found, salt=salt)


def tries(place: Path) -> int:
    """How often it was begun to score that entrant here."""
    try:
        return len((place / _TRIES).read_bytes())
    except OSError:
        return 0


def count_try(place: Path) -> None:
    """Count one more, for whoever comes after this program; raises OSError."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / _TRIES).open("ab") as file:
        file.write(b".")
        files.sync(file)


def _salt(place: Path) -> bytes | None:
    try:
        return from_text((place / _SALT).read_text("ascii").strip(), SALT_BYTES)
    except (OSError, UnicodeDecodeError, MalformedError):
        return None
