"""Verdicts on a soak's readings: pure functions of the lives of processes by class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.soak.slope import Point, Slope, slope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLASSES = ("ledger", "seed", "worker", "trainer")
MOST_MB = 1.0
"""Growth in 10 minutes that is not yet a leak: an allocator's memory fluctuates."""
STEP_MB = 2.1
"""One step per life that is not counted: Python's table of interned strings doubles."""
MOST_FILES = 2.0
"""Open files, likewise: connections come and go."""
WARM_UP_S = 600.0
"""Caches that are bounded fill, and pools of memory grow to what a busy minute needs."""
LEAST_S = 600.0
"""Shorter lives are not judged."""


@dataclass(slots=True)
class Life:
    """Readings of one process from its start to its end."""

    megabytes: list[Point] = field(default_factory=list)
    files: list[Point] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One class of processes: how fast it grew; None where no life was long enough."""

    kind: str
    megabytes: Slope | None
    files: Slope | None

    def faults(self) -> Iterator[str]:
        """Complaints about its growth, one sentence each."""
        for found, most, unit in (
            (self.megabytes, MOST_MB, "MB"),
            (self.files, MOST_FILES, "open files"),
        ):
            if found is not None and found.per_10_min > most:
                yield f"{self.kind} grows by {found.per_10_min:.2f} {unit} in 10 minutes"

    def line(self) -> str:
        """The same for a summary."""
        if self.megabytes is None or self.files is None:
            return f"{self.kind}: no process lived long enough to be measured"
        return (
            f"{self.kind}: {self.megabytes.per_10_min:+.2f} MB and "
            f"{self.files.per_10_min:+.2f} open files in 10 minutes, over "
            f"{self.megabytes.seconds / 60:.1f} minutes of {self.megabytes.lives} processes"
        )


def judged(lives: Mapping[str, list[Life]]) -> list[Verdict]:
    """Judge every class."""
    return [
        Verdict(
            kind=kind,
            megabytes=_slope([life.megabytes for life in lives.get(kind, [])], STEP_MB),
            files=_slope([life.files for life in lives.get(kind, [])], 0.0),
        )
        for kind in CLASSES
    ]


def _slope(lives: list[list[Point]], step: float) -> Slope | None:
    return slope(lives, warm_up_s=WARM_UP_S, least_s=LEAST_S, step=step)
