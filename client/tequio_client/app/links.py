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
from tequio_client.app.autostart import NAME, quoted
from tequio_client.app.competition_notifications import PAGE
from tequio_client.invitation_link import SCHEME
from tequio_client.ipc.competitions import CompetitionLink
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tequio_client.app.autostart import Registry
    from tequio_client.app.notifications import Notices
    from tequio_client.app.window import Window


def open_link(text: str, ledger: str, window: Window, notices: Notices) -> None:
    """Show the competition of a link, or a notice with the reason; `ledger` is the one in use."""
    try:
        link = CompetitionLink.parse(text)
    except UserFacingError as err:
        notices.say("no-competition", str(err.__cause__ or err))
        return
    if link.ledger.rstrip("/") != ledger.rstrip("/"):
        notices.say("other-ledger", link.ledger)
        return
    window.open_page(PAGE)
    window.page.go_to(to_text(link.competition))


class LinkOpener(Protocol):
    """The system's setting for which program opens `tequio:` links."""

    def is_on(self) -> bool:
        """True if the system opens links with this installation."""

    def turn_on(self) -> None:
        """Raises OSError."""


class Bundled:
    """macOS: the Info.plist declares the scheme, and the system sends links to the running app."""

    def is_on(self) -> bool:
        return True

    def turn_on(self) -> None: ...


def link_opener(
    command: Sequence[str], *, system: str, home: Path, environ: Mapping[str, str]
) -> LinkOpener:
    """The handler of that system; the link is appended to `command`."""
    if system == "win32":
        from tequio_client.app.autostart import user_run_key  # noqa: PLC0415 - each system needs but one

        return ClassKey(command, user_run_key())
    if system == "darwin":
        return Bundled()

    return SchemeEntry(command, *folders(home, environ))


FILE = "tequio-link.desktop"
LIST = "mimeapps.list"
KIND = f"x-scheme-handler/{SCHEME}"
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


def folders(home: Path, environ: Mapping[str, str]) -> tuple[Path, Path]:
    """The folder of the user's desktop entries, and the folder of the list."""
    return (
        _named(environ, "XDG_DATA_HOME", home / ".local" / "share") / "applications",
        _named(environ, "XDG_CONFIG_HOME", home / ".config"),
    )


class SchemeEntry:
    """Linux: a desktop entry for the scheme, and a line in the user's list."""

    def __init__(self, command: Sequence[str], entries: Path, config: Path) -> None:
        self._entry, self._list = entries / FILE, config / LIST
        line = " ".join(map(quoted, command))
        self._content = _ENTRY.format(name=NAME, command=line, kind=KIND)

    def is_on(self) -> bool:
        return _read(self._entry) == self._content and KIND in _chosen(_read(self._list))

    def turn_on(self) -> None:
        self._entry.parent.mkdir(parents=True, exist_ok=True)
        files.write_private(self._entry, self._content.encode())
        known = _read(self._list)
        if KIND not in _chosen(known):
            self._list.parent.mkdir(parents=True, exist_ok=True)
            content = _with_line(known, f"{KIND}={FILE};").encode("utf-8", "surrogateescape")
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


CLASS = rf"Software\Classes\{SCHEME}"
OPEN = rf"{CLASS}\shell\open\command"
_NAMED = "URL:Tequio"
_MARK = "URL Protocol"
"""An empty value of this name marks a URL scheme; without it Windows expects a file type."""


class ClassKey:
    """Windows: a class of the user named after the scheme."""

    def __init__(self, command: Sequence[str], registry: Registry) -> None:
        self._line = f'{subprocess.list2cmdline(command)} "%1"'
        self._registry = registry

    def is_on(self) -> bool:
        try:
            marked = self._registry.read(CLASS, _MARK)
            return marked == "" and self._registry.read(OPEN, "") == self._line
        except OSError:
            return False

    def turn_on(self) -> None:
        self._registry.write(CLASS, "", _NAMED)
        self._registry.write(CLASS, _MARK, "")
        self._registry.write(OPEN, "", self._line)
