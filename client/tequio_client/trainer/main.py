"""The trainer process: hears commands on its input, works on the latest, reports on its output.

Three threads: one listens, one beats the heart every second, the first one works. The listener
ends the process at once when it is told to or when its input ends, that is, when its parent is
gone (see `system.parent` too); output files take their names only when they are complete, so
nothing half-done remains.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
import traceback
from typing import IO, TYPE_CHECKING, NoReturn

import psutil
import structlog
import torch

from tequio_client.ipc import trainer
from tequio_client.ipc.trainer import Failed, Prepare, Rest, Resting
from tequio_client.platform.child import PipeVoice
from tequio_client.runtime import configure_logging
from tequio_client.trainer import device, prepared, tasks
from tequio_client.trainer.task_queue import Activity, Desk, ReplacedError, is_same_model
from tequio_client.trainer.tasks import Bench, NonFiniteError
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.trainer import Answer, Report
    from tequio_client.trainer.prepared import Workshop
    from tequio_client.trainer.task_queue import Task


log = structlog.get_logger(__name__)

HEARTBEAT_S = 1.0
_MIB = 1 << 20


class Voice:
    """The only writer of reports."""

    def __init__(self) -> None:
        self._pipe = PipeVoice()

    def say(self, report: Report) -> None:
        """Write one report; ends the process when nobody reads any more."""
        self._pipe.send(trainer.encode(report))


def main(log_style: str) -> NoReturn:
    """Serve commands until told to leave; `log_style` is console or json."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our parent, who tells us
    configure_logging(style=log_style)
    voice, desk, activity = Voice(), Desk(), Activity()
    voice.say(trainer.Hello(pid=os.getpid(), software=BUILD))
    threading.Thread(target=_listen, args=(sys.stdin.buffer, desk, voice), daemon=True).start()
    threading.Thread(target=_beat, args=(activity, voice), daemon=True).start()
    os.environ["HF_HUB_OFFLINE"] = "1"  # what a trainer needs, it is given as files
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # cuda:0 is the probe's first card
    try:
        # torch takes seconds to load: the threads above already work.
        shift = importlib.import_module("tequio_client.trainer.main")
        shift.Shift(desk, voice.say, activity).serve()
    finally:
        traceback.print_exc()
        os._exit(1)  # an ordinary exit would wait for the thread that listens


def _listen(lines: IO[bytes], desk: Desk, voice: Voice) -> NoReturn:
    while line := lines.readline(trainer.LINE_BYTES + 1):
        try:
            command = trainer.decode_command(line)
        except MalformedError as err:
            voice.say(trainer.Failed(command=0, code="malformed", reason=str(err)))
            _skip_line(lines, line)
            continue
        if isinstance(command, trainer.Quit):
            break
        desk.put(command)
    os._exit(0)


def _skip_line(lines: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = lines.readline(trainer.LINE_BYTES)


def _beat(activity: Activity, voice: Voice) -> NoReturn:
    process = psutil.Process()
    while True:
        voice.say(
            trainer.Alive(
                command=activity.command,
                doing=activity.doing,
                step=activity.step,
                steps=activity.steps,
                tokens=activity.tokens,
                resident_mb=process.memory_info().rss // _MIB,
            )
        )
        time.sleep(HEARTBEAT_S)


# --- A trainer at work: takes the command in force from the desk, meets it, reports, and so on.


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
            self._shop = prepared.open_workshop(command)
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
            return tasks.do(bench)
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
    ((prepared.ModelError,), "model"),
    ((MalformedError,), "input"),
    ((RefusedError, PeerError), "rules"),
    ((UserFacingError, FileNotFoundError), "input"),
    ((OSError,), "output"),
)
