"""What every system's way can do: have `tequio:` links opened by this app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class LinkOpener(Protocol):
    """Whether links of ours come to this program."""

    def is_on(self) -> bool:
        """Whether the system has been told of us, this very program."""

    def turn_on(self) -> None:
        """Tell the system; raises OSError."""


class Bundled:
    """macOS: the bundle's Info.plist names the scheme, and the system tells a running app."""

    def is_on(self) -> bool:
        """See LinkOpener."""
        return True

    def turn_on(self) -> None:
        """See LinkOpener."""


def link_opener(
    command: Sequence[str], *, system: str, home: Path, environ: Mapping[str, str]
) -> LinkOpener:
    """The way of that system; the link follows the command's last word."""
    if system == "win32":
        from tequio_client.app.autostart.windows import user_run_key  # noqa: PLC0415 - each system needs but one
        from tequio_client.app.links import windows  # noqa: PLC0415 - as above

        return windows.ClassKey(command, user_run_key())
    if system == "darwin":
        return Bundled()
    from tequio_client.app.links import linux  # noqa: PLC0415 - as above

    return linux.SchemeEntry(command, *linux.folders(home, environ))
