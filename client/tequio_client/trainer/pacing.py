"""Pacing: rests between blocks of computing, so that a process takes its share of the time.

The share is what the volunteer chose, and what keeps a device below its goals of heat and power, so
it holds for every task, not for training steps alone. A block is what is computed between two
checks: a step, a batch, or some chunks of a model. Preparing a model is not paced.

Some of a round's duties have a deadline that no small share moves: checking contributions, encoding
one's own, measuring gains, and computing the next head. They take `DUTY_PERCENT` of the time at
least, so they last about twice as long at most, which the margins of a round allow; each is short
beside the training of a round. Training and audits themselves end by the round's clock instead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

DUTY_PERCENT = 50
"""Least share of the time for what the other members of a round wait for."""
POLL_S = 0.1


class Pacing:
    """Rests of one task; each thread that computes rests for itself.

    The task's own thread calls `begin` after it waited for others, which have rested already, and
    before others go on that waited for it.
    """

    def __init__(self, share_percent: Callable[[], int]) -> None:
        """`share_percent` is asked again during a rest, since limits change."""
        self._share_percent = share_percent
        self._own = threading.local()
        self._begun_s = 0.0

    def begin(self) -> None:
        """Count as computing what this thread, and any that rested before, does from now on."""
        self._own.since_s = self._begun_s = time.perf_counter()

    def rest(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Sleep so that computing since the last rest takes its share of the time.

        `is_over` is asked first, and ten times a second: True ends the rest, as an error does. A
        thread that never called it begins here.
        """
        rested_at_s = time.perf_counter()
        since_s = getattr(self._own, "since_s", rested_at_s)
        computed_s = rested_at_s - max(since_s, self._begun_s)
        while not is_over():
            due_s = computed_s * (100 / self._share_percent() - 1)
            left_s = due_s - (time.perf_counter() - rested_at_s)
            if left_s <= 0:
                break
            time.sleep(min(left_s, POLL_S))
        self._own.since_s = time.perf_counter()


FULL_PACE = Pacing(lambda: 100)
"""Without rests: of a program that a person has started, and waits for."""
