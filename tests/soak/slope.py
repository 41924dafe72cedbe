"""How fast a measure grows: least squares over the lives of many processes of one class.

A process that is killed and starts again is another life with a level of its own, so the slope is
that of the deviations from each life's own mean: sum(dt dy) / sum(dt dt) over all lives. What a
process does while it warms up (caches, pools, compiled code) is not a leak: a life's first minutes
do not count, nor does a life that ended soon after them.

One step of a life may not be growth either: Python rehashes its table of interned strings into
one of twice the size once enough strings came and went (1.9 MB in a ledger, after some 40,000 of
them), and later into a smaller one. Least squares cannot judge a single step, so each life is
fitted with the best step up to the allowed size; a second step counts as growth.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MINUTES_10_S = 600.0
_PLACES = 60
"""Number of points in a life that are tried as the place of a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One reading: seconds since the process was first seen, and the measure."""

    at_s: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """Growth in 10 minutes, and the seconds and lives that it was fitted to."""

    per_10_min: float
    seconds: float
    lives: int


def slope(
    lives: Iterable[Sequence[Point]], *, warm_up_s: float, least_s: float, step: float = 0.0
) -> Slope | None:
    """The common slope, one step of at most `step` in each life apart.

    None when no life lasted `least_s` beyond its warm-up.
    """
    warm = [[one for one in life if one.at_s >= warm_up_s] for life in lives]
    long = [life for life in warm if life and life[-1].at_s - life[0].at_s >= least_s]
    if not long:
        return None
    over = under = 0.0
    for life in long:
        life_over, life_under, _ = _moments(_without_step(life, step) if step else life)
        over, under = over + life_over, under + life_under
    seconds = sum(life[-1].at_s - life[0].at_s for life in long)
    return Slope(per_10_min=over / under * MINUTES_10_S, seconds=seconds, lives=len(long))


def _moments(life: Sequence[Point]) -> tuple[float, float, float]:
    """Sums of dt dy, dt dt and dy dy about the life's own means."""
    middle_s, level = fmean(one.at_s for one in life), fmean(one.value for one in life)
    off = [(one.at_s - middle_s, one.value - level) for one in life]
    return sum(t * y for t, y in off), sum(t * t for t, _ in off), sum(y * y for _, y in off)


def _without_step(life: Sequence[Point], most: float) -> Sequence[Point]:
    """The life without the one step, of at most that, which leaves the least unexplained."""
    stride = max(len(life) // _PLACES, 1)
    found, least = life, _unexplained(life)
    for place in range(stride, len(life) - stride, stride):
        flat = _lowered(life, place, min(_step_at(life, place), most))
        if (left := _unexplained(flat)) < least:
            found, least = flat, left
    return found


def _step_at(life: Sequence[Point], place: int) -> float:
    """The step there under which both sides have one common slope, by least squares; at least 0."""
    before, after = life[:place], life[place:]
    parts = (_moments(before), _moments(after))
    pitch = sum(over for over, _, _ in parts) / (sum(under for _, under, _ in parts) or 1.0)
    apart_s = fmean(one.at_s for one in after) - fmean(one.at_s for one in before)
    rise = fmean(one.value for one in after) - fmean(one.value for one in before)
    return max(rise - pitch * apart_s, 0.0)


def _lowered(life: Sequence[Point], place: int, by: float) -> list[Point]:
    return [
        Point(at_s=one.at_s, value=one.value - by if at >= place else one.value)
        for at, one in enumerate(life)
    ]


def _unexplained(life: Sequence[Point]) -> float:
    """Sum of squared residuals of the best line through the life."""
    over, under, total = _moments(life)
    return total - over * over / under if under else total
