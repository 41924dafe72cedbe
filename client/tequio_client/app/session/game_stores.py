"""The files in which the stores' programs list what they installed."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.app.session import vdf
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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


def stores(home: Path, environ: Mapping[str, str]) -> list[Callable[[], Games]]:
    """Every store that may be on this computer."""
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
    return [*found, partial(gog_games, home / "GOG Games"), registered_games]


def steam_games(steam: Path) -> Games:
    """Every game of every library of one Steam."""
    try:
        tree = vdf.parsed(_text(steam / "steamapps/libraryfolders.vdf"))
    except MalformedError:
        tree = {}
    folders = vdf.branch(tree, "libraryfolders")
    roots = {str(steam)}
    for key, entry in folders.items():
        if key.isdecimal():  # in old files the path is the value itself
            roots.add(entry if isinstance(entry, str) else vdf.leaf(entry, "path"))
    games: Games = {}
    for root in filter(None, roots):
        common = Path(root) / "steamapps/common"
        names = dict(_steam_names(Path(root) / "steamapps"))
        for folder in _inside(common):
            games[str(folder)] = names.get(folder.name.lower(), folder.name)
    return games


def heroic_games(folder: Path) -> Games:
    """Games of Epic, GOG and Amazon that Heroic installed."""
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
    """Games that Lutris installed."""
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


def registered_games() -> Games:
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
                state = vdf.branch(vdf.parsed(_text(file)), "appstate")
                yield vdf.leaf(state, "installdir").lower(), vdf.leaf(state, "name")


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
