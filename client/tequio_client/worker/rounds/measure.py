"""Measuring the loss of a head on held-out text, when there is nothing else to do.

The idle trainer measures a part of the run's held-out text, slice by slice. Any other duty comes
first; finished slices are kept, and the trainer keeps its place within a slice. After the text come
the tasks of the run, if it names any, in the same way. The head stays in the store meanwhile.
Measuring earns nothing. A member that was drawn for a head submits the results with a sample of
what the head writes (docs/protocol.md, 9.9); other members measure the text now and then for the
local charts, if no draw covers a recent head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import msgspec
import structlog
import trio
from msgspec import UNSET, UnsetType

from tequio_client.ipc import trainer as link
from tequio_client.worker.children.trainer import TrainerFailedError
from tequio_client.worker.rounds.statements import RunContext
from tequio_shared.errors import MalformedError, RefusedError, TequioError
from tequio_shared.head.chain import Head
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.round.corpus import HeldOutShard
from tequio_shared.round.measures import bits_per_byte, perplexity
from tequio_shared.statements.runs import HeadMeasure, Sample, TaskCounts

log = structlog.get_logger(__name__)

CHART_INTERVAL = 10
"""Rounds between two heads that are measured for the local charts."""
SLICE_TOKENS = 4_096
"""Tokens measured per command; the same for every worker, so that all compute the same batches."""
SLICE_QUESTIONS = 256
"""Questions answered per command."""
TASKS_TIMEOUT_S = 600.0
"""Longest wait for the files of tasks, for each head; after that the text alone is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:  # over the documents of a head that were measured so far
    head: Head
    documents: int = 0
    millibits: int = 0
    size_bytes: int = 0
    tokens: int = 0
    tasks: tuple[TaskCounts, ...] = ()  # of the tasks begun; the last one may be unfinished
    files_by_s: float | None = None  # when the wait for the files of tasks ends, once it began


class HeadMeasuring:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.last_measured_round = -1  # round of the head that was measured last, or failed to be
        self.bits_per_byte: float | None = None
        self.perplexity: float | None = None  # per token
        self._sums: _Sums | None = None  # of the head whose measurement began last
        self._kept: Head | None = None  # pinned in the store for its measurement
        self._tasks: tuple[Path, ...] | None = None  # files of the run's tasks, once checked

    async def measure(self, head: Head, *, is_drawn: bool = False) -> HeadMeasure:
        """Measure a head that is in the store; a drawn member adds a sample, and answers tasks.

        Raises TequioError, and counts as measured then.
        """
        with self._attempt(head):
            measure = await self._measured(head)
            if is_drawn:
                tasks = await self._answers(head)
                measure = msgspec.structs.replace(
                    measure, sample=await self._sample(head), tasks=tasks
                )
        self.last_measured_round, self.bits_per_byte = head.round, bits_per_byte(measure)
        self.perplexity = perplexity(measure)
        log.info("head measured", round=head.round, bits_per_byte=round(self.bits_per_byte, 4))
        run = to_text(self._context.manifest.run_id)
        await self._context.points.measured(run, head.round, self.bits_per_byte)
        return measure

    def release_except(self, heads: Sequence[Head]) -> None:
        """Unpin the weights of an interrupted measurement, unless of one of these heads."""
        if self._kept not in heads:
            self._pin(None)

    @contextmanager
    def _attempt(self, head: Head) -> Iterator[None]:
        self._pin(head)
        try:
            yield
        except TequioError:  # not for a cancellation: the measurement will be continued
            self.last_measured_round = head.round
            self._pin(None)
            raise
        self._pin(None)

    def _pin(self, head: Head | None) -> None:
        # The new head first: it may be the same one, and must not be unpinned in between.
        before, self._kept = self._kept, head
        if head is not None:
            self._context.pins.pin(head.weights_root)
        if before is not None:
            self._context.pins.unpin(before.weights_root)

    async def _measured(self, head: Head) -> HeadMeasure:
        """Continue in slices until as many tokens are measured as the run asks for."""
        wanted = self._context.manifest.measures.tokens
        files, documents = await self._held_out()
        if self._sums is None or self._sums.head != head:
            # A drawn head may be several rounds old; no duty has hashed it since.
            if not await trio.to_thread.run_sync(
                self._context.store.verify_tree, head.weights_root
            ):
                raise RefusedError(
                    "no-weights", f"stored weights of round {head.round} are damaged"
                )
            self._sums = _Sums(head=head)
        sums = self._sums
        while sums.tokens < wanted and sums.documents < documents:
            sums = self._sums = await self._add(sums, files, wanted - sums.tokens)
        return HeadMeasure(
            head=to_text(head.hash),
            millibits=sums.millibits,
            size_bytes=sums.size_bytes,
            tokens=sums.tokens,
        )

    async def _sample(self, head: Head) -> Sample | UnsetType:
        """Text that the head writes; UNSET if that fails, as a measurement is valid without."""
        files, documents = await self._held_out()
        every = self._context.manifest.measures.every
        try:
            report = await self._context.workdir.ask(
                lambda command: link.Continue(
                    command=command,
                    round=head.round,
                    weights=str(self._context.store.tree_path(head.weights_root)),
                    shards=files,
                    # Fixed by the round, so that nobody can pick the prompt that flatters a head.
                    document=head.round // max(every, 1) % documents,
                ),
                link.Continued,
            )
            return msgspec.convert({"prompt": report.prompt, "text": report.text}, Sample)
        except (TrainerFailedError, MalformedError, msgspec.ValidationError) as err:
            log.warning("no sample of the head", round=head.round, error=str(err))
            return UNSET

    async def _answers(self, head: Head) -> tuple[TaskCounts, ...] | UnsetType:
        """Answers to the run's tasks; UNSET without tasks, and if that fails, as for a sample."""
        tasks, sums = self._context.manifest.measures.answered, self._sums
        if not tasks or sums is None:
            return UNSET
        # Counted from the first wait: other duties interrupt it, and it would never end.
        by_s = sums.files_by_s or trio.current_time() + TASKS_TIMEOUT_S
        self._sums = replace(sums, files_by_s=by_s)
        try:
            files = await self._task_files(by_s)
            for at, (task, file) in enumerate(zip(tasks, files, strict=True)):
                while (begun := self._begun(at)) is None or begun.asked < task.questions:
                    await self._answer(head, file, at, begun)
        except (TrainerFailedError, MalformedError) as err:
            log.warning("tasks not answered", round=head.round, error=str(err))
            return UNSET
        return self._sums.tasks

    def _begun(self, at: int) -> TaskCounts | None:
        """Counts so far of the task at that place; None before its first question."""
        found = self._sums.tasks if self._sums else ()
        return found[at] if at < len(found) else None

    async def _answer(self, head: Head, file: Path, at: int, begun: TaskCounts | None) -> None:
        report = await self._context.workdir.ask(
            lambda command: link.AnswerQuestions(
                command=command,
                round=head.round,
                weights=str(self._context.store.tree_path(head.weights_root)),
                task=str(file),
                first=begun.asked if begun else 0,
                count=SLICE_QUESTIONS,
            ),
            link.QuestionsAnswered,
        )
        if self._sums is None or self._sums.head != head:
            raise AssertionError("another head is measured meanwhile")
        counts = add_counts(begun, report.counts) if begun else report.counts
        self._sums = replace(self._sums, tasks=(*self._sums.tasks[:at], counts))

    async def _task_files(self, by_s: float) -> tuple[Path, ...]:
        """Fetch the tasks' files into the store, where they stay while the run is followed.

        Raises MalformedError for one that is unavailable, or that the manifest describes wrongly.
        """
        if self._tasks is None:
            context, found = self._context, list[Path]()
            for task in context.manifest.measures.answered:
                digest = digest_from_text(task.file)
                context.pins.pin(digest)
                with trio.move_on_at(by_s) as patience:
                    path = await context.exchange.fetch_blob_file(digest)
                if patience.cancelled_caught:
                    raise MalformedError(f"the file {task.file} of {task.name} is unavailable")
                content = await trio.to_thread.run_sync(path.read_bytes)
                if await trio.to_thread.run_sync(MeasuredTask.of, content) != task:
                    raise MalformedError(f"{task.file} is not the task {task.name} of the manifest")
                found.append(path)
            self._tasks = tuple(found)
        return self._tasks

    async def _held_out(self) -> tuple[tuple[link.Shard, ...], int]:
        """Files of the measured text, and its number of documents; raises RefusedError for none."""
        tokens = self._context.manifest.measures.tokens
        shards = select_shards(self._context.corpus.held_out, tokens)
        if not shards:
            raise RefusedError("no-text", "the run's data has no held-out text")
        files = await self._context.fetch_shards(enumerate(shards))
        return files, sum(shard.documents for shard in shards)

    async def _add(self, sums: _Sums, files: tuple[link.Shard, ...], missing: int) -> _Sums:
        report = await self._context.workdir.ask(
            lambda command: link.Evaluate(
                command=command,
                round=sums.head.round,
                weights=str(self._context.store.tree_path(sums.head.weights_root)),
                shards=files,
                max_tokens=min(missing, SLICE_TOKENS),
                first_document=sums.documents,
            ),
            link.Evaluated,
        )
        return replace(
            sums,
            documents=sums.documents + report.documents,
            millibits=sums.millibits + report.millibits,
            size_bytes=sums.size_bytes + report.text_bytes,
            tokens=sums.tokens + report.tokens,
        )


def add_counts(one: TaskCounts, other: TaskCounts) -> TaskCounts:
    """Counts of two sets of questions together."""
    first, second = msgspec.structs.asdict(one), msgspec.structs.asdict(other)
    return TaskCounts(**{name: count + second[name] for name, count in first.items()})


def select_shards(shards: Sequence[HeldOutShard], tokens: int) -> Sequence[HeldOutShard]:
    """The first shards that together have this many tokens; all of them if they have fewer."""
    before = accumulate((shard.tokens for shard in shards), initial=0)
    return [shard for shard, sum_before in zip(shards, before, strict=False) if sum_before < tokens]
