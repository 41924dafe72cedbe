"""Training in a round, and committing to the result.

Rules. Before the commitment is submitted, payload and error feedback are on the disk under their
hashes, and the header is one that the round accepts. Work that was trained but not committed before
a restart is committed without training again; a submitted commitment is never replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from tequio_client.ipc import trainer as link
from tequio_client.worker.points.points_db import RoundWork
from tequio_client.worker.store.trees import TreeRef
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.head.contribution import HEADER_BYTES, ContributionHeader
from tequio_shared.ids import Digest, from_text, to_text
from tequio_shared.statements.runs import WorkCommit

if TYPE_CHECKING:
    from tequio_client.worker.ledger.follower import LedgerClock
    from tequio_client.worker.rounds import duties
    from tequio_client.worker.rounds.statements import RunContext, RunStatements
    from tequio_shared.round.round import Head, RoundView


UPLOAD_MARGIN_MS = 2_000
"""A trainer stops this long before the deadline, to leave time for encoding and committing."""


@dataclass(slots=True)
class WorkTally:
    """Work done since the worker started, for status and logs."""

    rounds_trained: int = 0
    proofs: int = 0
    tokens: int = 0
    train_seconds: float = 0.0
    loss_last: float = 0.0


class RoundTraining:
    """Trains in the rounds in which this key has a slot."""

    def __init__(self, means: RunContext, statements: RunStatements, tally: WorkTally) -> None:
        self._means = means
        self._statements = statements
        self._tally = tally
        self._pinned: Digest | None = None  # payload of the round under way
        self.delta_round = 0  # round whose pseudo-gradient is in the working folder

    async def train(self, now: duties.TrainDuty, current: RoundView, held: Head | None) -> None:
        """Train, unless that was done before a restart, and commit."""
        if held is None or held != current.head:
            raise RefusedError("no-head", f"round {now.round} starts from another head")
        # Ask the outbox first: a second, different commitment would prove equivocation.
        run = self._means.manifest.run_id
        body = await self._means.outbox.submitted(WorkCommit, run, now.round)
        if body is None:
            header = self._left_over(current) or await self._contribution(current, held)
            body = WorkCommit(header=to_text(header.pack()))
        await self._statements.submit_once(now, body)

    def _left_over(self, current: RoundView) -> ContributionHeader | None:
        """Header of an earlier attempt at this round, if its payload is still here."""
        header = self._means.feedback.open_header
        if header is None or current.broken_rule(self._means.key, header):
            return None
        if not self._means.store.has_tree(header.payload_root):
            return None
        self._pin(header.payload_root)
        return header

    async def _contribution(self, current: RoundView, held: Head) -> ContributionHeader:
        windows = current.assignment[current.slot_of[self._means.key]]
        report = await self._trained(current, held, windows)
        workroom, number = self._means.workroom, current.number
        header = _sound_header(self._means, report, current)
        root = await workroom.store_file(
            workroom.file("payload", number), current.shape.group_bytes
        )
        if root != header.payload_root:
            raise PeerError("the trainer's payload does not match its header")
        # The payload is in the store before the feedback names it: after a crash in between, the
        # round is trained again, and nothing refers to a file that is missing.
        self._pin(root)
        await trio.to_thread.run_sync(
            self._means.feedback.store, workroom.file("feedback", number), header
        )
        self.delta_round = number
        self._count(report)
        ready = await workroom.prepare_trainer()
        done = RoundWork(device=ready.device, tokens=report.tokens, loss=report.loss_last)
        await self._means.points.worked(current, done)
        await workroom.delete_old(number)
        return header

    async def _trained(
        self, current: RoundView, held: Head, windows: Sequence[tuple[int, int]]
    ) -> link.Trained:
        means, number = self._means, current.number
        shards = await self._shards(windows)
        before = means.feedback.path
        return await means.workroom.ask(
            lambda command: link.Train(
                command=command,
                round=number,
                run=to_text(means.manifest.run_id),
                head=to_text(held.hash),
                weights=str(means.store.tree_path(held.weights_root)),
                trainer=to_text(means.key),
                k=current.k,
                windows=tuple(windows),
                shards=shards,
                payload_out=str(means.workroom.file("payload", number)),
                feedback_out=str(means.workroom.file("feedback", number)),
                delta_out=str(means.workroom.file("delta", number)),
                feedback_in=str(before) if before else None,
                stop_after_ms=time_left_ms(means.ledger_clock, current),
            ),
            link.Trained,
        )

    async def _shards(self, windows: Sequence[tuple[int, int]]) -> tuple[link.Shard, ...]:
        manifest, corpus = self._means.manifest, self._means.corpus
        order = corpus.order(manifest.windows.seed)
        shards = []
        for index in order.shards_of(windows, manifest.windows.samples):
            ref = TreeRef.of_file(corpus.train[index].root, corpus.train[index].size_bytes)
            await self._means.exchange.fetch_tree(ref)
            shards.append(link.Shard(index, str(self._means.store.tree_path(ref.root))))
        return tuple(shards)

    def _pin(self, payload: Digest) -> None:
        """Keep a payload for others to fetch, and unpin that of the round before."""
        if payload == self._pinned:
            return
        self._means.store.pin(payload)
        if self._pinned is not None:
            self._means.store.unpin(self._pinned)
        self._pinned = payload

    def _count(self, report: link.Trained) -> None:
        self._tally.rounds_trained += 1
        self._tally.tokens += report.tokens
        self._tally.train_seconds += report.train_seconds
        self._tally.loss_last = report.loss_last


def time_left_ms(ledger_clock: LedgerClock, current: RoundView) -> int:
    """Milliseconds until the trainer must stop, by the ledger's clock; at least 1.

    Raises RefusedError when the round is not open.
    """
    if current.open is None:
        raise RefusedError("not-in-round", "the round is not open")
    # At least 1, however late: a round accepts commitments until the log says its training is over.
    # At most the whole training time: a ledger clock that runs behind must not extend it.
    whole = current.open.train_by - current.open.opened
    left = min(current.open.train_by - ledger_clock.now_ms(), whole)
    return max(left - min(UPLOAD_MARGIN_MS, whole // 4), 1)


def _sound_header(
    means: RunContext, report: link.Trained, current: RoundView
) -> ContributionHeader:
    """Read the trainer's header; raises PeerError if the round would not accept it."""
    # Checked before it is signed: a wrong header under this key's signature is a provable fault.
    header = ContributionHeader.parse(from_text(report.header, HEADER_BYTES))
    broken = current.broken_rule(means.key, header)
    if broken:
        raise PeerError(f"the trainer's header breaks the rule `{broken}`")
    return header
