"""Round numbers for a chart's axis."""

from __future__ import annotations

import math

STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def top_and_step(highest: float, intervals: int) -> tuple[float, float]:
    """The top of an axis that holds the highest value, and its step: round, and no more than due.

    For a highest value of 0 or less the axis ends at 1.
    """
    if highest <= 0:
        return 1.0, 1.0 / intervals
    least = highest / intervals
    power = 10.0 ** math.floor(math.log10(least))
    step = next(step for step in STEPS if step * power >= least * (1 - 1e-9)) * power
    return step * intervals, step


def bottom_top_and_step(
    lowest: float, highest: float, intervals: int
) -> tuple[float, float, float]:
    """Ends and step of an axis that holds both and need not begin at 0: about so many steps."""
    span = highest - lowest or max(abs(highest), 1.0) / 10
    least = span / intervals
    power = 10.0 ** math.floor(math.log10(least))
    step = next(step for step in STEPS if step * power >= least * (1 - 1e-9)) * power
    bottom = math.floor(lowest / step + 1e-9) * step
    top = math.ceil(highest / step - 1e-9) * step
    return bottom, max(top, bottom + step), step
