"""How fast a measure grows: least squares over the lives of many processes of one class.

A process that is killed and starts again is another life with a level of its own, so the slope is
that of the deviations from each life's own mean: sum(dt dy) / sum(dt dt) over all lives. What a
process does while it warms up (caches, pools, compiled code) is no leak: a life's first minutes
do not count, nor does a life that ended soon after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MINUTES_10_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One reading: seconds since the process was first seen, and the measure."""

    at_s: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """What was found: growth in 10 minutes, over so many seconds of so many lives."""

    per_10_min: float
    seconds: float
    lives: int


def slope(lives: Iterable[Sequence[Point]], *, warm_up_s: float, least_s: float) -> Slope | None:
    """The common slope; None when no life lasted `least_s` beyond its warm-up."""
    warm = [[one for one in life if one.at_s >= warm_up_s] for life in lives]
    long = [life for life in warm if life and life[-1].at_s - life[0].at_s >= least_s]
    if not long:
        return None
    over = under = 0.0
    for life in long:
        middle_s, level = fmean(one.at_s for one in life), fmean(one.value for one in life)
        over += sum((one.at_s - middle_s) * (one.value - level) for one in life)
        under += sum((one.at_s - middle_s) ** 2 for one in life)
    seconds = sum(life[-1].at_s - life[0].at_s for life in long)
    return Slope(per_10_min=over / under * MINUTES_10_S, seconds=seconds, lives=len(long))
