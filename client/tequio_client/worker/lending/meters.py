"""Meters that survive restarts: energy per day, traffic per month, and present transfer rates.

The month's traffic is one count of all bytes ever, and the value it had when each month began. A
clock that is set back therefore never resets a month: returning to it finds everything counted
since. At worst, a month that a wrong clock entered early starts with the bytes counted since then.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_client import files
from tequio_client.ipc.facts import AcceleratorFacts
from tequio_client.worker.lending.facts import LocalInstant
from tequio_shared.errors import MalformedError

log = structlog.get_logger(__name__)

ENERGY_FILE = "energy.json"
MAX_GAP_S = 10.0
"""Longest time between two readings that counts; after a longer one the computer slept."""
MAX_WATTS = 2_000.0
"""A counter that rises faster was reset in between."""
TRAFFIC_FILE = "traffic.json"
BROKEN_TRAFFIC_FILE = "traffic.broken.json"
"""Name given to an unreadable file."""
MAX_MONTHS = 36
RATE_TIME_S = 5.0
"""Time constant of the transfer rates."""
LONG_RATE_TIME_S = 3_600.0
"""Time over which the rate is averaged that forecasts the month."""
LEAST_FORECAST_S = 600.0
"""Time after which a forecast is made."""
_ENERGY_BYTES, _TRAFFIC_BYTES = 4_096, 1 << 16
"""Most bytes read of each file."""

Month = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}$")]
Bytes = Annotated[int, Meta(ge=0)]
Joules = Annotated[float, Meta(ge=0.0)]


class EnergyCounts(Struct, frozen=True):
    """Counts in joules; `day` is a local date."""

    day: str = ""
    day_j: Joules = 0.0
    total_j: Joules = 0.0


class EnergyMeter:
    """Energy of the lent devices while a child process computes on them.

    Taken from a device's own counter, else from its power reading; a device with neither (most
    processors) is not counted. The owner calls `observe` about once a second, and `save` now and
    then.
    """

    def __init__(self, folder: Path) -> None:
        """Read the file; blocks."""
        self._path = folder / ENERGY_FILE
        self._saved = self.counts = self._read()
        self._last: dict[str, tuple[float | None, int]] = {}  # by device: counter, steady time
        self.is_measured = False  # True if a lent device reports its energy or power

    def observe(
        self, lent: tuple[AcceleratorFacts, ...], day: str, steady_ms: int
    ) -> dict[str, float]:
        """Count the energy since the last call; returns the joules of each device by its id.

        `lent` are the devices that compute now.
        """
        self.is_measured = any(one.energy_j is not None or one.watts is not None for one in lent)
        drawn = {one.id: self._drawn_j(one, steady_ms) for one in lent}
        drawn_j = sum(drawn.values())
        self._last = {one.id: (one.energy_j, steady_ms) for one in lent}
        before_j = self.counts.day_j if day == self.counts.day else 0.0
        self.counts = EnergyCounts(day, before_j + drawn_j, self.counts.total_j + drawn_j)
        return drawn

    def _drawn_j(self, device: AcceleratorFacts, steady_ms: int) -> float:
        if device.id not in self._last:
            return 0.0
        counter, at_ms = self._last[device.id]
        seconds = (steady_ms - at_ms) / 1000
        if seconds > MAX_GAP_S:
            return 0.0
        if device.energy_j is not None and counter is not None:
            drawn = device.energy_j - counter
            if 0 <= drawn <= MAX_WATTS * max(seconds, 1.0):
                return drawn
        return (device.watts or 0.0) * seconds

    def save(self) -> None:
        """Write changed counts; blocks. Raises UserFacingError."""
        counts = self.counts
        if counts != self._saved:
            files.write_for_user(self._path, msgspec.json.encode(counts))
            self._saved = counts

    def _read(self) -> EnergyCounts:
        try:
            return files.read_record(self._path, EnergyCounts, _ENERGY_BYTES) or EnergyCounts()
        except (OSError, MalformedError) as err:
            log.warning("energy count reset: unreadable", file=str(self._path), error=str(err))
            return EnergyCounts()


class MonthCounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The total count of bytes, and its value at the start of each month."""

    total: Bytes = 0
    begins: Annotated[dict[Month, Bytes], Meta(max_length=MAX_MONTHS)] = {}
    """Total at the start of each month, in the order in which they began."""
    last: str = ""  # month counted in last

    def __post_init__(self) -> None:
        is_begun = self.last in self.begins and max(self.begins.values()) <= self.total
        if not is_begun and (self.last or self.begins or self.total):
            raise ValueError("inconsistent counts")

    def at(self, month: str) -> MonthCounts:
        """Switch to that month; an earlier month that is unknown continues the present one."""
        if month == self.last:
            return self
        begins = dict(self.begins)
        if month not in begins:
            begins[month] = self.total if month > self.last else begins[self.last]
        while len(begins) > MAX_MONTHS:
            begins.pop(next(one for one in begins if one != month))
        return MonthCounts(total=self.total, begins=begins, last=month)

    def plus(self, size_bytes: int) -> MonthCounts:
        return msgspec.structs.replace(self, total=self.total + size_bytes)

    @property
    def count(self) -> int:
        """Bytes since the start of the last month."""
        return self.total - self.begins.get(self.last, self.total)


class MonthCounter:
    """The traffic count of one folder. Counting does no I/O; the owner calls `save` now and then.

    Bytes counted since the last `save` are lost if the process is killed.
    """

    def __init__(self, folder: Path) -> None:
        """Read the file; blocks. An unreadable file is set aside, and the count starts at 0."""
        self._path = folder / TRAFFIC_FILE
        self._saved = self._months = self._read()

    def count(self, size_bytes: int, month: str) -> None:
        """Count bytes sent or received in that local month (`2026-11`)."""
        self._months = self._months.at(month).plus(size_bytes)

    def in_month(self, month: str) -> int:
        """Bytes of the present month, which is given as `2026-11`."""
        self._months = self._months.at(month)
        return self._months.count

    def save(self) -> None:
        """Write a changed count; blocks. Raises UserFacingError."""
        months = self._months
        if months != self._saved:
            files.write_for_user(self._path, msgspec.json.encode(months))
            self._saved = months

    def _read(self) -> MonthCounts:
        try:
            return files.read_record(self._path, MonthCounts, _TRAFFIC_BYTES) or MonthCounts()
        except (OSError, MalformedError) as err:
            self._set_aside(str(err))
            return MonthCounts()

    def _set_aside(self, error: str) -> None:
        aside = self._path.with_name(BROKEN_TRAFFIC_FILE)
        log.warning(
            "traffic count reset: unreadable",
            file=str(self._path),
            error=error,
            kept_as=str(aside),
        )
        try:
            files.move(self._path, aside)
        except OSError as err:
            log.warning("file not set aside", file=str(self._path), error=str(err))


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferCounters:
    """Bytes since a node was opened; `node` identifies it, as a new one counts from 0 again."""

    node: object
    up: int
    down: int


class TransferMeter:
    """Transfer rates, and the month's count; `observe` is called about once a second.

    All bytes from and to peers are counted, gossip and encryption included, and what mirrors of
    data send and the evaluator fetches; requests to the ledger are not.
    """

    def __init__(self, folder: Path) -> None:
        self.months = MonthCounter(folder)
        self._last: tuple[TransferCounters | None, int] = (None, 0)
        self._fetched_bytes = 0  # by the evaluator, since the last observation
        self.up_per_s = 0.0
        self.down_per_s = 0.0
        self.month_bytes = 0
        self._seen_s = 0.0  # with a node
        self._long_per_s = 0.0  # both ways together

    def count_fetched(self, size_bytes: int) -> None:
        """Count bytes that no node received."""
        self._fetched_bytes += size_bytes

    def observe(self, now: TransferCounters | None, moment: LocalInstant) -> None:
        """Update rates and count from the present counters; None: no node is open."""
        (before, at_ms), self._last = self._last, (now, moment.steady_ms)
        up, down = _since(before, now)
        down, self._fetched_bytes = down + self._fetched_bytes, 0
        seconds = (moment.steady_ms - at_ms) / 1000
        weight = min(seconds / RATE_TIME_S, 1.0)
        self.up_per_s += weight * (up / max(seconds, 1e-3) - self.up_per_s)
        self.down_per_s += weight * (down / max(seconds, 1e-3) - self.down_per_s)
        if before is None:
            self.up_per_s = self.down_per_s = 0.0
        elif 0 < seconds <= MAX_GAP_S:
            self._seen_s += seconds
            over_s = min(self._seen_s, LONG_RATE_TIME_S)
            self._long_per_s += seconds / over_s * ((up + down) / seconds - self._long_per_s)
        month = moment.month()
        self.months.count(up + down, month)
        self.month_bytes = self.months.in_month(month)

    def cap_reached_ms(self, cap_bytes: int, moment: LocalInstant) -> int:
        """When the month's cap is reached at the rate of the last hour.

        0 without a cap, if it lasts for the month, or while the rate is unknown.
        """
        if not cap_bytes or self._seen_s < LEAST_FORECAST_S or self._long_per_s <= 0:
            return 0
        left_s = max(cap_bytes - self.month_bytes, 0) / self._long_per_s
        at_ms = moment.ms + round(left_s * 1_000)
        return at_ms if at_ms < moment.month_end_ms() else 0


def _since(before: TransferCounters | None, now: TransferCounters | None) -> tuple[int, int]:
    """Bytes sent and received since then; all bytes of a new node count."""
    if now is None:
        return 0, 0
    if before is None or before.node is not now.node:
        return now.up, now.down
    return max(now.up - before.up, 0), max(now.down - before.down, 0)
