"""The commands in force: put down by the thread that listens, taken up by the one that works.

At most two lie here, the latest `Prepare` and the latest task; see `link.messages` for the rules.
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


Work: TypeAlias = Train | Screen | Advance | Evaluate | Continue
Task: TypeAlias = Work | Rest
_W = TypeVar("_W", Prepare, Task)


class ReplacedError(TequioError):
    """What is being worked on is no longer in force."""


class Desk:
    """Holds the commands in force; every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._prepare: Prepare | None = None
        self._task: Task | None = None
        self._open: set[int] = set()  # numbers of the commands that wait for an answer
        self._finish = 0

    def put(self, command: Command) -> None:
        """Put a command in force; the number of the last one of its kind asks for that again."""
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
        """Wait for a command without an answer; a `Prepare` comes before a task."""
        with self._changed:
            while True:
                for command in (self._prepare, self._task):
                    if command and command.command in self._open:
                        return command
                self._changed.wait()

    def settle(self, command: Prepare | Task) -> None:
        """Note that a command has its answer."""
        with self._changed:
            self._open.discard(command.command)

    def check(self, task: Task, prepared: Prepare) -> Prepare:
        """Give the `Prepare` in force, which differs from `prepared` in its limits at most.

        Raises ReplacedError when another task, or another model, is in force.
        """
        with self._changed:
            if self._task is None or self._task.command != task.command or self._prepare is None:
                raise ReplacedError("another task is in force")
            if not is_same_model(self._prepare, prepared):
                raise ReplacedError("another model is in force")
            return self._prepare

    def is_finished(self, task: Task) -> bool:
        """Tell whether the task is to hand in what it has."""
        with self._changed:
            return self._finish == task.command


def is_same_model(one: Prepare, other: Prepare) -> bool:
    """Tell whether two commands differ in their limits (threads, memory, share) at most."""
    return one == msgspec.structs.replace(
        other,
        command=one.command,
        threads=one.threads,
        memory_mb=one.memory_mb,
        share_percent=one.share_percent,
    )


def _later(old: _W | None, new: _W) -> _W:
    return old if old is not None and old.command >= new.command else new


# --- What the trainer is busy with: written by the thread that works, read by the heartbeat.


@dataclass(slots=True)
class Activity:
    """The fields of `link.messages.Alive`; each is read and written whole."""

    command: int = 0
    doing: str = "starting"
    step: int = 0
    steps: int = 0
    tokens: int = 0

    def begin(self, command: int, doing: str) -> None:
        """Start something new."""
        self.command, self.doing = command, doing
        self.step = self.steps = self.tokens = 0
