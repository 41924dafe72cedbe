"""One running task of a trainer: its model, its limits, its rests, and whether it is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tequio_client.ipc import trainer
from tequio_client.trainer.main import ModelTask, TaskQueue, TrainerActivity
from tequio_client.trainer.pacing import DUTY_PERCENT, Pacing
from tequio_client.trainer.prepared import PreparedModel
from tequio_client.trainer.ranks import CellLead
from tequio_shared.errors import TequioError


class NonFiniteError(TequioError):
    """Training or evaluation gave infinities or NaN."""


@dataclass(slots=True, kw_only=True)
class TaskContext:
    """One running task; owned by its thread. The heartbeat thread reads `activity`."""

    setup: PreparedModel
    queue: TaskQueue
    task: ModelTask
    report: Callable[[trainer.Report], None]
    activity: TrainerActivity
    lead: CellLead | None = None
    """The other ranks, if this process is rank 0 of a cell."""
    started_s: float = field(default_factory=time.perf_counter)
    pacing: Pacing = field(init=False)
    """Threads that only compute call its `rest`; the task's own thread calls `check`."""
    _least_percent: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        """Begin to count what the task computes."""
        self.pacing = Pacing(lambda: max(self.setup.prepare.share_percent, self._least_percent))
        self.pacing.begin()

    def hurry(self) -> None:
        """Take `DUTY_PERCENT` of the time at least from now on: the other members wait for this."""
        self._least_percent = DUTY_PERCENT

    def check(self) -> None:
        """Rest, so that the task takes its share of the time; raises as `apply_limits` does."""
        self.rest_until(lambda: False)

    def rest_until(self, must_end: Callable[[], bool]) -> None:
        """Rest, at most until the task must end; raises as `apply_limits` does."""

        def is_over() -> bool:
            self.apply_limits()
            return must_end()

        self.pacing.rest(is_over)

    def apply_limits(self) -> None:
        """Apply new limits; raises TaskReplacedError once another task or model is in force."""
        prepare = self.queue.current_prepare(self.task, self.setup.prepare)
        if prepare.command != self.setup.prepare.command:
            self.setup = self.setup.with_limits(prepare)
            self.report(self.setup.ready_report(prepare))
            self.queue.mark_answered(prepare)

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.started_s
