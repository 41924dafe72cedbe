"""Start at login, on each system by its own means.

Linux: a desktop entry in the autostart folder (freedesktop.org, Desktop Application Autostart).
macOS: a property list in LaunchAgents. Windows: a value under the user's Run key and the switch
that Task Manager stores beside it.
"""

from __future__ import annotations

import importlib
import plistlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from xml.parsers.expat import ExpatError

from tequio_client import files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


NAME = "Tequio"
BACKGROUND = "--background"


class Autostart(Protocol):
    """The system's setting that starts the app at login."""

    def is_on(self) -> bool:
        """True if the system will start this installation, with this command, at the next login."""

    def turn_on(self) -> None:
        """Raises OSError."""

    def turn_off(self) -> None:
        """Raises OSError."""


def app_command(*options: str) -> tuple[str, ...]:
    """The command that starts this installation hidden; a frozen program is its own interpreter."""
    frozen = getattr(sys, "frozen", False)
    program = (sys.executable,) if frozen else (sys.executable, "-m", "tequio_client")
    return (*program, "app", *options, BACKGROUND)


def system_autostart(
    command: Sequence[str], *, system: str, home: Path, environ: Mapping[str, str]
) -> Autostart:
    if system == "win32":
        return RunKeyAutostart(command, open_user_registry())
    if system == "darwin":
        return LaunchAgentAutostart(command, home / "Library" / "LaunchAgents")

    return DesktopEntryAutostart(command, autostart_folder(home, environ))


ENTRY_FILE = "tequio.desktop"
DELAY_S = 20
"""GNOME's panel accepts tray icons only some seconds after login."""
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


def autostart_folder(home: Path, environ: Mapping[str, str]) -> Path:
    config = environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if Path(config).is_absolute() else home / ".config") / "autostart"


class DesktopEntryAutostart:
    """Linux: a desktop entry in the autostart folder."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._path = folder / ENTRY_FILE
        self._exec = " ".join(map(quote_exec_argument, command))

    def is_on(self) -> bool:
        """False, too, where the desktop switched the entry off with a line in it."""
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return False
        entry = dict(line.split("=", 1) for line in lines if "=" in line)
        is_hidden = entry.get("Hidden", "false").strip() == "true"
        is_off = entry.get("X-GNOME-Autostart-enabled", "true").strip() == "false"
        return entry.get("Exec", "").strip() == self._exec and not is_hidden and not is_off

    def turn_on(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        entry = _ENTRY.format(name=NAME, command=self._exec, delay=DELAY_S)
        files.write_private(self._path, entry.encode())

    def turn_off(self) -> None:
        self._path.unlink(missing_ok=True)


def quote_exec_argument(argument: str) -> str:
    """An argument for the key Exec: quoted, escaped, and escaped again as a string value."""
    escaped = "".join(f"\\{one}" if one in _SPECIAL else one for one in argument)
    if escaped == argument and not any(one in " \t\n'><~|&;*?#()" for one in argument):
        return argument.replace("%", "%%")
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


LAUNCH_AGENT_LABEL = "org.tequio.app"


class LaunchAgentAutostart:
    """macOS: a property list in the user's LaunchAgents."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command, self._path = list(command), folder / f"{LAUNCH_AGENT_LABEL}.plist"

    def is_on(self) -> bool:
        try:
            entry = plistlib.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError, ExpatError, plistlib.InvalidFileException):
            return False
        if not isinstance(entry, dict):
            return False
        is_same = entry.get("ProgramArguments") == self._command
        return is_same and entry.get("RunAtLoad") is True and not entry.get("Disabled")

    def turn_on(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        entry = {
            "Label": LAUNCH_AGENT_LABEL,
            "ProgramArguments": self._command,
            "RunAtLoad": True,
            "ProcessType": "Interactive",
            "LimitLoadToSessionType": "Aqua",
        }
        files.write_private(self._path, plistlib.dumps(entry))

    def turn_off(self) -> None:
        self._path.unlink(missing_ok=True)


RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
STARTUP_APPROVED_KEY = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
"""Task Manager's switch: an odd first byte means that the user disabled the entry."""


class Registry(Protocol):
    """Values under HKEY_CURRENT_USER."""

    def read(self, key: str, name: str) -> str | bytes | None:
        """None: there is no such value. Raises OSError."""

    def write(self, key: str, name: str, value: str) -> None:
        """Creates the key if necessary; raises OSError."""

    def remove(self, key: str, name: str) -> None:
        """Does nothing if the value is missing; raises OSError."""


class RunKeyAutostart:
    """Windows: a value under the user's Run key."""

    def __init__(self, command: Sequence[str], registry: Registry) -> None:
        self._line, self._registry = subprocess.list2cmdline(command), registry

    def is_on(self) -> bool:
        try:
            entry = self._registry.read(RUN_KEY, NAME)
            switch = self._registry.read(STARTUP_APPROVED_KEY, NAME)
        except OSError:
            return False
        is_off = isinstance(switch, bytes) and bool(switch) and bool(switch[0] & 1)
        return entry == self._line and not is_off

    def turn_on(self) -> None:
        self._registry.write(RUN_KEY, NAME, self._line)
        self._registry.remove(STARTUP_APPROVED_KEY, NAME)

    def turn_off(self) -> None:
        self._registry.remove(RUN_KEY, NAME)


def open_user_registry() -> Registry:
    """The registry of this system; raises ModuleNotFoundError on other systems than Windows."""
    winreg: Any = importlib.import_module("winreg")  # typed on Windows only

    class UserRegistry:
        """Registry access through the standard library's `winreg`."""

        def read(self, key: str, name: str) -> str | bytes | None:
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
                    value = winreg.QueryValueEx(opened, name)[0]
            except FileNotFoundError:
                return None
            return value if isinstance(value, (str, bytes)) else None

        def write(self, key: str, name: str, value: str) -> None:
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:
                winreg.SetValueEx(opened, name, 0, winreg.REG_SZ, value)

        def remove(self, key: str, name: str) -> None:
            try:
                access = winreg.KEY_SET_VALUE
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key, 0, access) as opened:
                    winreg.DeleteValue(opened, name)
            except FileNotFoundError:
                return

    return UserRegistry()
