"""How hard a child computes: with so many threads, for so much of the time, as it is told."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tequio_client.trainer import device

if TYPE_CHECKING:
    from tequio_client.link.evaluating import Limit

_LOOK_S = 0.1


class Pacing:
    """Rests between batches; `limit` is replaced by whoever hears of another."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._since_s = time.perf_counter()

    def begin(self) -> None:
        """Reckon what is computed from now on."""
        device.limit_threads(self.limit.threads)
        self._since_s = time.perf_counter()

    def rest(self, _tokens: int = 0) -> None:
        """Sleep so that computing since the last rest takes its share of the time."""
        computed_s = time.perf_counter() - self._since_s
        rested_at_s = time.perf_counter()
        while True:
            due_s = computed_s * (100 / self.limit.share_percent - 1)
            left_s = due_s - (time.perf_counter() - rested_at_s)
            if left_s <= 0:
                break
            time.sleep(min(left_s, _LOOK_S))
        self.begin()
