"""The commands in force: put by the thread that reads them, executed by the one that works.

There are at most two, the latest `Prepare` and the latest task: a newer one replaces an older one
that is still running, since work for a round that is over is worth nothing. `ipc.trainer` has the
rules.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec

from tequio_client.ipc.trainer import (
    Advance,
    Continue,
    Evaluate,
    Finish,
    Prepare,
    Rest,
    Screen,
    Train,
)
from tequio_shared.errors import TequioError

if TYPE_CHECKING:
    from tequio_client.ipc.trainer import Command


ModelTask: TypeAlias = Train | Screen | Advance | Evaluate | Continue
Task: TypeAlias = ModelTask | Rest
_W = TypeVar("_W", Prepare, Task)


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
        """Return the `Prepare` in force, which differs from `prepared` in its limits at most.

        Raises ReplacedError when another task or another model is in force.
        """
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


def _later(old: _W | None, new: _W) -> _W:
    return old if old is not None and old.command >= new.command else new


@dataclass(slots=True)
class TrainerActivity:
    """The work in progress, as `ipc.trainer.Alive` reports it.

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
