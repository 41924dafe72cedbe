"""Whether something far away answers, since when, and what was wrong the last time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Reach:
    """Written by whoever calls there."""

    now_ms: Callable[[], int]
    is_reached: bool = False
    since_ms: int = 0
    """0: nobody has called yet."""
    was_reached: bool = False
    problem: str = ""

    def answered(self) -> None:
        """Note an answer, whatever it says."""
        self._turn(is_reached=True)
        self.was_reached, self.problem = True, ""

    def failed(self, problem: str) -> None:
        """Note that no answer came, and why."""
        self._turn(is_reached=False)
        self.problem = problem

    def _turn(self, *, is_reached: bool) -> None:
        if is_reached != self.is_reached or not self.since_ms:
            self.is_reached, self.since_ms = is_reached, self.now_ms()
