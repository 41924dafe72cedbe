"""Measures of a head on held-out text, as stated by members drawn for it.

Rules. A head is drawn for as it is promoted, by the lots of the round's members: the lot falls on
witnesses that attested the head before, so they hold it. Measures are accepted for the last heads
drawn for, so that short rounds leave time, and also after the run's end. No rule depends on them.

Theory. All measure the same documents in the same way, so honest values differ by no more than
devices do. The median of three is right even if one of them lies; a liar far from it shows.

Right answers to a task are counts, which can differ where two choices cost almost the same. Each
member counts these questions as close, and two honest members differ in no others: each of them
finds the questions close in which they differ. So with one liar of three, honest counts are within
the median of what the members state as close, of whose figures each is taken by itself: stating
many close questions, or none, moves no bound beyond the honest ones. (docs/protocol.md, 9.9)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET

from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.limits import MEASURED_HEADS
from tequio_shared.round import lots
from tequio_shared.scoring import MILLIBITS, power_of_two
from tequio_shared.statements.runs import TaskCounts

if TYPE_CHECKING:
    from tequio_shared.head.chain import Head
    from tequio_shared.round.manifest import Manifest, MeasureRules
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.runs import HeadMeasure, Sample


TOLERANCE = 1_000
"""Honest measures of one head differ from their median by at most one part in this many."""
_MAJORITY = 3
"""The fewest measures of which two can outvote one."""

_Name = TypeVar("_Name")


@dataclass(slots=True, kw_only=True)
class MeasureDraw:
    """A head that was drawn for: the members drawn, and what they have stated so far."""

    head: Head
    drawn: tuple[PeerKey, ...]  # ascending by slot
    measures: dict[PeerKey, HeadMeasure] = field(default_factory=dict)  # in the order of the log

    def admit(self, author: PeerKey) -> None:
        """Raise RefusedError unless the author may still state its measure."""
        head = self.head
        if author not in self.drawn:
            raise RefusedError("wrong-role", f"not drawn to measure the head of round {head.round}")
        if author in self.measures:
            raise RefusedError(
                "already-said", f"a second measure of the head of round {head.round}"
            )

    @property
    def bits_per_byte(self) -> float | None:
        """The median so far, or None without any measure."""
        return bits_per_byte(median(self.measures.values())) if self.measures else None

    @property
    def perplexity(self) -> float | None:
        """Of the same median, per token; None without any measure."""
        return perplexity(median(self.measures.values())) if self.measures else None


@dataclass(slots=True, kw_only=True)
class MeasureDraws:
    """The draws of a run for which measures are still accepted: those of the last heads."""

    is_whole: bool
    """True if every draw of the run was seen; else some lie before the start of the view."""
    open: list[MeasureDraw] = field(default_factory=list)  # ascending by round
    measured: MeasureDraw | None = None  # of the newest head with a measure
    first: int | None = None  # round of the first head drawn for in this view

    @property
    def last(self) -> MeasureDraw | None:
        return self.open[-1] if self.open else None

    def draw_for(self, current: RoundView, head: Head) -> None:
        """Draw for a head that has just been promoted; the oldest draw may close."""
        self.open.append(MeasureDraw(head=head, drawn=_drawn(current, head)))
        # Bounded, or every reader would hold all draws of the run.
        del self.open[:-MEASURED_HEADS]
        self.first = head.round if self.first is None else self.first

    def add_earlier(self, draw: MeasureDraw) -> None:
        """Add a draw that lies before the start of the view."""
        self.open = sorted([*self.open, draw], key=lambda one: one.head.round)

    def admit(self, author: PeerKey, round_number: int, body: HeadMeasure) -> MeasureDraw | None:
        """Find the draw of a measure; None: before the start of the view, where it is unknown.

        Raises RefusedError unless the author may state it now.
        """
        for draw in self.open:
            if (round_number, body.head) == (draw.head.round, to_text(draw.head.hash)):
                draw.admit(author)
                return draw
        # A light view cannot know older draws: refusing would make it disagree with full readers.
        if not self.is_whole and (self.first is None or round_number < self.first):
            return None
        names = ", ".join(str(draw.head.round) for draw in self.open)
        taken = (
            f"measures are open for the heads of rounds {names}"
            if names
            else "no measures are open"
        )
        raise RefusedError("wrong-head", f"the head of round {round_number}: {taken}")

    def record(self, author: PeerKey, round_number: int, body: HeadMeasure) -> None:
        """Record a measure; raises RefusedError if the author may not state it."""
        draw = self.admit(author, round_number, body)
        if draw is None:
            return
        draw.measures[author] = body
        # Late measures of an older head must not replace the newer one.
        if self.measured is None or self.measured.head.round <= draw.head.round:
            self.measured = draw


def is_due(manifest: Manifest, head_round: int, *, is_last: bool) -> bool:
    """Return whether the head of that round is drawn for; the run's last head always is, if any."""
    every = manifest.measures.every
    return every > 0 and (is_last or head_round % every == 0)


def median(measures: Iterable[HeadMeasure]) -> HeadMeasure:
    """Middle measure by bits per byte, of an even number the worse; needs at least one."""
    ranked = sorted(measures, key=lambda one: Fraction(one.millibits, one.size_bytes))
    return ranked[len(ranked) // 2]


def outliers(measures: Mapping[_Name, HeadMeasure]) -> frozenset[_Name]:
    """Names of measures that disagree with the median: of another text, or too far from it.

    Below three measures there are none: nobody can tell which one is wrong.
    """
    # Of two that differ, either may be the wrong one.
    if len(measures) < _MAJORITY:
        return frozenset()
    middle = median(measures.values())
    return frozenset(name for name, one in measures.items() if not agree(one, middle))


def bits_per_byte(measure: HeadMeasure) -> float:
    """Bits that the head needs for a byte of text."""
    return measure.millibits / (measure.size_bytes * MILLIBITS)


def perplexity(measure: HeadMeasure) -> float:
    """2 to the bits that the head needs for a token; infinite where that overflows.

    It compares heads of one run: another tokenizer cuts the same text into other tokens.
    """
    return power_of_two(measure.millibits / (measure.tokens * MILLIBITS))


def _drawn(current: RoundView, head: Head) -> tuple[PeerKey, ...]:
    """Draw the keys that measure the head (docs/protocol.md, 9.9)."""
    keys, size = current.roster.keys, current.manifest.measures.members
    return tuple(keys[slot] for slot in lots.measurers(current.holders(to_text(head.hash)), size))


def agree(one: HeadMeasure, middle: HeadMeasure) -> bool:
    """Return whether a measure is of the median's text, and within `TOLERANCE` of it."""
    is_same_text = (one.size_bytes, one.tokens) == (middle.size_bytes, middle.tokens)
    away = abs(one.millibits - middle.millibits)
    return is_same_text and away * TOLERANCE <= middle.millibits


def check_tasks(rules: MeasureRules, measure: HeadMeasure) -> None:
    """Raise RefusedError unless the measure has no counts, or one of each of the run's tasks."""
    counted = [one.asked for one in tasks_of(measure)]
    due = [one.questions for one in rules.answered]
    if counted and counted != due:
        raise RefusedError(
            "wrong-tasks", f"answers to tasks of {counted} questions; the run's have {due}"
        )


def tasks_of(measure: HeadMeasure) -> tuple[TaskCounts, ...]:
    return () if measure.tasks is UNSET else measure.tasks


def answers_by_task(measured: Mapping[_Name, HeadMeasure]) -> list[dict[_Name, TaskCounts]]:
    """Counts of each task, in the run's order, by the names of those that answered it.

    Empty if nobody answered: a measure has counts of all tasks, or of none.
    """
    answers = {name: found for name, body in measured.items() if (found := tasks_of(body))}
    return [
        dict(zip(answers, counts, strict=True)) for counts in zip(*answers.values(), strict=True)
    ]


def task_median(counts: Collection[TaskCounts]) -> TaskCounts:
    """Median of each figure by itself, of members that answered one task; needs at least one.

    Of an even number, the smaller count of right answers and the larger of close ones.
    """
    last = len(counts) - 1

    def middle(figures: Iterable[int], at: int) -> int:
        return sorted(figures)[at]

    return TaskCounts(
        asked=middle((one.asked for one in counts), last // 2),
        right=middle((one.right for one in counts), last // 2),
        right_normed=middle((one.right_normed for one in counts), last // 2),
        close=middle((one.close for one in counts), len(counts) // 2),
        close_normed=middle((one.close_normed for one in counts), len(counts) // 2),
    )


def agree_on_task(one: TaskCounts, middle: TaskCounts) -> bool:
    """Return whether both counts of right answers are as near to the median as honest ones are."""
    return (
        one.asked == middle.asked
        and abs(one.right - middle.right) <= middle.close
        and abs(one.right_normed - middle.right_normed) <= middle.close_normed
    )


def task_outliers(counts: Mapping[_Name, TaskCounts]) -> frozenset[_Name]:
    """Names of the counts of one task that disagree with their median; none below three counts."""
    if len(counts) < _MAJORITY:
        return frozenset()
    middle = task_median(counts.values())
    return frozenset(name for name, one in counts.items() if not agree_on_task(one, middle))


def sample_of(measure: HeadMeasure) -> Sample | None:
    return None if measure.sample is UNSET else measure.sample


def best_sample(measures: Mapping[_Name, HeadMeasure]) -> tuple[_Name, Sample] | None:
    """Choose the sample that agrees longest with the others', and name its author.

    The likeliest next token is the same for all who measure a head, except where two are equally
    likely up to rounding; from there on honest texts differ. Nobody can check such a text without
    the model, and strangers read it: so the longest agreement wins, and of three authors one that
    invents a text never does. Between equals it is the median's, then the first. Outliers are out.
    """
    away = outliers(measures)
    samples = {
        name: sample
        for name, one in measures.items()
        if name not in away and (sample := sample_of(one)) is not None
    }
    if not samples:
        return None
    middle = median(measures.values())

    def rank(name: _Name) -> tuple[int, bool]:
        others = (one for other, one in samples.items() if other != name)
        return sum(_agreement(samples[name], one) for one in others), measures[name] is middle

    chosen = max(samples, key=rank)
    return chosen, samples[chosen]


def _agreement(one: Sample, other: Sample) -> int:
    """Length of the common beginning, counting the prompt as 1."""
    if one.prompt != other.prompt:
        return 0
    pairs = zip(one.text, other.text, strict=False)
    return 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
