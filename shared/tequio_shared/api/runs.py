"""Answers about runs: the run, its rounds, its heads on the Hub and on held-out text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared.api.answer import ROWS, AsOf, Rows, Text
from tequio_shared.ids import (
    Bytes32Text,
    Natural,
    NoticeText,
    Positive,
    Prompt,
    RunId,
    Written,
    digest_from_text,
)
from tequio_shared.limits import MEASURED_TASKS
from tequio_shared.multiple_choice import TaskName
from tequio_shared.network.run_states import RunState
from tequio_shared.network.verdicts import HeadVerdict
from tequio_shared.statements.network import LocationText, PublishedRevisionText

# A reader accepts any word here: a newer ledger may have more of them.
VerdictText = Annotated[Text, Meta(extra_json_schema={"enum": [one.value for one in HeadVerdict]})]
StateText = Annotated[Text, Meta(extra_json_schema={"enum": [one.value for one in RunState]})]
# Those of `round.RoundPhase`: that module needs numpy, which the app must not load.
_PHASES = ["attest", "train", "witness", "over"]
PhaseText = Annotated[Text, Meta(extra_json_schema={"enum": _PHASES})]
OutcomeText = Annotated[Text, Meta(extra_json_schema={"enum": ["open", "closed", "void"]})]


class ResumeAnswer(Struct, frozen=True, kw_only=True):
    """Log indices from which a worker that joins a run reads the log."""

    after: Natural
    """The run's last round.close, round.void, run.rollback or run.open."""
    head: Natural | None
    """The last head.promote or run.rollback at or before `after`."""
    close: Natural | None
    """The last round.close whose head was not promoted before `after`."""


class PublishedAnswer(Struct, frozen=True):
    """A head that organisers published, where, and the entry that states it."""

    round: Natural
    location: LocationText
    revision: PublishedRevisionText
    index: Natural


class RollbackAnswer(Struct, frozen=True):
    """The run went back to the head of a round, after its last round; the entry that states it."""

    head_round: Natural
    last_round: Natural
    index: Natural


class NoticeAnswer(Struct, frozen=True):
    """Text of organisers for a run or for the network, its time, and the entry that states it."""

    text: NoticeText
    ts: Natural
    index: Natural


class NetworkNoticeAnswer(Struct, frozen=True, kw_only=True):
    """The announcement to the whole network that is in force."""

    announcement: NoticeAnswer | None
    as_of: AsOf


class WrittenAnswer(Struct, frozen=True):
    """Text by the head after a round, as a drawn member reports it."""

    round: Natural
    peer: Bytes32Text
    prompt: Prompt
    text: Written


class RunAnswer(Struct, frozen=True, kw_only=True):
    """One run, as the ledger reports it."""

    run: Bytes32Text
    name: Text
    manifest: Bytes32Text
    state: StateText
    phase: PhaseText | None
    round: Natural
    closed: Natural
    voided: Natural
    members: Natural
    tokens: Natural
    roster_index: Natural | None
    opened_index: Natural
    head: Bytes32Text | None
    head_round: Natural | None
    weights_root: Bytes32Text | None
    aux_root: Bytes32Text | None
    published: Annotated[tuple[PublishedAnswer, ...], Meta(max_length=ROWS)]
    rollbacks: Annotated[tuple[RollbackAnswer, ...], Meta(max_length=ROWS)]
    """The newest first."""
    announcement: NoticeAnswer | None
    pause_reason: NoticeAnswer | None
    """Only while the run is paused, or will be after this round."""
    chat: NoticeAnswer | None
    """Address at which the organisers let people try the model."""
    sample: WrittenAnswer | None
    """The newest sample."""
    resume: ResumeAnswer
    as_of: AsOf

    @property
    def id(self) -> RunId:
        return RunId(digest_from_text(self.run))


class RunsAnswer(Struct, frozen=True):
    """A page of runs, the oldest first; continue after `next`."""

    runs: Rows[RunAnswer]
    next: Natural | None
    as_of: AsOf


class RoundAnswer(Struct, frozen=True, kw_only=True):
    """One round of a run, as the ledger reports it; `roster` and `result` are blobs."""

    round: Natural
    outcome: OutcomeText
    roster_index: Natural
    roster: Bytes32Text
    opened_index: Natural | None
    closed_index: Natural | None
    accepted: Natural
    head: Bytes32Text | None
    result: Bytes32Text | None
    loss_q16: Natural | None
    """Median of the losses that its accepted trainers claim, in 2^-16 nats per token."""
    as_of: AsOf


class RoundsAnswer(Struct, frozen=True):
    """A page of rounds, ascending; continue after `next`."""

    rounds: Rows[RoundAnswer]
    next: Natural | None
    as_of: AsOf


class TaskAnswer(Struct, frozen=True, kw_only=True):
    """One drawn member's counts of a task; `is_outlier`: further from the median than honest."""

    asked: Positive
    right: Natural
    right_normed: Natural
    close: Natural
    close_normed: Natural
    is_outlier: bool


class MeasuredTaskAnswer(Struct, frozen=True, kw_only=True):
    """One task of the run: how many members answered it, and the median of each count."""

    file: Bytes32Text
    name: TaskName
    chance_e6: Natural
    members: Natural
    asked: Positive
    right: Natural
    right_normed: Natural
    close: Natural
    close_normed: Natural


class MeasureAnswer(Struct, frozen=True, kw_only=True):
    """One drawn member's measure of a head; `is_outlier`: far from the others' median."""

    entry: Natural
    peer: Bytes32Text
    millibits: Natural
    size_bytes: Positive
    tokens: Positive
    is_outlier: bool
    tasks: Annotated[Sequence[TaskAnswer], Meta(max_length=MEASURED_TASKS)]
    """In the order of the run's tasks; none if the member answered none."""


class SampleAnswer(Struct, frozen=True, kw_only=True):
    """Text that a head adds to the beginning of a held-out text, as one drawn member reports it."""

    entry: Natural
    peer: Bytes32Text
    prompt: Prompt
    text: Written


class MeasuredAnswer(Struct, frozen=True, kw_only=True):
    """One head: the median of its measures, each measure, and what they say together."""

    round: Natural
    head: Bytes32Text
    millibits: Natural
    size_bytes: Positive
    tokens: Positive
    measures: Rows[MeasureAnswer]
    verdict: VerdictText
    best: Natural | None
    """Round of the head that it was compared with."""
    sample: SampleAnswer | None
    tasks: Annotated[Sequence[MeasuredTaskAnswer], Meta(max_length=MEASURED_TASKS)]


class MeasuresAnswer(Struct, frozen=True):
    """A page of measured heads, ascending; continue after `next`."""

    heads: Rows[MeasuredAnswer]
    next: Natural | None
    as_of: AsOf
