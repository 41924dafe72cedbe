"""Training in a round, and committing to the result.

Rules. Before the commitment is submitted, payload and error feedback are on the disk under their
hashes, and header and payload are ones that every witness accepts: this key would answer for bytes
that break a rule. Work that was trained but not committed before a restart is committed without
training again; a submitted commitment is never replaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import structlog
import trio
from msgspec import UNSET

from tequio_client.ipc import trainer as link
from tequio_client.worker.ledger.follower import LedgerClock
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.feedback import Parts
from tequio_client.worker.rounds.statements import RunContext, RunStatements
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.head.chain import Head
from tequio_shared.head.contribution import (
    HEADER_BYTES,
    ContributionHeader,
    first_broken_record,
    payload_seal,
)
from tequio_shared.ids import ZERO_DIGEST, Digest, PeerKey, from_text, to_text
from tequio_shared.limits import PIECE_BYTES, WHOLE_PARTS
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.runs import WorkCommit

log = structlog.get_logger(__name__)

UPLOAD_MARGIN_MS = 2_000
"""A trainer stops this long before the deadline, to leave time for encoding and committing."""


@dataclass(slots=True)
class WorkTally:
    """Work done since the worker started, for status and logs."""

    rounds_trained: int = 0
    proofs: int = 0
    tokens: int = 0
    compute_seconds: float = 0.0
    loss_last: float = 0.0
    began_s: float | None = None
    """When this worker first took part in a round, by trio's clock."""

    def begin(self) -> None:
        if self.began_s is None:
            self.began_s = trio.current_time()

    def add(self, report: link.Trained) -> None:
        self.rounds_trained += 1
        self.tokens += report.tokens
        self.compute_seconds += report.train_seconds
        self.loss_last = report.loss_last


class RoundTraining:
    def __init__(self, context: RunContext, statements: RunStatements, tally: WorkTally) -> None:
        self._context = context
        self._statements = statements
        self._tally = tally
        self._pinned: Digest | None = None  # payload of the round under way
        self._opened = trio.Event()  # replaced when a round opens
        self._delta_round = 0  # round whose pseudo-gradient was written last

    def record_opening(self) -> None:
        """Record that a round opened: what was trained for it may be committed to."""
        self._opened.set()
        self._opened = trio.Event()

    def own_delta(self, number: int) -> Path | None:
        """Path of our pseudo-gradient of that round; None if it is not here, or not any more."""
        path = self._context.workdir.file("delta", number)
        return path if self._delta_round == number and path.exists() else None

    async def train(self, now: duties.TrainDuty, current: RoundView, held: Head | None) -> None:
        """Train, unless that was done before a restart, and commit once the round is open."""
        if held is None:
            raise RefusedError("no-head", "no head to train from yet")
        # Ask the outbox first: a second, different commitment would prove equivocation.
        body = await self._statements.submitted(WorkCommit, now.round)
        if body is None:
            left = self._left_over(current) if current.open is not None else None
            header = left or await self._contribution(current, held)
            body = await self._commitment(header)
        refused = await self._statements.submit_once(now, body)
        if refused is not None and refused.code == "wrong-feedback":
            # A ledger that knows of later work of this key would refuse it every round.
            log.warning("error feedback dropped: not the one that the ledger knows")
            await trio.to_thread.run_sync(self._context.feedback.start_over)

    async def _commitment(self, header: ContributionHeader) -> WorkCommit:
        # Stated as recorded with the contribution: the settled feedback may be lost since then.
        before = self._context.feedback.open_start or ZERO_DIGEST
        path = self._context.store.tree_path(header.payload_root)
        seal = await trio.to_thread.run_sync(_seal_of_file, self._context.key, path)
        return WorkCommit(
            header=to_text(header.pack()),
            seal=to_text(seal),
            feedback="" if before == ZERO_DIGEST else to_text(before),
            parts=self._context.feedback.open_parts or UNSET,
        )

    def _left_over(self, current: RoundView) -> ContributionHeader | None:
        """Header of an earlier attempt at this round, if its payload is still here."""
        header = self._context.feedback.open_header
        if header is None or self._context.feedback.open_start is None:
            return None
        if current.broken_rule(self._context.key, header):
            return None
        if not self._context.store.has_tree(header.payload_root):
            return None
        self._pin(header.payload_root)
        return header

    async def _contribution(self, current: RoundView, held: Head) -> ContributionHeader:
        before = self._context.feedback.start
        report = await self._trained(current, held, self._context.feedback.path)
        # At once: while the round is waited for, a guest of the cell may leave, or another come.
        ready = await self._context.workdir.prepare_trainer()
        parts = point_parts(ready.rank_work, self._context.rank_owners, self._context.key)
        if report.starts_over:
            log.warning("error feedback left out: it would hide this update", round=current.number)
            before = ZERO_DIGEST
        while current.phase is RoundPhase.ATTEST:
            await self._opened.wait()
        workdir, number = self._context.workdir, current.number
        # Checked before it is signed: a wrong header with this key's signature is a provable fault.
        header = ContributionHeader.parse(from_text(report.header, HEADER_BYTES))
        broken = current.broken_rule(self._context.key, header)
        if broken:
            raise PeerError(f"the trainer's header breaks the rule `{broken}`")
        self._context.withheld.add(header.payload_root)
        root = await workdir.store_file(workdir.file("payload", number), current.shape.group_bytes)
        if root != header.payload_root:
            raise PeerError("the trainer's payload does not match its header")
        path = self._context.store.tree_path(root)
        refused_by = await trio.to_thread.run_sync(_broken_rule, path, current)
        if refused_by:
            raise PeerError(
                f"not committed: the trainer's payload breaks the rule `{refused_by}`, so every "
                "witness would refuse it"
            )
        # The payload is in the store before the feedback names it: after a crash in between, the
        # round is trained again, and nothing refers to a file that is missing.
        self._pin(root)
        await trio.to_thread.run_sync(
            self._context.feedback.store,
            workdir.file("feedback", number),
            header,
            before,
            parts,
        )
        self._delta_round = number
        self._tally.add(report)
        points = self._context.points
        await points.worked(current, ready.device, report.tokens, report.loss_last)
        await trio.to_thread.run_sync(workdir.delete_old, number)
        return header

    async def _trained(self, current: RoundView, held: Head, before: Path | None) -> link.Trained:
        context, number = self._context, current.number
        windows = current.assignment[current.slot_of[context.key]]
        order = context.corpus.order(context.manifest.windows.seed)
        indices = order.shards_of(windows, context.manifest.windows.samples)
        shards = await context.fetch_shards((at, context.corpus.train[at]) for at in indices)
        return await context.workdir.ask(
            lambda command: link.Train(
                command=command,
                round=number,
                run=to_text(context.manifest.run_id),
                head=to_text(held.hash),
                weights=str(context.store.tree_path(held.weights_root)),
                trainer=to_text(context.key),
                k=current.k,
                windows=tuple(windows),
                shards=shards,
                payload_out=str(context.workdir.file("payload", number)),
                feedback_out=str(context.workdir.file("feedback", number)),
                delta_out=str(context.workdir.file("delta", number)),
                feedback_in=str(before) if before else None,
                stop_after_ms=training_ms(context.ledger_clock, current),
            ),
            link.Trained,
        )

    def _pin(self, payload: Digest) -> None:
        """Keep a payload for others to fetch, and unpin that of the round before."""
        if payload == self._pinned:
            return
        self._context.pins.pin(payload)
        if self._pinned is not None:
            self._context.pins.unpin(self._pinned)
        self._pinned = payload


def _broken_rule(payload: Path, current: RoundView) -> str | None:
    """Name of the first rule of bytes that a payload breaks, None for none.

    Reads it once more: milliseconds per million parameters, in a thread.
    """
    shape = current.shape
    if payload.stat().st_size != current.chunks * shape.record_bytes:
        return "length"
    return first_broken_record(np.memmap(payload, np.uint8, "r").data, shape)


def point_parts(work: Sequence[int], owners: Mapping[int, PeerKey], own: PeerKey) -> Parts:
    """Parts of a contribution's points for the owners of ranks, by the work of each rank.

    `work` is in proportion, by rank. Rounded down.
    """
    shares = Counter[str]()
    for rank, key in owners.items():
        if rank < len(work) and key != own:
            shares[to_text(key)] += work[rank]
    parts = ((key, share * WHOLE_PARTS // sum(work)) for key, share in sorted(shares.items()))
    return tuple((key, count) for key, count in parts if count)


def _seal_of_file(trainer: PeerKey, payload: Path) -> Digest:
    with payload.open("rb") as file:
        return payload_seal(trainer, iter(partial(file.read, PIECE_BYTES), b""))


def training_ms(ledger_clock: LedgerClock, current: RoundView) -> int:
    """Milliseconds after which the trainer hands in what it has; at least 1.

    All members stop `rounds.train` after the round opened, as their shares are meant: if one went
    on, all others would wait for it.
    """
    usual_ms = current.manifest.rounds.train
    begun = 0 if current.open is None else max(ledger_clock.now_ms() - current.open.opened, 0)
    return min(max(usual_ms - begun, 1), time_left_ms(ledger_clock, current))


def time_left_ms(ledger_clock: LedgerClock, current: RoundView) -> int:
    """Milliseconds until the trainer must stop, by the ledger's clock; at least 1.

    Before the round opens, as if it opened now.
    """
    # At least 1, however late: a round accepts commitments until the log says its training is over.
    # At most the whole training time: a ledger clock that runs behind must not extend it.
    left = whole = current.roster.train_ms
    if current.open is not None:
        left = min(current.open.train_by - ledger_clock.now_ms(), whole)
    return max(left - min(UPLOAD_MARGIN_MS, whole // 4), 1)
