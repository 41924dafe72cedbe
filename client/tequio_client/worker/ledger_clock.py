"""The ledger's clock as far as it is known: by it a round's deadlines are set.

Whatever the ledger dates was said no later than it arrived, so each date is a time that its clock
has passed by now; the latest of them, moved on with our own steady clock, is the best guess. It
forgets by `DRIFT`, more than two quartz clocks drift apart. Before the first date our own wall
clock has to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_shared.limits import CLOCK_SKEW_MS

if TYPE_CHECKING:
    from collections.abc import Callable

DRIFT = 2e-4


class LedgerClock:
    """Milliseconds since 1970 as the ledger counts them; within one `trio.run`."""

    def __init__(self, wall_clock: Callable[[], int]) -> None:
        self._wall_clock = wall_clock
        self._ahead_ms: float | None = None  # of our steady clock
        self._noted_ms = 0.0  # by the steady clock

    def note(self, shown_ms: int) -> None:
        """Take note that the ledger's clock has shown this.

        A date far from our own clock is somebody else's mistake: with such a clock on either
        side no statement of ours would be taken.
        """
        if abs(shown_ms - self._wall_clock()) > CLOCK_SKEW_MS:
            return
        steady_ms = _steady_ms()
        ahead_ms = shown_ms - steady_ms
        if self._ahead_ms is None or ahead_ms > self._faded(steady_ms):
            self._ahead_ms, self._noted_ms = ahead_ms, steady_ms

    def now_ms(self) -> int:
        """Tell the time."""
        steady_ms = _steady_ms()
        if self._ahead_ms is None:
            return self._wall_clock()
        return int(steady_ms + self._faded(steady_ms))

    def _faded(self, steady_ms: float) -> float:
        return (self._ahead_ms or 0.0) - DRIFT * (steady_ms - self._noted_ms)


def _steady_ms() -> float:
    return trio.current_time() * 1000
