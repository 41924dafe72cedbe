"""The trainer's loop: executes the command in force, reports the result, waits for the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import structlog
import torch

from tequio_client.ipc.trainer import Failed, Prepare, Rest, Resting
from tequio_client.trainer import device, prepared, tasks
from tequio_client.trainer.task_queue import ReplacedError, is_same_model
from tequio_client.trainer.tasks import Bench, NonFiniteError
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.trainer import Answer, Report
    from tequio_client.trainer.prepared import Workshop
    from tequio_client.trainer.task_queue import Activity, Desk, Task

log = structlog.get_logger(__name__)


class Shift:
    """Owner of the prepared model; `serve` runs in the process's first thread and never returns."""

    def __init__(self, queue: Desk, report: Callable[[Report], None], activity: Activity) -> None:
        torch.set_num_interop_threads(1)
        torch.set_num_threads(1)
        self.activity = activity
        self._queue = queue
        self._report = report
        self._setup: Workshop | None = None
        self._answers: dict[int, Answer] = {}  # by command: of the last Prepare and the last task

    def serve(self) -> NoReturn:
        """Execute commands until the process ends; exits with 1 after an internal error."""
        self.activity.begin(0, "resting")
        while True:
            command = self._queue.wait()
            try:
                answer = self._answers.get(command.command) or self._execute(command)
            except ReplacedError:
                continue  # the queue has something newer, or the same task for another model
            self._queue.settle(command)
            self._remember(answer)
            self._report(answer)
            if isinstance(answer, Failed) and answer.fatal:
                raise SystemExit(1)
            self.activity.doing = "resting"

    def _execute(self, command: Prepare | Task) -> Answer:
        try:
            return self._prepare(command) if isinstance(command, Prepare) else self._run(command)
        except ReplacedError:
            raise
        except Exception as err:  # the outermost supervisor: reports it, then continues or dies
            failed = _failure(command.command, err)
            log.warning(
                "command failed", command=command.command, code=failed.code, exc_info=failed.fatal
            )
            return failed

    def _prepare(self, command: Prepare) -> Answer:
        self.activity.begin(command.command, "preparing")
        if self._setup and is_same_model(self._setup.prepare, command):
            self._setup = self._setup.under(command)
        else:
            self._setup = None  # frees the old model: two may not fit into memory
            self._setup = prepared.open_workshop(command)
        return self._setup.ready(command)

    def _run(self, task: Task) -> Answer:
        if isinstance(task, Rest):
            if self._setup is not None:
                self._setup.device.release()
            return Resting(command=task.command)
        if self._setup is None:
            return Failed(
                command=task.command,
                code="unprepared",
                reason="no model is prepared; send Prepare first",
            )
        context = Bench(
            shop=self._setup,
            desk=self._queue,
            task=task,
            report=self._report,
            activity=self.activity,
        )
        try:
            return tasks.do(context)
        finally:
            self._setup = context.shop

    def _remember(self, answer: Answer) -> None:
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
