"""Exponential back-off with jitter, so that many workers do not retry at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

FIRST_S = 0.25
LONGEST_S = 30.0


class BackOff:
    """Pauses between the retries of one task."""

    def __init__(
        self, rng: Random, longest_s: float | None = None, first_s: float | None = None
    ) -> None:
        self._rng = rng
        self._longest_s = LONGEST_S if longest_s is None else longest_s
        self._first_s = self._next_s = FIRST_S if first_s is None else first_s

    def next_s(self, least_s: float = 0.0) -> float:
        """Compute the next pause, at least what the other side asked for; doubles each time."""
        pause = self._next_s * self._rng.uniform(0.5, 1.0)
        self._next_s = min(self._next_s * 2, self._longest_s)
        return max(pause, least_s)

    def reset(self) -> None:
        """Restart from the first pause, after a success."""
        self._next_s = self._first_s
