"""The secret file of an evaluator: its offer commits to the secret, and the draw uses it.

The file is written before the offer is submitted. An evaluator that loses it before the draw cannot
be drawn; nothing else is lost.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_shared.competition import result
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import from_text, to_text
from tequio_shared.statements.competitions import EvalOffer

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import Digest, PeerKey

SECRET_BYTES = 32
EVALUATIONS_FOLDER = "evaluations"


def competition_folder(folder: Path, competition: Digest) -> Path:
    """Folder of an evaluator's files about one competition."""
    return folder / EVALUATIONS_FOLDER / to_text(competition)


def load_secret(folder: Path, competition: Digest) -> bytes | None:
    """The secret, or None if none was made; raises UserFacingError if it is unreadable."""
    path = _secret_path(folder, competition)
    try:
        return from_text(path.read_text("ascii").strip(), SECRET_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, MalformedError) as err:
        raise UserFacingError(
            f"cannot read the secret in {path} ({err}): move it away, and offer again before the "
            "deadline"
        ) from err


def load_or_create_secret(folder: Path, competition: Digest) -> bytes:
    """The secret, created at the first call; raises UserFacingError."""
    found = load_secret(folder, competition)
    if found is not None:
        return found
    secret = secrets.token_bytes(SECRET_BYTES)
    path = _secret_path(folder, competition)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write_private(path, to_text(secret).encode() + b"\n")
    except OSError as err:
        raise UserFacingError(
            f"cannot write the secret to {path} ({err.strerror}): check permissions and free space"
        ) from err
    return secret


def make_offer(competition: Digest, key: PeerKey, folder: Path) -> EvalOffer:
    """The statement that offers to evaluate, after writing its secret; raises UserFacingError."""
    commit = result.offer_commitment(competition, key, load_or_create_secret(folder, competition))
    return EvalOffer(competition=to_text(competition), commit=to_text(commit))


def _secret_path(folder: Path, competition: Digest) -> Path:
    return competition_folder(folder, competition) / "secret"
