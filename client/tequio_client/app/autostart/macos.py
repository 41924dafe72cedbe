"""macOS: a property list in the user's LaunchAgents."""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

from tequio_client import files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LABEL = "org.tequio.app"


class LaunchAgent:
    """See Autostart."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command, self._path = list(command), folder / f"{LABEL}.plist"

    def is_on(self) -> bool:
        """See Autostart."""
        try:
            said = plistlib.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError, ExpatError, plistlib.InvalidFileException):
            return False
        if not isinstance(said, dict):
            return False
        is_same = said.get("ProgramArguments") == self._command
        return is_same and said.get("RunAtLoad") is True and not said.get("Disabled")

    def turn_on(self) -> None:
        """See Autostart."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        said = {
            "Label": LABEL,
            "ProgramArguments": self._command,
            "RunAtLoad": True,
            "ProcessType": "Interactive",
            "LimitLoadToSessionType": "Aqua",
        }
        files.write_private(self._path, plistlib.dumps(said))

    def turn_off(self) -> None:
        """See Autostart."""
        self._path.unlink(missing_ok=True)
