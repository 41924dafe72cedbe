"""Tasks of multiple-choice questions, and how well a model answers them, in integers.

A task is a file of canonical JSON, so its SHA-256 names the questions, their prompts and the right
answers. A question is a list of requests: text that the model reads (context), and text whose
likelihood is computed (continuation), as in the loglikelihood requests of lm-evaluation-harness.
The model's answer is the choice whose continuation needs the fewest bits (`acc` of the harness), or
the fewest bits per character of the choice (`acc_norm`).

Each loss is rounded to thousandths of a bit, once; from there on everything is exact. Two honest
computers can differ in the last digits of a loss, so an answer can differ where the right choice
and the best of the others cost almost the same: those questions are counted as close, and honest
counts of right answers differ by no more than them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import STEERING, Bytes32Text, Natural, Positive, sha256, to_text
from tequio_shared.limits import BLOB_BYTES, JSON_INTEGER
from tequio_shared.scoring import DOCUMENT_TOLERANCE, MILLIBITS

CHOICES = 256
"""Most choices of a question."""
_MILLION = 1_000_000
_Z_95 = 1.959963984540054
"""Standard deviations of a normal distribution that hold 95 % of it, to either side."""

TaskName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._+-]{0,99}\Z")]
TaskSource = Annotated[str, Meta(min_length=1, max_length=200, pattern=rf"\A[^\n{STEERING}]*\Z")]
Texts = Annotated[tuple[str, ...], Meta(min_length=1, max_length=CHOICES)]


class ChoiceQuestion(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One question; `contexts` and `continuations` have one text for all choices, or one each."""

    characters: Annotated[tuple[Positive, ...], Meta(min_length=2, max_length=CHOICES)]
    """Length of each choice as a person reads it, by which `acc_norm` divides."""
    contexts: Texts
    continuations: Texts
    right: Natural
    """Index of the right choice."""

    def __post_init__(self) -> None:
        count = len(self.characters)
        for name, texts in (("contexts", self.contexts), ("continuations", self.continuations)):
            if len(texts) not in (1, count):
                raise MalformedError(f"{len(texts)} {name} for {count} choices: one, or one each")
        if max(len(self.contexts), len(self.continuations)) != count:
            raise MalformedError(f"one context and one continuation for {count} choices")
        if not all(self.continuations):
            raise MalformedError("a continuation is empty, so its likelihood says nothing")
        if self.right >= count:
            raise MalformedError(f"choice {self.right} is right, but the last one is {count - 1}")

    @property
    def requests(self) -> tuple[tuple[str, str], ...]:
        """Context and continuation of each choice."""
        count = len(self.characters)
        return tuple(
            zip(_each(self.contexts, count), _each(self.continuations, count), strict=True)
        )


class ChoiceTask(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file of questions; equal questions with equal names and sources are equal bytes."""

    name: TaskName
    questions: Annotated[tuple[ChoiceQuestion, ...], Meta(min_length=1, max_length=1 << 20)]
    source: TaskSource
    """Where the questions are from, with the version and the number of examples in a prompt."""

    @classmethod
    def parse(cls, raw: bytes) -> ChoiceTask:
        """Read a file; raises MalformedError for anything but its one spelling."""
        return encoding.decode(raw, cls, BLOB_BYTES)

    def encode(self) -> bytes:
        """Bytes of the file; raises MalformedError if they are too many or not Unicode."""
        try:
            raw = encoding.encode(self)
        except RefusedError as err:
            raise MalformedError(f"the questions of {self.name} are not text: {err}") from err
        if len(raw) > BLOB_BYTES:
            raise MalformedError(
                f"the questions of {self.name} have {len(raw):,} bytes; at most {BLOB_BYTES:,} "
                "are allowed, so choose fewer"
            )
        return raw

    @property
    def chance(self) -> Fraction:
        """Share of right answers of somebody who guesses."""
        total = sum(Fraction(1, len(one.characters)) for one in self.questions)
        return Fraction(total) / len(self.questions)

    def drawn(self, count: int) -> ChoiceTask:
        """Draw questions by their hashes, in their old order; all of them if there are fewer.

        Data sets are often sorted by topic, so the first questions would be of few topics. The same
        questions give the same draw everywhere.
        """
        ranked = sorted(
            range(len(self.questions)), key=lambda at: sha256(encoding.encode(self.questions[at]))
        )
        kept = sorted(ranked[:count])
        return ChoiceTask(
            name=self.name,
            questions=tuple(self.questions[at] for at in kept),
            source=self.source,
        )


class MeasuredTask(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A task as a run's manifest names it; all but `file` follows from the file.

    The manifest has the numbers, so that readers of the log need not fetch a file to know what an
    accuracy is of, and above what chance it has to be.
    """

    chance_e6: Annotated[int, Meta(ge=0, le=500_000)]
    """Share of right answers of somebody who guesses, in millionths."""
    file: Bytes32Text
    name: TaskName
    questions: Positive
    requests: Positive
    """Choices of all questions."""

    @classmethod
    def of(cls, raw: bytes) -> MeasuredTask:
        """Describe a file; raises MalformedError for one that is not a task."""
        task = ChoiceTask.parse(raw)
        return cls(
            chance_e6=round(task.chance * _MILLION),
            file=to_text(sha256(raw)),
            name=task.name,
            questions=len(task.questions),
            requests=sum(len(one.characters) for one in task.questions),
        )

    @property
    def chance(self) -> float:
        return self.chance_e6 / _MILLION


class ChoiceLosses(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Cost of each choice of a question under one model; none if the model cannot read it."""

    millibits: tuple[Natural, ...]
    is_cut: bool = False
    """True if the beginning of a context was left out, as it is longer than the window."""


def round_losses(nats: Sequence[float], *, is_cut: bool) -> ChoiceLosses:
    """Round the losses of the choices; raises ValueError for one that is not a valid number."""
    millibits = [one / math.log(2) * MILLIBITS for one in nats]
    for one in millibits:
        if not 0 <= one <= JSON_INTEGER:
            raise ValueError(f"invalid negative log-likelihood {one}")
    return ChoiceLosses(millibits=tuple(map(round, millibits)), is_cut=is_cut)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceTotals:
    """Counts over the questions of a task."""

    asked: int
    right: int
    """By the fewest bits, the first of equals: `acc` of lm-evaluation-harness."""
    right_normed: int
    """By the fewest bits per character of the choice: `acc_norm`."""
    close: int
    """Questions in which other honest computers may count `right` in the other way."""
    close_normed: int
    unread: int
    """Questions that the model cannot read or that do not fit; none of them is right."""
    cut: int

    @classmethod
    def of(
        cls, questions: Sequence[ChoiceQuestion], losses: Sequence[ChoiceLosses]
    ) -> ChoiceTotals:
        """Count; the losses are those of the questions, in their order."""
        read = [
            (question, found)
            for question, found in zip(questions, losses, strict=True)
            if found.millibits
        ]
        plain = [_judge(one.right, it.millibits, [1] * len(it.millibits)) for one, it in read]
        normed = [_judge(one.right, it.millibits, one.characters) for one, it in read]
        return cls(
            asked=len(questions),
            right=sum(is_right for is_right, _ in plain),
            right_normed=sum(is_right for is_right, _ in normed),
            close=sum(is_close for _, is_close in plain),
            close_normed=sum(is_close for _, is_close in normed),
            unread=len(questions) - len(read),
            cut=sum(one.is_cut for one in losses),
        )

    @property
    def accuracy(self) -> float:
        return self.right / self.asked

    @property
    def accuracy_normed(self) -> float:
        return self.right_normed / self.asked


def interval_95(right: int, asked: int) -> tuple[float, float]:
    """Shares of right answers, over all questions of the kind, that fit what was counted.

    Wilson's score interval (1927), which also holds for few questions and for all or none right.
    """
    z2 = _Z_95**2
    share = right / asked
    middle = (share + z2 / (2 * asked)) / (1 + z2 / asked)
    off = _Z_95 / (1 + z2 / asked) * math.sqrt(share * (1 - share) / asked + z2 / (4 * asked**2))
    return max(middle - off, 0.0), min(middle + off, 1.0)


def _each(texts: tuple[str, ...], count: int) -> tuple[str, ...]:
    return texts if len(texts) == count else texts * count


def _judge(right: int, millibits: Sequence[int], divisors: Sequence[int]) -> tuple[bool, bool]:
    """Return whether the first of the cheapest choices is right, and whether it is close."""
    costs = list(map(Fraction, millibits, divisors))
    best = min(range(len(costs)), key=lambda at: costs[at])
    # Honest losses are within one part in DOCUMENT_TOLERANCE, and their own rounding.
    slacks = [
        Fraction(one + DOCUMENT_TOLERANCE, divisor * DOCUMENT_TOLERANCE)
        for one, divisor in zip(millibits, divisors, strict=True)
    ]
    # Each of the others: a short choice has much slack, so the second cheapest does not decide.
    gaps = [
        (cost - costs[right], slack + slacks[right])
        for at, (cost, slack) in enumerate(zip(costs, slacks, strict=True))
        if at != right
    ]
    may_be_right = all(gap + slack >= 0 for gap, slack in gaps)
    return best == right, may_be_right and any(gap <= slack for gap, slack in gaps)
