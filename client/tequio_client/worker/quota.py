"""Bytes of traffic in the present local month, counted across restarts and clocks that are set.

One count of all bytes ever, and for each month where it stood when that month began. Coming back
to a month therefore finds all that was counted since, in whatever month a wrong clock put it: a
clock that is set back never gives a month anew. At worst a month that a clock was in too early
begins with what was counted since then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_client import files

if TYPE_CHECKING:
    from pathlib import Path

log = structlog.get_logger(__name__)

FILE = "traffic.json"
BROKEN = "traffic.broken.json"
"""Where a file goes that cannot be read."""
MOST_MONTHS = 36
_MOST_BYTES = 1 << 16

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
        self._path = folder / FILE
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
                months = msgspec.json.decode(file.read(_MOST_BYTES), type=Months)
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
