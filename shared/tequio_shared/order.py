"""The run's data order: which sample of which shard stands at each position.

Position p belongs to epoch p // total. An epoch goes through the shards in sequence, so that a
trainer needs only the shards its windows fall into; inside a shard of n samples, step i takes
sample (a * i + b) mod n. a (coprime to n) and b come from SHA-256 over the seed, the epoch and the
shard's index: every epoch meets each sample exactly once, in another order, and nobody needs a
table. Documents were put in hash order when the shards were built, so neighbours are unrelated.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from math import gcd
from typing import TYPE_CHECKING

from tequio_shared.ids import Digest, sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_DOMAIN = b"tequio/v1/order\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a sample lies: shard index, and sample index inside the shard."""

    shard: int
    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The endless sequence of samples of a run; `ends` are running totals over the shards."""

    seed: Digest
    ends: tuple[int, ...]

    @classmethod
    def of(cls, *, root: bytes, seed: int, samples: Sequence[int]) -> Order:
        """Build the order of the data named by `root`, with `samples[i]` >= 1 samples in shard i.

        Raises ValueError when a shard is empty or there is none.
        """
        if not samples or min(samples) < 1:
            raise ValueError("every shard needs at least one sample")
        name = sha256(_DOMAIN, root, seed.to_bytes(8, "big"))
        return cls(seed=name, ends=tuple(accumulate(samples)))

    @property
    def total(self) -> int:
        """Samples in an epoch."""
        return self.ends[-1]

    def place(self, position: int) -> Place:
        """Find the sample at a position, 0 or more."""
        epoch, rest = divmod(position, self.total)
        shard = bisect_right(self.ends, rest)
        first = self.ends[shard - 1] if shard else 0
        count = self.ends[shard] - first
        step, shift = self._affine(epoch, shard, count)
        return Place(shard=shard, sample=(step * (rest - first) + shift) % count)

    def places(self, window: int, window_samples: int) -> tuple[Place, ...]:
        """List the samples of a window, in their order."""
        first = window * window_samples
        return tuple(self.place(first + i) for i in range(window_samples))

    def shards_of(self, windows: Iterable[tuple[int, int]], window_samples: int) -> tuple[int, ...]:
        """List the shards that these (first, count) windows touch, ascending."""
        found: set[int] = set()
        for first, count in windows:
            found.update(self._touched(first * window_samples, count * window_samples))
        return tuple(sorted(found))

    def _touched(self, first: int, count: int) -> Iterator[int]:
        """Shards met from position `first` on for `count` positions; an epoch at most."""
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
        while gcd(step, count) != 1:
            step += 1
        return step, int.from_bytes(draw[16:], "big") % count
