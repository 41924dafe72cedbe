"""One running task of a trainer: its model, its limits, and whether it is still wanted."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tequio_client.ipc import trainer
from tequio_client.trainer.main import ModelTask, TaskQueue, TrainerActivity
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

    def check(self) -> None:
        """Apply new limits; raises TaskReplacedError once another task or model is in force."""
        prepare = self.queue.current_prepare(self.task, self.setup.prepare)
        if prepare.command != self.setup.prepare.command:
            self.setup = self.setup.with_limits(prepare)
            self.report(self.setup.ready_report(prepare))
            self.queue.mark_answered(prepare)

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.started_s
