"""`tequio:` links: how the app registers them with each system, and how they reach it."""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.app import registration
from tequio_client.app.registration import system_link_handler
from tests.client.app.test_autostart import PaperRegistry
from tests.support.attack_table import attack

USAGE = 2
COMMAND = ("/opt/my programs/tequio", "app")
ROOT = Path(__file__).parents[3]


def entry(folder: Path) -> registration.DesktopLinkHandler:
    return registration.DesktopLinkHandler(
        COMMAND, folder / "data" / "applications", folder / "config"
    )


def test_linux_has_an_entry_for_the_scheme_and_a_line_that_names_it(tmp_path: Path) -> None:
    opener = entry(tmp_path)
    assert not opener.is_on()
    opener.turn_on()
    assert opener.is_on()
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as the library has it
    parser.read(tmp_path / "data" / "applications" / registration.LINK_ENTRY_FILE)
    said = parser["Desktop Entry"]
    assert said["MimeType"] == "x-scheme-handler/tequio;"
    assert said["Exec"] == '"/opt/my programs/tequio" app %u'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[Default Applications]\nx-scheme-handler/tequio=tequio-link.desktop;\n"),
        (
            "# mine\n[Added Associations]\na=b;\n[Default Applications]\ntext/plain=vi.desktop\n",
            "# mine\n[Added Associations]\na=b;\n[Default Applications]\n"
            "x-scheme-handler/tequio=tequio-link.desktop;\ntext/plain=vi.desktop\n",
        ),
        (
            "[Default Applications]\nx-scheme-handler/tequio=other.desktop\n",
            "[Default Applications]\nx-scheme-handler/tequio=other.desktop\n",
        ),
    ],
)
def test_the_users_list_keeps_all_that_is_in_it(before: str, after: str, tmp_path: Path) -> None:
    lying = tmp_path / "config" / registration.MIMEAPPS_FILE
    lying.parent.mkdir()
    lying.write_text(before)
    entry(tmp_path).turn_on()
    assert lying.read_text() == after


@pytest.mark.skipif(shutil.which("gio") is None, reason="GLib's own program is not here")
def test_glib_opens_links_with_it(tmp_path: Path) -> None:
    data, config = tmp_path / "data", tmp_path / "config"
    registration.DesktopLinkHandler(("sh", "app"), data / "applications", config).turn_on()
    environ = os.environ | {"XDG_DATA_HOME": str(data), "XDG_CONFIG_HOME": str(config)}
    asked = ("gio", "mime", registration.SCHEME_MIME_TYPE)
    told = subprocess.run(asked, env=environ, capture_output=True, check=True, text=True)
    assert registration.LINK_ENTRY_FILE in told.stdout


def test_windows_has_a_class_of_the_users_own() -> None:
    registry = PaperRegistry()
    opener = registration.RegistryLinkHandler(COMMAND, registry)
    assert not opener.is_on()
    opener.turn_on()
    assert opener.is_on()
    line = registry.values[registration.OPEN_COMMAND_KEY, ""]
    assert line == '"/opt/my programs/tequio" app -- "%1"'
    assert registry.values[registration.SCHEME_KEY, "URL Protocol"] == ""


@attack("P15", layer="cli", ends="refused: no option is read behind a link")
@pytest.mark.parametrize("more", ['--ledger "https://evil.example', '--dir "//evil.example/folder'])
def test_a_link_brings_no_options_into_the_line_that_windows_starts(more: str) -> None:
    """Windows cuts the line at quotation marks, also at one of the link."""
    registry = PaperRegistry()
    registration.RegistryLinkHandler(COMMAND, registry).turn_on()
    line = registry.values[registration.OPEN_COMMAND_KEY, ""]
    assert isinstance(line, str)
    words = shlex.split(line.replace("%1", f'tequio:x" {more}'))
    assert words[:2] == [*COMMAND]
    done = CliRunner().invoke(cli, words[1:])
    assert "unexpected extra argument" in done.output
    assert done.exit_code == USAGE


def test_each_system_has_its_way(tmp_path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(tmp_path / "d"), "XDG_CONFIG_HOME": "relative"}
    opener = system_link_handler(COMMAND, system="linux", home=tmp_path, environ=environ)
    assert opener is not None
    opener.turn_on()
    assert (tmp_path / "d" / "applications" / registration.LINK_ENTRY_FILE).is_file()
    assert (tmp_path / ".config" / registration.MIMEAPPS_FILE).is_file()
    assert system_link_handler(COMMAND, system="darwin", home=tmp_path, environ={}) is None


def test_the_entry_of_an_installed_package_opens_links_in_its_place(tmp_path: Path) -> None:
    entry_file = ROOT / "installer" / "linux" / registration.PACKAGED_ENTRY_FILE
    assert "Exec=tequio app %u" in entry_file.read_text().splitlines()
    applications = tmp_path / "share" / "applications"
    applications.mkdir(parents=True)
    environ = {"XDG_DATA_DIRS": f"/nowhere:{tmp_path / 'share'}"}
    assert system_link_handler(COMMAND, system="linux", home=tmp_path, environ=environ)
    shutil.copy(entry_file, applications)
    assert system_link_handler(COMMAND, system="linux", home=tmp_path, environ=environ) is None
