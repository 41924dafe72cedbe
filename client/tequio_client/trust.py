"""Whose word on a log is enough for us: a policy file (c2sp.org/tlog-policy), read at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.policy import POLICY_BYTES, Policy

if TYPE_CHECKING:
    from pathlib import Path


def read_policy(path: Path | None) -> Policy | None:
    """Read the file that --trust names; None without one. Raises UserFacingError."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            return Policy.parse(file.read(POLICY_BYTES + 1))
    except OSError as err:
        raise UserFacingError(
            f"the policy {path} cannot be read ({err.strerror}): give its place with --trust"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"{path} is no policy that can be kept: {err}") from err
