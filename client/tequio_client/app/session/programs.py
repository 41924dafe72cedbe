"""The user's running programs: games, those named exclusive, and the list to choose from.

A program that runs from a folder in which a store has installed a game is that game, by the
store's own word, so nobody has to fill in a list. The stores' files are read again from time to
time; an unreadable file counts as empty.

A program costs a dozen system calls, so most programs are read once; young ones again, since a
launcher may still start the game in its own process, and once a minute all that have become another
program since.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeAlias, TypeVar

import psutil

T = TypeVar("T")

READS_ARGUMENTS = sys.platform != "win32"
"""Games of Wine and Java are known by their arguments. On Windows a program's arguments are read
from its memory, which the guards against cheating take for an attack; its file tells enough."""
SCAN_S = 5.0
"""Least time between two scans."""
_YOUNG_S = 20.0
_ALL_AGAIN_S = 60.0
_MOST = 64

FILM_PROGRAMS = {
    "brave", "brave-browser", "browser", "celluloid", "chrome", "chromium", "chromium-browser",
    "clapper", "dragon", "epiphany", "firefox", "firefox-bin", "firefox-esr", "floorp",
    "google-chrome", "haruna", "iexplore", "iina", "infuse", "kodi", "kodi-x11", "kodi.bin",
    "librewolf", "microsoft-edge", "mpc-be64", "mpc-hc", "mpc-hc64", "mpv", "mpvnet", "msedge",
    "netflix", "opera", "orion", "parole", "plex", "plex htpc", "potplayermini64",
    "quicktime player", "safari", "showtime", "smplayer", "thorium", "totem", "tv", "vivaldi",
    "vivaldi-bin", "vlc", "waterfox", "wmplayer", "xine", "zen",
}  # fmt: skip
"""Browsers and players by their normalised names; full screen, they show a film."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramScan:
    game: str
    """Empty: no game is running."""
    exclusive: tuple[str, ...]


@dataclass(slots=True)
class _Seen:
    first_s: float
    names: frozenset[str]
    game: str
    image: object = None
    """Result of `_image` before it was read."""


class ProgramList:
    """The user's programs.

    `exclusive_names`: those that the user marked exclusive, and the one whose end a snooze awaits.
    """

    source = "psutil"

    def __init__(self, folders: GameFolders, clock: Callable[[], float] = time.monotonic) -> None:
        self._folders, self._clock = folders, clock
        self.exclusive_names: tuple[str, ...] = ()
        self._seen: dict[int, _Seen] = {}
        self._scanned_s: float | None = None
        self._all_s = 0.0

    def read(self) -> ProgramScan:
        """The result of a new scan, or of the last one if it is recent."""
        now_s = self._clock()
        if self._scanned_s is None or now_s - self._scanned_s >= SCAN_S:
            self._scanned_s = now_s
            self._scan(now_s)
        running = {name for seen in self._seen.values() for name in seen.names}
        found = (name for name in self.exclusive_names if normalised_name(name) in running)
        exclusive = tuple(found)[:_MOST]
        games = (seen.game for seen in self._seen.values() if seen.game)
        return ProgramScan(game=next(games, ""), exclusive=exclusive)

    def _scan(self, now_s: float) -> None:
        if now_s - self._all_s >= _ALL_AGAIN_S:
            self._all_s = now_s
            has_changed = self._folders.refresh()
            for pid, old in self._seen.items():
                if has_changed or old.image is None or old.image != _image(pid):
                    self._seen[pid] = _Seen(old.first_s, frozenset(), "")
        pids = psutil.pids()
        for gone in self._seen.keys() - set(pids):
            del self._seen[gone]
        for pid in pids:
            seen = self._seen.get(pid)
            if seen is None or not seen.names or now_s - seen.first_s < _YOUNG_S:
                self._seen[pid] = self._inspect(pid, now_s if seen is None else seen.first_s)

    def _inspect(self, pid: int, first_s: float) -> _Seen:
        image = _image(pid)
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                name, exe = _field(process.name, ""), _field(process.exe, "")
                words = _field(process.cmdline, list[str]()) if READS_ARGUMENTS else []
        except psutil.Error:
            return _Seen(first_s, frozenset("?"), "", image)
        files = [exe, *words[:1]]
        names = {normalised_name(one) for one in (name, *files) if one}
        game = self._folders.game_of([*files, *words[1:8]])
        return _Seen(first_s, frozenset(names) or frozenset("?"), game, image)


def _image(pid: int) -> object:
    """Read cheaply what another program in the same process would change; None: not known."""
    if sys.platform != "linux":
        return None
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # of other users, and of the kernel's own
        return words, os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - half the time, of each program
    return words, ""


def _field(read: Callable[[], T], without: T) -> T:
    """Read one field. Other users' programs withhold some, and psutil fails on a few more."""
    # One field at a time: a game whose command line is withheld is still known by its name.
    try:
        return read()
    except (psutil.Error, OSError):
        return without


def normalised_name(name: str) -> str:
    """A program's name for comparison: the file name in lower case, without `.exe` or `.app`."""
    kind = PureWindowsPath if "\\" in name else PurePosixPath
    short = kind(name).name.lower()
    for end in (".exe", ".app"):
        short = short.removesuffix(end)
    return short


def is_film_program(program: str) -> bool:
    """True for a program that shows films; `org.videolan.VLC` counts as VLC."""
    name = normalised_name(program)
    return name in FILM_PROGRAMS or (
        name.count(".") > 1 and name.rpartition(".")[2] in FILM_PROGRAMS
    )


def program_name(pid: int) -> str:
    """The name of a running program; empty if unknown."""
    try:
        return psutil.Process(pid).name()[:256]
    except (psutil.Error, ValueError, OSError):
        return ""


MOST_PROGRAMS = 200
_HIDDEN = (
    "systemd", "dbus-", "gvfs", "xdg-", "at-spi", "(sd-pam)", "kworker", "pipewire", "python",
)  # fmt: skip
"""Beginnings of the names of services."""


def running_programs() -> tuple[str, ...]:
    """Names of the user's programs, without services, sorted; takes 20 to 50 ms."""
    ours = {os.getpid(), os.getppid()}
    names: dict[str, str] = {}
    try:
        user = psutil.Process().username()
    except (psutil.Error, KeyError, OSError):
        user = None  # unknown: the programs of all users count
    for process in psutil.process_iter(["name", "username"]):
        name = process.info["name"] or ""
        is_own = user is None or process.info["username"] == user
        # Programs choose their names freely, so some are unprintable.
        is_shown = name and name.isprintable() and not name.startswith(_HIDDEN)
        if is_own and is_shown and process.pid not in ours:
            names.setdefault(normalised_name(name), name)
    return tuple(sorted(names.values(), key=str.casefold))[:MOST_PROGRAMS]


NOT_GAMES = {
    "blender", "borderless gaming", "krita", "lossless scaling", "obs studio", "rpcs3", "sharex",
    "soundpad", "source filmmaker", "steam controller configs", "steam linux runtime",
    "steamworks common redistributables", "steamworks shared", "steamvr", "wallpaper engine",
    "wallpaper_engine",
}  # fmt: skip
"""Programs that stores list among their games; `_NO_GAME_STEMS` covers all their versions."""
_NO_GAME_STEMS = ("proton", "steam linux runtime", "steamlinuxruntime", "dotnet", "directx")


class GameFolders:
    """The game folders of all stores; `refresh` reads them."""

    def __init__(self, libraries: Sequence[Callable[[], Mapping[str, str]]]) -> None:
        self._libraries = libraries
        self._games: dict[str, str] = {}

    def refresh(self) -> bool:
        """Read all stores again; returns True if their games have changed."""
        found: dict[str, str] = {}
        for library in self._libraries:
            for folder, game in library().items():
                if is_game(game) and is_game(os.path.basename(folder)):  # noqa: PTH119 - of any system
                    found[normalised_path(folder).rstrip("/") + "/"] = game[:256]
        before, self._games = self._games, found
        return found != before

    def game_of(self, words: Iterable[str]) -> str:
        """The game of a program with this file and these arguments; empty: none."""
        paths = [path for path in map(normalised_path, words) if "/" in path]
        games = (game for path in paths for folder, game in self._games.items() if folder in path)
        return next(filter(None, games), "")


def normalised_path(path: str) -> str:
    """A path for comparison: Wine's drive Z is the root, forward slashes, lower case."""
    plain = path.replace("\\", "/").lower()
    return plain.removeprefix("z:")


def is_game(name: str) -> bool:
    """False for tools that stores list among their games."""
    plain = name.lower()
    return plain not in NOT_GAMES and not plain.startswith(_NO_GAME_STEMS)


# Steam writes Valve's text format: lines of `"key" "value"`, and `"key" { … }` around those of one
# thing. Pairs begin a line: elsewhere, each quote behind one that stays open would be tried.
_PAIR = re.compile(r'^[ \t]*"((?:[^"\\\n]|\\.)*)"[ \t]*"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")


Games: TypeAlias = "dict[str, str]"  # names by folder

_STEAM = (
    ".local/share/Steam",
    ".steam/steam",
    ".var/app/com.valvesoftware.Steam/.local/share/Steam",
    "snap/steam/common/.local/share/Steam",
    "Library/Application Support/Steam",
)
_HEROIC = (
    ".config/heroic",
    ".var/app/com.heroicgameslauncher.hgl/config/heroic",
    "Library/Application Support/heroic",
    "AppData/Roaming/heroic",
)
_LUTRIS = (".local/share/lutris/pga.db", ".var/app/net.lutris.Lutris/data/lutris/pga.db")
_EPIC = "Epic/EpicGamesLauncher/Data/Manifests"
_MOST_BYTES = 16 << 20


def store_readers(home: Path, environ: Mapping[str, str]) -> list[Callable[[], Games]]:
    steam = [home / place for place in _STEAM]
    epic = [home / "Library/Application Support" / _EPIC]
    if programs := environ.get("PROGRAMFILES(X86)"):
        steam.append(Path(programs) / "Steam")
    if shared := environ.get("PROGRAMDATA"):
        epic.append(Path(shared) / _EPIC)
    found: list[Callable[[], Games]] = [partial(steam_games, place) for place in steam]
    found += [partial(heroic_games, home / place) for place in _HEROIC]
    found += [partial(lutris_games, home / place) for place in _LUTRIS]
    found += [partial(epic_games, place) for place in epic]
    return [*found, partial(gog_games, home / "GOG Games"), gog_galaxy_games]


def steam_games(steam: Path) -> Games:
    """Games of all libraries of one Steam installation."""
    listed = _pairs(steam / "steamapps/libraryfolders.vdf")
    roots = (
        value
        for key, value in listed
        # In old files the key is a number, which in new ones names a game.
        if key == "path" or (key.isdecimal() and ("/" in value or "\\" in value))
    )
    games: Games = {}
    for root in {str(steam), *roots}:
        common = Path(root) / "steamapps/common"
        names = dict(_steam_names(Path(root) / "steamapps"))
        for folder in _inside(common):
            games[str(folder)] = names.get(folder.name.lower(), folder.name)
    return games


def heroic_games(folder: Path) -> Games:
    """Games from Epic, GOG and Amazon that Heroic installed."""
    games: Games = {}
    for place in ("legendaryConfig/legendary", "gog_store", "nile_config/nile", "sideload_apps"):
        content = _json(folder / place / "installed.json")
        entries = content.get("installed") if isinstance(content, dict) else content
        if isinstance(content, dict) and not isinstance(entries, list):
            entries = list(content.values())
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                path = entry.get("install_path") or entry.get("path")
                if isinstance(path, str) and path:
                    games[path] = str(entry.get("title") or Path(path).name)
    return games


def lutris_games(database: Path) -> Games:
    if not database.is_file():
        return {}
    query = "SELECT directory, name FROM games WHERE installed = 1 AND directory <> ''"
    try:
        with contextlib.closing(
            sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=0.2)
        ) as connection:
            rows = connection.execute(query).fetchall()
    except sqlite3.Error:
        return {}
    home = str(Path.home())
    return {str(path): str(name) for path, name in rows if len(str(path)) > len(home)}


def epic_games(manifests: Path) -> Games:
    games: Games = {}
    for file in _inside(manifests):
        entry = _json(file) if file.suffix == ".item" else None
        if (
            isinstance(entry, dict)
            and isinstance(path := entry.get("InstallLocation"), str)
            and path
        ):
            games[path] = str(entry.get("DisplayName") or Path(path).name)
    return games


def gog_games(folder: Path) -> Games:
    """Games of GOG's own installers for Linux."""
    return {
        str(game): (_text(game / "gameinfo").splitlines() or [game.name])[0]
        for game in _inside(folder)
        if (game / "gameinfo").is_file()
    }


def gog_galaxy_games() -> Games:
    """Games of GOG Galaxy, which lists them in Windows' registry."""
    games: Games = {}
    if sys.platform == "win32":
        import winreg  # noqa: PLC0415 - exists on Windows only

        with contextlib.suppress(OSError):
            place = r"SOFTWARE\WOW6432Node\GOG.com\Games"
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
                for number in range(winreg.QueryInfoKey(key)[0]):
                    with winreg.OpenKey(key, winreg.EnumKey(key, number)) as game:
                        path = str(winreg.QueryValueEx(game, "path")[0])
                        games[path] = str(winreg.QueryValueEx(game, "gameName")[0])
    return games


def _steam_names(apps: Path) -> Iterator[tuple[str, str]]:
    for file in _inside(apps):
        if file.name.startswith("appmanifest_"):
            # The first of a name counts: tables further down may have it, too.
            state = dict(reversed(_pairs(file)))
            yield state.get("installdir", "").lower(), state.get("name", "")


def _pairs(file: Path) -> list[tuple[str, str]]:
    """Keys, in lower case, and their values, of a file of Steam's."""
    found = _PAIR.findall(_text(file))
    return [(key.lower(), _ESCAPED.sub(r"\1", value)) for key, value in found]


def _inside(folder: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(folder)]
    except OSError:
        return []


def _text(file: Path) -> str:
    try:
        return file.read_bytes()[:_MOST_BYTES].decode("utf-8", "replace")
    except OSError:
        return ""


def _json(file: Path) -> object:
    try:
        return json.loads(_text(file) or "null")
    except (ValueError, RecursionError):
        return None
