"""What an evaluator's child and its worker share in the worker's folder, below `evaluations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.worker import secret_file
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tequio_shared.ids import Digest

EVALUATION = "evaluation.json"
"""Where the scores of an entrant lie once they are whole."""
_HUB, _WORDS = "hub", "words"


def hub(folder: Path) -> Path:
    """Where models of the Hugging Face Hub lie until a competition is done with."""
    return folder / secret_file.FOLDER / _HUB


def put(folder: Path, document: bytes) -> str:
    """Let the worker have a document that goes with a word; gives its name. Raises OSError."""
    name = to_text(sha256(document))
    place = folder / secret_file.FOLDER / _WORDS
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(document)
    return name


def taken(folder: Path, names: Iterable[str]) -> list[bytes]:
    """The documents of these names; raises UserFacingError for one that is not there whole."""
    found = []
    for name in names:
        path = folder / secret_file.FOLDER / _WORDS / to_text(digest_from_text(name))
        try:
            raw = path.read_bytes()
        except OSError as err:
            raise UserFacingError(f"{path} cannot be read: {err.strerror}") from err
        if sha256(raw) != digest_from_text(name):
            raise UserFacingError(f"{path} is not what it was")
        found.append(raw)
    return found


def forget(folder: Path, names: Iterable[str]) -> None:
    """Remove documents that were said."""
    for name in names:
        (folder / secret_file.FOLDER / _WORDS / name).unlink(missing_ok=True)


def scored(folder: Path, competition: Digest) -> int:
    """How many models of a competition are scored here."""
    return sum(1 for _ in secret_file.place(folder, competition).glob(f"*/{EVALUATION}"))
