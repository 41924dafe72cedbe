"""Text for people: short names of ids, foreign text made safe, reports without private names.

Text from other programs and computers may be endless, hold characters that steer a terminal or turn
the line around, begin new lines that look like ours, or be no Unicode at all (names of programs are
any bytes): it is cleaned before it is shown, logged or sent on.
"""

from __future__ import annotations

import getpass
import re
from pathlib import Path

LETTERS = 6
"""Least beginning of an id that may stand for it."""
_SHOWN = 10
_PASSWORDS = re.compile(r"(?<=://)[^/\s@\"'\\]+@")
"""In addresses, before the computer's name."""
_LEAST = 2
"""Letters of a name that is looked for."""


def short(text: str) -> str:
    """The beginning of an id, a key or a hash."""
    return text[:_SHOWN]


def name_with_id(name: str, id_: str) -> str:
    """A name, and the beginning of the id."""
    return f"{name} ({short(id_)})"


def is_meant(name: str, id_: str, wanted: str) -> bool:
    """Whether `wanted` is that name, or a long enough beginning of that id."""
    return wanted == name or (len(wanted) >= LETTERS and id_.startswith(wanted))


def cleaned(text: str, most: int) -> str:
    """At most that many characters of foreign text on one line, each one visible or a space."""
    return "".join(one if one.isprintable() else " " for one in text[:most])


def without_names(text: str, home: Path | None = None, login: str | None = None) -> str:
    """The text with `~` for the home folder, however it is written, and `[user]` in other paths."""
    home = home or Path.home()
    login = _login() if login is None else login
    for spelling in sorted(_spellings(home), key=len, reverse=True):
        text = re.sub(
            rf"(?<![\w.-]){re.escape(spelling)}(?![\w.-])", "~", text, flags=re.IGNORECASE
        )
    for name in {home.name, login}:
        if len(name) >= _LEAST:
            part = rf"(?<=[/\\]){re.escape(name)}(?![\w.-])"
            text = re.sub(part, "[user]", text, flags=re.IGNORECASE)
    return _PASSWORDS.sub("", text)


def _spellings(home: Path) -> set[str]:
    """The folder as paths, addresses, JSON and Python's own errors write it."""
    found: set[str] = set()
    for path in {home, home.resolve()}:
        if len(path.parts) > 1:
            plain = str(path)
            found |= {plain, path.as_posix(), plain.replace("\\", "\\\\")}
    return found


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without an entry anywhere
        return ""
