"""The round under way as a ring: one segment a member, filled as it says what it owes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_ledger.web.pages.run_now import RunNow, SlotNow

SIZE = 220
_CENTRE = SIZE / 2
_RADII = (104.0, 84.0, 64.0)
"""Of the outer edges of the three bands: head stated, committed, witnessed."""
_BAND = 15.0
_GAP_RAD = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One member's part of one band."""

    path: str
    tone: str
    """done, due, or none where nothing is owed."""
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRing:
    """The ring, and what it shows in a sentence; without segments there is no round."""

    segments: tuple[Segment, ...]
    summary: str


def round_ring(now: RunNow) -> RoundRing:
    """Draw the round under way."""
    if not now.slots:
        return RoundRing(segments=(), summary="No round is under way")
    segments = [
        Segment(path=_arc(radius, at, len(now.slots)), tone=tone, said=f"{slot.key}: {said}")
        for at, slot in enumerate(now.slots)
        for radius, (tone, said) in zip(_RADII, _duties(slot), strict=True)
    ]
    summary = (
        f"{now.stated} of {len(now.slots)} members stated their head, {now.committed} of "
        f"{now.trainers} trainers committed, {now.witnessed} of {now.elected} elected witnesses "
        "sent their proof"
    )
    return RoundRing(segments=tuple(segments), summary=summary)


def _duties(slot: SlotNow) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    return (
        ("done", "head stated") if slot.has_stated else ("due", "head not stated"),
        _duty(owed=slot.windows > 0, done=slot.has_committed, what="committed"),
        _duty(owed=slot.is_elected, done=slot.has_witnessed, what="witnessed"),
    )


def _duty(*, owed: bool, done: bool, what: str) -> tuple[str, str]:
    if done:
        return "done", what
    return ("due", f"not {what} yet") if owed else ("none", f"not {what}, and need not")


def _arc(radius: float, at: int, count: int) -> str:
    """A band's segment, clockwise from the top; a lone one is a whole ring but for its gap."""
    turn = 2 * math.pi / count
    gap = min(_GAP_RAD, turn / 4)
    first, last = at * turn + gap / 2, (at + 1) * turn - gap / 2
    large = int(last - first > math.pi)
    inner = radius - _BAND
    return (
        f"M{_at(radius, first)}A{radius:g},{radius:g} 0 {large} 1 {_at(radius, last)}"
        f"L{_at(inner, last)}A{inner:g},{inner:g} 0 {large} 0 {_at(inner, first)}Z"
    )


def _at(radius: float, angle: float) -> str:
    return f"{_CENTRE + radius * math.sin(angle):.1f},{_CENTRE - radius * math.cos(angle):.1f}"
