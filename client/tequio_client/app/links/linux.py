"""Linux: a desktop entry for the scheme, and the user's list of what opens what.

The list (freedesktop.org, mime-apps) is the user's: a line is added where it has none for our
scheme, one that names another program stays, and so does everything else in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.app.autostart.linux import quoted
from tequio_client.app.autostart.names import NAME
from tequio_client.invitation_link import SCHEME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    """Where the user's desktop entries lie, and the list."""
    return (
        _named(environ, "XDG_DATA_HOME", home / ".local" / "share") / "applications",
        _named(environ, "XDG_CONFIG_HOME", home / ".config"),
    )


class SchemeEntry:
    """See LinkOpener."""

    def __init__(self, command: Sequence[str], entries: Path, config: Path) -> None:
        self._entry, self._list = entries / FILE, config / LIST
        line = " ".join(map(quoted, command))
        self._content = _ENTRY.format(name=NAME, command=line, kind=KIND)

    def is_on(self) -> bool:
        """See LinkOpener."""
        return _read(self._entry) == self._content and KIND in _chosen(_read(self._list))

    def turn_on(self) -> None:
        """See LinkOpener."""
        self._entry.parent.mkdir(parents=True, exist_ok=True)
        files.write_private(self._entry, self._content.encode())
        known = _read(self._list)
        if KIND not in _chosen(known):
            self._list.parent.mkdir(parents=True, exist_ok=True)
            content = _with_line(known, f"{KIND}={FILE};").encode("utf-8", "surrogateescape")
            files.write_private(self._list.resolve(), content)


def _named(environ: Mapping[str, str], name: str, usual: Path) -> Path:
    said = Path(environ.get(name, ""))
    return said if said.is_absolute() else usual


def _read(path: Path) -> str:
    """What is in a file; nothing if there is none. Raises OSError."""
    try:
        return path.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def _chosen(content: str) -> set[str]:
    """Kinds for which the list names a program."""
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
