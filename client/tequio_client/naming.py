"""How runs, competitions and keys are called where people read, and meant where they write."""

from __future__ import annotations

LETTERS = 6
"""Least beginning of an id that may stand for it."""
_SHOWN = 10


def short(text: str) -> str:
    """The beginning of an id, a key or a hash."""
    return text[:_SHOWN]


def called(name: str, id_: str) -> str:
    """A name, and the beginning of the id."""
    return f"{name} ({short(id_)})"


def fits(name: str, id_: str, wanted: str) -> bool:
    """Whether that is meant, by its name or the beginning of its id."""
    return wanted == name or (len(wanted) >= LETTERS and id_.startswith(wanted))
