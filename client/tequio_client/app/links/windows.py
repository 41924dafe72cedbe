"""Windows: a class of the user's own, named as the scheme."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tequio_client.invitation_link import SCHEME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.app.autostart.windows import Registry

CLASS = rf"Software\Classes\{SCHEME}"
OPEN = rf"{CLASS}\shell\open\command"
_NAMED = "URL:Tequio"
_MARK = "URL Protocol"
"""Of this name, empty: without it Windows takes the class for a kind of file."""


class ClassKey:
    """See LinkOpener."""

    def __init__(self, command: Sequence[str], registry: Registry) -> None:
        self._line = f'{subprocess.list2cmdline(command)} "%1"'
        self._registry = registry

    def is_on(self) -> bool:
        """See LinkOpener."""
        try:
            marked = self._registry.read(CLASS, _MARK)
            return marked == "" and self._registry.read(OPEN, "") == self._line
        except OSError:
            return False

    def turn_on(self) -> None:
        """See LinkOpener."""
        self._registry.write(CLASS, "", _NAMED)
        self._registry.write(CLASS, _MARK, "")
        self._registry.write(OPEN, "", self._line)
