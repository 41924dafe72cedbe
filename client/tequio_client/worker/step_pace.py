"""Whether our own steps have become slower: a sign, without asking anybody, that others compute.

The time of a step, rests left out, as a mean over the last seconds, against a calm mean over the
last minutes. Another task, another share or another process begins anew: nothing is compared that
is not alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_client.link.messages import Alive

NOW_S = 4.0
CALM_S = 120.0
WARM_S = 15.0
"""A task's first seconds compile and fill caches: slow, and no measure."""
_TRAINING = "training"


@dataclass(frozen=True, slots=True)
class _Seen:
    command: int
    step: int
    at_s: float
    share: int


class StepPace:
    """The pace of one trainer; `look` is called with each new reading."""

    def __init__(self) -> None:
        self._seen: _Seen | None = None
        self._begun_s = 0.0
        self._now_s: float | None = None  # a step, lately
        self._calm_s: float | None = None  # a step, as a rule

    @property
    def slowdown(self) -> float | None:
        """How much longer a step takes than as a rule; None: not known yet."""
        if self._now_s is None or self._calm_s is None:
            return None
        return self._now_s / self._calm_s

    def look(self, alive: Alive | None, share_percent: int, at_s: float) -> None:
        """Take a reading: what the trainer says, how much of the time it may compute, and when."""
        if alive is None or alive.doing != _TRAINING or not share_percent:
            self._seen = None
            return
        before, seen = self._seen, _Seen(alive.command, alive.step, at_s, share_percent)
        if before is None or before.share != share_percent:
            self._begin(seen)
        elif before.command != alive.command:
            self._seen = seen
        elif alive.step > before.step:
            self._seen = seen
            step_s = (at_s - before.at_s) / (alive.step - before.step) * share_percent / 100
            self._take(step_s, at_s - before.at_s, at_s)
        elif self._now_s is not None:  # a step that is late is a slow one, before it is over
            late_s = (at_s - before.at_s) * share_percent / 100
            self._now_s = max(self._now_s, late_s)

    def _begin(self, seen: _Seen) -> None:
        self._seen, self._begun_s = seen, seen.at_s
        self._now_s = self._calm_s = None

    def _take(self, step_s: float, passed_s: float, at_s: float) -> None:
        if at_s - self._begun_s < WARM_S:
            return
        if self._now_s is None or self._calm_s is None:
            self._now_s = self._calm_s = step_s
            return
        self._now_s += min(passed_s / NOW_S, 1.0) * (step_s - self._now_s)
        self._calm_s += min(passed_s / CALM_S, 1.0) * (step_s - self._calm_s)
