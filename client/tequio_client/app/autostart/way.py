"""What every system's way can do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

from tequio_client.app.autostart.names import BACKGROUND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Autostart(Protocol):
    """Whether the app starts at login."""

    def is_on(self) -> bool:
        """Whether the system will start us, this very program, at the next login."""

    def turn_on(self) -> None:
        """Have us started at login; raises OSError."""

    def turn_off(self) -> None:
        """Have us started no more; raises OSError."""


def app_command(*options: str) -> tuple[str, ...]:
    """How this installation starts the app hidden: a frozen program is its own Python."""
    frozen = getattr(sys, "frozen", False)
    program = (sys.executable,) if frozen else (sys.executable, "-m", "tequio_client")
    return (*program, "app", *options, BACKGROUND)


def autostart(
    command: Sequence[str], *, system: str, home: Path, environ: Mapping[str, str]
) -> Autostart:
    """The way of that system."""
    if system == "win32":
        from tequio_client.app.autostart import windows  # noqa: PLC0415 - each system needs but one

        return windows.RunKey(command, windows.user_run_key())
    if system == "darwin":
        from tequio_client.app.autostart import macos  # noqa: PLC0415 - as above

        return macos.LaunchAgent(command, home / "Library" / "LaunchAgents")
    from tequio_client.app.autostart import linux  # noqa: PLC0415 - as above

    return linux.DesktopEntry(command, linux.folder(home, environ))
