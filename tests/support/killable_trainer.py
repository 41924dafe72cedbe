"""Four rounds of real training whose process is killed at a named moment, then goes on.

    python -m tests.support.killable_trainer FOLDER

The input has a `Prepare` command and one `Train` command a round, as lines. The rounds end as
`ENDS` says. Each of `PLACES` gets a folder of its own, where its processes write `roots`: the
number of each round and the payload root that it was settled with; and at the end `packages`: what
was imported. All processes are forked from one that has loaded torch.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tequio_client import files as client_files
from tequio_client.ipc import trainer as link
from tequio_client.trainer import codecs, inner, prepared
from tequio_client.trainer import tasks as trainer_tasks
from tequio_client.trainer.main import TaskQueue, TrainerActivity
from tequio_client.trainer.task_context import TaskContext
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import RunId, from_text
from tests.support.interception import after, before

if TYPE_CHECKING:
    from tests.support.interception import CallPlace

ENDS = {1: True, 2: False, 3: True, 4: True}
"""By round: was its contribution accepted?"""
PLACES = {
    "never": None,
    "in the second step": before(inner.StepPlan.at, passage=10),
    "before encoding": before(codecs.encode, passage=3),
    "after encoding": after(codecs.encode, passage=3),
    "between the trainer's files": after(prepared.write, passage=5),
    "before the feedback is stored": before(ErrorFeedback.store, passage=3),
    "between feedback and note": after(client_files.sync_and_rename, passage=7),
    "after the note": after(ErrorFeedback.store, passage=3),
    "before a void round is settled": before(ErrorFeedback.settle, passage=2),
    "before an accepted round is settled": before(ErrorFeedback.settle, passage=3),
    "after an accepted round is settled": after(ErrorFeedback.settle, passage=3),
}
MOST_LIVES = 3


def main(folder: Path) -> None:
    """Train the four rounds once for each place, in a process that is killed there.

    Raises RuntimeError when a process ends in any other way.
    """
    prepare, *commands = [link.decode_command(line) for line in sys.stdin.buffer]
    assert isinstance(prepare, link.Prepare)
    tasks = [command for command in commands if isinstance(command, link.Train)]
    for name, place in PLACES.items():
        home = folder / name
        home.mkdir()
        for life in range(MOST_LIVES):
            child = os.fork()
            if not child:
                _live(home, prepare, tasks, None if life else place)
                os._exit(0)  # an exception ends the child with status 1
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status == 0:
                (home / "lives").write_text(str(life + 1))
                break
            if status != -signal.SIGKILL:
                raise RuntimeError(f"{name}: the process ended with {status}")


def _live(
    home: Path, prepare: link.Prepare, tasks: list[link.Train], place: CallPlace | None
) -> None:
    if place is not None:
        place.arm(_die)
    model = prepared.prepare_model(prepare)
    feedback = ErrorFeedback(home / "feedback", RunId(from_text(tasks[0].run)))
    settled = (home / "roots").read_text().split() if (home / "roots").exists() else []
    for task in tasks:
        header = feedback.open_header
        if f"{task.round}" not in settled[::2]:
            if header is None or header.round != task.round:
                header = _train(home, model, feedback, task)
            with (home / "roots").open("a") as roots:  # the log: what has happened is over
                roots.write(f"{task.round} {header.payload_root.hex()}\n")
        if header is not None and header.round == task.round:
            feedback.settle(task.round, header.feedback_root if ENDS[task.round] else None)
    packages = {name.partition(".")[0] for name in sys.modules}
    (home / "packages").write_text("\n".join(sorted(packages)))


def _train(
    home: Path, model: prepared.PreparedModel, feedback: ErrorFeedback, task: link.Train
) -> ContributionHeader:
    number, queue, before = task.round, TaskQueue(), feedback.start
    task = msgspec.structs.replace(
        task,
        payload_out=str(home / f"payload-{number}"),
        feedback_out=str(home / f"feedback-{number}"),
        delta_out=str(home / f"delta-{number}"),
        feedback_in=str(feedback.path) if feedback.path else None,
    )
    queue.put(model.prepare)
    queue.put(task)
    context = TaskContext(
        setup=model, queue=queue, task=task, report=lambda _: None, activity=TrainerActivity()
    )
    header = ContributionHeader.parse(from_text(trainer_tasks.train(task, context).header, None))
    feedback.store(Path(task.feedback_out), header, before)
    return header


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
