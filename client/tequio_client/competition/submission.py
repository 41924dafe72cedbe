"""What an entrant submits, as a document, and what there is to say about it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.competition_rules import Submission
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import Digest, RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A submission, and what there is to say about it before it is made."""

    submission: Submission
    notes: tuple[str, ...] = ()


def of_head(run: RunId, round_number: int, weights_root: Digest) -> Submission:
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
