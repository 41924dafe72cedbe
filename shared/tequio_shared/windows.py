"""Windows: the run's data order cut into units of work, handed out disjointly.

A range is (first window, count). The queue is what nobody has trained yet: ranges that came back
from void rounds, refused or unfinished work, and then all windows from `fresh` on. Every index is
handed out again until a contribution over it was accepted, and never to two trainers at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median_low
from typing import TYPE_CHECKING

from tequio_shared.limits import SPEED_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Range = tuple[int, int]
"""(first, count), count >= 1."""
Ranges = tuple[Range, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQueue:
    """Windows still to be trained: `returned` (ascending, disjoint, all below `fresh`), then on."""

    returned: Ranges = ()
    fresh: int = 0

    def take(self, count: int) -> tuple[Ranges, WindowQueue]:
        """The next `count` windows in order, and the queue without them."""
        taken, kept = _cut(self.returned, count)
        missing = count - total(taken)
        if missing:
            taken = merge((*taken, (self.fresh, missing)))
        return taken, WindowQueue(returned=kept, fresh=self.fresh + missing)

    def give_back(self, ranges: Iterable[Range]) -> WindowQueue:
        """The queue with these windows (taken before) in it again."""
        return WindowQueue(returned=merge((*self.returned, *ranges)), fresh=self.fresh)


def total(ranges: Iterable[Range]) -> int:
    """Number of windows."""
    return sum(count for _, count in ranges)


def merge(ranges: Iterable[Range]) -> Ranges:
    """The same windows as ascending ranges that do not touch; the input must be disjoint."""
    merged: list[Range] = []
    for first, count in sorted(ranges):
        if merged and sum(merged[-1]) == first:
            merged[-1] = (merged[-1][0], merged[-1][1] + count)
        else:
            merged.append((first, count))
    return tuple(merged)


def split(pool: Ranges, shares: Sequence[int]) -> tuple[Ranges, ...]:
    """Deal the pool to slots in order, `shares[i]` windows to slot i; disjoint by construction."""
    dealt = []
    for share in shares:
        mine, pool = _cut(pool, share)
        dealt.append(mine)
    return tuple(dealt)


def first_done(assigned: Ranges, done: int) -> Ranges:
    """The first `done` windows of an assignment: those that a partial contribution covers."""
    return _cut(assigned, done)[0]


def left_over(assigned: Ranges, done: int) -> Ranges:
    """What remains of an assignment after its first `done` windows."""
    return _cut(assigned, done)[1]


def verified_speed(paces: Sequence[tuple[int, int]]) -> int:
    """Milli-windows per second: the lower median over the last accepted (windows, ms); 0 = unknown.

    Both numbers were measured by the coordinator; nothing that a trainer says enters. Who needs
    more than 1000 s for a window counts as 1: slow is not unknown.
    """
    recent = paces[-SPEED_ROUNDS:]
    speeds = [max(windows * 1_000_000 // max(ms, 1), 1) for windows, ms in recent]
    return median_low(speeds or [0])


def share(speed: int, train_ms: int, first: int, most: int, steps: int) -> int:
    """Windows for a round of `train_ms` at that speed: `first` if unknown, else 1..`most`.

    Rounded down to whole inner steps where there are enough, so that all steps are alike.
    """
    count = first if speed == 0 else max(speed * train_ms // 1_000_000, 1)
    count = min(count, most)
    return count - count % steps if count >= steps else count


def _cut(ranges: Ranges, count: int) -> tuple[Ranges, Ranges]:
    """The first `count` windows of the ranges, and the rest."""
    head: list[Range] = []
    for at, (first, size) in enumerate(ranges):
        if count < size:
            rest = (first + count, size - count)
            taken = ((first, count),) if count else ()
            return (*head, *taken), (rest, *ranges[at + 1 :])
        head.append((first, size))
        count -= size
    return tuple(head), ()
