"""The trainer process: reads commands from its input, executes the latest, reports on its output.

Three threads: one reads, one sends a heartbeat every second, the first one works
(`loop.TrainerLoop`). The reader ends the process at once when it is told to quit or when its input
ends, that is, when its parent is gone (see `platform.child` too). Output files get their names only
when they are complete, so nothing half-done remains.

At most two commands are in force, the latest `Prepare` and the latest task: a newer one replaces an
older one that is still running, since work for a round that is over is worth nothing. `ipc.trainer`
has the rules.

This module imports no torch: the process answers while torch loads, which takes seconds.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, NoReturn, TypeAlias, TypeVar

import msgspec
import psutil

from tequio_client import heap
from tequio_client.ipc import trainer
from tequio_client.ipc.cell import CellPlace
from tequio_client.ipc.trainer import (
    Advance,
    AnswerQuestions,
    Audit,
    Command,
    Continue,
    Evaluate,
    Finish,
    Follow,
    MeasureGains,
    Prepare,
    Report,
    Rest,
    Screen,
    Train,
)
from tequio_client.platform import programs
from tequio_client.platform.child import ParentPipe
from tequio_client.runtime import configure_logging
from tequio_shared.errors import MalformedError, TequioError
from tequio_shared.version import BUILD

HEARTBEAT_S = 1.0
_MIB = 1 << 20
ModelTask: TypeAlias = (
    Train | Screen | MeasureGains | Audit | Advance | Follow | Evaluate | Continue | AnswerQuestions
)
Task: TypeAlias = ModelTask | Rest
_Kind = TypeVar("_Kind", Prepare, Task)


def main(log_style: str, *, sandbox: str = "", place: CellPlace | None = None) -> NoReturn:
    """Execute commands until told to quit; `log_style` is console or json.

    `sandbox` names what confines this process, for people. With a place, it is rank 0 of a cell.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which sends Quit
    configure_logging(style=log_style)
    pipe, queue, activity = ParentPipe(), TaskQueue(), TrainerActivity()

    def send(report: Report) -> None:
        pipe.send(trainer.encode(report))

    send(trainer.TrainerHello(pid=os.getpid(), software=BUILD, sandbox=sandbox))
    threading.Thread(target=_read, args=(sys.stdin.buffer, queue, send), daemon=True).start()
    threading.Thread(target=_send_heartbeats, args=(activity, send), daemon=True).start()
    set_up_libraries()
    try:
        with heap.collection_paused():  # torch takes seconds to load
            loop = importlib.import_module("tequio_client.trainer.loop")
        loop.TrainerLoop(queue, send, activity, place).run()
    except ModuleNotFoundError as err:
        reason = programs.not_installed(str(err.name))
        send(trainer.Failed(command=0, code="malformed", reason=reason))
    finally:
        traceback.print_exc()
        os._exit(1)  # an ordinary exit would wait for the reader


def follow(log_style: str, place: CellPlace | None) -> NoReturn:
    """Be one of the other ranks of a cell until it ends."""
    if place is None or not place.rank:
        sys.exit("a rank is started by its cell: use `tequio worker --cell`")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as above
    configure_logging(style=log_style)
    _pipe = ParentPipe()  # open until this process ends, so that its parent sees when
    set_up_libraries()
    with heap.collection_paused():  # as above
        ranks = importlib.import_module("tequio_client.trainer.ranks")
    ranks.follow(place)
    raise AssertionError("it ends the process")


def set_up_libraries() -> None:
    """Set what libraries of a trainer's process read as they are loaded."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # a lost rank is told in one sentence
    os.environ["HF_HUB_OFFLINE"] = "1"  # a trainer gets all it needs as files


def _read(lines: IO[bytes], queue: TaskQueue, send: Callable[[Report], None]) -> NoReturn:
    while line := lines.readline(trainer.LINE_BYTES + 1):
        try:
            command = trainer.decode_command(line)
        except MalformedError as err:
            send(trainer.Failed(command=0, code="malformed", reason=str(err)))
            while line and not line.endswith(b"\n"):  # too long: drop the rest of the line
                line = lines.readline(trainer.LINE_BYTES)
            continue
        if isinstance(command, trainer.Quit):
            break
        queue.put(command)
    os._exit(0)


def _send_heartbeats(activity: TrainerActivity, send: Callable[[Report], None]) -> NoReturn:
    process = psutil.Process()
    while True:
        send(
            trainer.TrainerHeartbeat(
                command=activity.command,
                doing=activity.doing,
                step=activity.step,
                steps=activity.steps,
                tokens=activity.tokens,
                resident_mb=process.memory_info().rss // _MIB,
            )
        )
        time.sleep(HEARTBEAT_S)


class TaskReplacedError(TequioError):
    """The running task or the prepared model was replaced by a newer command."""


class TaskQueue:
    """The commands in force; every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._prepare: Prepare | None = None
        self._task: Task | None = None
        self._open: set[int] = set()  # numbers of the commands without an answer
        self._finish = 0

    def put(self, command: Command) -> None:
        """Put a command in force; one with the number of the last of its kind is answered again."""
        with self._changed:
            if isinstance(command, Finish):
                self._finish = command.command
                return
            if isinstance(command, Prepare):
                self._prepare = _later(self._prepare, command)
            elif isinstance(command, Task):
                self._task = _later(self._task, command)
            in_force = {one.command for one in (self._prepare, self._task) if one}
            self._open = (self._open | {command.command}) & in_force
            self._changed.notify_all()

    def wait(self) -> Prepare | Task:
        """Block until a command has no answer, and return it; a `Prepare` comes before a task."""
        with self._changed:
            while True:
                for command in (self._prepare, self._task):
                    if command and command.command in self._open:
                        return command
                self._changed.wait()

    def mark_answered(self, command: Prepare | Task) -> None:
        """Mark a command as answered."""
        with self._changed:
            self._open.discard(command.command)

    def current_prepare(self, task: Task, prepared: Prepare) -> Prepare:
        """Return the `Prepare` in force; raises TaskReplacedError for another task or model."""
        with self._changed:
            if self._task is None or self._task.command != task.command or self._prepare is None:
                raise TaskReplacedError("another task is in force")
            if not is_same_model(self._prepare, prepared):
                raise TaskReplacedError("another model is in force")
            return self._prepare

    def should_finish(self, task: Task) -> bool:
        """True when the task is to end early and report what it has."""
        with self._changed:
            return self._finish == task.command


def is_same_model(one: Prepare, other: Prepare) -> bool:
    """True when two commands differ in their limits (threads, memory, share) at most."""
    return one == msgspec.structs.replace(
        other,
        command=one.command,
        threads=one.threads,
        memory_mb=one.memory_mb,
        share_percent=one.share_percent,
    )


def _later(old: _Kind | None, new: _Kind) -> _Kind:
    return old if old is not None and old.command >= new.command else new


@dataclass(slots=True)
class TrainerActivity:
    """The work in progress, as a `TrainerHeartbeat` reports it.

    Written by the thread that works, read by the heartbeat without a lock: each field is one
    reference, and a heartbeat may mix two states.
    """

    command: int = 0
    doing: str = "starting"
    step: int = 0
    steps: int = 0
    tokens: int = 0

    def start(self, command: int, doing: str) -> None:
        self.command, self.doing = command, doing
        self.step = self.steps = self.tokens = 0
