"""A trainer at work: takes the command in force from the desk, meets it, reports, and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import structlog
import torch

from tequio_client.link.messages import Failed, Prepare, Rest, Resting
from tequio_client.trainer import device, work, workshop
from tequio_client.trainer.desk import ReplacedError, is_same_model
from tequio_client.trainer.work import Bench, NonFiniteError
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.link.messages import Answer, Report
    from tequio_client.trainer.activity import Activity
    from tequio_client.trainer.desk import Desk, Task
    from tequio_client.trainer.workshop import Workshop

log = structlog.get_logger(__name__)


class Shift:
    """Owns the workshop; `serve` runs in the process's first thread and never returns."""

    def __init__(self, desk: Desk, report: Callable[[Report], None], activity: Activity) -> None:
        torch.set_num_interop_threads(1)
        torch.set_num_threads(1)
        self.activity = activity
        self._desk = desk
        self._report = report
        self._shop: Workshop | None = None
        self._answers: dict[int, Answer] = {}  # of the last Prepare and the last task

    def serve(self) -> NoReturn:
        """Meet commands for ever."""
        self.activity.begin(0, "resting")
        while True:
            command = self._desk.wait()
            try:
                answer = self._answers.get(command.command) or self._meet(command)
            except ReplacedError:
                continue  # the desk has something newer, or the same task for another model
            self._desk.settle(command)
            self._remember(answer)
            self._report(answer)
            if isinstance(answer, Failed) and answer.fatal:
                raise SystemExit(1)
            self.activity.doing = "resting"

    def _meet(self, command: Prepare | Task) -> Answer:
        """Meet a command, or say why not."""
        try:
            return self._prepare(command) if isinstance(command, Prepare) else self._do(command)
        except ReplacedError:
            raise
        except Exception as err:  # the outermost supervisor: says so, goes on or dies
            failed = _failure(command.command, err)
            log.warning(
                "command failed", command=command.command, code=failed.code, exc_info=failed.fatal
            )
            return failed

    def _prepare(self, command: Prepare) -> Answer:
        self.activity.begin(command.command, "preparing")
        if self._shop and is_same_model(self._shop.prepare, command):
            self._shop = self._shop.under(command)
        else:
            self._shop = None  # its memory is needed
            self._shop = workshop.open_workshop(command)
        return self._shop.ready(command)

    def _do(self, task: Task) -> Answer:
        if isinstance(task, Rest):
            return self._rest(task)
        if self._shop is None:
            return Failed(
                command=task.command, code="unprepared", reason="there was no Prepare yet"
            )
        bench = Bench(
            shop=self._shop,
            desk=self._desk,
            task=task,
            report=self._report,
            activity=self.activity,
        )
        try:
            return work.do(bench)
        finally:
            self._shop = bench.shop

    def _rest(self, task: Rest) -> Answer:
        if self._shop is not None:
            self._shop.device.release()
        return Resting(command=task.command)

    def _remember(self, answer: Answer) -> None:
        """Keep the last answers to give again; a failure is tried again instead."""
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
    ((workshop.ModelError,), "model"),
    ((MalformedError,), "input"),
    ((RefusedError, PeerError), "rules"),
    ((UserFacingError, FileNotFoundError), "input"),
    ((OSError,), "output"),
)
