"""Time must move forward: how far the clock lies behind what this ledger signed before.

A coordinator whose clock was set back would sign times that contradict its own log, and phases
would have lengths that nobody lived through. So it says nothing until time has caught up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from tequio_ledger.runtime import Clock

WORTH_TELLING_MS = 1_000
"""A clock that is being corrected goes back by less; that is waited out without a word."""

log = structlog.get_logger(__name__)


class Timekeeper:
    """Remembers the latest time that was signed or stored; belongs to the sequencer."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._is_told = False
        self.latest_ms = 0
        """Before this nothing of our own is signed."""

    def note(self, at_ms: int) -> None:
        """Take note of a time under which something was written."""
        self.latest_ms = max(self.latest_ms, at_ms)

    def is_behind(self, now_ms: int) -> bool:
        """Whether a statement signed now would lie before one signed earlier; tells the log."""
        is_behind = now_ms < self.latest_ms
        if not is_behind:
            if self._is_told:
                log.info("the clock has caught up", latest_ms=self.latest_ms)
            self._is_told = False
        elif not self._is_told and self.latest_ms - now_ms > WORTH_TELLING_MS:
            self._is_told = True
            log.error("the clock was set back", reason=self._explained(now_ms))
        return is_behind

    @property
    def reason(self) -> str | None:
        """Why nothing of our own is signed now; None while time moves on."""
        now_ms = self.clock()
        return None if self.latest_ms - now_ms <= WORTH_TELLING_MS else self._explained(now_ms)

    def _explained(self, now_ms: int) -> str:
        behind_s = (self.latest_ms - now_ms) / 1000
        return (
            f"the clock is {behind_s:.0f} s behind the last signed time: rounds stand still until "
            "it has caught up: set it right"
        )
