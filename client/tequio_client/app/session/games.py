"""Installed games, from the files in which the game stores list them.

A program that runs from such a folder is a game by the store's own word, so nobody has to fill in a
list. All files are read again from time to time; an unreadable file counts as empty.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


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

    def refresh(self) -> None:
        found: dict[str, str] = {}
        for library in self._libraries:
            for folder, game in library().items():
                if is_game(game) and is_game(os.path.basename(folder)):  # noqa: PTH119 - of any system
                    found[normalised_path(folder).rstrip("/") + "/"] = game[:256]
        self._games = found

    def game_of(self, words: Iterable[str]) -> str:
        """The game of a program with this file and these arguments; empty: none."""
        for word in words:
            path = normalised_path(word)
            if "/" not in path:
                continue
            game = next((game for folder, game in self._games.items() if folder in path), "")
            if game:
                return game
        return ""


def normalised_path(path: str) -> str:
    """A path for comparison: Wine's drive Z is the root, forward slashes, lower case."""
    plain = path.replace("\\", "/").lower()
    return plain.removeprefix("z:")


def is_game(name: str) -> bool:
    """False for tools that stores list among their games."""
    plain = name.lower()
    return plain not in NOT_GAMES and not plain.startswith(_NO_GAME_STEMS)


# Valve's text format (VDF), `"key" "value"` and `"key" { … }`, as Steam writes it.
VdfTree: TypeAlias = "dict[str, str | VdfTree]"
_TOKEN = re.compile(r'\s+|//[^\n]*|"((?:[^"\\]|\\.)*)"|([{}])|([^\s{}"]+)')
_ESCAPED = re.compile(r"\\(.)")
_DEEPEST = 32


def parse_vdf(text: str) -> VdfTree:
    """All keys of a file, in lower case; raises MalformedError."""
    stack: list[VdfTree] = [{}]
    keys: list[str | None] = [None]  # of each level, the key that waits for its value
    for part in _parts(text):
        if part == "{":
            key = _take_key(keys)
            stack.append({})
            keys.append(None)
            if len(stack) > _DEEPEST:
                raise MalformedError("brackets too deep")
            stack[-2][key] = stack[-1]
        elif part == "}":
            if len(stack) == 1 or keys.pop() is not None:
                raise MalformedError("a bracket that closes nothing")
            stack.pop()
        elif keys[-1] is None:
            keys[-1] = part[1:].lower()
        else:
            stack[-1][_take_key(keys)] = part[1:]
    if keys != [None]:
        raise MalformedError("it ends in the middle")
    return stack[0]


def _parts(text: str) -> Iterator[str]:
    """Brackets, and words with the prefix `=`."""
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise MalformedError(f"no VDF at character {at}")
        at = token.end()
        if token[2]:
            yield token[2]
        elif token[1] is not None or token[3]:
            yield "=" + _ESCAPED.sub(_unescaped, token[1] or "") + (token[3] or "")


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(found[1], found[1])


def _take_key(keys: list[str | None]) -> str:
    key, keys[-1] = keys[-1], None
    if key is None:
        raise MalformedError("a bracket without a key")
    return key


def subtree(tree: VdfTree, key: str) -> VdfTree:
    """The subtree of a key; empty if there is none."""
    found = tree.get(key, {})
    return found if isinstance(found, dict) else {}


def text_value(tree: VdfTree, key: str) -> str:
    """The text value of a key; empty if there is none."""
    found = tree.get(key, "")
    return found if isinstance(found, str) else ""


if TYPE_CHECKING:
    Games = dict[str, str]

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
    """A reader for every store that may be on this computer."""
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
    try:
        tree = parse_vdf(_text(steam / "steamapps/libraryfolders.vdf"))
    except MalformedError:
        tree = {}
    folders = subtree(tree, "libraryfolders")
    roots = {str(steam)}
    for key, entry in folders.items():
        if key.isdecimal():  # in old files the path is the value itself
            roots.add(entry if isinstance(entry, str) else text_value(entry, "path"))
    games: Games = {}
    for root in filter(None, roots):
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
    """Games of Epic's own launcher."""
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
            with contextlib.suppress(MalformedError):
                state = subtree(parse_vdf(_text(file)), "appstate")
                yield text_value(state, "installdir").lower(), text_value(state, "name")


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
