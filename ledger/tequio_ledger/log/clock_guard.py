"""A ledger's clock that was set back: the coordinator signs nothing until it has caught up."""

from __future__ import annotations

import structlog

from tequio_ledger.runtime import Clock
from tequio_shared.errors import RefusedError
from tequio_shared.limits import CLOCK_SKEW_MS

REPORTED_STEP_MS = 1_000
"""A clock that is being corrected goes back by less; such a step is not reported."""

log = structlog.get_logger(__name__)


class ClockGuard:
    """Remembers the latest time that was signed or stored; belongs to the sequencer.

    A coordinator whose clock was set back would sign times that contradict its own log, and phases
    would last longer or shorter than they did. So it signs nothing until the clock has caught up.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._is_reported = False
        self.latest_ms = 0
        """The coordinator signs nothing before this time."""

    def record(self, at_ms: int) -> None:
        """Record a time that was signed or stored."""
        self.latest_ms = max(self.latest_ms, at_ms)

    def is_behind(self, now_ms: int) -> bool:
        """Return whether `now_ms` is before a time signed earlier; logs when that changes."""
        is_behind = now_ms < self.latest_ms
        if not is_behind:
            if self._is_reported:
                log.info("the clock has caught up", latest_ms=self.latest_ms)
            self._is_reported = False
        elif not self._is_reported and self.latest_ms - now_ms > REPORTED_STEP_MS:
            self._is_reported = True
            log.error("the clock was set back", reason=self._explained(now_ms))
        return is_behind

    @property
    def reason(self) -> str | None:
        """Sentence that says why the coordinator signs nothing; None while it may."""
        now_ms = self.clock()
        return None if self.latest_ms - now_ms <= REPORTED_STEP_MS else self._explained(now_ms)

    def check(self) -> None:
        """Raise RefusedError("read-only") while sound statements could not be told from old ones.

        Then their authors offer them again once the clock is right, and lose none.
        """
        # Up to this much, what has not expired by this clock has not by the log's rule either
        # (`NetworkView`), which counts from the last time that the coordinator signed.
        now_ms = self.clock()
        if self.latest_ms - now_ms > CLOCK_SKEW_MS:
            raise RefusedError("read-only", self._explained(now_ms))

    def _explained(self, now_ms: int) -> str:
        behind_s = (self.latest_ms - now_ms) / 1000
        return (
            f"the ledger's clock is {behind_s:.0f} s behind the last signed time, and rounds stand "
            "still until it has caught up: correct it"
        )
