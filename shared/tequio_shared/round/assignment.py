"""Windows and data order: the arithmetic that every reader of a round repeats.

A window is a unit of work, cut from the run's data order. A range is (first window, count). The
queue holds untrained windows: ranges that came back from void rounds, refused or unfinished work,
and then all windows from `fresh` on. Each window is dealt out until a contribution over it was
accepted, and never to two trainers at once. Integers only, so all machines agree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import gcd
from statistics import median_low

from tequio_shared.ids import Digest, sha256
from tequio_shared.limits import SPEED_ROUNDS

_DOMAIN = b"tequio/v1/order\x00"
GROWTH = 2
"""A share is at most this many times what the same key had accepted last."""
Range = tuple[int, int]
"""(first, count), count >= 1."""
Ranges = tuple[Range, ...]


def quorum(elected: int) -> int:
    # Of the elected: a coordinator that loses answers must not lower the bar by losing them.
    """ceil(2/3) of the elected, never of the respondents: 4 -> 3, 5 -> 4, 16 -> 11."""
    return -(-2 * elected // 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePosition:
    """Position of a sample: shard index, and sample index inside the shard."""

    shard: int
    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOrder:
    """The endless sequence of samples of a run; `ends` are running totals over the shards.

    Position p belongs to epoch p // total. An epoch goes through the shards in sequence, so a
    trainer needs only the shards that its windows fall into; inside a shard of n samples, step i
    takes sample (a * i + b) mod n. a (coprime to n) and b come from SHA-256 over the seed, the
    epoch and the shard's index: every epoch meets each sample exactly once, in another order, and
    nobody needs a table. Documents are in hash order within a shard, so neighbours are unrelated.
    """

    seed: Digest
    ends: tuple[int, ...]

    @classmethod
    def of(cls, *, root: bytes, seed: int, samples: Sequence[int]) -> DataOrder:
        """Build the order of the data named by `root`, with `samples[i]` >= 1 samples in shard i.

        Raises ValueError when a shard is empty or none is given.
        """
        if not samples or min(samples) < 1:
            raise ValueError("every shard needs at least one sample")
        name = sha256(_DOMAIN, root, seed.to_bytes(8, "big"))
        return cls(seed=name, ends=tuple(accumulate(samples)))

    @property
    def total(self) -> int:
        """Samples in an epoch."""
        return self.ends[-1]

    def sample_at(self, position: int) -> SamplePosition:
        epoch, rest = divmod(position, self.total)
        shard = bisect_right(self.ends, rest)
        first = self.ends[shard - 1] if shard else 0
        count = self.ends[shard] - first
        step, shift = self._affine(epoch, shard, count)
        return SamplePosition(shard=shard, sample=(step * (rest - first) + shift) % count)

    def window_samples(self, window: int, window_samples: int) -> tuple[SamplePosition, ...]:
        first = window * window_samples
        return tuple(self.sample_at(first + i) for i in range(window_samples))

    def shards_of(self, windows: Iterable[tuple[int, int]], window_samples: int) -> tuple[int, ...]:
        """List the shards that these (first, count) windows touch, ascending."""
        found: set[int] = set()
        for first, count in windows:
            found.update(self._touched(first * window_samples, count * window_samples))
        return tuple(sorted(found))

    def _touched(self, first: int, count: int) -> Iterator[int]:
        """Shards met from position `first` on for `count` positions; at most one epoch."""
        if count >= self.total:
            yield from range(len(self.ends))
            return
        at, stop = first, first + count
        while at < stop:
            rest = at % self.total
            shard = bisect_right(self.ends, rest)
            yield shard
            at += self.ends[shard] - rest

    def _affine(self, epoch: int, shard: int, count: int) -> tuple[int, int]:
        """Draw (a, b) for this epoch and shard; a is coprime to count."""
        draw = sha256(self.seed, epoch.to_bytes(8, "big"), shard.to_bytes(4, "big"))
        step = int.from_bytes(draw[:16], "big") % count or 1
        # Only a step coprime to the count visits every sample before it repeats one.
        while gcd(step, count) != 1:
            step += 1
        return step, int.from_bytes(draw[16:], "big") % count


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQueue:
    """Untrained windows: `returned` (ascending, disjoint, all below `fresh`), then all others."""

    returned: Ranges = ()
    fresh: int = 0

    def split_off(self, count: int) -> tuple[Ranges, WindowQueue]:
        """Return the next `count` windows in order, and the queue without them."""
        taken, kept = split_windows(self.returned, count)
        missing = count - count_windows(taken)
        if missing:
            taken = merge_ranges((*taken, (self.fresh, missing)))
        return taken, WindowQueue(returned=kept, fresh=self.fresh + missing)

    def put_back(self, ranges: Iterable[Range]) -> WindowQueue:
        """Return the queue with these windows, taken before, in it again."""
        return WindowQueue(returned=merge_ranges((*self.returned, *ranges)), fresh=self.fresh)


def count_windows(ranges: Iterable[Range]) -> int:
    return sum(count for _, count in ranges)


def merge_ranges(ranges: Iterable[Range]) -> Ranges:
    """Merge into ascending ranges that do not touch; the input must be disjoint."""
    merged: list[Range] = []
    for first, count in sorted(ranges):
        if merged and sum(merged[-1]) == first:
            merged[-1] = (merged[-1][0], merged[-1][1] + count)
        else:
            merged.append((first, count))
    return tuple(merged)


def deal_windows(pool: Ranges, shares: Sequence[int]) -> tuple[Ranges, ...]:
    """Deal the pool to slots in order, `shares[i]` windows to slot i; disjoint by construction.

    O(slots + ranges of the pool).
    """
    dealt = []
    at, used = 0, 0  # range of the pool, and windows of it that are dealt
    for share in shares:
        mine: list[Range] = []
        left = share
        while left and at < len(pool):
            first, size = pool[at]
            count = min(left, size - used)
            mine.append((first + used, count))
            left, used = left - count, used + count
            if used == size:
                at, used = at + 1, 0
        dealt.append(tuple(mine))
    return tuple(dealt)


def split_windows(ranges: Ranges, count: int) -> tuple[Ranges, Ranges]:
    """Split off the first `count` windows of the ranges."""
    head: list[Range] = []
    for at, (first, size) in enumerate(ranges):
        if count < size:
            rest = (first + count, size - count)
            taken = ((first, count),) if count else ()
            return (*head, *taken), (rest, *ranges[at + 1 :])
        head.append((first, size))
        count -= size
    return tuple(head), ()


def verified_speed(paces: Sequence[tuple[int, int]], train_ms: int) -> int:
    """Milli-windows per second after those accepted (windows, ms); 0 = unknown.

    The lower median of the last rounds, but at most what twice the last accepted windows make in
    `train_ms`: an early commitment claims a speed, and only accepted windows verify it. The
    coordinator measures both numbers; a trainer's own claims do not enter. A trainer that needs
    more than 1000 s for a window counts as 1: slow is not unknown.
    """
    if not paces:
        return 0
    speeds = [max(windows * 1_000_000 // max(ms, 1), 1) for windows, ms in paces[-SPEED_ROUNDS:]]
    # Rounded up, so that the doubled windows fit into the time.
    most = -(-GROWTH * paces[-1][0] * 1_000_000 // max(train_ms, 1))
    # The lower median is always a measured value, and one lucky round does not raise it.
    return min(median_low(speeds), most)


def window_share(
    paces: Sequence[tuple[int, int]], *, train_ms: int, first: int, most: int, steps: int
) -> int:
    """Windows for a round of `train_ms` after those accepted (windows, ms): 1..`most`.

    `first` without any; else what the verified speed gives, and at most twice the windows of the
    last accepted contribution: a true speed is reached in a logarithmic number of rounds, and a
    claimed one is twice the work in every round. Rounded down to whole inner steps where there are
    enough, so that all steps have equal size.
    """
    count = first
    if paces:
        count = max(verified_speed(paces, train_ms) * train_ms // 1_000_000, 1)
        count = min(count, GROWTH * paces[-1][0])
    # Bounded before rounding, so that a bounded share is whole steps too.
    count = min(count, most)
    return count - count % steps if count >= steps else count


def share_beside_audit(share: int, speed: int, *, train_ms: int, audited: int, steps: int) -> int:
    """Windows of a member that also repeats `audited` windows: 0..`share`, in whole inner steps.

    As many as its verified speed (milli-windows per second) leaves time for in `train_ms`.
    """
    left = min(share, max(speed * train_ms // 1_000_000 - audited, 0))
    return left - left % steps
