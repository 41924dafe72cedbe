"""Answers of a run's heads to its tasks, as drawn members count them: a table, and a curve each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tequio_ledger.web.pages import run_charts, text
from tequio_ledger.web.pages.charts import AxisTitles, Chart, ChartReading, SingleValue, chart
from tequio_ledger.web.pages.run_view import kept_heads
from tequio_ledger.web.pages.text import StatusLabel
from tequio_shared.multiple_choice import MeasuredTask, interval_95
from tequio_shared.network.rollback import Rollback
from tequio_shared.served.rows import MeasuredHead
from tequio_shared.statements.runs import TaskCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One task: the median of the members' counts for one head, and a curve over all heads."""

    task: MeasuredTask
    counts: TaskCounts
    members: int
    away: int
    """Members whose counts are far from the median."""
    curve: Chart

    @property
    def accuracy(self) -> float:
        return self.counts.right / self.counts.asked

    @property
    def accuracy_normed(self) -> float:
        return self.counts.right_normed / self.counts.asked

    @property
    def interval(self) -> str:
        """Accuracies on all questions of the kind that fit the count, with 95 %."""
        low, high = interval_95(self.counts.right, self.counts.asked)
        return f"{text.share(low)} to {text.share(high)}"

    @property
    def mark(self) -> StatusLabel:
        if self.away:
            return StatusLabel(f"{self.away} of {self.members} far from the median", "warn")
        return StatusLabel(f"{self.members} members", "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredTasks:
    """The tasks of a run, as the newest head answered them that members asked."""

    round: int
    lines: tuple[TaskLine, ...]


def answered_tasks(
    heads: Sequence[MeasuredHead], tasks: Sequence[MeasuredTask], rollbacks: Sequence[Rollback]
) -> AnsweredTasks | None:
    """Describe the answers of measured heads, in their order; None if no kept head has any."""
    answered = [head for head in heads if head.tasks]
    kept = kept_heads(answered, rollbacks)
    if not kept:
        return None
    last = kept[-1]
    lines = (
        TaskLine(
            task=task,
            counts=last.tasks[at],
            members=sum(bool(row.tasks) for row in last.rows),
            away=_away(last, at),
            curve=_curve(answered, at, task, rollbacks),
        )
        for at, task in enumerate(tasks)
    )
    return AnsweredTasks(round=last.round, lines=tuple(lines))


def _away(head: MeasuredHead, at: int) -> int:
    return sum(row.tasks[at].is_outlier for row in head.rows if row.tasks)


def _curve(
    heads: Sequence[MeasuredHead], at: int, task: MeasuredTask, rollbacks: Sequence[Rollback]
) -> Chart:
    readings = [_reading(head, at) for head in heads]
    chance = text.share(task.chance)
    what = f"The share of right answers to {task.name} (guessing gives {chance})"
    return chart(
        f"task-{at}",
        f"Right answers: {task.name}",
        run_charts.summary(what, readings, "percent"),
        readings,
        AxisTitles("right answers, percent", "round"),
        from_zero=True,
        breaks=run_charts.went_back(rollbacks),
    )


def _reading(head: MeasuredHead, at: int) -> ChartReading:
    median, away = head.tasks[at], _away(head, at)
    singles = tuple(
        SingleValue(value=_percent(row.tasks[at].counts), is_outlier=row.tasks[at].is_outlier)
        for row in head.rows
        if row.tasks
    )
    count = f"median of {len(singles)}" + (f", {away} far from it" if away else "")
    return ChartReading(
        at=head.round,
        value=_percent(median),
        label=str(head.round),
        caption=f"head of round {head.round}: {median.right:,} of {median.asked:,} right, {count}",
        figure=lambda percent: f"{text.share(percent / 100)} right",
        singles=singles,
    )


def _percent(counts: TaskCounts) -> float:
    return 100 * counts.right / counts.asked
