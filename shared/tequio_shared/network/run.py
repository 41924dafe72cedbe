"""One run as every reader sees it: its states as a table, and a fold over the log's entries.

Rules: `TRANSITIONS` alone decides which state follows which; `RunView.apply` takes entries in log
order and refuses (RefusedError) every coordinator statement that does not follow from the entries
before it, or comes before its time by the coordinator's own signed clock. So coordinator, workers
and auditors cannot disagree for long: a replay of the log either arrives at the same view or yields
the index of the wrong entry.

`RunView` serves a worker that joined in the middle: it begins between two rounds and knows neither
members nor windows nor points, so it trusts what rests on them. `FullRunView` (`full_run.py`) knows
those too, and shares the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from msgspec import UNSET

from tequio_shared import vrf
from tequio_shared.errors import MalformedError, RefusedError, SignatureInvalidError
from tequio_shared.head.chain import Head, NextHead, stated_head
from tequio_shared.head.head import set_root
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    HeadHash,
    NetworkId,
    PeerKey,
    digest_from_text,
    from_text,
)
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.network import deadlines
from tequio_shared.network.genesis import COORDINATOR_BODIES
from tequio_shared.network.notices import Notice, RunNotices
from tequio_shared.network.run_states import (
    LIGHT_VIEW_STATES,
    ORGANISER_STATEMENTS,
    TRANSITIONS,
    RunEvent,
    RunRequest,
    RunState,
)
from tequio_shared.round import fold, lots, measures
from tequio_shared.round.documents import TRAINER, Roster, RoundResult, result_bytes
from tequio_shared.round.fold import MemberBody
from tequio_shared.round.measures import MeasureDraw, MeasureDraws, is_due
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.network import (
    CheckpointPublish,
    FaultReport,
    MemberLeave,
    MemberReady,
)
from tequio_shared.statements.runs import (
    AuditReport,
    HeadAttest,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    RunClose,
    RunFinish,
    RunNotice,
    RunOpen,
    RunPause,
    RunResume,
    RunRollback,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.statement import Statement

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Manifest


_Steering: TypeAlias = RunPause | RunResume | RunRollback | RunNotice | RunFinish
_IN_ROUND = frozenset({RunState.WARMUP, RunState.ROUND_TRAIN, RunState.ROUND_WITNESS})


Documents = Callable[[Digest], bytes]
"""Bytes of a document by its SHA-256; the caller has fetched it (see `needed_document`)."""

_Document = TypeVar("_Document", Roster, RoundResult)


def needed_document(statement: Statement) -> Digest | None:
    """Document that a reader will ask for with this statement, if any."""
    match statement.body:
        case RoundRoster(roster=text) | RoundClose(result=text):
            return digest_from_text(text)
        case FaultReport(piece=text) if text:
            return digest_from_text(text)
    return None


def read_run_document(
    type_: type[_Document], documents: Documents, name: str, most_bytes: int = DOCUMENT_BYTES
) -> _Document:
    """Read the document with that name; raises RefusedError("malformed")."""
    raw = documents(digest_from_text(name))
    if len(raw) > most_bytes:
        raise RefusedError(
            "malformed", f"a document of {len(raw)} bytes; at most {most_bytes} are allowed"
        )
    try:
        return type_.parse(raw)
    except MalformedError as err:
        raise RefusedError("malformed", str(err)) from err


def first_head(manifest: Manifest) -> Head:
    """Head 0, which follows from the manifest alone."""
    return Head.of(
        manifest.run_id,
        0,
        parent=HeadHash(ZERO_DIGEST),
        set_root=set_root([]),
        weights_root=digest_from_text(manifest.model.weights_root),
        aux_root=digest_from_text(manifest.model.aux_root),
    )


@dataclass(slots=True, kw_only=True)
class RunView:
    """A run from a point between two rounds on. Only `apply` changes it."""

    net: NetworkId
    manifest: Manifest
    draws: MeasureDraws  # which members measure which heads
    check_proof: vrf.CheckProof = vrf.verify
    state: RunState = RunState.WAITING_FOR_MEMBERS
    request: RunRequest = RunRequest.GO_ON
    number: int = 0  # of the last round that has a roster
    head: Head | None = None  # the promoted one
    step: Digest | None = None  # root of the step that made it, if it is known
    next_head: NextHead | None = None
    round: RoundView | None = None  # the one in progress, or the last
    absent: set[PeerKey] = field(default_factory=set)  # left since the round's roster
    ended: set[PeerKey] = field(default_factory=set)  # revoked or replaced since the view began
    rostered_ms: int = 0  # ts of the round's round.roster
    promoted_ms: int = 0  # ts of the last head.promote
    witnessed_ms: int = 0  # ts of its round.witness
    coordinator_ms: int = 0  # ts of the coordinator's last statement about the run
    closed: int = 0  # rounds closed
    voided: int = 0
    notices: RunNotices = field(default_factory=RunNotices)
    last_lots: Digest | None = None  # of the last opened round; None: before the start of the view

    @classmethod
    def light(
        cls,
        net: NetworkId,
        manifest: Manifest,
        *,
        head: Head | None,
        next_head: NextHead | None,
        state: RunState = RunState.WAITING_FOR_MEMBERS,
    ) -> RunView:
        """Make a view that begins just after run.open, run.rollback, round.close or round.void."""
        return RunView(
            net=net,
            manifest=manifest,
            state=state,
            head=head,
            next_head=next_head,
            draws=MeasureDraws(is_whole=False),
        )

    @property
    def phase(self) -> RoundPhase:
        """Phase of the last round; over before the first."""
        return RoundPhase.OVER if self.round is None else self.round.phase

    @property
    def shown_pause_reason(self) -> Notice | None:
        """The reason of a pause that has begun, or that begins after this round."""
        is_wanted = self.request is RunRequest.PAUSE or self.state is RunState.PAUSED
        return self.notices.pause_reason if is_wanted else None

    @property
    def drawn(self) -> MeasureDraw | None:
        return self.draws.last

    @property
    def measured(self) -> MeasureDraw | None:
        return self.draws.measured

    def apply(self, index: int, statement: Statement, at_ms: int, documents: Documents) -> None:
        """Apply the run's next entry; raises RefusedError when it does not follow from the log.

        `at_ms` is the reader's time of arrival (only the coordinator's counts, in round results).
        A refused entry has changed nothing.
        """
        body = statement.body
        # Before the state check: a head may be published at any time, also after the run's end.
        if isinstance(body, CheckpointPublish):
            self._apply_publication(index, statement, body)
            return
        self._check_can_follow(statement)
        is_coordinators = isinstance(body, COORDINATOR_BODIES)
        if is_coordinators:
            deadlines.check_forward(self.coordinator_ms, statement.ts)
        match body:
            case HeadAttest() | WorkCommit() | WitnessProof() | AuditReport():
                self._apply_member(index, statement, body, at_ms)
            case HeadMeasure():
                measures.check_tasks(self.manifest.measures, body)
                self.draws.record(statement.author, statement.round or 0, body)
            case MemberReady() | MemberLeave():
                self._apply_membership(index, statement, body)
            case (
                RunOpen()
                | RunPause()
                | RunResume()
                | RunRollback()
                | RunNotice()
                | RunFinish()
                | RunClose()
            ):
                self._apply_steering(index, body, statement.ts)
            case _:
                self._apply_round(index, statement, documents)
        if is_coordinators:
            self.coordinator_ms = statement.ts

    def is_anybody_present(self, slots: Iterable[int]) -> bool:
        """Return whether a member at one of these slots has not left since the round's roster."""
        # One look with most statements: as many as there are absent members at worst.
        return any(self.is_present(slot) for slot in slots)

    def is_present(self, slot: int) -> bool:
        """Return whether the member at a slot has not left since the round's roster."""
        return self.round is not None and self.round.roster.members[slot].key not in self.absent

    def end_key(self, key: PeerKey) -> None:
        """Wait no longer for a key that was revoked or replaced, nor hear it again."""
        self.absent.add(key)
        self.ended.add(key)

    def done_event(self, number: int) -> RunEvent:
        """Event that the end of that round causes."""
        if self.request is RunRequest.FINISH or number >= self.manifest.rounds.most:
            return RunEvent.DONE_THEN_FINISH
        return RunEvent.DONE_THEN_PAUSE if self.request is RunRequest.PAUSE else RunEvent.DONE

    # The next methods need the whole history; a light view trusts the log for them.

    def _apply_publication(self, index: int, statement: Statement, body: CheckpointPublish) -> None:
        """Check and record a published head; this view has not seen them all."""

    def _record_opening(self, ts: int) -> None:
        """Record the time at which the run was opened."""

    def _record_membership(
        self, index: int, statement: Statement, body: MemberReady | MemberLeave
    ) -> None:
        """Record that the author joins or leaves; raises RefusedError if it may not join."""

    def _check_commitment(self, author: PeerKey, body: WorkCommit) -> None:
        """Raise RefusedError unless it may start with that error feedback, and share so."""

    def _check_next_round(self, number: int) -> None:
        """Raise RefusedError unless that is the number of the next round."""

    def _check_members(self, ts: int, roster: Roster) -> None:
        """Raise RefusedError unless that roster follows from the log at that time."""

    def _record_roster(self, roster: Roster) -> None:
        """Hand out the windows of the roster."""

    def _record_lots(self, view: RoundView) -> None:
        """Record that the lots of a round are drawn, which opens with them."""

    def _record_head(self, head: Head) -> None:
        """Record a promoted head."""

    def _check_rollback(self, head: Head, last_round: int) -> None:
        """Raise RefusedError unless the run may go back to that head after that round."""

    def _record_rollback(self, index: int, head: Head) -> None:
        """Record that the run went back to that head."""

    def _settle(self, index: int, view: RoundView, result: RoundResult, ts: int) -> None:
        """Credit the round with that result."""

    def _give_back(self, view: RoundView) -> None:
        """Return the windows of a void round."""

    def _check_request(self) -> None:
        """Raise RefusedError unless a pause or the end of the run was requested."""

    def _check_opening(self) -> None:
        """Raise RefusedError unless a round may open."""

    def _check_end(self, body: RunClose, ts: int) -> None:
        """Raise RefusedError unless the run may close for that reason at that time."""

    def _record_end(self) -> None:
        """Let the points vest."""

    def _unseen(self, event: RunEvent) -> RunState | None:
        """State after an event whose cause may lie before the start of this view."""
        return LIGHT_VIEW_STATES.get(event)

    def _apply_member(self, index: int, statement: Statement, body: MemberBody, at_ms: int) -> None:
        current = self._current(statement)
        if isinstance(body, WorkCommit):
            self._check_commitment(statement.author, body)
        fold.apply(current, index, statement.author, body, at_ms)

    def _apply_membership(
        self, index: int, statement: Statement, body: MemberReady | MemberLeave
    ) -> None:
        self._record_membership(index, statement, body)
        if isinstance(body, MemberReady):
            self.absent.discard(statement.author)
        else:
            self.absent.add(statement.author)

    def _apply_steering(self, index: int, body: RunOpen | RunClose | _Steering, ts: int) -> None:
        match body:
            case RunOpen():
                self._record_opening(ts)
            case RunPause() | RunFinish() | RunResume():
                self._apply_request(body)
            case RunRollback():
                self._apply_rollback(index, body)
            case RunNotice():
                self.notices.apply(index, ts, body)
            case RunClose() as closing:
                after = self._after(RunEvent.CLOSE)
                self._check_end(closing, ts)
                self._record_end()
                self.state = after

    def _apply_request(self, body: RunPause | RunFinish | RunResume) -> None:
        event, request = ORGANISER_STATEMENTS[type(body)]
        # During a round only the request is recorded: work in progress is not thrown away.
        if self.state not in _IN_ROUND:
            self.state = self._after(event)
        elif isinstance(body, RunResume):
            self._check_request()
        self.request = request
        if isinstance(body, RunResume):
            self.notices.pause_reason = None

    def _apply_rollback(self, index: int, body: RunRollback) -> None:
        after = self._after(RunEvent.ROLLBACK)
        # A view that began later may not know of the pause, but it knows of a round in progress.
        if self.phase is not RoundPhase.OVER:
            raise RefusedError("wrong-state", f"round {self.number} is in progress")
        head = stated_head(self.manifest.run_id, body.head_round, body)
        self._check_rollback(head, body.last_round)
        self._record_rollback(index, head)
        # A head that is still to be attested is given up, too: nobody has promoted it.
        self.state, self.head, self.next_head = after, head, None
        self.step = None

    def _apply_round(self, index: int, statement: Statement, documents: Documents) -> None:
        match statement.body:
            case RoundRoster() as body:
                self._apply_roster(index, statement, body, documents)
            case HeadPromote() as body:
                self._apply_promotion(statement, body)
            case RoundOpen() as body:
                after = self._after(RunEvent.OPEN)
                self._check_opening()
                view = self._current(statement)
                deadlines.check_open(self, view, body, statement.ts)
                fold.apply_open(view, body)
                self.state, self.last_lots = after, view.seed
                self._record_lots(view)
            case RoundWitness() as body:
                # The state first: a refusal by the round must find nothing changed.
                after = self._after(RunEvent.WITNESS)
                view = self._current(statement)
                deadlines.check_witness(self, view, statement.ts)
                fold.apply_witness(view, body, statement.author)
                self.state, self.witnessed_ms = after, statement.ts
            case RoundClose() as body:
                self._apply_close(index, statement, body, documents)
            case RoundVoid() as body:
                self._apply_void(statement, body)
            case _:
                raise RefusedError("unknown-type", f"{statement.type} is not about a run")

    def _apply_roster(
        self, index: int, statement: Statement, body: RoundRoster, documents: Documents
    ) -> None:
        number = statement.round or 0
        self._check_next_round(number)
        # The new state is computed before anything is changed: a refusal must leave no trace.
        after = self._after(RunEvent.ROSTER)
        roster = read_run_document(Roster, documents, body.roster)
        self._check_roster(statement.ts, body, roster)
        lot_seed = self._lot_seed(statement.author, number, from_text(body.vrf, vrf.PROOF_BYTES))
        self.round = RoundView(
            net=self.net,
            manifest=self.manifest,
            number=number,
            roster=roster,
            roster_index=index,
            head=self.head,
            next_head=self.next_head,
            lot_seed=lot_seed,
            check_proof=self.check_proof,
        )
        self._record_roster(roster)
        self.state, self.number = after, number
        self.rostered_ms, self.absent = statement.ts, set()

    def _check_roster(self, ts: int, body: RoundRoster, roster: Roster) -> None:
        times = self.manifest.rounds
        if not times.train <= roster.train_ms <= times.train_limit:
            raise RefusedError(
                "wrong-roster",
                f"a training time of {roster.train_ms} ms; allowed are "
                f"{times.train} to {times.train_limit}",
            )
        self._check_members(ts, roster)
        counts = len(roster.members), len(roster.slots_of(TRAINER))
        if counts != (body.slots, body.trainers):
            raise RefusedError("wrong-roster", "slots and trainers do not match the roster")

    def _lot_seed(self, coordinator: PeerKey, number: int, proof: bytes) -> bytes:
        """Seed of the round's lots: the coordinator's output for the last opened round's lots."""
        try:
            if self.last_lots is None:
                return vrf.output(proof)
            due = lots.seed_input(self.net, self.manifest.run_id, number, self.last_lots)
            return self.check_proof(coordinator, due, proof)
        except SignatureInvalidError as err:
            raise RefusedError("wrong-vrf", f"the seed of round {number}: {err}") from err

    def _apply_promotion(self, statement: Statement, body: HeadPromote) -> None:
        if self.round is None or self.round.phase is not RoundPhase.ATTEST:
            raise RefusedError("not-in-round", "no head is being attested now")
        # The head belongs to the round that made it, not to the one whose members attest it.
        if self.next_head is None or statement.round != self.next_head.round:
            raise RefusedError("wrong-head", f"round {statement.round} has no head to promote")
        self.head, self.next_head = fold.apply_promotion(self.round, body), None
        self.step = None if body.step_root is UNSET else digest_from_text(body.step_root)
        self.promoted_ms = statement.ts
        self._record_head(self.head)
        if is_due(self.manifest, self.head.round, is_last=self.state is RunState.COOLDOWN):
            self.draws.draw_for(self.round, self.head)

    def _apply_close(
        self, index: int, statement: Statement, body: RoundClose, documents: Documents
    ) -> None:
        view = self._current(statement)
        after = self._after(self.done_event(view.number))
        most = result_bytes(len(view.roster.members))
        result = read_run_document(RoundResult, documents, body.result, most)
        deadlines.check_close(self, view, statement.ts)
        self.next_head = fold.apply_close(view, body, result)
        self._settle(index, view, result, statement.ts)
        self.closed += view.is_training
        self.state = after

    def _apply_void(self, statement: Statement, body: RoundVoid) -> None:
        view = self._current(statement)
        after = self._after(self.done_event(view.number))
        # Derived, not believed: a coordinator must not call a round void that has a result.
        reason = deadlines.void_reason(view)
        if body.reason != reason:
            raise RefusedError(
                "wrong-void",
                f"round {view.number} is void for reason {reason:d}, not {body.reason}",
            )
        deadlines.check_void(self, view, statement.ts)
        fold.apply_void(view)
        self._give_back(view)
        self.voided += view.is_training
        self.state = after

    def _check_can_follow(self, statement: Statement) -> None:
        # Measures of the last head may come after the run's end: it is drawn for as it is promoted.
        if self.state is RunState.FINISHED and not isinstance(statement.body, HeadMeasure):
            raise RefusedError("run-finished", "the run has ended")
        if statement.author in self.ended:
            raise RefusedError("key-ended", "the author's key was revoked or replaced before")

    def _current(self, statement: Statement) -> RoundView:
        if self.round is None or statement.round != self.round.number:
            raise RefusedError(
                "not-in-round",
                f"round {statement.round} is not in progress (round {self.number} is)",
            )
        return self.round

    def _after(self, event: RunEvent) -> RunState:
        after = TRANSITIONS.get((self.state, event)) or self._unseen(event)
        if after is None:
            raise RefusedError("wrong-state", f"{event} is not allowed in state {self.state}")
        return after
