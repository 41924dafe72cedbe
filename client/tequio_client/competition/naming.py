"""How keys and competitions are called where people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_shared.competition import CompetitionView

LETTERS = 6
"""Least beginning of a competition's id that may stand for it."""
_SHOWN = 10


def short(text: str) -> str:
    """The beginning of a key or a hash."""
    return text[:_SHOWN]


def called(view: CompetitionView) -> str:
    """A competition's name, and the beginning of its id."""
    return f"{view.rules.name} ({short(to_text(view.id))})"


def fits(view: CompetitionView, wanted: str) -> bool:
    """Whether a competition is meant by its name or the beginning of its id; by nothing all are."""
    return is_meant(view.rules.name, to_text(view.id), wanted)


def is_meant(name: str, competition: str, wanted: str) -> bool:
    """Whether the competition of that name and id is meant; see `fits`."""
    if not wanted or wanted == name:
        return True
    return len(wanted) >= LETTERS and competition.startswith(wanted)
