"""The line as it is used: bytes a second now, and bytes of the month, by counters that begin anew.

Counted is the content that peers fetch from us and we from them; announcements, statements and the
upkeep of connections are little beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_client.worker.moment import Moment
    from tequio_client.worker.quota import MonthCounter

SMOOTH_S = 5.0
"""Rates are means over about so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Bytes since a node was opened; `node` tells one node's counters from the next one's."""

    node: object
    up: int
    down: int


class Traffic:
    """Rates and the month's count; `look` is called about once a second."""

    def __init__(self, months: MonthCounter) -> None:
        self._months = months
        self._last: tuple[Counters | None, int] = (None, 0)
        self.up_per_s = 0.0
        self.down_per_s = 0.0
        self.month_bytes = 0

    def look(self, now: Counters | None, moment: Moment) -> None:
        """Take the counters as they are; None: no node is open."""
        (before, at_ms), self._last = self._last, (now, moment.steady_ms)
        up, down = _since(before, now)
        seconds = (moment.steady_ms - at_ms) / 1000
        weight = min(seconds / SMOOTH_S, 1.0) if before is not None else 1.0
        self.up_per_s += weight * (up / max(seconds, 1e-3) - self.up_per_s)
        self.down_per_s += weight * (down / max(seconds, 1e-3) - self.down_per_s)
        if before is None:
            self.up_per_s = self.down_per_s = 0.0
        month = moment.month()
        self._months.count(up + down, month)
        self.month_bytes = self._months.in_month(month)

    def keep(self) -> None:
        """Write the month's count down; blocks. Raises UserFacingError."""
        self._months.keep()


def _since(before: Counters | None, now: Counters | None) -> tuple[int, int]:
    """Bytes up and down since then; those of a new node all count."""
    if now is None:
        return 0, 0
    if before is None or before.node is not now.node:
        return now.up, now.down
    return max(now.up - before.up, 0), max(now.down - before.down, 0)
