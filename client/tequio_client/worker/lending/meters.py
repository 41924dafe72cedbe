"""Bytes of traffic in the present local month, counted across restarts and clocks that are set.

One count of all bytes ever, and for each month where it stood when that month began. Coming back
to a month therefore finds all that was counted since, in whatever month a wrong clock put it: a
clock that is set back never gives a month anew. At worst a month that a clock was in too early
begins with what was counted since then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_client import files

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ipc.facts import Gpu
    from tequio_client.worker.lending.facts import Moment

# --- The energy that lending took: what the lent cards drew while a trainer computed on them.
#
# From the cards' own counters where they have one, else from the power that they draw; where
# neither is known (most processors) nothing is counted and nothing is claimed. Kept by local day.

log = structlog.get_logger(__name__)

FILE = "energy.json"
LONGEST_S = 10.0
"""After a longer pause between two looks nothing is reckoned: the computer slept."""
MOST_WATTS = 2_000.0
"""A counter that runs faster was set anew."""
_MOST_BYTES = 4_096
Joules = Annotated[float, Meta(ge=0.0)]


class Kept(Struct, frozen=True):
    """The count as it is kept."""

    day: str = ""
    day_j: Joules = 0.0
    total_j: Joules = 0.0


class Energy:
    """One worker's count. Its owner calls `look` about once a second, and `keep` now and then."""

    def __init__(self, folder: Path) -> None:
        """Read what was kept; blocks."""
        self._path = folder / FILE
        self._kept = self._now = self._recall()
        self._last: dict[str, tuple[float | None, int]] = {}  # counter, at, by device
        self.is_measured = False
        """Whether some card tells what it draws."""

    @property
    def today_j(self) -> float:
        """Joules of the day last looked at."""
        return self._now.day_j

    @property
    def total_j(self) -> float:
        """Joules ever counted."""
        return self._now.total_j

    def look(self, lent: tuple[Gpu, ...], day: str, steady_ms: int) -> None:
        """Count for the devices that compute for us now; none, when nothing does."""
        self.is_measured = any(one.energy_j is not None or one.watts is not None for one in lent)
        drawn_j = sum(self._drawn_j(one, steady_ms) for one in lent)
        self._last = {one.id: (one.energy_j, steady_ms) for one in lent}
        before = self._now if day == self._now.day else Kept(day, 0.0, self._now.total_j)
        self._now = Kept(day, before.day_j + drawn_j, before.total_j + drawn_j)

    def _drawn_j(self, device: Gpu, steady_ms: int) -> float:
        if device.id not in self._last:
            return 0.0
        counter, at_ms = self._last[device.id]
        seconds = (steady_ms - at_ms) / 1000
        if seconds > LONGEST_S:
            return 0.0
        if device.energy_j is not None and counter is not None:
            drawn = device.energy_j - counter
            if 0 <= drawn <= MOST_WATTS * max(seconds, 1.0):
                return drawn
        return (device.watts or 0.0) * seconds

    def keep(self) -> None:
        """Write down what is new; blocks. Raises UserFacingError."""
        now = self._now
        if now != self._kept:
            files.write_or_explain(self._path, msgspec.json.encode(now))
            self._kept = now

    def _recall(self) -> Kept:
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(_MOST_BYTES), type=Kept)
        except FileNotFoundError:
            return Kept()
        except (OSError, UnicodeDecodeError, msgspec.DecodeError) as err:
            log.warning("energy is counted anew", file=str(self._path), error=str(err))
            return Kept()


QUOTA_FILE = "traffic.json"
BROKEN = "traffic.broken.json"
"""Where a file goes that cannot be read."""
MOST_MONTHS = 36
_QUOTA_MOST_BYTES = 1 << 16

Month = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}$")]
Bytes = Annotated[int, Meta(ge=0)]


class Months(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The count, and where it stood."""

    total: Bytes = 0
    """All bytes that were ever counted."""
    begins: Annotated[dict[Month, Bytes], Meta(max_length=MOST_MONTHS)] = {}
    """The total when a month began; the month last begun comes last."""
    last: str = ""
    """The month last counted in."""

    def at(self, month: str) -> Months:
        """Go over to that month: a new one begins, an earlier one that is unknown goes on."""
        if month == self.last:
            return self
        begins = dict(self.begins)
        if month not in begins:
            begins[month] = self.total if month > self.last else begins[self.last]
        while len(begins) > MOST_MONTHS:
            begins.pop(next(one for one in begins if one != month))
        return Months(total=self.total, begins=begins, last=month)

    def plus(self, size_bytes: int) -> Months:
        """Count bytes."""
        return msgspec.structs.replace(self, total=self.total + size_bytes)

    @property
    def count(self) -> int:
        """Bytes since the month began that was last gone to."""
        return self.total - self.begins.get(self.last, self.total)


class MonthCounter:
    """The count of one folder. Counting is free of I/O; its owner calls `keep` now and then.

    What was counted since then is lost if the program is killed.
    """

    def __init__(self, folder: Path) -> None:
        """Read what was kept; blocks. A file that cannot be read is put aside, and counts for 0."""
        self._path = folder / QUOTA_FILE
        self._months = self._recall()
        self._kept = self._months

    def count(self, size_bytes: int, month: str) -> None:
        """Count bytes that went up or down in that local month, as `Moment.month` names it."""
        self._months = self._months.at(month).plus(size_bytes)

    def in_month(self, month: str) -> int:
        """Bytes of that month, when it is the present one."""
        self._months = self._months.at(month)
        return self._months.count

    def keep(self) -> None:
        """Write down what is new; blocks. Raises UserFacingError."""
        months = self._months
        if months != self._kept:
            files.write_or_explain(self._path, msgspec.json.encode(months))
            self._kept = months

    def _recall(self) -> Months:
        try:
            with self._path.open("rb") as file:
                months = msgspec.json.decode(file.read(_QUOTA_MOST_BYTES), type=Months)
            if not _is_sound(months):
                raise msgspec.ValidationError("figures that contradict each other")
        except FileNotFoundError:
            return Months()
        except (OSError, UnicodeDecodeError, msgspec.DecodeError) as err:
            self._put_aside(str(err))
            return Months()
        return months

    def _put_aside(self, error: str) -> None:
        aside = self._path.with_name(BROKEN)
        log.warning(
            "the month's traffic cannot be read: it is counted from 0",
            file=str(self._path),
            error=error,
            kept_as=str(aside),
        )
        try:
            self._path.replace(aside)
        except OSError as err:
            log.warning("not put aside", file=str(self._path), error=str(err))


def _is_sound(months: Months) -> bool:
    if not months.last:
        return months == Months()
    return months.last in months.begins and max(months.begins.values()) <= months.total


# --- The line as it is used: bytes a second now, and bytes of the month, by counters that begin
# anew.
#
# Counted is the content that peers fetch from us and we from them; announcements, statements and
# the upkeep of connections are little beside it.

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
