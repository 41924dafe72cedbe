"""The coordinator's next statement: a pure function of the run's view and the time.

It decides only *when*; *what* follows from the log, and every reader that replays it checks that
(`RunView.apply`). Times are the coordinator's clock in milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias

from tequio_shared.ids import to_text
from tequio_shared.network import deadlines
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run_states import RunState, close_reason
from tequio_shared.round import measures, proof
from tequio_shared.round.documents import TRAINER
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    RunClose,
)

CoordinatorBody: TypeAlias = (
    HeadPromote | RoundClose | RoundOpen | RoundRoster | RoundVoid | RoundWitness | RunClose
)

Prove = Callable[[bytes], bytes]
"""The coordinator's verifiable random function: its 80-byte proof for an input."""

RESUME_GRACE_MS = 10_000
"""Time that a coordinator returning in a training phase waits for statements sent meanwhile."""
LATE_MS = 1_000
"""A coordinator that is later than this was away: its machine was paused, or its clock wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorStep:
    """One statement to log, with the document that it names (store that first)."""

    body: CoordinatorBody
    round: int | None
    document: bytes | None = None


@dataclass(slots=True, kw_only=True)
class CoordinatorTimers:
    """Times at which the coordinator saw what it waits on; in memory, not in the log.

    Owned by the coordinator of one run; all times are None until they happen. A restart may only
    lengthen a phase, never cut it short: the times start again, from later. So they do when the
    coordinator comes late to what it waits for, because what was sent meanwhile is still to arrive.
    """

    is_new: bool = True
    resumed_at: int | None = None  # it began in the middle of a training phase
    enough_since: int | None = None  # enough members are ready
    cooling_since: int | None = None
    roster_at: int | None = None
    agreed_at: int | None = None  # a quorum attests the pending head
    witness_at: int | None = None
    quorum_at: int | None = None
    due_at: int | None = None  # as `expect` gave it last
    late_in: tuple[RunState, int, RoundPhase | None] | None = None  # where it came late last

    def expect(self, view: FullRunView) -> int | None:
        """Give the time at which to update these again, as `due` does, and expect to be there."""
        self.due_at = due(view, self)
        return self.due_at

    def update(self, view: FullRunView, now: int) -> None:
        """Start and stop the times that the view's state calls for."""
        here = view.state, view.number, view.phase
        if self.due_at is not None and now > self.due_at + LATE_MS and self.late_in != here:
            # Once in a phase, or one would never end if the ledger is always late: it may be busy.
            for one in fields(self):
                setattr(self, one.name, one.default)
            self.late_in = here
        phase = view.phase
        resumes = phase is RoundPhase.TRAIN and (self.is_new or self.resumed_at is not None)
        self.resumed_at, self.is_new = _held(self.resumed_at, now, holds=resumes), False
        waiting = view.state is RunState.WAITING_FOR_MEMBERS and has_enough_members(view, now)
        self.enough_since = _held(self.enough_since, now, holds=waiting)
        is_open = phase in (RoundPhase.TRAIN, RoundPhase.WITNESS)
        cooling = view.state is RunState.COOLDOWN and not is_open
        self.cooling_since = _held(self.cooling_since, now, holds=cooling)
        stating = view.state in (RunState.WARMUP, RunState.COOLDOWN) and phase is RoundPhase.ATTEST
        self.roster_at = _held(self.roster_at, now, holds=stating)
        agreed = stating and view.next_head is not None and _round(view).agreed_head() is not None
        self.agreed_at = _held(self.agreed_at, now, holds=agreed)
        self.witness_at = _held(self.witness_at, now, holds=phase is RoundPhase.WITNESS)
        quorum = phase is RoundPhase.WITNESS and view.round is not None and view.round.has_quorum()
        self.quorum_at = _held(self.quorum_at, now, holds=quorum)


def has_enough_members(view: FullRunView, now: int) -> bool:
    """Return whether a roster of that time would have enough trainers, and a witness."""
    return view.accounts.has_members(now, view.manifest.rounds.min_members)


def decide(
    view: FullRunView, watch: CoordinatorTimers, now: int, prove: Prove
) -> CoordinatorStep | None:
    """Return the next statement to log, or None if nothing is due. Update the watch first."""
    match view.state:
        case RunState.WAITING_FOR_MEMBERS:
            return _when_waiting(view, watch, now, prove)
        case RunState.WARMUP:
            return _when_stating(view, watch, now)
        case RunState.ROUND_TRAIN:
            return _when_training(view, watch, now, prove)
        case RunState.ROUND_WITNESS:
            return _when_witnessing(view, watch, now)
        case RunState.COOLDOWN:
            return _when_cooling(view, watch, now, prove)
    return None


def due(view: FullRunView, watch: CoordinatorTimers) -> int | None:
    """Next time that may change the decision of `decide`; None: only another entry can."""
    match view.state:
        case RunState.WAITING_FOR_MEMBERS:
            return _after(watch.enough_since, view.manifest.rounds.warmup)
        case RunState.WARMUP:
            return _due_when_stating(view, watch)
        case RunState.COOLDOWN:
            return _due_when_cooling(view, watch)
        case RunState.ROUND_TRAIN:
            return _train_ends(_round(view), watch)
        case RunState.ROUND_WITNESS:
            return _witness_ends(view, watch)
    return None


def _when_waiting(
    view: FullRunView, watch: CoordinatorTimers, now: int, prove: Prove
) -> CoordinatorStep | None:
    """Roster at once after a round; after the warm-up time when members had to gather first."""
    if watch.enough_since is None:
        return None
    patience = 0 if view.number else view.manifest.rounds.warmup
    return _roster(view, now, prove) if now >= watch.enough_since + patience else None


def _when_stating(view: FullRunView, watch: CoordinatorTimers, now: int) -> CoordinatorStep | None:
    current = _round(view)
    agreed = current.agreed_head()
    if agreed is not None and current.next_head is not None:
        waits_until = _promotes_from(view, watch)
        if waits_until is not None and now < waits_until:
            return None
        return CoordinatorStep(body=current.promotion(agreed), round=agreed.round)
    # Promotion and opening are two steps: the head is canonical even if the round never opens.
    if agreed is not None:
        # Witnesses slower than the quorum get the grace, as their lots may be the lowest.
        if deadlines.has_all_lots(view, current) or now >= deadlines.opens_from(view):
            return CoordinatorStep(body=current.opening(now), round=current.number)
        return None
    if _is_over(watch.roster_at, view.manifest.rounds.attest, now):
        return _void(current)
    return None


def _due_when_stating(view: FullRunView, watch: CoordinatorTimers) -> int | None:
    current = _round(view)
    if current.agreed_head() is None:
        return _after(watch.roster_at, view.manifest.rounds.attest)
    if current.next_head is not None:
        return _promotes_from(view, watch)
    return deadlines.opens_from(view)


def _promotes_from(view: FullRunView, watch: CoordinatorTimers) -> int | None:
    """Time until which the agreed head waits for more witnesses to measure it; None: no wait.

    Only those that attest it before its promotion can be drawn. Of three witnesses two are a
    quorum, and of two measures that differ, nobody could tell which one is wrong.
    """
    current, rules = _round(view), view.manifest
    coming, agreed = current.next_head, current.agreed_head()
    if coming is None or agreed is None or watch.agreed_at is None or watch.roster_at is None:
        return None
    if not measures.is_due(rules, coming.round, is_last=view.state is RunState.COOLDOWN):
        return None
    holders = current.holders(to_text(agreed.hash))
    if len(holders) >= rules.measures.members or deadlines.has_all_lots(view, current):
        return None
    took = watch.agreed_at - watch.roster_at
    return watch.agreed_at + deadlines.after_quorum(rules.rounds, took)


def _when_training(
    view: FullRunView, watch: CoordinatorTimers, now: int, prove: Prove
) -> CoordinatorStep | None:
    current = _round(view)
    ends = _train_ends(current, watch)
    if ends is None:
        return None
    done = deadlines.has_all_work(view, current)
    if not done and now < ends:
        return None
    if not current.commitments and current.is_training:
        return _void(current)
    body = RoundWitness(commits=len(current.commitments), vrf=to_text(prove(current.draw_input)))
    return CoordinatorStep(body=body, round=current.number)


def _train_ends(current: RoundView, watch: CoordinatorTimers) -> int | None:
    """End of training; a returning coordinator lets the statements that wait for it arrive."""
    if current.open is None:
        return None
    if watch.resumed_at is None:
        return current.open.train_by
    return max(current.open.train_by, watch.resumed_at + RESUME_GRACE_MS)


def _when_witnessing(
    view: FullRunView, watch: CoordinatorTimers, now: int
) -> CoordinatorStep | None:
    current, times = _round(view), view.manifest.rounds
    answered = deadlines.has_all_proofs(view, current)
    grace_ends = _grace_ends(view, watch)
    if current.has_quorum() and (answered or (grace_ends is not None and now >= grace_ends)):
        return _close(current)
    if _is_over(watch.witness_at, times.witness, now):
        return _close(current) if current.has_quorum() else _void(current)
    return None


def _witness_ends(view: FullRunView, watch: CoordinatorTimers) -> int | None:
    limit = _after(watch.witness_at, view.manifest.rounds.witness)
    ends = (limit, _grace_ends(view, watch))
    return min((end for end in ends if end is not None), default=None)


def _grace_ends(view: FullRunView, watch: CoordinatorTimers) -> int | None:
    """Time at which the coordinator stops waiting for further proofs; None without a quorum.

    While a slot's work depends on witnesses that have yet to answer, they get as long again as the
    quorum took: otherwise quick witnesses could decide by being quick.
    """
    if watch.quorum_at is None or watch.witness_at is None:
        return None
    current, grace = _round(view), view.manifest.rounds.grace
    outstanding = {slot for slot in current.without_proof if view.is_present(slot)}
    if proof.is_undecided(current.elected, current.proofs, current.commitments, outstanding):
        grace = max(grace, watch.quorum_at - watch.witness_at)
    return watch.quorum_at + grace


def _when_cooling(
    view: FullRunView, watch: CoordinatorTimers, now: int, prove: Prove
) -> CoordinatorStep | None:
    """Promote the last head, then hold rounds without training until the last audits are over."""
    match view.phase:
        case RoundPhase.TRAIN:
            return _when_training(view, watch, now, prove)
        case RoundPhase.WITNESS:
            return _when_witnessing(view, watch, now)
        case RoundPhase.ATTEST if view.next_head is not None or view.has_open_audits():
            return _when_stating(view, watch, now)
    return _between_last_rounds(view, watch, now, prove)


def _between_last_rounds(
    view: FullRunView, watch: CoordinatorTimers, now: int, prove: Prove
) -> CoordinatorStep | None:
    end = CoordinatorStep(body=RunClose(reason=int(close_reason(view.request))), round=None)
    if view.next_head is None and not view.has_open_audits():
        return end
    can_go_on, ends = view.can_audit(now), _cooldown_ends(view, watch)
    if can_go_on and view.has_open_audits():
        return _roster(view, now, prove)
    if ends is not None and now >= ends:
        return end
    return _roster(view, now, prove) if can_go_on else None


def _due_when_cooling(view: FullRunView, watch: CoordinatorTimers) -> int | None:
    if view.phase is RoundPhase.TRAIN:
        return _train_ends(_round(view), watch)
    if view.phase is RoundPhase.WITNESS:
        return _witness_ends(view, watch)
    if view.phase is RoundPhase.ATTEST:
        return _due_when_stating(view, watch)
    return _cooldown_ends(view, watch)


def _cooldown_ends(view: FullRunView, watch: CoordinatorTimers) -> int | None:
    """End of the wait for members, or for their agreement about the last head."""
    if view.has_open_audits():
        return view.coordinator_ms + view.last_wait_ms
    return _after(watch.cooling_since, view.last_wait_ms)


def _roster(view: FullRunView, now: int, prove: Prove) -> CoordinatorStep:
    roster = view.plan_roster(now)
    document = roster.encode()
    body = RoundRoster(
        roster=to_text(roster.digest),
        slots=len(roster.members),
        trainers=len(roster.slots_of(TRAINER)),
        vrf=to_text(prove(view.next_seed_input())),
    )
    return CoordinatorStep(body=body, round=view.number + 1, document=document)


def _close(view: RoundView) -> CoordinatorStep:
    if not view.accepted() and view.is_training:
        return _void(view)
    result = view.result(view.measured_ms())
    return CoordinatorStep(body=view.closing(result), round=view.number, document=result.encode())


def _void(view: RoundView) -> CoordinatorStep:
    reason = int(deadlines.void_reason(view))
    return CoordinatorStep(body=RoundVoid(reason=reason), round=view.number)


def _round(view: FullRunView) -> RoundView:
    if view.round is None:
        raise AssertionError(f"no round in state {view.state}")
    return view.round


def _is_over(since: int | None, patience: int, now: int) -> bool:
    return since is not None and now >= since + patience


def _after(since: int | None, patience: int) -> int | None:
    return None if since is None else since + patience


def _held(since: int | None, now: int, *, holds: bool) -> int | None:
    """Time since which something holds; None when it does not."""
    if not holds:
        return None
    return now if since is None else since
