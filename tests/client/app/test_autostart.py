"""Starting at login: what each system is told, and what is read back."""

from __future__ import annotations

import configparser
import plistlib
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.app import registration as app_autostart
from tequio_client.app.registration import app_command, system_autostart

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.app.registration import Autostart

COMMAND = (
    "/opt/my programs/tequio",
    "app",
    "--dir",
    '/somewhere/ana/"x" $y `z` 50%',
    "--background",
)


class PaperRegistry:
    """HKEY_CURRENT_USER on paper."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str | bytes] = {}

    def read(self, key: str, name: str) -> str | bytes | None:
        """See Registry."""
        return self.values.get((key, name))

    def write(self, key: str, name: str, value: str) -> None:
        """See Registry."""
        self.values[key, name] = value

    def remove(self, key: str, name: str) -> None:
        """See Registry."""
        self.values.pop((key, name), None)


class DeniedRegistry(PaperRegistry):
    """One that a policy keeps from us."""

    def read(self, key: str, name: str) -> str | bytes | None:
        """See Registry."""
        raise PermissionError(5, "Access is denied")


def every_way(folder: Path) -> list[Autostart]:
    return [
        app_autostart.DesktopEntryAutostart(COMMAND, folder / "autostart"),
        app_autostart.LaunchAgentAutostart(COMMAND, folder / "Library" / "LaunchAgents"),
        app_autostart.RunKeyAutostart(COMMAND, PaperRegistry()),
    ]


@pytest.mark.parametrize("which", range(3))
def test_it_is_on_once_turned_on_and_off_once_turned_off(which: int, tmp_path: Path) -> None:
    way = every_way(tmp_path)[which]
    assert not way.is_on()
    way.turn_off()
    assert not way.is_on()
    way.turn_on()
    way.turn_on()
    assert way.is_on()
    way.turn_off()
    assert not way.is_on()


def test_a_desktop_entry_starts_this_very_command(tmp_path: Path) -> None:
    app_autostart.DesktopEntryAutostart(COMMAND, tmp_path).turn_on()
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as the library wants it
    parser.read(tmp_path / app_autostart.AUTOSTART_ENTRY_FILE)
    entry = parser["Desktop Entry"]
    assert entry["Type"] == "Application"
    assert entry["X-GNOME-Autostart-Delay"] == "20"
    assert _unquoted(entry["Exec"]) == list(COMMAND)


def _unquoted(line: str) -> list[str]:
    """Read the key Exec as the desktop entry specification says."""
    text = line.replace("\\\\", "\\").replace("%%", "%")
    found, at = [], 0
    while at < len(text):
        if text[at] == " ":
            at += 1
        elif text[at] == '"':
            word, at = "", at + 1
            while text[at] != '"':
                at += text[at] == "\\"
                word, at = word + text[at], at + 1
            found.append(word)
            at += 1
        else:
            end = text.find(" ", at) if " " in text[at:] else len(text)
            found.append(text[at:end])
            at = end
    return found


@pytest.mark.parametrize(
    "line", ["Hidden=true", "X-GNOME-Autostart-enabled=false", "Exec=/usr/bin/other"]
)
def test_an_entry_that_was_switched_off_elsewhere_is_off(line: str, tmp_path: Path) -> None:
    way = app_autostart.DesktopEntryAutostart(COMMAND, tmp_path)
    way.turn_on()
    path = tmp_path / app_autostart.AUTOSTART_ENTRY_FILE
    path.write_text(path.read_text() + line + "\n")
    assert not way.is_on()
    way.turn_on()
    assert way.is_on()


def test_the_autostart_folder_follows_the_environment(tmp_path: Path) -> None:
    config = {"XDG_CONFIG_HOME": str(tmp_path / "c")}
    assert app_autostart.autostart_folder(tmp_path, config) == tmp_path / "c" / "autostart"
    assert app_autostart.autostart_folder(tmp_path, {}) == tmp_path / ".config" / "autostart"
    relative = {"XDG_CONFIG_HOME": "relative"}
    assert app_autostart.autostart_folder(tmp_path, relative) == tmp_path / ".config" / "autostart"


def test_a_launch_agent_starts_this_very_command(tmp_path: Path) -> None:
    app_autostart.LaunchAgentAutostart(COMMAND, tmp_path).turn_on()
    said = plistlib.loads((tmp_path / f"{app_autostart.LAUNCH_AGENT_LABEL}.plist").read_bytes())
    assert said["ProgramArguments"] == list(COMMAND)
    assert said["RunAtLoad"] is True


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"<?xml version='1.0'?><plist><", plistlib.dumps(["a", "list"])]
)
def test_a_launch_agent_that_is_none_is_off(content: bytes, tmp_path: Path) -> None:
    way = app_autostart.LaunchAgentAutostart(COMMAND, tmp_path)
    (tmp_path / f"{app_autostart.LAUNCH_AGENT_LABEL}.plist").write_bytes(content)
    assert not way.is_on()


def test_a_disabled_launch_agent_is_off(tmp_path: Path) -> None:
    way = app_autostart.LaunchAgentAutostart(COMMAND, tmp_path)
    way.turn_on()
    path = tmp_path / f"{app_autostart.LAUNCH_AGENT_LABEL}.plist"
    path.write_bytes(plistlib.dumps({**plistlib.loads(path.read_bytes()), "Disabled": True}))
    assert not way.is_on()


def test_the_run_key_has_the_command_as_windows_quotes_it() -> None:
    registry = PaperRegistry()
    app_autostart.RunKeyAutostart(
        ("C:\\Program Files\\Tequio\\tequio.exe", "app"), registry
    ).turn_on()
    line = '"C:\\Program Files\\Tequio\\tequio.exe" app'
    assert registry.values == {(app_autostart.RUN_KEY, "Tequio"): line}


@pytest.mark.parametrize(("switch", "is_on"), [(b"\x02" + bytes(11), True), (b"\x03", False)])
def test_what_the_task_manager_switched_off_is_off(switch: bytes, is_on: bool) -> None:  # noqa: FBT001
    registry = PaperRegistry()
    way = app_autostart.RunKeyAutostart(COMMAND, registry)
    way.turn_on()
    registry.values[app_autostart.STARTUP_APPROVED_KEY, "Tequio"] = switch
    assert way.is_on() is is_on
    way.turn_on()
    assert way.is_on()


def test_a_registry_that_is_kept_from_us_is_off() -> None:
    assert not app_autostart.RunKeyAutostart(COMMAND, DeniedRegistry()).is_on()


def test_each_system_has_its_way(tmp_path: Path) -> None:
    def way(system: str) -> Autostart:
        return system_autostart(COMMAND, system=system, home=tmp_path, environ={})

    assert isinstance(way("linux"), app_autostart.DesktopEntryAutostart)
    assert isinstance(way("darwin"), app_autostart.LaunchAgentAutostart)
    with pytest.raises(ModuleNotFoundError, match="winreg"):
        way("win32")


def test_the_command_starts_the_app_hidden() -> None:
    program = (sys.executable, "-m", "tequio_client")
    assert app_command() == (*program, "app", "--background")
    assert app_command("--dir", "x") == (*program, "app", "--dir", "x", "--background")
