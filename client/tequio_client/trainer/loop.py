"""The trainer's loop: execute the command in force, report the result, wait for the next."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NoReturn

import msgspec
import structlog
import torch

from tequio_client.ipc.cell import CellPlace
from tequio_client.ipc.trainer import CommandReport, Failed, Prepare, Report, Rest, Resting
from tequio_client.trainer import device, prepared, tasks
from tequio_client.trainer.cell import RankLostError
from tequio_client.trainer.main import (
    Task,
    TaskQueue,
    TaskReplacedError,
    TrainerActivity,
    is_same_model,
)
from tequio_client.trainer.plugins import loading
from tequio_client.trainer.prepared import PreparedModel
from tequio_client.trainer.ranks import CellLead
from tequio_client.trainer.task_context import NonFiniteError, TaskContext
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError

log = structlog.get_logger(__name__)


class TrainerLoop:
    """Owner of the prepared model, in the process's first thread."""

    def __init__(
        self,
        queue: TaskQueue,
        report: Callable[[Report], None],
        activity: TrainerActivity,
        place: CellPlace | None = None,
    ) -> None:
        """With a place, this process is rank 0 of a cell, which is formed at the first Prepare."""
        torch.set_num_interop_threads(1)
        torch.set_num_threads(1)
        self.activity = activity
        self._queue = queue
        self._report = report
        self._place = place
        self._lead: CellLead | None = None
        self._setup: PreparedModel | None = None
        self._answers: dict[int, CommandReport] = {}  # of the last two commands, by number

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
            if not isinstance(answer, Failed):  # a failure is retried, other answers are repeated
                last = list(self._answers.items())[-1:]
                self._answers = dict(last) | {answer.command: answer}
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
            if self._place and (self._lead is None or self._lead.is_broken):
                failed = msgspec.structs.replace(failed, fatal=True)
            log.warning(
                "command failed",
                command=command.command,
                code=failed.code,
                exc_info=failed.code == "internal",
            )
            return failed

    def _prepare(self, command: Prepare) -> CommandReport:
        self.activity.start(command.command, "preparing")
        if self._setup and is_same_model(self._setup.prepare, command):
            self._setup = self._setup.with_limits(command)
        else:
            self._setup = None  # frees the old model: two may not fit into memory
            if self._place is None:
                self._setup = prepared.prepare_model(command)
            else:
                self._lead = self._lead or CellLead(self._place, command.device, self._end)
                self._setup = self._lead.prepare(command)
        return self._setup.ready_report(command)

    def _end(self, why: str) -> NoReturn:
        """Report that the cell lost a rank, and end the process; called by another thread."""
        # The thread that works may be in an exchange that never returns.
        self._report(_lost(self.activity.command, why))
        os._exit(1)

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
            lead=self._lead,
        )
        try:
            return tasks.run(context)
        finally:
            self._setup = context.setup


def _lost(number: int, why: str) -> Failed:
    return Failed(command=number, code="cell", reason=f"the cell ended: {why}"[:60_000], fatal=True)


def _failure(number: int, err: Exception) -> Failed:
    if isinstance(err, RankLostError):
        return _lost(number, str(err))
    code = next((code for kinds, code in _CODES if isinstance(err, kinds)), "internal")
    code = "memory" if device.is_out_of_memory(err) else code
    if code == "internal" and loading.is_at_fault(err):  # not a fault of the release
        return Failed(command=number, code="plugin", reason=f"{type(err).__name__}: {err}"[:1_000])
    return Failed(
        command=number,
        code=code,
        reason=f"{type(err).__name__}: {err}"[:60_000] if code == "internal" else str(err),
        fatal=code == "internal",
    )


_CODES: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((NonFiniteError,), "non_finite"),
    ((device.DeviceError,), "device"),
    ((prepared.ModelError,), "model"),
    ((MalformedError,), "input"),
    ((RefusedError, PeerError), "rules"),
    ((UserFacingError, FileNotFoundError), "input"),
    ((OSError,), "output"),
)
