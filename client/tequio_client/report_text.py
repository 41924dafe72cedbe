"""Text that somebody will copy into a report: without the user's name, home folder or passwords."""

from __future__ import annotations

import getpass
import re
from pathlib import Path

_PASSWORDS = re.compile(r"(?<=://)[^/\s@\"'\\]+@")
"""In addresses, before the computer's name."""
_LEAST = 2
"""Letters of a name that is looked for."""


def without_names(text: str, home: Path | None = None) -> str:
    """The text with `~` for the home folder, however it is written, and `[user]` in other paths."""
    home = home or Path.home()
    for spelling in sorted(_spellings(home), key=len, reverse=True):
        text = re.sub(
            rf"(?<![\w.-]){re.escape(spelling)}(?![\w.-])", "~", text, flags=re.IGNORECASE
        )
    for name in {home.name, _login()}:
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
