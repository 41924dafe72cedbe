"""What a small program of the system prints."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Protocol

from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT_S = 3.0


class Told(Protocol):
    """Runs a program."""

    def __call__(self, command: Sequence[str]) -> bytes:
        """All that it prints; raises AbsentError, UnknownError."""


def told_by(command: Sequence[str]) -> bytes:
    """Run a program of the system, by its whole path, for a few seconds at most."""
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT_S)  # noqa: S603 - callers name fixed programs
    except FileNotFoundError as err:
        raise AbsentError(f"{command[0]} is not here") from err
    except (OSError, subprocess.SubprocessError) as err:
        raise UnknownError(f"{command[0]}: {err}") from err
    return done.stdout
