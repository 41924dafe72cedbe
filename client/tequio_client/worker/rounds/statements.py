"""Statements of this key about one run, and the context of its duties.

The outbox stores every statement and allows one of each type per round. An answer is final for the
round, also a refusal. Whether a statement was submitted before a restart is asked of the outbox, so
the same body goes out again after a crash: two different ones would look like equivocation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import trio
from msgspec import UNSET

from tequio_client.ipc import trainer as link
from tequio_client.ledger.announcement import NetworkAnnouncement
from tequio_client.ledger.releases import MinimumVersion
from tequio_client.worker.ledger.follower import LedgerClock
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.lending.needs import follows_steps
from tequio_client.worker.points.points import PointsRecorder
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import Duty, RoundDuty
from tequio_client.worker.rounds.fault_reports import FaultReports
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_client.worker.rounds.gossip import EntryGossip
from tequio_client.worker.rounds.omissions import OmissionWatch
from tequio_client.worker.rounds.workdir import RecordedHeads, TrainerWorkdir
from tequio_client.worker.store.store import Store, StorePins
from tequio_client.worker.store.trees import TreeRef, head_refs
from tequio_client.worker.swarm.streams import BlobClient
from tequio_client.worker.swarm.transfer import Exchange
from tequio_shared.errors import RefusedError
from tequio_shared.head.chain import Head
from tequio_shared.ids import Digest, PeerKey, to_text
from tequio_shared.round.corpus import Corpus, HeldOutShard, TrainShard
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundView
from tequio_shared.statements.network import MemberLeave, MemberReady, Role
from tequio_shared.statements.runs import (
    AuditReport,
    HeadAttest,
    HeadMeasure,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.statement import Body, Entry

REASON_STOPPED = 1
"""Reason code of member.leave: the volunteer stops."""
MAX_ANSWERED = 16
MEASURE_TIMEOUT_S = 30.0
"""Longest wait for the answer to a measurement; it stays in the outbox after that."""

B = TypeVar("B", HeadAttest, HeadMeasure, WorkCommit, WitnessProof, AuditReport)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The parts of the worker that carry out the duties of one run."""

    key: PeerKey
    manifest: Manifest
    corpus: Corpus
    roles: tuple[Role, ...]
    store: Store
    pins: StorePins
    recorded_heads: RecordedHeads
    starting_head: Head | None  # an older head to replay from, if any
    exchange: Exchange
    withheld: set[Digest]  # payloads that no peer may have yet, as `BlobServer` says
    client: BlobClient
    outbox: Outbox
    announcer: EntryGossip
    reports: FaultReports
    omissions: OmissionWatch
    prove: Callable[[bytes], bytes]  # proof of this key's verifiable random function
    workdir: TrainerWorkdir
    feedback: ErrorFeedback
    ledger_clock: LedgerClock
    minimum: MinimumVersion
    announcement: NetworkAnnouncement
    points: PointsRecorder
    rank_owners: Mapping[int, PeerKey]  # other owners of the cell's ranks, who share its points
    measures_every: int  # measure the head of every n-th round for the local charts; 0: never

    @property
    def is_light(self) -> bool:
        """True if this worker follows steps of heads: it checks no others' work, nor needs it."""
        return follows_steps(self.manifest, is_witness=WITNESS in self.roles)

    @property
    def is_code_withheld(self) -> bool:
        """True if trainers run code of the run that this worker's role does not need."""
        return self.manifest.trainer_code is not None and TRAINER not in self.roles

    def refs(self, head: Head) -> tuple[TreeRef, ...]:
        """The trees of a head that this worker keeps: a light one needs the weights alone."""
        weights, *rest = head_refs(self.manifest, head)
        return (weights,) if self.is_light else (weights, *rest)

    async def fetch_shards(
        self, shards: Iterable[tuple[int, TrainShard | HeldOutShard]]
    ) -> tuple[link.Shard, ...]:
        """Fetch these shards, each with its index, for the trainer to read."""
        found = []
        for index, shard in shards:
            ref = TreeRef.of_file(shard.root, shard.size_bytes)
            await self.exchange.fetch_tree(ref)
            found.append(link.Shard(index, str(self.store.tree_path(ref.root))))
        return tuple(found)


class RunStatements:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._run = context.manifest.run_id
        self.sending = 0  # statements being sent: their duties should not be cancelled
        self._answered: deque[Duty] = deque(maxlen=MAX_ANSWERED)
        # Measurements are kept apart: a draw outlives rounds, and the statements of later rounds
        # would push it out, so that the same head would be measured again.
        self.measured: deque[Duty] = deque(maxlen=MAX_ANSWERED)

    @property
    def answered(self) -> Collection[Duty]:
        return (*self._answered, *self.measured)

    async def submitted(self, kind: type[B], round_number: int) -> B | None:
        """The body of that type that was submitted for that round before, answered or not."""
        return await self._context.outbox.submitted(kind, self._run, round_number)

    async def leave(self, now: duties.LeaveDuty | None = None) -> None:
        """Submit member.leave: for good, or because of a duty, until member.ready."""
        await self._submit(MemberLeave(reason=REASON_STOPPED), None)
        if now is not None:
            self._answered.append(now)

    async def ready(self, now: duties.ReadyDuty, held: Head) -> None:
        """Submit member.ready, which asks for a place in the coming rosters."""
        await self._submit(MemberReady(head=to_text(held.hash), roles=self._context.roles), None)
        self._answered.append(now)

    async def attest(
        self, now: duties.AttestDuty, current: RoundView, held: Head, step: Digest | None
    ) -> None:
        """Attest a head and the step that made it, and draw this key's lot with it."""
        body = await self.submitted(HeadAttest, now.round)
        await self.submit_once(now, body or self._attestation(current, held, step))

    async def submit_measurement(self, now: duties.MeasureDuty, body: HeadMeasure) -> None:
        """Submit a measurement once; waits at most `MEASURE_TIMEOUT_S` for the answer."""
        with trio.move_on_after(MEASURE_TIMEOUT_S):
            with suppress(RefusedError):  # the outbox has logged it
                await self._submit(body, now.head.round)
        self.measured.append(now)

    async def submit_once(
        self, now: RoundDuty, body: HeadAttest | WorkCommit | WitnessProof | AuditReport
    ) -> RefusedError | None:
        """Submit a statement that a round accepts once; returns the refusal, which is final."""
        try:
            entry = await self._submit(body, now.round)
        except RefusedError as err:
            self._answered.append(now)
            return err  # the outbox has logged it
        self._answered.append(now)
        # Gossiped only once the ledger has it: a commitment that it refuses helps nobody.
        self._context.announcer.announce(entry)
        return None

    def _attestation(self, current: RoundView, held: Head, step: Digest | None) -> HeadAttest:
        return HeadAttest(
            head=to_text(held.hash),
            weights_root=to_text(held.weights_root),
            aux_root=to_text(held.aux_root),
            step_root=UNSET if step is None else to_text(step),
            vrf=to_text(self._context.prove(current.lot_input)),
        )

    async def _submit(self, body: Body, round_number: int | None) -> Entry:
        self.sending += 1
        try:
            return await self._context.outbox.submit(body, self._run, round_number)
        finally:
            self.sending -= 1
