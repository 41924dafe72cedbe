"""The energy that lending took: what the lent cards drew while a trainer computed on them.

From the cards' own counters where they have one, else from the power that they draw; where neither
is known (most processors) nothing is counted and nothing is claimed. Kept by local day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_client import files

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.link.facts import Gpu

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
