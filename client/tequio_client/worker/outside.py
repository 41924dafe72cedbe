"""Why a worker that shall be in a run is in none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Why(StrEnum):
    """The cause."""

    JOINING = "joining"
    """Nothing is in the way, as far as is known."""
    NONE_OPEN = "open"
    """The ledger has no open run."""
    NONE_FITS = "fits"
    """It has some, and none fits this computer."""
    ENDED = "ended"
    """Ours is over."""
    BARRED = "barred"
    """The run cannot be taken part in."""
    NO_SWARM = "swarm"
    """There is no way to any run: a wrong ledger, an address that cannot be listened on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Why there is no run now."""

    why: Why
    problem: str = ""
    """What went wrong, in words, where something did."""


JOINING = Outside(why=Why.JOINING)
NONE_OPEN = Outside(why=Why.NONE_OPEN)
NONE_FITS = Outside(why=Why.NONE_FITS)
ENDED = Outside(why=Why.ENDED)
