"""Loss gains: how much more a contribution helps on its own windows than on windows of nobody.

Training on a window lowers the loss there more than elsewhere. A copy, a mean of other updates, an
old one or one from other windows does not. A single difference is mostly noise, so only its sign
counts, over many rounds, and only where the measure tells work from no work (`GainPool`).

What is measured follows from a seed that the coordinator's `round.witness` fixes after the last
commitment, so nobody can train on those windows alone. All witnesses measure the same slots in the
same order; one that runs out of time stops early. Integers only. docs/screening.md has the
measurements, docs/protocol.md (10.5) the rules.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tequio_shared.ids import Digest, PeerKey, sha256
from tequio_shared.limits import GAIN_COST, GAIN_POOL, GAIN_SLOTS, GAIN_WINDOWS
from tequio_shared.round import proof
from tequio_shared.round.assignment import Ranges, count_windows, split_windows

LEAST_FIGURES = 2
"""Witnesses that must have measured a slot: the figure of one alone counts for nothing."""
COMPARABLE = 4
"""Shares up to this many times as large are comparable."""
_PASSES = 3  # a window trained costs as much as that many passes forward
_SLOT_PASSES = 3  # on its own windows before and after, on the control windows after


@dataclass(frozen=True, slots=True, kw_only=True)
class GainSample:
    """The slots that are measured in a round, in their order, and the windows.

    `windows` are drawn from those that each slot did; `control` belong to nobody in the round.
    """

    windows: Mapping[int, tuple[int, ...]]
    control: tuple[int, ...]


NO_SAMPLE = GainSample(windows={}, control=())


def sample_seed(lots: Digest, drawn: bytes) -> Digest:
    """Seed of a round's sample, from its lots and the coordinator's output in `round.witness`."""
    return sha256(b"tequio/v1/gain\0", lots, drawn)


def draw_sample(seed: Digest, pool: Ranges, done: Mapping[int, Ranges]) -> GainSample:
    """Draw from the windows that each committed slot did; `pool` is the round's. O(slots)."""
    count = slot_count(count_windows(pool), len(done))
    slots = sorted(done, key=lambda slot: sha256(seed, b"slot", _u64(slot)))[:count]
    windows = {}
    for slot in slots:
        mine = done[slot]
        drawn = _numbers(seed, b"own" + _u64(slot), count_windows(mine))
        windows[slot] = tuple(_window(mine, one) for one in drawn)
    # The windows that the next rounds will train on: no head has learnt them yet, and most
    # witnesses hold their shard.
    fresh = sum(pool[-1]) if pool else 0
    control = _numbers(seed, b"control", count_windows(pool)) if slots else ()
    return GainSample(windows=windows, control=tuple(fresh + one for one in control))


def slot_count(windows: int, trainers: int) -> int:
    """Slots to measure: at most `GAIN_SLOTS`, and 1/`GAIN_COST` of a mean share's training."""
    passes = _PASSES * (windows // max(trainers, 1)) // GAIN_COST
    return max(min((passes - GAIN_WINDOWS) // (_SLOT_PASSES * GAIN_WINDOWS), GAIN_SLOTS), 0)


def is_positive(
    slot: int, elected: Collection[int], proofs: Mapping[int, proof.WitnessFindings]
) -> bool | None:
    """Return whether the round speaks for the slot's work; None if too few have measured it.

    It speaks against it only if ceil(2/3) of the elected others state a gain of 0 or less.
    """
    needed = max(proof.needed_votes(slot, elected), LEAST_FIGURES)
    others = [proofs[one].gains for one in elected if one != slot and one in proofs]
    figures = [gains[slot] for gains in others if slot in gains]
    if len(figures) < needed:
        return None
    # Not the median: with some honest witnesses late, a hostile third would be half of the rest.
    return sum(figure <= 0 for figure in figures) < needed


@dataclass(frozen=True, slots=True)
class GainSign:
    """The sign of a key's gain in a round, and the windows of its contribution."""

    key: PeerKey
    windows: int
    is_positive: bool


@dataclass(slots=True)
class GainPool:
    """The last signs of a run's rounds, of all keys: whether the measure works there at all.

    How far a gain stands out depends on model, data and batches, and on the share: the more windows
    a step averages, the less each shows. Where the gains of other keys with comparable shares are
    not clearly positive, a key's own prove nothing, and are not counted.
    """

    signs: deque[GainSign] = field(default_factory=lambda: deque(maxlen=GAIN_POOL))

    def is_clear(self, own: GainSign) -> bool:
        """Return whether three quarters of the comparable signs are positive. O(`GAIN_POOL`)."""
        others = [
            one.is_positive
            for one in self.signs
            if one.key != own.key and COMPARABLE * one.windows >= own.windows
        ]
        return 4 * len(others) >= GAIN_POOL and 4 * sum(others) >= 3 * len(others)


def _numbers(seed: Digest, label: bytes, size: int) -> tuple[int, ...]:
    """Draw `GAIN_WINDOWS` different numbers below `size`, or all if there are fewer."""
    drawn = dict[int, None]()
    at = 0
    while len(drawn) < min(GAIN_WINDOWS, size):
        drawn[int.from_bytes(sha256(seed, label, _u64(at)), "big") % size] = None
        at += 1
    return tuple(drawn)


def _window(ranges: Ranges, number: int) -> int:
    return split_windows(ranges, number)[1][0][0]


def _u64(value: int) -> bytes:
    return value.to_bytes(8, "big")
