"""Four rounds of real training whose process is killed at a named moment, then goes on.

    python -m tests.support.killable_trainer FOLDER

The input has a `Prepare` command and one `Train` command a round, as lines. The rounds end as
`ENDS` says. Each of `PLACES` gets a folder of its own, where the lives write `roots`: round and
payload root of what each round was settled with. All lives are forked from a process that has
loaded torch.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tequio_client import files as client_files
from tequio_client.ipc import trainer as link
from tequio_client.trainer import codecs, inner, prepared
from tequio_client.trainer import tasks as trainer_tasks
from tequio_client.trainer.main import TaskQueue, TrainerActivity
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import RunId, from_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


ENDS = {1: True, 2: False, 3: True, 4: True}
"""Whether the work of a round was accepted."""
PLACES: dict[str, tuple[type | ModuleType, str, int, bool]] = {
    "never": (prepared, "none", 0, False),
    "in the second step": (inner.StepPlan, "at", 10, False),
    "before encoding": (codecs, "encode", 3, False),
    "after encoding": (codecs, "encode", 3, True),
    "between the trainer's files": (prepared, "write", 5, True),
    "before the feedback is kept": (ErrorFeedback, "take", 3, False),
    "between feedback and note": (client_files, "settle", 7, True),
    "after the note": (ErrorFeedback, "take", 3, True),
    "before a void round is settled": (ErrorFeedback, "settle", 2, False),
    "before an accepted round is settled": (ErrorFeedback, "settle", 3, False),
    "after an accepted round is settled": (ErrorFeedback, "settle", 3, True),
}
"""Killed before or after the n-th passage of this function."""
MOST_LIVES = 3


def main(folder: Path) -> None:
    """Live all the lives."""
    prepare, *commands = [link.decode_command(line) for line in sys.stdin.buffer]
    assert isinstance(prepare, link.Prepare)
    tasks = [command for command in commands if isinstance(command, link.Train)]
    for name, place in PLACES.items():
        home = folder / name
        home.mkdir()
        for life in range(MOST_LIVES):
            child = os.fork()
            if not child:
                _live(home, prepare, tasks, None if life or name == "never" else place)
                os._exit(0)
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
                (home / "lives").write_text(str(life + 1))
                break


def _live(
    home: Path,
    prepare: link.Prepare,
    tasks: list[link.Train],
    place: tuple[type | ModuleType, str, int, bool] | None,
) -> None:
    if place is not None:
        _arm(*place)
    shop = prepared.prepare_model(prepare)
    feedback = ErrorFeedback(home / "feedback", RunId(from_text(tasks[0].run)))
    over = (home / "roots").read_text().split() if (home / "roots").exists() else []
    for task in tasks:
        header = feedback.open_header
        if f"{task.round}" not in over[::2]:
            if header is None or header.round != task.round:
                header = _train(home, shop, feedback, task)
            with (home / "roots").open("a") as roots:  # the log: what has happened is over
                roots.write(f"{task.round} {header.payload_root.hex()}\n")
        if header is not None and header.round == task.round:
            feedback.settle(task.round, was_accepted=ENDS[task.round])


def _train(
    home: Path, shop: prepared.PreparedModel, feedback: ErrorFeedback, task: link.Train
) -> ContributionHeader:
    number, desk = task.round, TaskQueue()
    task = msgspec.structs.replace(
        task,
        payload_out=str(home / f"payload-{number}"),
        feedback_out=str(home / f"feedback-{number}"),
        delta_out=str(home / f"delta-{number}"),
        feedback_in=str(feedback.path) if feedback.path else None,
    )
    desk.put(shop.prepare)
    desk.put(task)
    bench = trainer_tasks.TaskContext(
        setup=shop, queue=desk, task=task, report=lambda _: None, activity=TrainerActivity()
    )
    header = ContributionHeader.parse(from_text(trainer_tasks.train(task, bench).header, None))
    feedback.store(Path(task.feedback_out), header)
    return header


def _arm(owner: type | ModuleType, name: str, passage: int, is_after: bool) -> None:  # noqa: FBT001 - a row of the table
    real: Callable[..., Any] = getattr(owner, name)
    left = [passage]

    @functools.wraps(real)
    def wrapped(*arguments: object, **named: object) -> object:
        left[0] -= 1
        if not left[0] and not is_after:
            os.kill(os.getpid(), signal.SIGKILL)
        outcome = real(*arguments, **named)
        if not left[0] and is_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome

    setattr(owner, name, wrapped)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
