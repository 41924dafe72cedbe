"""How competitions are called where people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.names import is_meant, name_with_id
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_shared.competition import CompetitionView


def called(view: CompetitionView) -> str:
    """A competition's name, and the beginning of its id."""
    return name_with_id(view.rules.name, to_text(view.id))


def fits(view: CompetitionView, wanted: str) -> bool:
    """Whether a competition is meant by its name or the beginning of its id; by nothing all are."""
    return not wanted or is_meant(view.rules.name, to_text(view.id), wanted)
