"""Games by where they are installed, over stores' files as the stores write them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tequio_client.app.session import programs as session_games
from tequio_client.app.session.programs import (
    SCAN_S,
    GameFolders,
    ProgramList,
    epic_games,
    gog_games,
    heroic_games,
    is_film_program,
    lutris_games,
    normalised_name,
    steam_games,
    store_readers,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

STEAM_LIBRARIES = """
"libraryfolders"
{
\t"0"
\t{
\t\t"path"\t\t"%s"
\t\t"label"\t\t""
\t\t"apps"
\t\t{
\t\t\t"730"\t\t"34811"
\t\t}
\t}
\t// a comment of somebody
\t"1"
\t{
\t\t"path"\t\t"%s"
\t}
\t"2"\t\t"/from/an/old/file"
}
"""
MANIFEST = """
"AppState"
{
\t"appid"\t\t"730"
\t"name"\t\t"Counter-\\"Strike\\" 2"
\t"installdir"\t\t"CS2"
}
"""


@pytest.fixture
def steam(tmp_path: Path) -> Path:
    first, second = tmp_path / ".local/share/Steam", tmp_path / "games" / "SteamLibrary"
    for folder in (
        first / "steamapps/common/Proton 9.0/files/bin",
        first / "steamapps/common/SteamLinuxRuntime_sniper",
        second / "steamapps/common/CS2/bin",
        second / "steamapps/common/wallpaper_engine",
    ):
        folder.mkdir(parents=True)
    libraries = first / "steamapps/libraryfolders.vdf"
    libraries.write_text(STEAM_LIBRARIES % (first, second))
    (second / "steamapps/appmanifest_730.acf").write_text(MANIFEST)
    (second / "steamapps/appmanifest_9.acf").write_text('"AppState" {')
    return first


def games(*libraries: Mapping[str, str]) -> GameFolders:
    folders = GameFolders([lambda one=one: one for one in libraries])  # type: ignore[misc]
    folders.refresh()
    return folders


def test_steam_lists_every_game_of_every_library(steam: Path, tmp_path: Path) -> None:
    found = steam_games(steam)
    assert found[str(tmp_path / "games/SteamLibrary/steamapps/common/CS2")] == 'Counter-"Strike" 2'


@pytest.mark.parametrize(
    ("words", "game"),
    [
        (["{common}/CS2/bin/cs2"], 'Counter-"Strike" 2'),
        (["/usr/bin/wine64-preloader", "Z:{windows}\\CS2\\bin\\cs2.exe", "-novid"],
         'Counter-"Strike" 2'),
        (["/usr/bin/reaper", "SteamLaunch", "AppId=730", "--", "{common}/cs2/game.sh"],
         'Counter-"Strike" 2'),
        (["{common}/wallpaper_engine/wallpaper64.exe"], ""),
        (["{first}/Proton 9.0/files/bin/wineserver"], ""),
        (["/usr/bin/python3", "-c", "CS2"], ""),
        (["{common}/CS2-notes/editor"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_what_runs_from_a_games_folder_is_that_game(
    steam: Path, tmp_path: Path, words: list[str], game: str
) -> None:
    common = str(tmp_path / "games/SteamLibrary/steamapps/common")
    places = {
        "common": common,
        "windows": common.replace("/", "\\"),
        "first": str(steam / "steamapps/common"),
    }
    filled = [word.format(**places) for word in words]
    assert games(steam_games(steam)).game_of(filled) == game


@pytest.mark.parametrize("content", ["", '"a" {', "}", '"a" { "b" } }', "{", '"' * 3, "\0" * 99,
                                     '"a" {' * 5_000, r'\"' * 300_000])  # fmt: skip
def test_a_broken_file_of_steam_leaves_its_own_folder(steam: Path, content: str) -> None:
    (steam / "steamapps/libraryfolders.vdf").write_text(content)
    assert str(steam / "steamapps/common/Proton 9.0") in steam_games(steam)


def test_epic_heroic_gog_and_lutris_list_theirs(tmp_path: Path) -> None:
    (tmp_path / "one.item").write_text(
        json.dumps({"InstallLocation": "C:\\Epic\\Fortnite", "DisplayName": "Fortnite"})
    )
    (tmp_path / "two.item").write_text("{")
    (tmp_path / "three.item").write_text("[1, 2]")
    assert epic_games(tmp_path) == {"C:\\Epic\\Fortnite": "Fortnite"}

    heroic = tmp_path / "heroic"
    epic, gog = heroic / "legendaryConfig/legendary", heroic / "gog_store"
    for folder in (epic, gog):
        folder.mkdir(parents=True)
    (epic / "installed.json").write_text(
        json.dumps({"a": {"install_path": "/g/Hades", "title": "Hades"}, "b": 3})
    )
    (gog / "installed.json").write_text(
        json.dumps({"installed": [{"install_path": "/g/Witcher", "appName": "1"}]})
    )
    assert heroic_games(heroic) == {"/g/Hades": "Hades", "/g/Witcher": "Witcher"}

    (tmp_path / "gog/Stardew").mkdir(parents=True)
    (tmp_path / "gog/Stardew/gameinfo").write_text("Stardew Valley\n1.6\n")
    (tmp_path / "gog/notes").mkdir()
    assert gog_games(tmp_path / "gog") == {str(tmp_path / "gog/Stardew"): "Stardew Valley"}

    database = tmp_path / "pga.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE games (name TEXT, directory TEXT, installed INTEGER)")
        rows = [("Celeste", str(Path.home() / "Games/Celeste"), 1), ("Home", str(Path.home()), 1),
                ("Gone", "/somewhere/quite/far/away/gone", 0)]  # fmt: skip
        connection.executemany("INSERT INTO games VALUES (?, ?, ?)", rows)
    assert lutris_games(database) == {str(Path.home() / "Games/Celeste"): "Celeste"}
    database.write_bytes(b"no database" * 100)
    assert lutris_games(database) == {}


def test_a_computer_without_stores_has_no_games(tmp_path: Path) -> None:
    folders = GameFolders(store_readers(tmp_path, {}))
    folders.refresh()
    assert folders.game_of([sys.executable]) == ""


def test_a_program_that_runs_from_a_games_folder_is_found_and_its_end_is_seen(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "steamapps/common/Hollow Knight"
    folder.mkdir(parents=True)
    binary = folder / "hollow_knight"
    shutil.copy(shutil.which("sleep") or "", binary)
    now_s = [1_000.0]
    programs = ProgramList(GameFolders([lambda: steam_games(tmp_path)]), clock=lambda: now_s[0])
    programs.exclusive_names = ("Hollow_Knight.exe", "resolve")
    assert programs.read().game == ""
    with subprocess.Popen([binary, "600"]) as game:
        assert programs.read().game == "", "looked again too soon"
        now_s[0] += SCAN_S
        running = programs.read()
        assert running.game == "Hollow Knight"
        assert running.exclusive == ("Hollow_Knight.exe",)
        game.kill()
        game.wait()
    now_s[0] += SCAN_S
    assert programs.read().game == ""
    assert programs.read().exclusive == ()


@pytest.mark.parametrize("field", ["exe", "cmdline"])
def test_a_program_is_known_by_the_fields_that_can_be_read(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_: object) -> str:
        raise OSError(87, "The parameter is incorrect")  # as Windows says

    monkeypatch.setattr(psutil.Process, field, unreadable)
    programs = ProgramList(GameFolders([]))
    programs.exclusive_names = ("sleep",)
    with subprocess.Popen([shutil.which("sleep") or "", "20"]) as program:
        running = programs.read()
        program.kill()
    assert running.exclusive == ("sleep",)


@pytest.mark.parametrize("age_s", [0.0, 40.0])
def test_a_launcher_that_becomes_the_game_is_seen(tmp_path: Path, age_s: float) -> None:
    folder = tmp_path / "steamapps/common/Celeste"
    folder.mkdir(parents=True)
    binary = folder / "Celeste"
    shutil.copy(shutil.which("sleep") or "", binary)
    now_s = [1_000.0]
    programs = ProgramList(GameFolders([lambda: steam_games(tmp_path)]), clock=lambda: now_s[0])
    script = f'read line; exec "{binary}" 600'
    with subprocess.Popen(["/bin/sh", "-c", script, "launcher"], stdin=subprocess.PIPE) as launcher:
        assert launcher.stdin is not None
        programs.read()
        now_s[0] += age_s  # of an old one: once a minute
        programs.read()
        launcher.stdin.write(b"go\n")
        launcher.stdin.flush()
        for _ in range(2_000):
            now_s[0] += 0.01
            if Path(f"/proc/{launcher.pid}/exe").resolve() == binary:
                break
        now_s[0] += age_s or SCAN_S
        assert programs.read().game == "Celeste"
        launcher.kill()


def test_a_game_that_a_store_names_only_later_is_seen_within_a_minute(tmp_path: Path) -> None:
    binary = tmp_path / "Gris"
    shutil.copy(shutil.which("sleep") or "", binary)
    now_s, games = [1_000.0], dict[str, str]()
    programs = ProgramList(GameFolders([lambda: games]), clock=lambda: now_s[0])
    with subprocess.Popen([binary, "600"]) as game:
        for _ in range(2):
            assert programs.read().game == ""
            now_s[0] += 60
        games[str(tmp_path)] = "Gris"
        assert programs.read().game == "Gris"
        game.kill()


@pytest.mark.parametrize(
    ("name", "is_it"),
    [("firefox", True), ("Firefox.exe", True), ("/usr/bin/vlc", True), ("mpv", True),
     ("C:\\Program Files\\VLC\\vlc.exe", True), ("QuickTime Player.app", True),
     ("org.videolan.VLC", True), ("com.brave.Browser", True), ("org.kde.mpv-notes", False),
     ("cs2", False), ("", False)],
)  # fmt: skip
def test_films_are_shown_by_browsers_and_players(name: str, *, is_it: bool) -> None:
    assert is_film_program(name) is is_it


def test_names_are_compared_without_their_folder_and_ending() -> None:
    assert normalised_name("C:\\Games\\Hades.EXE") == normalised_name("/opt/Hades") == "hades"


def test_arguments_that_lie_in_a_programs_memory_are_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read_memory(_: psutil.Process) -> list[str]:
        raise AssertionError("on Windows this opens the program's memory")

    monkeypatch.setattr(psutil, "pids", lambda: [os.getpid()])
    monkeypatch.setattr(psutil.Process, "cmdline", read_memory)
    with pytest.raises(AssertionError, match="memory"):
        ProgramList(GameFolders([])).read()
    monkeypatch.setattr(session_games, "READS_ARGUMENTS", False)
    assert ProgramList(GameFolders([])).read().game == ""
