"""Open `tequio:` links, and register this app for them with the system.

Linux: a desktop entry for the scheme, and the user's list of defaults (freedesktop.org, mime-apps).
A line is added where the list has none for the scheme; one that names another program stays, and so
does everything else. macOS: the bundle's Info.plist. Windows: a class under the user's registry.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tequio_client import files
from tequio_client.app.autostart import NAME, quote_exec_argument
from tequio_client.app.competition_notifications import COMPETITIONS_PAGE
from tequio_client.links import SCHEME, CompetitionLink
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tequio_client.app.autostart import Registry
    from tequio_client.app.notifications import NoticeStrip
    from tequio_client.app.window import AppWindow


def open_link(text: str, ledger: str, window: AppWindow, notices: NoticeStrip) -> None:
    """Show the competition of a link, or a notice with the reason; `ledger` is the one in use."""
    try:
        link = CompetitionLink.parse(text)
    except UserFacingError as err:
        notices.add("no-competition", str(err.__cause__ or err))
        return
    if link.ledger.rstrip("/") != ledger.rstrip("/"):
        notices.add("other-ledger", link.ledger)
        return
    window.open_page(COMPETITIONS_PAGE)
    window.page.restore_location(to_text(link.competition))


class LinkHandler(Protocol):
    """The system's setting for which program opens `tequio:` links."""

    def is_on(self) -> bool:
        """True if the system opens links with this installation."""

    def turn_on(self) -> None:
        """Raises OSError."""


class BundleLinkHandler:
    """macOS: the Info.plist declares the scheme, and the system sends links to the running app."""

    def is_on(self) -> bool:
        return True

    def turn_on(self) -> None: ...


def system_link_handler(
    command: Sequence[str], *, system: str, home: Path, environ: Mapping[str, str]
) -> LinkHandler:
    """The handler of that system; the link is appended to `command`."""
    if system == "win32":
        from tequio_client.app.autostart import open_user_registry  # noqa: PLC0415 - each system needs but one

        return RegistryLinkHandler(command, open_user_registry())
    if system == "darwin":
        return BundleLinkHandler()

    return DesktopLinkHandler(command, *desktop_folders(home, environ))


ENTRY_FILE = "tequio-link.desktop"
MIMEAPPS_FILE = "mimeapps.list"
SCHEME_MIME_TYPE = f"x-scheme-handler/{SCHEME}"
_GROUP = "[Default Applications]"
_ENTRY = """[Desktop Entry]
Type=Application
Name={name}
Comment=Open an invitation to lend computing time, or a competition
Exec={command} %u
Icon=tequio
Terminal=false
NoDisplay=true
MimeType={kind};
"""


def desktop_folders(home: Path, environ: Mapping[str, str]) -> tuple[Path, Path]:
    """The folder of the user's desktop entries, and the folder of the list."""
    return (
        _named(environ, "XDG_DATA_HOME", home / ".local" / "share") / "applications",
        _named(environ, "XDG_CONFIG_HOME", home / ".config"),
    )


class DesktopLinkHandler:
    """Linux: a desktop entry for the scheme, and a line in the user's list."""

    def __init__(self, command: Sequence[str], entries: Path, config: Path) -> None:
        self._entry, self._list = entries / ENTRY_FILE, config / MIMEAPPS_FILE
        line = " ".join(map(quote_exec_argument, command))
        self._content = _ENTRY.format(name=NAME, command=line, kind=SCHEME_MIME_TYPE)

    def is_on(self) -> bool:
        return _read(self._entry) == self._content and SCHEME_MIME_TYPE in _chosen(
            _read(self._list)
        )

    def turn_on(self) -> None:
        self._entry.parent.mkdir(parents=True, exist_ok=True)
        files.write_private(self._entry, self._content.encode())
        known = _read(self._list)
        if SCHEME_MIME_TYPE not in _chosen(known):
            self._list.parent.mkdir(parents=True, exist_ok=True)
            content = _with_line(known, f"{SCHEME_MIME_TYPE}={ENTRY_FILE};").encode(
                "utf-8", "surrogateescape"
            )
            files.write_private(self._list.resolve(), content)


def _named(environ: Mapping[str, str], name: str, usual: Path) -> Path:
    named = Path(environ.get(name, ""))
    return named if named.is_absolute() else usual


def _read(path: Path) -> str:
    """Empty if the file is missing. Raises OSError."""
    try:
        return path.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def _chosen(content: str) -> set[str]:
    """The types for which the list names a program."""
    group, kinds = "", set()
    for line in content.splitlines():
        if line.startswith("["):
            group = line.strip()
        elif group == _GROUP and "=" in line and not line.startswith("#"):
            kinds.add(line.split("=", 1)[0].strip())
    return kinds


def _with_line(content: str, added: str) -> str:
    lines = content.splitlines()
    if _GROUP not in lines:
        lines += [_GROUP]
    lines.insert(lines.index(_GROUP) + 1, added)
    return "\n".join(lines) + "\n"


SCHEME_KEY = rf"Software\Classes\{SCHEME}"
OPEN_COMMAND_KEY = rf"{SCHEME_KEY}\shell\open\command"
_NAMED = "URL:Tequio"
_MARK = "URL Protocol"
"""An empty value of this name marks a URL scheme; without it Windows expects a file type."""


class RegistryLinkHandler:
    """Windows: a class of the user named after the scheme."""

    def __init__(self, command: Sequence[str], registry: Registry) -> None:
        self._line = f'{subprocess.list2cmdline(command)} "%1"'
        self._registry = registry

    def is_on(self) -> bool:
        try:
            marked = self._registry.read(SCHEME_KEY, _MARK)
            return marked == "" and self._registry.read(OPEN_COMMAND_KEY, "") == self._line
        except OSError:
            return False

    def turn_on(self) -> None:
        self._registry.write(SCHEME_KEY, "", _NAMED)
        self._registry.write(SCHEME_KEY, _MARK, "")
        self._registry.write(OPEN_COMMAND_KEY, "", self._line)
