"""Repeating the training of a past contribution with the trainer's `Audit` task.

Rules. Whatever this worker lacks itself ends in AuditNotPossibleError, and never counts against the
trainer that is audited: weights are hashed before they are used, as training from damaged ones
would give other figures. Of the error feedback before and after sending the audit uses both or
none: with one side missing, honest work would look false.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog
import trio

from tequio_client import files as sync_files
from tequio_client.ipc import trainer as link
from tequio_client.worker.children.trainer import TrainerFailedError
from tequio_client.worker.rounds.past_rounds import PastRounds, PastWork
from tequio_client.worker.rounds.statements import RunContext
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES
from tequio_client.worker.swarm.opened_leaves import (
    LeavesDue,
    LeavesWithheldError,
    feedback_tree,
    fetch_leaves,
)
from tequio_client.worker.swarm.streams import BlobClient
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.ids import ZERO_DIGEST, ContributionId, Digest, to_text
from tequio_shared.round.assignment import split_windows

log = structlog.get_logger(__name__)


_FILES = "audit"
"""How the names of an audit's files begin."""
_CONTENT_PART = 0.5
"""Payload and shards may take this part of the time left."""
_FIRST_LEAF_PART = 0.5
"""Without any leaf after this part of the time left, they are withheld."""
_ALL_LEAVES_PART = 0.9
"""On a slow line they may take this part; the rest is for the comparison."""
_LEAST_S = 5.0
"""With less time left the report comes too late: a busy computer is not taken for a closed one."""
_FIRST_LEAF_S = 15.0
"""In short rounds the first leaf may take this long, as far as all leaves may."""


class AuditNotPossibleError(TequioError):
    """This worker lacks something for the audit; that says nothing about the audited trainer.

    `code` is one of `ipc.texts.DECLINED_AUDIT_TEXTS`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPatience:
    """Longest waits of an audit for what others send."""

    content_s: float = 600.0
    """For payload and shards."""
    leaves_s: float = 600.0
    """For the opened leaves; the trainer may be behind in the log, or on a slow line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTask:
    """Which contribution to audit, and the sample."""

    round: int
    contribution: ContributionId
    chunks: tuple[int, ...]
    """Ascending."""
    seed: Digest
    """Of the sketch's signs."""
    earlier: tuple[link.EarlierSketch, ...] = ()
    """Sketches of other auditors to check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """The trainer's report; without the opened leaves it has only the cosine."""

    report: link.Audited
    are_leaves_withheld: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _AuditFiles:
    """Files of an audit; `opened` comes when both leaves are there, empty if they are withheld."""

    before: Path
    after: Path
    opened: Path
    delta: Path


@dataclass(slots=True)
class _Opening:
    """Outcome of asking for the leaves."""

    is_opened: bool = False
    error: AuditNotPossibleError | None = None


class RepeatedTraining:
    """Audits of one run, one at a time; `client` asks peers for leaves."""

    def __init__(
        self,
        context: RunContext,
        past: PastRounds,
        client: BlobClient,
        patience: AuditPatience | None = None,
    ) -> None:
        self._context = context
        self._past = past
        self._client = client
        self._patience = patience or AuditPatience()
        self._left_s = math.inf
        self._count = 0

    async def audit(self, task: AuditTask, left_s: float = math.inf) -> AuditResult:
        """Repeat the training and compare; raises AuditNotPossibleError.

        Takes the device as long as the training itself. `left_s` is the time until the report has
        to be there. The leaves arrive meanwhile, and only the comparison waits for them.
        """
        self._left_s = left_s
        work = self._past.find(task.round, task.contribution)
        if work is None:
            raise AuditNotPossibleError(
                "unseen-round", f"round {task.round} is not one that this worker saw"
            )
        async with self._files(task) as files:
            weights = await self._weights(work)
            opening, report = _Opening(), None
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._open, work, task.chunks, files, opening, nursery)
                try:
                    report = await self._repeat(work, task, weights, files)
                except AuditNotPossibleError as err:
                    opening.error = err
                nursery.cancel_scope.cancel()
        if report is None:
            raise opening.error or AssertionError("an audit without report and error")
        if report.contribution != to_text(work.id) or len(report.checked) != len(task.earlier):
            raise AuditNotPossibleError(
                "trainer-failed", "the trainer audited another contribution"
            )
        return AuditResult(report=report, are_leaves_withheld=not opening.is_opened)

    @asynccontextmanager
    async def _files(self, task: AuditTask) -> AsyncIterator[_AuditFiles]:
        """Files for both leaves and the pseudo-gradient; deleted when the block ends.

        Those that the trainer still maps, which Windows keeps, are deleted with a later audit's. So
        each audit has names of its own: no later one of the round reads what this one left.
        """
        self._count += 1
        workdir, number = self._context.workdir, task.round
        names = ("before", "after", "opened", "repeated")
        before, after, opened, delta = (
            workdir.file(f"{_FILES}-{self._count}-{name}", number) for name in names
        )
        try:
            yield _AuditFiles(before=before, after=after, opened=opened, delta=delta)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(workdir.delete, _FILES)

    async def _repeat(
        self, work: PastWork, task: AuditTask, weights: Path, files: _AuditFiles
    ) -> link.Audited:
        # Not longer than half of the time left: the member may have windows to train besides.
        content_s = min(self._patience.content_s, self._left_s * _CONTENT_PART)
        with trio.move_on_after(content_s) as patience:
            await self._context.exchange.fetch_tree(work.payload, work.trainer)
            shards = await self._shards(work)
        if patience.cancelled_caught:
            raise AuditNotPossibleError(
                "late-content",
                f"payload or shards did not arrive in {content_s:.0f} s",
            )
        try:
            return await self._ask(work, task, weights, shards, files)
        except TrainerFailedError as err:
            why = f"the trainer could not repeat it: {err}"
            raise AuditNotPossibleError("trainer-failed", why) from err

    async def _weights(self, work: PastWork) -> Path:
        root = work.base.weights_root
        is_sound = await trio.to_thread.run_sync(self._context.store.verify_tree, root)
        path = self._past.weights_path(work)
        if path is None or not is_sound:
            raise AuditNotPossibleError(
                "no-weights", f"the weights of head {work.base.round} are not here"
            )
        return path

    async def _shards(self, work: PastWork) -> tuple[link.Shard, ...]:
        context, rules = self._context, self._context.manifest.windows
        done, _ = split_windows(work.windows, work.header.window_count)
        indices = context.corpus.order(rules.seed).shards_of(done, rules.samples)
        return await context.fetch_shards((at, context.corpus.train[at]) for at in indices)

    async def _open(
        self,
        work: PastWork,
        chunks: Sequence[int],
        files: _AuditFiles,
        opening: _Opening,
        nursery: trio.Nursery,
    ) -> None:
        """Fetch the leaves before and after sending, and say in a file when they are there."""
        try:
            opening.is_opened = await self._fetch_leaves(work, chunks, files)
            word = b"opened" if opening.is_opened else b""
            await trio.to_thread.run_sync(sync_files.write_for_user, files.opened, word)
        except (OSError, UserFacingError) as err:
            opening.error = AuditNotPossibleError("disk", f"cannot write the opened leaves: {err}")
            nursery.cancel_scope.cancel()  # the trainer would wait for them

    async def _fetch_leaves(
        self, work: PastWork, chunks: Sequence[int], files: _AuditFiles
    ) -> bool:
        """Fetch both; False if any of them are withheld."""
        after_root = work.header.feedback_root
        wanted = [(work.feedback, files.before), (after_root, files.after)]
        now, most_s = trio.current_time(), max(self._left_s * _ALL_LEAVES_PART, _LEAST_S)
        first_s = max(self._left_s * _FIRST_LEAF_PART, min(most_s, _FIRST_LEAF_S))
        first_by = now + min(self._patience.leaves_s, first_s)
        all_by = now + min(self._patience.leaves_s, most_s)
        try:
            for root, path in [one for one in wanted if one[0] != ZERO_DIGEST]:
                await fetch_leaves(
                    self._client,
                    feedback_tree(root, work.header.chunk_count),
                    chunks,
                    [work.trainer],
                    path,
                    due=LeavesDue(first_by=first_by, all_by=all_by),
                )
                first_by = all_by  # one leaf of either shows that it is there
        except LeavesWithheldError as err:
            log.info("audit without leaves", round=work.round, slot=work.slot, why=str(err))
            return False
        if after_root == ZERO_DIGEST:
            # Nothing was kept back, by its own word. That is compared like any other feedback:
            # else naming none would be a way not to be compared.
            nothing = bytes(LEAF_BYTES * len(chunks))
            await trio.to_thread.run_sync(sync_files.write_for_user, files.after, nothing)
        return True

    async def _ask(
        self,
        work: PastWork,
        task: AuditTask,
        weights: Path,
        shards: tuple[link.Shard, ...],
        files: _AuditFiles,
    ) -> link.Audited:
        payload = self._context.store.tree_path(work.payload.root)
        return await self._context.workdir.ask(
            lambda command: link.Audit(
                command=command,
                round=work.round,
                run=to_text(self._context.manifest.run_id),
                head=to_text(work.base.hash),
                weights=str(weights),
                k=work.k,
                audited=link.ScreenCandidate(
                    slot=work.slot,
                    trainer=to_text(work.trainer),
                    header=to_text(work.header.pack()),
                    seal=to_text(work.seal),
                    payload=str(payload),
                    windows=work.windows,
                ),
                shards=shards,
                chunks=task.chunks,
                seed=to_text(task.seed),
                earlier=task.earlier,
                delta_out=str(files.delta),
                feedback_in=None if work.feedback == ZERO_DIGEST else str(files.before),
                feedback_out=None if work.shape.is_dense else str(files.after),
                opened=str(files.opened),
            ),
            link.Audited,
        )
