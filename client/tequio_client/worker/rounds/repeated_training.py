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

from tequio_client import files
from tequio_client.ipc import trainer as link
from tequio_client.worker.children.trainer import TrainerFailedError
from tequio_client.worker.rounds.past_rounds import PastRounds, PastWork
from tequio_client.worker.rounds.statements import RunContext
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES
from tequio_client.worker.swarm.opened_leaves import (
    LeavesWithheldError,
    feedback_tree,
    fetch_leaves,
)
from tequio_client.worker.swarm.streams import BlobClient
from tequio_shared.errors import TequioError
from tequio_shared.ids import ZERO_DIGEST, ContributionId, Digest, to_text
from tequio_shared.round.assignment import split_windows

log = structlog.get_logger(__name__)


_OPENING_PART = 3
_LEAST_S = 5.0


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
    leaves_s: float = 120.0
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
class _Inputs:
    weights: Path
    shards: tuple[link.Shard, ...]
    before: Path | None
    after: Path | None
    are_leaves_withheld: bool


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

    async def audit(self, task: AuditTask, left_s: float = math.inf) -> AuditResult:
        """Repeat the training and compare; raises AuditNotPossibleError.

        Takes the device as long as the training itself. `left_s` is the time until the report has
        to be there: a third of it is the most that the trainer has for opening its contribution.
        """
        self._left_s = left_s
        work = self._past.find(task.round, task.contribution)
        if work is None:
            raise AuditNotPossibleError(
                "unseen-round", f"round {task.round} is not one that this worker saw"
            )
        async with self._files(task) as (before, after, delta):
            inputs = await self._gather(work, task.chunks, before, after)
            try:
                report = await self._ask(work, task, inputs, delta)
            except TrainerFailedError as err:
                why = f"the trainer could not repeat it: {err}"
                raise AuditNotPossibleError("trainer-failed", why) from err
        if report.contribution != to_text(work.id) or len(report.checked) != len(task.earlier):
            raise AuditNotPossibleError(
                "trainer-failed", "the trainer audited another contribution"
            )
        return AuditResult(report=report, are_leaves_withheld=inputs.are_leaves_withheld)

    @asynccontextmanager
    async def _files(self, task: AuditTask) -> AsyncIterator[tuple[Path, Path, Path]]:
        """Files for both leaves and the pseudo-gradient; deleted when the block ends."""
        names = ("leaves-before", "leaves-after", "repeated")
        before, after, delta = (self._context.workdir.file(name, task.round) for name in names)
        try:
            yield before, after, delta
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_delete, (before, after, delta))

    async def _gather(
        self, work: PastWork, chunks: Sequence[int], before: Path, after: Path
    ) -> _Inputs:
        weights = await self._weights(work)
        # First of what others send: the trainer may leave, and nobody else has its leaves.
        is_opened = await self._open(work, chunks, before, after)
        with trio.move_on_after(self._patience.content_s) as patience:
            await self._context.exchange.fetch_tree(work.payload, work.trainer)
            shards = await self._shards(work)
        if patience.cancelled_caught:
            raise AuditNotPossibleError(
                "late-content",
                f"payload or shards did not arrive in {self._patience.content_s:.0f} s",
            )
        has_before = is_opened and work.feedback != ZERO_DIGEST
        has_after = is_opened and not work.shape.is_dense
        return _Inputs(
            weights=weights,
            shards=shards,
            before=before if has_before else None,
            after=after if has_after else None,
            are_leaves_withheld=not is_opened,
        )

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

    async def _open(self, work: PastWork, chunks: Sequence[int], before: Path, after: Path) -> bool:
        """Fetch the leaves before and after sending; False if any of them are withheld."""
        wanted = [
            (root, path)
            for root, path in ((work.feedback, before), (work.header.feedback_root, after))
            if root != ZERO_DIGEST
        ]
        # Waiting longer would leave no time to train, and an auditor that never reports would let
        # a trainer that opens nothing go on.
        # But never so short that a busy computer is taken for a closed one.
        patience_s = min(self._patience.leaves_s, max(self._left_s / _OPENING_PART, _LEAST_S))
        deadline_s = trio.current_time() + patience_s
        try:
            for root, path in wanted:
                await fetch_leaves(
                    self._client,
                    feedback_tree(root, work.header.chunk_count),
                    chunks,
                    [work.trainer],
                    path,
                    timeout_s=max(deadline_s - trio.current_time(), 0),
                )
            if work.header.feedback_root == ZERO_DIGEST:
                # Nothing was kept back, by its own word. That is compared like any other feedback:
                # else naming none would be a way not to be compared.
                nothing = bytes(LEAF_BYTES * len(chunks))
                await trio.to_thread.run_sync(files.write_for_user, after, nothing)
        except LeavesWithheldError as err:
            log.info("audit without leaves", round=work.round, slot=work.slot, why=str(err))
            return False
        except OSError as err:
            raise AuditNotPossibleError("disk", f"cannot write the opened leaves: {err}") from err
        return True

    async def _ask(
        self, work: PastWork, task: AuditTask, inputs: _Inputs, delta: Path
    ) -> link.Audited:
        payload = self._context.store.tree_path(work.payload.root)
        return await self._context.workdir.ask(
            lambda command: link.Audit(
                command=command,
                round=work.round,
                run=to_text(self._context.manifest.run_id),
                head=to_text(work.base.hash),
                weights=str(inputs.weights),
                k=work.k,
                audited=link.ScreenCandidate(
                    slot=work.slot,
                    trainer=to_text(work.trainer),
                    header=to_text(work.header.pack()),
                    seal=to_text(work.seal),
                    payload=str(payload),
                    windows=work.windows,
                ),
                shards=inputs.shards,
                chunks=task.chunks,
                seed=to_text(task.seed),
                earlier=task.earlier,
                delta_out=str(delta),
                feedback_in=str(inputs.before) if inputs.before else None,
                feedback_out=str(inputs.after) if inputs.after else None,
            ),
            link.Audited,
        )


def _delete(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
