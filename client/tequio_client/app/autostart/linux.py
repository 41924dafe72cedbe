"""Linux: a desktop entry in the user's autostart folder, as freedesktop.org describes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.app.autostart.names import NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE = "tequio.desktop"
DELAY_S = 20
"""GNOME's panel needs a moment before it takes tray icons."""
_ENTRY = """[Desktop Entry]
Type=Application
Name={name}
Comment=Lend idle computing time to open language models
Exec={command}
Icon=tequio
Terminal=false
X-GNOME-Autostart-enabled=true
X-GNOME-Autostart-Delay={delay}
"""
_SPECIAL = '"`$\\'


def folder(home: Path, environ: Mapping[str, str]) -> Path:
    """Where desktop entries that start at login lie."""
    config = environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if Path(config).is_absolute() else home / ".config") / "autostart"


class DesktopEntry:
    """See Autostart."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._path = folder / FILE
        self._exec = " ".join(map(quoted, command))

    def is_on(self) -> bool:
        """See Autostart; desktops switch an entry off by a line in it."""
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return False
        said = dict(line.split("=", 1) for line in lines if "=" in line)
        is_hidden = said.get("Hidden", "false").strip() == "true"
        is_off = said.get("X-GNOME-Autostart-enabled", "true").strip() == "false"
        return said.get("Exec", "").strip() == self._exec and not is_hidden and not is_off

    def turn_on(self) -> None:
        """See Autostart."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        entry = _ENTRY.format(name=NAME, command=self._exec, delay=DELAY_S)
        files.write_private(self._path, entry.encode())

    def turn_off(self) -> None:
        """See Autostart."""
        self._path.unlink(missing_ok=True)


def quoted(argument: str) -> str:
    """An argument as the key Exec wants it: quoted, escaped, and escaped again as a string."""
    escaped = "".join(f"\\{one}" if one in _SPECIAL else one for one in argument)
    if escaped == argument and not any(one in " \t\n'><~|&;*?#()" for one in argument):
        return argument.replace("%", "%%")
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'
