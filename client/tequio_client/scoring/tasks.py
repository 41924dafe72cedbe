"""Tasks of multiple-choice questions in `tequio score`: their files, their scores, their table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tequio_client.dataset.tasks import TaskFile
from tequio_client.names import clean_text
from tequio_client.trainer import choices
from tequio_client.trainer.likelihood import ScoredModel, ScoringDevice
from tequio_shared.multiple_choice import (
    ChoiceLosses,
    ChoiceTotals,
    interval_95,
)
from tequio_shared.scoring import WINDOW
from tequio_shared.wording import plural

_NAME_CHARS = 60


class TaskScore(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one model on one task; `interval` is that of `accuracy`, of 95 %."""

    task: str
    hash: str
    source: str
    window: int
    seconds: float
    chance: float
    accuracy: float
    accuracy_normed: float
    interval: tuple[float, float]
    totals: ChoiceTotals
    questions: tuple[ChoiceLosses, ...]


def score_tasks(
    scored: ScoredModel,
    files: Iterable[TaskFile],
    window: int | None,
    scorer: ScoringDevice,
    bars: Progress,
) -> tuple[TaskScore, ...]:
    """Let a model answer all questions; raises ModelRefusedError for one without numbers."""
    chosen = window or scored.context or WINDOW
    return tuple(_score(scored, file, chosen, scorer, bars) for file in files)


def print_tasks(models: Sequence[tuple[str, Sequence[TaskScore]]], console: Console) -> None:
    """Print a table of each task: right answers of each model, with the interval of 95 %."""
    for at, first in enumerate(models[0][1]):
        asked = plural(first.totals.asked, "question")
        table = Table(
            "model",
            title=f"{first.task}: {asked}, chance {first.chance:.1%}",
        )
        for column in ("right", "interval", "right per length", "close"):
            table.add_column(column, justify="right", no_wrap=True)
        for name, tasks in models:
            one = tasks[at]
            low, high = one.interval
            table.add_row(
                clean_text(name, _NAME_CHARS),
                f"{one.accuracy:.2%}",
                f"{low:.1%} to {high:.1%}",
                f"{one.accuracy_normed:.2%}",
                f"{one.totals.close:,}",
            )
        console.print(table)
        console.print(f"{first.source}; file {first.hash}", highlight=False)
        for name, tasks in models:
            _print_left_out(name, tasks[at].totals, console)


def _score(
    scored: ScoredModel, file: TaskFile, window: int, scorer: ScoringDevice, bars: Progress
) -> TaskScore:
    begun = time.perf_counter()
    questions = file.task.questions
    answering = choices.answer_questions(scored, questions, window, scorer)
    losses = tuple(bars.track(answering, total=len(questions), description=file.task.name))
    totals = ChoiceTotals.of(questions, losses)
    return TaskScore(
        task=file.task.name,
        hash=file.hash,
        source=file.task.source,
        window=window,
        seconds=round(time.perf_counter() - begun, 3),
        chance=float(file.task.chance),
        accuracy=totals.accuracy,
        accuracy_normed=totals.accuracy_normed,
        interval=interval_95(totals.right, totals.asked),
        totals=totals,
        questions=losses,
    )


def _print_left_out(name: str, totals: ChoiceTotals, console: Console) -> None:
    shown = clean_text(name, _NAME_CHARS)
    for count, what in (
        (totals.unread, "questions counted as wrong, because it cannot read them in full"),
        (totals.cut, "questions without their beginning, because its window is too short"),
    ):
        if count:
            console.print(f"  {shown}: {what}: {count:,}", style="yellow", highlight=False)
