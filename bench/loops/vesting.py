"""Expected gain of a cheat whose points vest late and are lost when it is convicted.

Everything is in contributions: an honest one costs one unit of work and earns one unit of points,
so honest work gains nothing, and a cheat that does a share w of the work gains 1 - w until it is
convicted. Conviction takes all points of the key that have not vested. Contributions are audited
independently; a conviction needs two auditors that are honest and both find the cheat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

AUDIT_RATE, NEWCOMER_RATE, NEWCOMER = 1 / 20, 1 / 2, 10
"""A contribution is audited this often; one of a key's first ten this often."""
HONEST_AUDITORS = 0.8
HORIZON = 2_000
"""Contributions over which a cheat plans."""
MOST_VESTING = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """A cheat: its share of the work, and how often two honest auditors both find it."""

    work: float
    found: float

    def conviction(self, age: int) -> float:
        """Probability that the contribution after `age` others of its key is convicted."""
        rate = NEWCOMER_RATE if age < NEWCOMER else AUDIT_RATE
        return rate * HONEST_AUDITORS**2 * self.found

    def once(self, vesting: int) -> float:
        """Gain of a veteran that cheats a single time."""
        return 1 - self.work - self.conviction(NEWCOMER) * vesting

    def always(self, vesting: int) -> float:
        """Points that ever vest for a fresh key that always cheats, less the work it does."""
        alive, points, work = 1.0, 0.0, 0.0
        survived = np.array([1 - self.conviction(age) for age in range(HORIZON + vesting)])
        until = np.concatenate([[1.0], np.cumprod(survived)])
        for age in range(HORIZON):
            alive = float(until[age])
            work += alive * self.work
            points += float(until[age + vesting])
        return points - work

    def best(self, vesting: int, *, needs_presence: bool) -> float:
        """Gain of the best strategy of one fresh key, which may be honest, cheat, or stop.

        With `needs_presence` a point vests after `vesting` further contributions of its own key,
        otherwise after `vesting` rounds, also if the key is gone.
        """
        ages = np.arange(max(vesting, NEWCOMER) + 1)
        stake = np.minimum(ages + 1, vesting)
        lost = np.array([self.conviction(int(age)) for age in ages])
        stop = -np.minimum(ages, vesting) if needs_presence else np.zeros(len(ages))
        value = stop.astype(float)
        for _ in range(HORIZON):
            after = np.append(value[1:], value[-1])
            cheat = 1 - self.work + (1 - lost) * after - lost * stake
            value = np.maximum(stop, np.maximum(after, cheat))
        return float(value[0])

    def least_vesting(self) -> int | None:
        """Smallest vesting period with which a veteran loses by cheating once; None beyond 4096."""
        risk = self.conviction(NEWCOMER)
        least = int((1 - self.work) / risk) + 1 if risk else MOST_VESTING + 1
        return least if least <= MOST_VESTING else None
