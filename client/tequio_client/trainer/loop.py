"""The trainer's loop: executes the command in force, reports the result, waits for the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import structlog
import torch

from tequio_client.ipc.trainer import Failed, Prepare, Rest, Resting
from tequio_client.trainer import device, prepared, tasks
from tequio_client.trainer.task_queue import TaskReplacedError, is_same_model
from tequio_client.trainer.tasks import NonFiniteError, TaskContext
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.trainer import CommandReport, Report
    from tequio_client.trainer.prepared import PreparedModel
    from tequio_client.trainer.task_queue import Task, TaskQueue, TrainerActivity

log = structlog.get_logger(__name__)


class TrainerLoop:
    """Owner of the prepared model; `serve` runs in the process's first thread and never returns."""

    def __init__(
        self, queue: TaskQueue, report: Callable[[Report], None], activity: TrainerActivity
    ) -> None:
        torch.set_num_interop_threads(1)
        torch.set_num_threads(1)
        self.activity = activity
        self._queue = queue
        self._report = report
        self._setup: PreparedModel | None = None
        self._answers: dict[
            int, CommandReport
        ] = {}  # by command: of the last Prepare and the last task

    def run(self) -> NoReturn:
        """Execute commands until the process ends; exits with 1 after an internal error."""
        self.activity.start(0, "resting")
        while True:
            command = self._queue.wait()
            try:
                answer = self._answers.get(command.command) or self._execute(command)
            except TaskReplacedError:
                continue  # the queue has something newer, or the same task for another model
            self._queue.mark_answered(command)
            self._remember(answer)
            self._report(answer)
            if isinstance(answer, Failed) and answer.fatal:
                raise SystemExit(1)
            self.activity.doing = "resting"

    def _execute(self, command: Prepare | Task) -> CommandReport:
        try:
            return self._prepare(command) if isinstance(command, Prepare) else self._run(command)
        except TaskReplacedError:
            raise
        except Exception as err:  # the outermost supervisor: reports it, then continues or dies
            failed = _failure(command.command, err)
            log.warning(
                "command failed", command=command.command, code=failed.code, exc_info=failed.fatal
            )
            return failed

    def _prepare(self, command: Prepare) -> CommandReport:
        self.activity.start(command.command, "preparing")
        if self._setup and is_same_model(self._setup.prepare, command):
            self._setup = self._setup.with_limits(command)
        else:
            self._setup = None  # frees the old model: two may not fit into memory
            self._setup = prepared.prepare_model(command)
        return self._setup.ready_report(command)

    def _run(self, task: Task) -> CommandReport:
        if isinstance(task, Rest):
            if self._setup is not None:
                self._setup.device.release_memory()
            return Resting(command=task.command)
        if self._setup is None:
            return Failed(
                command=task.command,
                code="unprepared",
                reason="no model is prepared; send Prepare first",
            )
        context = TaskContext(
            setup=self._setup,
            queue=self._queue,
            task=task,
            report=self._report,
            activity=self.activity,
        )
        try:
            return tasks.run(context)
        finally:
            self._setup = context.setup

    def _remember(self, answer: CommandReport) -> None:
        """Store the last two answers to give them again; a failure is retried instead."""
        if not isinstance(answer, Failed):
            kept = list(self._answers.items())[-1:]
            self._answers = dict(kept) | {answer.command: answer}


def _failure(number: int, err: Exception) -> Failed:
    code = next((code for kinds, code in _CODES if isinstance(err, kinds)), "internal")
    return Failed(
        command=number,
        code=code,
        reason=f"{type(err).__name__}: {err}"[:60_000] if code == "internal" else str(err),
        fatal=code == "internal",
    )


_CODES: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((NonFiniteError,), "non_finite"),
    ((device.DeviceError,), "device"),
    ((torch.OutOfMemoryError, MemoryError), "memory"),
    ((prepared.ModelError,), "model"),
    ((MalformedError,), "input"),
    ((RefusedError, PeerError), "rules"),
    ((UserFacingError, FileNotFoundError), "input"),
    ((OSError,), "output"),
)
