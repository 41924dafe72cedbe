"""The program around the app's window: stored settings, and an autostart that tests control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.pages.page import ProgramContext
from tequio_client.app.settings_file import SettingsStore

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("blender", "Code", "discord", "firefox", "kdenlive", "obs", "steam", "teams")


class FakeAutostart:
    """The system's autostart; `refuses` makes writing it fail, `forgets` drops changes."""

    def __init__(self) -> None:
        self.is_there = False
        self.refuses = ""
        self.forgets = False

    def is_on(self) -> bool:
        """See Autostart."""
        return self.is_there

    def turn_on(self) -> None:
        """See Autostart."""
        self._write(is_there=True)

    def turn_off(self) -> None:
        """See Autostart."""
        self._write(is_there=False)

    def _write(self, *, is_there: bool) -> None:
        if self.refuses:
            raise OSError(13, self.refuses)
        if not self.forgets:
            self.is_there = is_there


def own(folder: Path, login: FakeAutostart | None = None) -> ProgramContext:
    """A program with its files in that folder."""
    return ProgramContext(
        settings=SettingsStore(folder / "settings"),
        autostart=login or FakeAutostart(),
        folder=folder / "worker",
        ledger=lambda: "https://ledger.example",
        use_network=lambda _ledger, _name: None,
        programs=lambda: PROGRAMS,
    )
