"""Decides whether the app opens with the first run; imports little, since each start asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.first_run.step import FILE as DRAFT
from tequio_client.ipc.preferences import decode
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ipc.preferences import Preferences

KEY = "identity.key"
WORKERS = "preferences.json"
"""The worker's own copy."""


def is_wanted(folder: Path, settings: Path, preferences: Preferences | None) -> bool:
    """True if nobody agreed to lend yet, and there is no key or the first run was left half-way.

    `folder` is the worker's, `settings` that of the app's settings.
    """
    has_consent = preferences is not None and preferences.consent
    return not has_consent and (not (folder / KEY).exists() or (settings / DRAFT).exists())


def has_lent(folder: Path, preferences: Preferences | None) -> bool:
    """True if the user agreed to lend before, in the app or in the worker's own folder."""
    if preferences is not None and preferences.consent:
        return True
    try:
        return decode((folder / WORKERS).read_bytes()).consent
    except (OSError, MalformedError):
        return False
