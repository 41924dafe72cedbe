"""The policy that a ledger publishes under, read at its start and held against what it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tequio_ledger.store import files
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.policy import POLICY_BYTES, Policy

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.notes import VerifierKey


def read_policy(path: Path | None, log: VerifierKey) -> Policy | None:
    """Read the policy file of a log; None without one. Raises UserFacingError.

    It must be one under which this log can be published: the log is named, or none is, and
    witnesses that have addresses are enough for the quorum.
    """
    if path is None:
        return None
    policy = load_policy(path)
    if policy.logs and log not in [one.key for one in policy.logs]:
        raise UserFacingError(f"{path} names other logs only: add the line `log {log.text()}`")
    for one in policy.witnesses:
        if one.url is not None and not _is_address(one.url):
            raise UserFacingError(f"{path}: {one.url!r} is not the address of witness {one.name!r}")
    if not policy.is_met({one.key for one in policy.witnesses if one.url is not None}):
        raise UserFacingError(
            f"{path} asks for the quorum {policy.quorum!r}, but too few of its witnesses have an "
            "address to be asked at: write it behind their keys"
        )
    return policy


def load_policy(path: Path) -> Policy:
    """Read a policy file, whatever it is for; raises UserFacingError."""
    try:
        with path.open("rb") as file:
            return Policy.parse(file.read(POLICY_BYTES + 1))
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err
    except MalformedError as err:
        raise UserFacingError(f"{path} is no policy: {err}") from err


def _is_address(text: str) -> bool:
    try:
        url = urlsplit(text)
        return url.scheme in ("http", "https") and bool(url.hostname) and not url.query
    except ValueError:
        return False
