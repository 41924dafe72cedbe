"""Work that ends when its time is over, at the next of its steps."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tequio_client.competition import moments
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.verify.progress import WorkProgress


class TimeLimit:
    """Shows how far work is, as another does, and ends it by a UserFacingError after a time."""

    def __init__(self, progress: WorkProgress, end_ms: int, clock: Callable[[], int]) -> None:
        self._progress, self._end_ms, self._clock = progress, end_ms, clock

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """See WorkProgress."""
        with self._progress.work(what, total) as tick:

            def step(steps: int) -> None:
                tick(steps)
                if self._clock() > self._end_ms:
                    raise UserFacingError(f"its time ended at {moments.told(self._end_ms)}")

            yield step
