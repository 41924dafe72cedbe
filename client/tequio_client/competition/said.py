"""Scores, offers and dates in a word or two: the same by the log and by the ledger's word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.competition import moments

if TYPE_CHECKING:
    from tequio_shared.competition_rules import Dates

_GIGA = 10**9


def bits(nanobits: int) -> str:
    """Bits per byte, of which these are thousand-millionths."""
    return f"{nanobits / _GIGA:.6f}"


def offer(*, is_drawn: bool, is_open: bool) -> str:
    """How far an offer to evaluate is; `is_open` says whether its secret is."""
    if is_drawn:
        return "drawn"
    return "secret opened" if is_open else "offered"


def upcoming(dates: Dates, now_ms: int) -> str:
    """The next date that is not over, of a competition that is not."""
    for name in dates.__struct_fields__:
        if getattr(dates, name) > now_ms:
            return f"{name} {moments.told(getattr(dates, name))}"
    return "the result"
