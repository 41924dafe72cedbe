"""The driver of one run: follows the log and carries out the duties that follow from it.

Three tasks share the view. `_follow` is its only writer: it applies entry after entry and wakes the
others. `_act` computes the duty (`duties.next_duty`) and has the `DutyRunner` carry it out,
cancelling a duty that the log has overtaken. `_gather` fetches contributions as they are committed,
so that a witness has them when the training phase ends.

Large things move as files of the store. A file from the trainer process is checked against its
hash before anything about it is signed: nothing that the trainer reports is passed on unverified.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from functools import partial
from random import Random

import structlog
import trio

from tequio_client.clock import BackOff
from tequio_client.ledger.http import LogForkedError
from tequio_client.worker.children.trainer import TrainerFailedError
from tequio_client.worker.ledger.standing import StandingWatch
from tequio_client.worker.rounds import catch_up, duties
from tequio_client.worker.rounds.audit import RoundAuditing
from tequio_client.worker.rounds.duties import Duty, FollowDuty, MemberState, RoundDuty
from tequio_client.worker.rounds.gossip import commitment_header
from tequio_client.worker.rounds.head import HeadKeeper
from tequio_client.worker.rounds.join import NOTHING_GIVEN_UP, GivenUpRounds
from tequio_client.worker.rounds.marks import ProofMarks
from tequio_client.worker.rounds.measure import HeadMeasuring
from tequio_client.worker.rounds.past_rounds import PastRounds
from tequio_client.worker.rounds.repeated_training import RepeatedTraining
from tequio_client.worker.rounds.statements import RunContext, RunStatements
from tequio_client.worker.rounds.train import RoundTraining, WorkTally
from tequio_client.worker.rounds.witness import RoundWitnessing
from tequio_client.worker.shutdown import BrokenRulesError
from tequio_client.worker.store.trees import TreeRef, step_ref
from tequio_shared.errors import RefusedError, TequioError, first_error
from tequio_shared.head.chain import AcceptedSet, Head
from tequio_shared.ids import Digest, HeadHash, PeerKey, to_text
from tequio_shared.network.genesis import COORDINATOR_BODIES
from tequio_shared.network.key_links import ended_by
from tequio_shared.network.run import RunView, first_head, needed_document
from tequio_shared.network.run_states import VoidReason
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.measures import MeasureDraw
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import (
    AuditReport,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundVoid,
    RunRollback,
    WorkCommit,
)
from tequio_shared.statements.statement import Entry, Statement

log = structlog.get_logger(__name__)

_TRANSIENT = (*catch_up.TRANSIENT, TrainerFailedError)
"""Errors that another attempt may not meet; any other error ends the worker."""
MAX_CLOSED = 32
"""Closed rounds whose accepted sets are remembered, to replay from an older head; and steps."""
MAX_STUCK = 8
IDLE_RECHECK_S = 60.0
"""An idle worker checks again after this long: the clock may be set, or the computer may sleep."""


class RunDriver:
    """Drives one worker through one run; `run` returns when the run has ended."""

    def __init__(  # noqa: PLR0913 - what it drives, and where it begins
        self,
        *,
        view: RunView,
        context: RunContext,
        runner: DutyRunner,
        standing: StandingWatch,
        rng: Random,
        upto: int = -1,
        given_up: GivenUpRounds = NOTHING_GIVEN_UP,
    ) -> None:
        self.view = view  # written by _follow only
        self.context = context
        self.runner = runner
        self.standing = standing  # written by _follow
        self._key = context.key
        self._upto = upto  # up to this log index the view only catches up with finished rounds
        self._given_up = given_up
        self._index = -1  # of the last entry applied; written by _follow only
        self._closed: dict[HeadHash, AcceptedSet] = {}  # by parent; written by _follow
        self._steps: dict[HeadHash, FollowDuty] = {}  # of promoted heads, by parent; by _follow too
        self._recent: deque[AcceptedSet] = deque(maxlen=MAX_CLOSED)  # also those given up
        self._stuck: deque[HeadHash] = deque(maxlen=MAX_STUCK)  # written by _do
        self._unfetched: deque[HeadHash] = deque(maxlen=MAX_STUCK)  # heads; written by _do
        self._ready_index: int | None = None
        self._left_at = -1
        self._is_leaving = False
        self._pause_reason = ""  # why this worker takes no part for now
        self._back_off = BackOff(rng)  # after failed duties; used by _do
        self._moved = trio.Event()  # replaced at every change
        self._announced: dict[PeerKey, Digest] = {}  # this round's gossip: payload root by trainer
        self.verdict = ""  # of the last closed round; shown to people only
        self.waiting_reason = ""  # why there is nothing to do; shown to people only

    async def run(self, entries: AsyncIterator[tuple[int, Entry]]) -> None:
        """Take part until the run ends; raises BrokenRulesError when the log breaks the rules."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._follow, entries)
                nursery.start_soon(self._gather)
                await self._act()
                nursery.cancel_scope.cancel()
        finally:
            self.runner.past.release()

    async def leave(self) -> None:
        """Submit member.leave; no further duty of a round is begun."""
        if not self._is_leaving:
            self._is_leaving = True
            self._wake()
            await self.runner.statements.leave()

    def may_open(self, peer: PeerKey, root: Digest, index: int) -> bool:
        """Return whether an auditor may have that leaf of this worker's error feedback."""
        return self.runner.auditing.may_open(self.view.round, peer, root, index)

    def members(self) -> Collection[PeerKey]:
        """The peers with a slot in the newest round."""
        return () if self.view.round is None else self.view.round.slot_of.keys()

    def set_pause(self, why: str) -> None:
        """Stop taking part for this reason, and submit member.leave; empty: take part again."""
        if why != self._pause_reason:
            self._pause_reason = why
            self._wake()

    @property
    def current_round(self) -> int | None:
        """Number of the unfinished round in which this key has a slot, or None."""
        current = self.view.round
        return current.number if current is not None and self._takes_part(current) else None

    @property
    def newest_measure(self) -> MeasureDraw | HeadMeasuring:
        """The newest measured head on held-out text: the log's median, or measured here."""
        logged, own = self.view.measured, self.runner.measuring
        is_logged = logged is not None and logged.head.round >= own.last_measured_round
        return logged if logged is not None and is_logged else own

    def member_state(self) -> MemberState:
        return MemberState(
            key=self._key,
            held=self.runner.heads.held,
            fetching=self.runner.heads.fetching,
            closed=self._closed,
            steps=self._steps,
            stuck=self._stuck,
            answered=self.runner.statements.answered,
            ready_index=self._ready_index,
            left_at=self._left_at,
            idle_reason=self.standing.idle_reason(),
            tier_problem=self.standing.tier_problem,
            removed_at=self.standing.removed_at_index,
            is_leaving=self._is_leaving,
            is_light=self.context.is_light,
            pause_reason=self._pause_reason,
            measured=self.runner.measuring.last_measured_round,
            measures_every=self.context.measures_every,
            is_behind=self._is_behind,
            is_given_up=self._is_given_up,
            is_replay_costlier=self._is_replay_costlier,
            has_weights=lambda head: self.context.store.has_tree(head.weights_root),
        )

    @property
    def _is_behind(self) -> bool:
        """True while the view is in rounds that were over when this worker joined."""
        return self._index < self._upto

    def _is_given_up(self, head_round: int) -> bool:
        """True if the log, further on, goes back from the head of that round."""
        return self._is_behind and head_round in self._given_up

    def _is_replay_costlier(self, goal: Head) -> bool:
        """True if the way to that head takes more bytes than the head itself."""
        held = self.runner.heads.held
        if held is None or goal.hash in self._unfetched:  # fetching failed: go, whatever it costs
            return False
        between = range(held.round + 1, goal.round + 1)
        refs = self.context.refs(goal)
        return catch_up.is_replay_costlier(
            refs, self._way(between), self.context.store.missing_bytes
        )

    def _way(self, between: range) -> Iterator[TreeRef]:
        """The trees that lead from head to head, for heads of these rounds."""
        if self.context.is_light:
            for one in self._steps.values():
                if one.head.round in between:
                    yield step_ref(self.view.manifest, one.step)
            return
        for closed in self._closed.values():
            if closed.round in between:
                yield from catch_up.payload_refs(closed)

    async def _follow(self, entries: AsyncIterator[tuple[int, Entry]]) -> None:
        run = self.view.manifest.run_id
        async for index, entry in entries:
            if entry.statement.run == run:
                await self._apply(index, entry.statement)
                self._index = index
                self._wake()
            elif entry.statement.run is None:
                self.standing.apply(index, entry.statement)
                self.context.minimum.apply(index, entry.statement)
                self.context.announcement.apply(index, entry.statement)
                ended = ended_by(entry.statement)
                if ended is not None:
                    self.view.end_key(ended)
                self._wake()

    async def _apply(self, index: int, statement: Statement) -> None:
        # Only the coordinator's times set the ledger clock: a member could date its own ahead.
        if isinstance(statement.body, COORDINATOR_BODIES):
            self.context.ledger_clock.record_date(statement.ts)
        # Fetched before the view is touched, so that the view never waits half-applied.
        name = needed_document(statement)
        document = await self.context.exchange.fetch_blob(name) if name else b""
        try:
            now_ms = self.context.ledger_clock.now_ms()
            self.view.apply(index, statement, now_ms, lambda _: document)
        except RefusedError as err:
            raise BrokenRulesError(
                f"entry {index} ({statement.type}) does not follow from the log: {err}"
            ) from err
        if statement.author == self._key:
            self._record_own(index, statement)
        await self._after(index, statement)
        if self.view.round is not None and not self._is_behind:
            await self.runner.marks.apply(index, statement, self.view.round)
        if isinstance(statement.body, RunRollback):
            await self._go_back(statement.body)
        if isinstance(statement.body, RoundOpen | RoundVoid) and self.view.round is not None:
            await self.context.omissions.end_phase(self.view.round, statement.ts)
        await self.context.points.apply(index, statement, self.view.round, document)

    def _record_own(self, index: int, statement: Statement) -> None:
        body = statement.body
        if isinstance(body, MemberReady):
            self._ready_index = index
        elif isinstance(body, MemberLeave):
            self._ready_index, self._left_at = None, index
        elif isinstance(body, WorkCommit) and self.view.round is not None:
            slot = self.view.round.slot_of[self._key]
            self.context.withheld.discard(self.view.round.commitments[slot].header.payload_root)

    async def _after(self, index: int, statement: Statement) -> None:
        current = self.view.round
        match statement.body:
            case RoundOpen():
                self._announced.clear()
                self.runner.record_opening()
            case RoundClose() if current is not None:
                await self._remember(index, current)
            case RoundVoid(reason=reason) if current is not None:
                await self.runner.settle(current.number, None)
                log.info("round void", round=current.number, reason=VoidReason(reason).name.lower())
            case HeadMeasure():
                await self._record_measure(statement.round)
            case AuditReport() as body if current is not None:
                self.runner.auditing.record(index, statement.author, body)
                if not self._is_behind:
                    self.runner.auditing.record_warning(current, statement.author, body)
            case HeadPromote(head=head):
                log.info("head is canonical", round=statement.round, head=head[:10])
                self._remember_step()
                self.runner.measuring.release_except([one.head for one in self.view.draws.open])

    async def _go_back(self, body: RunRollback) -> None:
        """Forget what leads on from older heads: the next head is made from the one named."""
        log.info("run goes back to an earlier head", round=body.head_round, head=body.head[:10])
        self._closed.clear()
        self._steps.clear()
        self._stuck.clear()
        self._unfetched.clear()
        feedback = self.context.feedback
        # After a restart, the log may be read again from before a rollback: newer feedback stays.
        if feedback.ended_round <= body.last_round:
            await trio.to_thread.run_sync(feedback.start_over)

    async def _record_measure(self, head_round: int | None) -> None:
        run = to_text(self.view.manifest.run_id)
        for draw in self.view.draws.open:
            if draw.head.round == head_round and draw.bits_per_byte is not None:
                await self.context.points.measured(run, draw.head.round, draw.bits_per_byte)

    def _remember_step(self) -> None:
        head, step = self.view.head, self.view.step
        if head is not None and step is not None:
            self._steps[head.parent] = FollowDuty(head, step)
        while len(self._steps) > MAX_CLOSED:
            del self._steps[next(iter(self._steps))]

    async def _remember(self, index: int, current: RoundView) -> None:
        if current.head is None:
            return
        # Recorded even if this worker took no part: the set is what leads to the next head.
        accepted = current.accepted()
        if current.is_training:
            closed = current.accepted_set(index)
            self._recent.append(closed)
            if not self._is_given_up(current.number):
                self._closed[current.head.hash] = closed
        self.runner.past.record(current)
        while len(self._closed) > MAX_CLOSED:
            del self._closed[next(iter(self._closed))]
        slot = current.slot_of.get(self._key)
        mine = None if slot is None else accepted.get(slot)
        await self.runner.settle(
            current.number,
            mine.header.feedback_root if mine else None,
            is_audited=slot in current.auditable(),
        )
        self.verdict = (
            f"round {current.number}: {len(accepted)} of {len(current.commitments)} accepted by "
            f"{len(current.proofs)} of {len(current.elected)} witnesses"
        )
        log.info(
            "round closed",
            round=current.number,
            accepted=len(accepted),
            committed=len(current.commitments),
            proofs=len(current.proofs),
            elected=len(current.elected),
        )

    async def _act(self) -> None:
        while True:
            now = self._duty()
            self.waiting_reason = now.reason if isinstance(now, duties.WaitDuty) else ""
            if isinstance(now, duties.RunEnded):
                return
            if isinstance(now, duties.WaitDuty):
                await self._moved_or(min(self.standing.seconds_left(), IDLE_RECHECK_S))
            else:
                await self._do(now)

    def _duty(self) -> Duty:
        return duties.next_duty(self.view, self.member_state())

    async def _do(self, now: Duty) -> None:
        """Carry out one duty, until the log overtakes it."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_overtaken, now, nursery.cancel_scope)
            try:
                await self.runner.perform(now, self.view, tuple(self._recent))
                self._back_off.reset()
            except* LogForkedError:  # a PeerError, but no other attempt can succeed
                raise
            except* _TRANSIENT as group:
                await self._after_failure(now, group)
            nursery.cancel_scope.cancel()

    async def _after_failure(self, now: Duty, group: BaseExceptionGroup[TequioError]) -> None:
        error = first_error(group)
        log.warning("duty failed; retrying", duty=type(now).__name__, error=str(error))
        # Remember which way to the head failed, so that `next_duty` chooses the other one.
        match now:
            case duties.AdvanceDuty(closed=closed):
                self._stuck.append(closed.parent)
            case duties.FollowDuty(head=head):
                self._stuck.append(head.parent)
            case duties.FetchDuty(head=head):
                self._unfetched.append(head.hash)
        if isinstance(error, RefusedError) and error.code == "quarantined":
            await self.standing.refresh()
        await self._moved_or(self._back_off.next_s())

    async def _watch_overtaken(self, mine: Duty, scope: trio.CancelScope) -> None:
        """Cancel a duty that the log has overtaken."""
        # Never while a statement is being sent: it may already be in the log, and the duty's record
        # of the answer would be lost.
        while self._duty() == mine or self.runner.statements.sending:
            await self._moved.wait()
        scope.cancel()

    async def _moved_or(self, patience_s: float) -> None:
        with trio.move_on_after(patience_s):
            await self._moved.wait()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = trio.Event()

    def receive_commitment(self, entry: Entry) -> None:
        """Receive a gossiped commitment, and fetch its payload if it is of the round under way."""
        current, trainer = self.view.round, entry.statement.author
        if current is None or not self._takes_part(current) or trainer not in current.slot_of:
            return
        header = commitment_header(entry)
        fits = current.phase is RoundPhase.TRAIN and header.round == current.number
        # Only the first announcement of each trainer counts, so that nobody can fill disks.
        if fits and trainer != self._key and trainer not in self._announced:
            self._announced[trainer] = header.payload_root
            self._wake()

    def _takes_part(self, current: RoundView) -> bool:
        is_in = self._key in current.slot_of and not self._is_behind and not self._pause_reason
        return is_in and current.phase is not RoundPhase.OVER

    async def _gather(self) -> None:
        """Fetch the payloads of each round with a slot for this key, while the round lasts.

        `HeadKeeper.advance` fetches accepted payloads that are still missing after that.
        """
        while True:
            current = self.view.round
            if current is not None and self._takes_part(current) and not self.context.is_light:
                await self._gather_for(current)
            else:
                await self._moved.wait()

    async def _gather_for(self, current: RoundView) -> None:
        asked: set[Digest] = set()
        async with trio.open_nursery() as nursery:
            while self.view.round is current and self._takes_part(current):
                for trainer, root in self._named(current):
                    if root not in asked:
                        asked.add(root)
                        ref = catch_up.payload_ref(root, current.chunks, current.shape)
                        nursery.start_soon(self.context.exchange.fetch_in_background, ref, trainer)
                await self._moved.wait()
            nursery.cancel_scope.cancel()

    def _named(self, current: RoundView) -> list[tuple[PeerKey, Digest]]:
        """Trainer and payload root from this round's log and gossip, without this key's own."""
        logged = [
            (one.header.trainer, one.header.payload_root) for one in current.commitments.values()
        ]
        return [pair for pair in (*logged, *self._announced.items()) if pair[0] != self._key]


def _witnesses(view: RunView) -> set[PeerKey]:
    """The members with witness duty: they compute heads, and so have the steps."""
    if view.round is None:
        return set()
    roster = view.round.roster
    return {roster.keys[slot] for slot in roster.slots_of(WITNESS)}


class DutyRunner:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.past = PastRounds(context.manifest, context.store)
        self.tally = WorkTally()
        self.heads = HeadKeeper(context)
        self.statements = RunStatements(context)
        self.measuring = HeadMeasuring(context)
        self._training = RoundTraining(context, self.statements, self.tally)
        self.marks = ProofMarks(context)
        self._witnessing = RoundWitnessing(
            context, self.statements, self._training, self.tally, self.marks
        )
        repeated = RepeatedTraining(context, self.past, context.client)
        self.auditing = RoundAuditing(context, self.statements, self.past, repeated, self.tally)

    def record_opening(self) -> None:
        self._training.record_opening()

    async def perform(self, now: Duty, view: RunView, recent: Sequence[AcceptedSet] = ()) -> None:
        """Carry out one duty; `recent` are the last accepted sets, oldest first.

        Returns when it is done or no longer possible; raises TequioError.
        """
        match now:
            case duties.FetchDuty(head=head):
                await self.heads.fetch(head)
            case duties.AdvanceDuty(closed=closed):
                await self.heads.advance(closed)
            case duties.FollowDuty(head=head, step=step):
                await self.heads.follow(head, step, likely=_witnesses(view))
            case duties.ReadyDuty():
                # Prepare the trainer first: a member that turns out unable to train wastes a slot.
                await self._context.workdir.prepare_trainer()
                held = self.heads.held or first_head(self._context.manifest)
                await self.statements.ready(now, held)
            case duties.LeaveDuty():
                await self.statements.leave(now)
            case duties.MeasureDuty():
                await self._measure(now)
            case duties.AttestDuty() | duties.TrainDuty() | duties.AuditDuty() | duties.ProveDuty():
                await self._perform_in_round(now, view, recent)
            case _:
                raise AssertionError(f"not a duty to carry out: {now}")

    async def _perform_in_round(
        self, now: RoundDuty, view: RunView, recent: Sequence[AcceptedSet]
    ) -> None:
        current, held = view.round, self.heads.held
        if current is None or current.number != now.round:
            raise RefusedError("not-in-round", f"round {now.round} is over")
        self.tally.begin()
        match now:
            case duties.AttestDuty():
                if held is None:
                    raise RefusedError("no-head", "no head to attest yet")
                await self.statements.attest(now, current, held, self.heads.step_of(held))
            case duties.TrainDuty():
                await self._training.train(now, current, held)
            case duties.AuditDuty():
                await self.auditing.audit(now, current)
            case duties.ProveDuty():
                lately = [one for one in recent if one.round < current.number]
                await self._witnessing.prove(now, current, view.witnessed_ms, lately)

    async def _measure(self, now: duties.MeasureDuty) -> None:
        """Measure a head, and submit the result once if this key was drawn."""
        if self._context.is_code_withheld:  # other members were drawn too
            self.statements.measured.append(now)
            return
        if not now.is_drawn:
            await self.measuring.measure(now.head)
            return
        try:
            body = await self.statements.submitted(HeadMeasure, now.head.round)
            body = body or await self.measuring.measure(now.head, is_drawn=True)
        except TequioError:
            # Nobody is paid for a measurement, and other members were drawn too: no second attempt.
            self.statements.measured.append(now)
            raise
        await self.statements.submit_measurement(now, body)

    async def settle(
        self, round_number: int, accepted: Digest | None, *, is_audited: bool = False
    ) -> None:
        """Settle the error feedback, by the root that this key's accepted contribution left."""
        feedback = self._context.feedback
        header = feedback.open_header
        settle = partial(feedback.settle, is_audited=is_audited)
        await trio.to_thread.run_sync(settle, round_number, accepted)
        if header is not None and feedback.open_header is None:
            self._context.withheld.discard(header.payload_root)
