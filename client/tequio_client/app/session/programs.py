"""The user's running programs: games, those named exclusive, and the list to choose from.

A scan costs one or two system calls for each program, so most programs are read once; young ones
again, since a launcher may still start the game in its own process, and all of them again once a
minute.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.session.games import GameFolders


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
    """The result of the last scan."""

    game: str
    """Empty: no game is running."""
    exclusive: tuple[str, ...]


@dataclass(slots=True)
class _Seen:
    first_s: float
    names: frozenset[str]
    game: str


class ProgramList:
    """The user's programs; `wanted` are the names that the user marked exclusive."""

    source = "psutil"

    def __init__(self, folders: GameFolders, clock: Callable[[], float] = time.monotonic) -> None:
        self._folders, self._clock = folders, clock
        self.exclusive_names: tuple[str, ...] = ()
        self._seen: dict[int, _Seen] = {}
        self._scanned_s: float | None = None
        self._all_s = 0.0
        self._last = ProgramScan(game="", exclusive=())

    def read(self) -> ProgramScan:
        """The result of a new scan, or of the last one if it is recent."""
        now_s = self._clock()
        if self._scanned_s is None or now_s - self._scanned_s >= SCAN_S:
            self._scanned_s = now_s
            self._scan(now_s)
        wanted = {normalised_name(name): name for name in self.exclusive_names}
        running = {name for seen in self._seen.values() for name in seen.names}
        exclusive = tuple(shown for name, shown in wanted.items() if name in running)[:_MOST]
        games = (seen.game for seen in self._seen.values() if seen.game)
        return ProgramScan(game=next(games, ""), exclusive=exclusive)

    def _scan(self, now_s: float) -> None:
        if now_s - self._all_s >= _ALL_AGAIN_S:
            self._all_s = now_s
            self._folders.refresh()
            self._seen = {
                pid: _Seen(seen.first_s, frozenset(), "") for pid, seen in self._seen.items()
            }
        pids = psutil.pids()
        for gone in self._seen.keys() - set(pids):
            del self._seen[gone]
        for pid in pids:
            seen = self._seen.get(pid)
            if seen is None or not seen.names or now_s - seen.first_s < _YOUNG_S:
                self._seen[pid] = self._inspect(pid, now_s if seen is None else seen.first_s)

    def _inspect(self, pid: int, first_s: float) -> _Seen:
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                name = process.name()
                exe, words = _own_or_empty(process.exe), _own_or_empty(process.cmdline)
        except psutil.Error:
            return _Seen(first_s, frozenset("?"), "")
        files = [exe, *words[:1]] if isinstance(exe, str) else list(words[:1])
        names = {normalised_name(one) for one in (name, *files) if one}
        game = self._folders.game_of([*files, *words[1:8]])
        return _Seen(first_s, frozenset(names) or frozenset("?"), game)


def _own_or_empty(ask: Callable[[], str | list[str]]) -> str | list[str]:
    """Empty instead of an error: programs of other users withhold these fields."""
    try:
        return ask()
    except (psutil.Error, OSError):
        return []


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
    "systemd",
    "dbus-",
    "gvfs",
    "xdg-",
    "at-spi",
    "(sd-pam)",
    "kworker",
    "pipewire",
    "python",
)


def running_programs() -> tuple[str, ...]:
    """Names of the user's programs, without services, sorted; takes 20 to 50 ms."""
    ours = {os.getpid(), os.getppid()}
    names: dict[str, str] = {}
    user = _user()
    for process in psutil.process_iter(["name", "username"]):
        name = process.info["name"] or ""
        is_own = user is None or process.info["username"] == user
        if is_own and process.pid not in ours and _is_name(name):
            names.setdefault(normalised_name(name), name)
    return tuple(sorted(names.values(), key=str.casefold))[:MOST_PROGRAMS]


def _is_name(name: str) -> bool:
    """False for services and for unprintable names: programs choose their names freely."""
    return bool(name) and name.isprintable() and not name.startswith(_HIDDEN)


def _user() -> str | None:
    """The user whose programs count; None: unknown."""
    try:
        return psutil.Process().username()
    except (psutil.Error, KeyError, OSError):
        return None
