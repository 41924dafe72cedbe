"""A round in time, as bands and ticks: stating heads, training, witnessing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import figures

if TYPE_CHECKING:
    from tequio_ledger.web.pages.round_story import RoundStory

WIDTH, HEIGHT = 720, 96
_LEFT, _RIGHT = 4, 716


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A phase, in pixels."""

    name: str
    kind: str
    left: float
    width: float
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that was logged, in pixels."""

    at: float
    kind: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The round's phases and what was logged in them."""

    bands: tuple[Band, ...]
    marks: tuple[Mark, ...]
    summary: str


def timeline(story: RoundStory, now_ms: int) -> Timeline:
    """Lay a round out from its roster to its end, or to now."""
    phases = _phases(story, now_ms)
    first, last = phases[0][1], phases[-1][2]
    scale = (_RIGHT - _LEFT) / max(last - first, 1)

    def place(at_ms: int) -> float:
        return round(_LEFT + (min(max(at_ms, first), last) - first) * scale, 1)

    bands = [
        Band(
            name=name,
            kind=kind,
            left=place(begin),
            width=round(max((end - begin) * scale, 1), 1),
            said=f"{name}: {figures.duration(end - begin)}",
        )
        for (name, kind), begin, end in phases
    ]
    marks = [
        Mark(at=place(at_ms), kind=kind, said=f"{said}, {figures.duration(at_ms - first)} in")
        for at_ms, kind, said in _logged(story)
    ]
    summary = "; ".join(band.said for band in bands)
    return Timeline(bands=tuple(bands), marks=tuple(marks), summary=summary)


def _phases(story: RoundStory, now_ms: int) -> list[tuple[tuple[str, str], int, int]]:
    """Name and kind, begin and end of each phase so far."""
    kinds = (("Stating heads", "attest"), ("Training", "train"), ("Witnessing", "witness"))
    begins = [one.at_ms for one in (story.rostered, story.opened, story.witnessed) if one]
    end = story.ended.at_ms if story.ended else max(now_ms, begins[-1])
    ends = [*begins[1:], end]
    return list(zip(kinds, begins, ends, strict=False))


def _logged(story: RoundStory) -> list[tuple[int, str, str]]:
    """When, of which kind, and in words."""
    said = (
        (story.attests, "attest", "states its head"),
        (story.commits, "train", "commits"),
        (story.proofs, "witness", "sends its proof"),
    )
    return [
        (one.at_ms, kind, f"slot {slot} {what}")
        for entries, kind, what in said
        for slot, one in entries.items()
    ]
