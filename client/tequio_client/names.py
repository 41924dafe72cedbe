"""Text for people: shortened ids, foreign text made safe, reports without private names.

Text from other programs and computers may be endless, contain terminal control characters or
direction marks, fake lines of our own, or not be Unicode at all (program names are arbitrary
bytes). It is cleaned before it is shown, logged or sent on.
"""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import PeerKey, key_from_text

T = TypeVar("T")

MIN_ID_PREFIX = 6
"""Minimum characters of an id that may stand for the whole."""
_SHOWN = 10
_PASSWORDS = re.compile(r"(?<=://)[^/\s@\"'\\]+@")
"""User and password in addresses."""
_LEAST = 2
"""Minimum characters of a name that is removed."""


def short_id(text: str) -> str:
    return text[:_SHOWN]


def name_with_id(name: str, id_: str) -> str:
    return f"{name} ({short_id(id_)})"


def matches_name_or_id(name: str, id_: str, wanted: str) -> bool:
    """Match a name exactly, or an id by a long enough prefix."""
    return wanted == name or (len(wanted) >= MIN_ID_PREFIX and id_.startswith(wanted))


def find_one(
    kind: str, things: Iterable[T], label: Callable[[T], tuple[str, str]], wanted: str
) -> T:
    """Find the thing with that name or beginning of its id (the `label`); UserFacingError."""
    known = list(things)
    found = [one for one in known if matches_name_or_id(*label(one), wanted)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(name_with_id(*label(one)) for one in found or known) or "none"
    if found:
        raise UserFacingError(f"several {kind}s match {wanted!r}: {names}; give more of the id")
    raise UserFacingError(f"no {kind} {wanted!r}; known {kind}s: {names}")


def clean_text(text: str, most: int) -> str:
    """Reduce foreign text to one line of at most `most` visible characters and spaces."""
    short = text[:most]
    if short.isprintable():
        return short
    return "".join(one if one.isprintable() else " " for one in short)


def redact_names(text: str, home: Path | None = None, login: str | None = None) -> str:
    """Replace the home folder by `~`, in any spelling, and the login in other paths by `[user]`."""
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
    """List the spellings of the folder in paths, addresses, JSON and Python's own errors."""
    found: set[str] = set()
    for path in {home, home.resolve()}:
        if len(path.parts) > 1:
            plain = str(path)
            found |= {plain, path.as_posix(), plain.replace("\\", "\\\\")}
    return found


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user id without an account
        return ""


def read_key(text: str) -> PeerKey:
    """Read a key that somebody gave; raises UserFacingError."""
    try:
        return key_from_text(text)
    except MalformedError as err:
        raise UserFacingError(f"invalid key {text!r}: expected all 43 characters") from err
