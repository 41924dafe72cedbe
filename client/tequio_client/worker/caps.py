"""How much of a device is taken: threads, and how much of the time it computes.

Temperature and power are held by resting between steps, which needs no right that a volunteer's
program lacks. The controller is integral: above the goal it takes away, the more the farther;
below the goal by more than the band it gives back, slowly; within the band it leaves things as
they are. What it looks at is where the temperature is heading, so that a slow heat sink does not
carry it to and fro. It thinks every five seconds, however often it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

LEAST_PERCENT = 10
"""Below this nothing gets done; a device that is still too hot is left alone instead."""
MOST_PERCENT = 100
BAND_C = 5.0
"""A device is steered into the degrees below its goal, and left alone in them."""
_THINK_MS = 5_000
_AHEAD_S = 20.0
"""How far the temperature's trend is followed."""
_SMOOTH = 0.5
"""Weight of the newest reading: sensors speak in whole degrees."""
_SMOOTH_WATTS = 0.25
"""Watts jump with every rest."""
_LESS_PER_C = 0.8
_LESS_PER_WATT_PERCENT = 0.15
_MORE_PER_UNIT = 0.25
_MOST_LESS = 20.0
_MOST_MORE = 2.0
_WATTS_BAND_PERCENT = 15.0


def threads(cores: int, chosen: int = 0) -> int:
    """Say how many threads may compute; 0 chosen: all cores but one."""
    return max(1, min(chosen, cores) if chosen else cores - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goals:
    """What a device is held at."""

    temperature_c: float
    watts: float = 0.0
    """0: no goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How much of the time a device may compute, and what that was reckoned from."""

    share: float = float(MOST_PERCENT)
    at_ms: int | None = None
    """When it was thought over, by the steady clock."""
    temperature_c: float | None = None
    """Smoothed, as the next one."""
    watts: float | None = None

    @property
    def percent(self) -> int:
        """The share to compute with."""
        return round(self.share)


def steered(
    pace: Pace, goals: Goals, temperature_c: float | None, watts: float | None, at_ms: int
) -> Pace:
    """Think the share over, if it is time to; a reading that is missing (None) gives nothing back.

    A device that has never told its temperature, or its power, is not steered by it.
    """
    if pace.at_ms is not None and 0 <= at_ms - pace.at_ms < _THINK_MS:
        return pace
    now = replace(
        pace,
        at_ms=at_ms,
        temperature_c=_smooth(pace.temperature_c, temperature_c, _SMOOTH),
        watts=_smooth(pace.watts, watts, _SMOOTH_WATTS),
    )
    heat = 0.0 if temperature_c is None and pace.temperature_c else _by_heat(pace, now, goals)
    power = 0.0 if watts is None and pace.watts else _by_watts(now, goals)
    share = min(max(pace.share + min(heat, power), LEAST_PERCENT), MOST_PERCENT)
    return replace(now, share=float(share))


def _by_heat(before: Pace, now: Pace, goals: Goals) -> float:
    """How many percent more, or less, for the temperature's sake."""
    if now.temperature_c is None:
        return _MOST_MORE
    heading = now.temperature_c
    if before.temperature_c is not None and before.at_ms is not None and now.at_ms is not None:
        passed_s = max((now.at_ms - before.at_ms) / 1_000, _THINK_MS / 1_000)
        heading += (now.temperature_c - before.temperature_c) / passed_s * _AHEAD_S
    return _step(heading - goals.temperature_c, BAND_C, _LESS_PER_C)


def _by_watts(now: Pace, goals: Goals) -> float:
    if not goals.watts or now.watts is None:
        return _MOST_MORE
    above_percent = (now.watts / goals.watts - 1) * MOST_PERCENT
    return _step(above_percent, _WATTS_BAND_PERCENT, _LESS_PER_WATT_PERCENT)


def _step(above: float, band: float, less: float) -> float:
    """Percent to take away or to give back, for being above the goal by so much."""
    if above > 0:
        return -min(above * less, _MOST_LESS)
    return min(max(-band - above, 0.0) * _MORE_PER_UNIT, _MOST_MORE)


def _smooth(before: float | None, now: float | None, weight: float) -> float | None:
    if before is None or now is None:
        return before if now is None else now
    return before + (now - before) * weight
