"""The app's entries in the user's system: start at login, and opening of `tequio:` links.

Start at login: on Linux a desktop entry in the autostart folder (freedesktop.org, Desktop
Application Autostart), on macOS a property list in LaunchAgents, on Windows a value under the
user's Run key and the switch that Task Manager stores beside it.

Links: on Linux a desktop entry for the scheme, and the user's list of defaults (freedesktop.org,
mime-apps). A line is added where the list has none for the scheme; one that names another program
stays, and so does everything else. An installed package brings an entry of its own. On macOS the
bundle's Info.plist, on Windows a class under the user's registry.
"""

from __future__ import annotations

import importlib
import plistlib
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from xml.parsers.expat import ExpatError

from tequio_client import files
from tequio_client.links import SCHEME
from tequio_client.platform import programs

NAME = "Tequio"
BACKGROUND = "--background"


class SystemEntry(Protocol):
    """A setting of the system that names this installation with its command."""

    def is_on(self) -> bool: ...

    def turn_on(self) -> None:
        """Raises OSError."""


class LinkHandler(SystemEntry, Protocol):
    """The program that opens `tequio:` links."""


class Autostart(SystemEntry, Protocol):
    """The program that starts at login."""

    def turn_off(self) -> None:
        """Raises OSError."""


def app_command(*options: str) -> tuple[str, ...]:
    """The command that starts this installation hidden."""
    return programs.lasting("app", *options, BACKGROUND)


def system_autostart(
    command: Sequence[str], *, system: str, home: Path, environ: Mapping[str, str]
) -> Autostart:
    if system == "win32":
        return RunKeyAutostart(command, UserRegistry())
    if system == "darwin":
        return LaunchAgentAutostart(command, home / "Library" / "LaunchAgents")

    return DesktopEntryAutostart(command, autostart_folder(home, environ))


AUTOSTART_ENTRY_FILE = "tequio.desktop"
DELAY_S = 20
"""GNOME's panel accepts tray icons only some seconds after login."""
_AUTOSTART_ENTRY = """[Desktop Entry]
Type=Application
Name={name}
Comment=Lend idle computing time to open language models
Exec={command}
TryExec={program}
Icon=tequio
Terminal=false
X-GNOME-Autostart-enabled=true
X-GNOME-Autostart-Delay={delay}
"""
_SPECIAL = '"`$\\'


def autostart_folder(home: Path, environ: Mapping[str, str]) -> Path:
    return _xdg_folder(environ, "XDG_CONFIG_HOME", home / ".config") / "autostart"


class DesktopEntryAutostart:
    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._path = folder / AUTOSTART_ENTRY_FILE
        self._exec = " ".join(map(quote_exec_argument, command))
        self._program = command[0].replace("\\", "\\\\")

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
        entry = _AUTOSTART_ENTRY.format(
            name=NAME, command=self._exec, program=self._program, delay=DELAY_S
        )
        files.write_private(self._path, entry.encode())

    def turn_off(self) -> None:
        files.delete(self._path)


def quote_exec_argument(argument: str) -> str:
    """An argument for the key Exec: quoted, escaped, and escaped again as a string value."""
    escaped = "".join(f"\\{one}" if one in _SPECIAL else one for one in argument)
    if escaped == argument and not any(one in " \t\n'><~|&;*?#()" for one in argument):
        return argument.replace("%", "%%")
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


LAUNCH_AGENT_LABEL = "org.tequio.app"


class LaunchAgentAutostart:
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
        files.delete(self._path)


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
    def __init__(self, command: Sequence[str], registry: Registry) -> None:
        self._line, self._registry = _windows_line(command), registry

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


def _windows_line(command: Sequence[str]) -> str:
    """The command as one line, as the installer writes it: the program is always in quotes."""
    return " ".join((f'"{command[0]}"', subprocess.list2cmdline(command[1:])))


class UserRegistry:
    """Raises ModuleNotFoundError on other systems than Windows."""

    def __init__(self) -> None:
        self._winreg: Any = importlib.import_module("winreg")  # typed on Windows only
        self._root = self._winreg.HKEY_CURRENT_USER

    def read(self, key: str, name: str) -> str | bytes | None:
        try:
            with self._winreg.OpenKey(self._root, key) as opened:
                value = self._winreg.QueryValueEx(opened, name)[0]
        except FileNotFoundError:
            return None
        return value if isinstance(value, (str, bytes)) else None

    def write(self, key: str, name: str, value: str) -> None:
        with self._winreg.CreateKey(self._root, key) as opened:
            self._winreg.SetValueEx(opened, name, 0, self._winreg.REG_SZ, value)

    def remove(self, key: str, name: str) -> None:
        access = self._winreg.KEY_SET_VALUE
        with (
            suppress(FileNotFoundError),
            self._winreg.OpenKey(self._root, key, 0, access) as opened,
        ):
            self._winreg.DeleteValue(opened, name)


def system_link_handler(
    command: Sequence[str], *, system: str, home: Path, environ: Mapping[str, str]
) -> LinkHandler | None:
    """The handler of that system; the link is appended to `command`.

    None on macOS: the Info.plist declares the scheme, and the system sends links to the running
    app. None on Linux where the entry of an installed package declares it.
    """
    if system == "win32":
        return RegistryLinkHandler(command, UserRegistry())
    if system == "darwin":
        return None

    data = _xdg_folder(environ, "XDG_DATA_HOME", home / ".local" / "share")
    shared = (environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    if any(map(_has_packaged_entry, (data, *map(Path, filter(None, shared))))):
        return None
    config = _xdg_folder(environ, "XDG_CONFIG_HOME", home / ".config")
    return DesktopLinkHandler(command, data / "applications", config)


LINK_ENTRY_FILE = "tequio-link.desktop"
PACKAGED_ENTRY_FILE = "tequio.desktop"
MIMEAPPS_FILE = "mimeapps.list"
SCHEME_MIME_TYPE = f"x-scheme-handler/{SCHEME}"
_GROUP = "[Default Applications]"
_LINK_ENTRY = """[Desktop Entry]
Type=Application
Name={name}
Comment=Open an invitation to lend computing time, or a competition
Exec={command} %u
Icon=tequio
Terminal=false
NoDisplay=true
MimeType={kind};
"""


class DesktopLinkHandler:
    def __init__(self, command: Sequence[str], entries: Path, config: Path) -> None:
        self._entry, self._list = entries / LINK_ENTRY_FILE, config / MIMEAPPS_FILE
        line = " ".join(map(quote_exec_argument, command))
        self._content = _LINK_ENTRY.format(name=NAME, command=line, kind=SCHEME_MIME_TYPE)

    def is_on(self) -> bool:
        has_entry = _read(self._entry) == self._content
        return has_entry and SCHEME_MIME_TYPE in _listed_types(_read(self._list))

    def turn_on(self) -> None:
        self._entry.parent.mkdir(parents=True, exist_ok=True)
        files.write_private(self._entry, self._content.encode())
        known = _read(self._list)
        if SCHEME_MIME_TYPE not in _listed_types(known):
            self._list.parent.mkdir(parents=True, exist_ok=True)
            content = _with_line(known, f"{SCHEME_MIME_TYPE}={LINK_ENTRY_FILE};")
            files.write_private(self._list.resolve(), content.encode("utf-8", "surrogateescape"))


def _has_packaged_entry(data: Path) -> bool:
    with suppress(OSError):
        return SCHEME_MIME_TYPE in _read(data / "applications" / PACKAGED_ENTRY_FILE)
    return False


def _xdg_folder(environ: Mapping[str, str], name: str, usual: Path) -> Path:
    named = Path(environ.get(name, ""))
    return named if named.is_absolute() else usual


def _read(path: Path) -> str:
    """Empty if the file is missing. Raises OSError."""
    try:
        return path.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def _listed_types(content: str) -> set[str]:
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
    def __init__(self, command: Sequence[str], registry: Registry) -> None:
        # Windows puts a link into the line as it is: behind a quotation mark in it would come
        # options, and none is read after the dashes.
        self._line = f'{_windows_line(command)} -- "%1"'
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
