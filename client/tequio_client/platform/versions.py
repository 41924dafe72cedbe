"""Versions of a packaged app and of its runtimes, side by side in the user's data folder.

    app/VERSION/        what an update brought; an installed package of the system is not here
    app/state.json      which of them starts
    runtime/VERSION/    the trainer's runtime for the app of this version

A program that was installed hands over to the newest version here. A new version is on trial until
it has confirmed that it works (`confirm`); one that was started twice without doing so is given up,
and the one before it starts again. In the first two minutes that it runs (`trial_of`), no further
start counts: it only shows the first one's window. One that works has confirmed it by then. Each
change is one file replaced, so that a power cut leaves the old version or the new one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import platformdirs

from tequio_client import clock, files
from tequio_shared.errors import MalformedError
from tequio_shared.version import version_number

if TYPE_CHECKING:
    from filelock import FileLock

Part = Literal["app", "runtime"]
INSTALLED_VARIABLE = "TEQUIO_INSTALLED"
"""Path of the installed program that handed over to a newer version."""
TRUST_VARIABLE = "TEQUIO_RELEASES"
"""Folder of what a build trusts (`trust_folder`), in place of the package's own."""
NETWORKS = "networks.json"
SUFFIX = ".exe" if sys.platform == "win32" else ""
_NAMES: dict[Part, str] = {"app": "tequio", "runtime": "tequio-runtime"}
PROGRAMS: dict[Part, str] = {part: name + SUFFIX for part, name in _NAMES.items()}
PARTIAL, REMOVED = ".partial", ".removed"
"""Ends of the names of folders with a version that is not complete: .VERSION.partial."""
_ANY_PROCESS = 0xFFFFFFFF
_TRIAL_STARTS = 2
_TRIAL_MS = 120_000
"""A version that has run for longer, and has not confirmed that it works, hangs."""
_LOCK_S = 0.1
"""Time for another start that only looks whether the lock is held."""
_MOST_SKIPPED = 20


class AppState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The version that starts, if it is newer than the program that was installed."""

    current: str = ""
    previous: str = ""
    """May be that of the installed program, which is not in the data folder."""
    starts: int | None = None
    """Starts of the current version on trial; None once it has confirmed that it works."""
    skipped: tuple[str, ...] = ()
    """Versions that failed, or that the user went back from: not installed again by itself."""


def data_folder() -> Path:
    return platformdirs.user_data_path("tequio")


def releases_folder() -> Path:
    """Return where what the mirrors have signed is kept: metadata, and the list of networks."""
    return data_folder() / "releases"


def trust_folder() -> Path:
    """Return what this build was given: root.json, mirrors.json, networks.json, or nothing."""
    named = os.environ.get(TRUST_VARIABLE)
    return Path(named or Path(getattr(sys, "_MEIPASS", "/nonexistent")) / "tequio_releases")


def proposed_networks() -> bytes:
    """Read the newest signed list of networks to propose; empty: there is none."""
    for folder in (releases_folder(), trust_folder()):
        with contextlib.suppress(OSError):
            return (folder / NETWORKS).read_bytes()
    return b""


def is_windows(system: str) -> bool:
    """Tell a system's name, such as windows-x86_64, from others."""
    return system.startswith("windows-")


def program_name(part: Part, system: str) -> str:
    """Name the program of a package for a system, which may be another one than this."""
    return _NAMES[part] + (".exe" if is_windows(system) else "")


def folder_of(part: Part, version: str) -> Path:
    return data_folder() / part / version


def program_of(part: Part, version: str) -> Path:
    return folder_of(part, version) / PROGRAMS[part]


def installed(part: Part) -> list[str]:
    """List the complete versions in the data folder, newest first."""
    try:
        names = [path.name for path in (data_folder() / part).iterdir() if path.is_dir()]
    except OSError:
        return []
    found = []
    for name in names:
        with contextlib.suppress(MalformedError):
            found.append((version_number(name), name))
    return [name for _, name in sorted(found, reverse=True)]


def state() -> AppState:
    """Read the state; a damaged one counts as none, and the installed program starts."""
    try:
        return files.read_record(_state_file(), AppState) or AppState()
    except (OSError, MalformedError):
        return AppState()


def let_another_come_to_the_front() -> None:
    """Pass on the right of a program just started to show its window above all others.

    Only Windows has such a right.
    """
    if sys.platform == "win32":
        ctypes.WinDLL("user32").AllowSetForegroundWindow(ctypes.c_uint32(_ANY_PROCESS))


def hand_over(own: str, words: Sequence[str]) -> None:
    """Become the newest version's program, with these words; return if this one stays."""
    try:
        program = app_to_start(own, is_counted=list(words[:1]) == ["app"])
    except OSError:
        return  # no state can be written here, so none can go wrong
    if program is None:
        return
    same = program.with_name(Path(sys.executable).name)  # on Windows, the one without a console
    command = [str(same if same.is_file() else program), *words]
    os.environ.setdefault(INSTALLED_VARIABLE, sys.executable)
    if sys.platform == "win32":  # has no exec that keeps the parent waiting
        let_another_come_to_the_front()
        sys.exit(subprocess.run(command, check=False).returncode)  # noqa: S603
    os.execv(command[0], command)  # noqa: S606


def app_to_start(own: str, *, is_counted: bool = True) -> Path | None:
    """Return the program to hand over to; None: stay with version `own`.

    A start that counts is one after which the app confirms that it works; another one, of a plain
    command or just after the app's start, gives no version up: the app may be confirming it now.
    Raises OSError.
    """
    now = state()
    is_counted = is_counted and now.starts is not None and not _is_running()
    while _is_newer(now.current, own):
        starts = now.starts if is_counted else None
        if starts is not None and starts >= _TRIAL_STARTS:
            now = _given_up(now)
            _save(now)
        elif program_of("app", now.current).is_file():
            if starts is not None:
                _save(msgspec.structs.replace(now, starts=starts + 1))
            return program_of("app", now.current)
        else:  # deleted by hand
            now = msgspec.structs.replace(now, current=now.previous, previous="", starts=None)
    return None


@contextlib.contextmanager
def trial_of(own: str) -> Iterator[None]:
    """State that the app of version `own` runs since now, if it is on trial: a lock says so."""
    now = state()
    with contextlib.ExitStack() as held:
        if now.current == own and now.starts is not None:
            with contextlib.suppress(OSError):  # another one has it, or it cannot be made
                held.enter_context(_trial_lock(_LOCK_S))
                os.utime(_lock_file())
        yield


def switch_to(version: str, *, running: str) -> None:
    """Start this version from now on, on trial; `running` is the one to fall back on.

    Raises OSError.
    """
    kept = tuple(one for one in state().skipped if one != version)
    _save(AppState(current=version, previous=running, starts=0, skipped=kept))


def confirm(version: str) -> None:
    """State that this version works, once it has done so. Raises OSError."""
    now = state()
    if now.current == version and now.starts is not None:
        _save(msgspec.structs.replace(now, starts=None))


def go_back() -> str:
    """Give up the current version; return the one before it, which starts now. Raises OSError.

    Empty: the program that was installed.
    """
    _save(_given_up(state()))
    return state().current


def clean_up(own: str) -> None:
    """Delete versions older than `own`, and what was fetched of such.

    The current version and the one before it stay, unless a package of the system has brought an
    `own` that is newer. Runtimes stay until that of `own` is installed, which takes the files from
    them that have not changed.
    """
    now, kept = state(), {own}
    if not _is_newer(own, now.current):
        kept |= {now.current, now.previous}
    for part in PROGRAMS:
        is_needed = part == "runtime" and not program_of(part, own).is_file()
        for version in () if is_needed else installed(part):
            if version not in kept and not _is_newer(version, own):
                shutil.rmtree(folder_of(part, version), ignore_errors=True)
        for folder in (data_folder() / part).glob(".*"):
            version = folder.stem.removeprefix(".")
            if folder.suffix in (PARTIAL, REMOVED) and _is_newer(own, version):
                shutil.rmtree(folder, ignore_errors=True)


def restore_environment() -> None:
    """Take back, for the programs started from here, what our start set for its own libraries.

    The loader has read the variables by then. A child of our own package sets them again.
    """
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        os.environ.pop(name, None)
        before = os.environ.pop(name + "_ORIG", None)
        if before is not None:
            os.environ[name] = before
    if sys.platform == "linux":  # a desktop's programs use Qt, too; ours finds what lies beside it
        for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH"):
            os.environ.pop(name, None)


def _given_up(now: AppState) -> AppState:
    skipped = (now.current, *(one for one in now.skipped if one != now.current))
    named = tuple(one for one in skipped if one)[:_MOST_SKIPPED]
    return AppState(current=now.previous, skipped=named)


def _is_running() -> bool:
    """Tell whether the version on trial runs, and may still confirm that it works."""
    try:
        if clock.now_ms() - _lock_file().stat().st_mtime * 1000 > _TRIAL_MS:
            return False
        with _trial_lock(0):
            return False
    except OSError as err:  # one that is not there is held by nobody
        return isinstance(err, TimeoutError)


def _trial_lock(timeout_s: float) -> FileLock:
    from filelock import FileLock  # noqa: PLC0415 - needed only while a version is on trial

    return FileLock(_lock_file(), timeout=timeout_s)


def _lock_file() -> Path:
    """Name the file whose time is that of the start which holds the lock."""
    return data_folder() / "app" / "trial.lock"


def _is_newer(version: str, own: str) -> bool:
    try:
        return bool(version) and version_number(version) > version_number(own)
    except MalformedError:
        return False


def _state_file() -> Path:
    return data_folder() / "app" / "state.json"


def _save(now: AppState) -> None:
    _state_file().parent.mkdir(parents=True, exist_ok=True)
    files.write_private(_state_file(), msgspec.json.encode(now))
