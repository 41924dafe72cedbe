"""Waiting longer after each failure in a row, with jitter so that a crowd does not come at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

FIRST_S = 0.25
LONGEST_S = 30.0


class BackOff:
    """Says how long to wait; belongs to the one task that tries again."""

    def __init__(self, rng: Random, longest_s: float | None = None) -> None:
        self._rng = rng
        self._longest_s = LONGEST_S if longest_s is None else longest_s
        self._next_s = FIRST_S

    def next_s(self, least_s: float = 0.0) -> float:
        """Say how long to wait now, at least what the other side asked for; doubles each time."""
        pause = self._next_s * self._rng.uniform(0.5, 1.0)
        self._next_s = min(self._next_s * 2, self._longest_s)
        return max(pause, least_s)

    def reset(self) -> None:
        """Begin anew: the other side answered."""
        self._next_s = FIRST_S
