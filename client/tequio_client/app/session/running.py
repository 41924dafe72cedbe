"""The programs that the user has running, to choose among: no services, and not ourselves."""

from __future__ import annotations

import os

import psutil

from tequio_client.app.session.programs import plain

MOST = 200
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
    """Names of the user's programs, sorted, each once; takes some tens of milliseconds."""
    ours = {os.getpid(), os.getppid()}
    names: dict[str, str] = {}
    user = _user()
    for process in psutil.process_iter(["name", "username"]):
        name = process.info["name"] or ""
        is_own = user is None or process.info["username"] == user
        if is_own and process.pid not in ours and _is_name(name):
            names.setdefault(plain(name), name)
    return tuple(sorted(names.values(), key=str.casefold))[:MOST]


def _is_name(name: str) -> bool:
    """Whether it is worth showing; a program may call itself anything, even what is no text."""
    return bool(name) and name.isprintable() and not name.startswith(_HIDDEN)


def _user() -> str | None:
    """Whose programs are looked for; None: nobody can tell."""
    try:
        return psutil.Process().username()
    except (psutil.Error, KeyError, OSError):
        return None
