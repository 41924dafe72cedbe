"""The next duty of a worker: a pure function of the run's view and of what the worker holds.

Level-driven: the duty is computed again after every log entry. The driver starts a new duty and
cancels one that is no longer asked for; nothing is remembered between two calls.

Rules. A proof needs no weights and has a deadline, so it comes first. Next the weights catch up
with the log: they are computed from the rounds that this worker saw close (one that follows steps
takes those of the heads it saw promoted), or fetched, whichever moves fewer bytes. Only a worker
that holds the head of the next round reports that it is ready. A worker that may not compute sends
member.leave once, keeps following the log, and otherwise waits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tequio_shared.head.chain import AcceptedSet, Head
from tequio_shared.ids import Digest, HeadHash, PeerKey
from tequio_shared.network.run import RunView, first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.proof import Verdict
from tequio_shared.round.round import RoundPhase, RoundView, is_trainer


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberState:
    key: PeerKey
    held: Head | None  # its weights are in the store
    fetching: Head | None = None  # its weights are being fetched
    closed: Mapping[HeadHash, AcceptedSet]  # by parent
    steps: Mapping[HeadHash, FollowDuty] = field(default_factory=dict)  # by parent
    stuck: Collection[HeadHash] = ()  # parents from which computing the next head failed
    answered: Collection[Duty] = ()  # duties whose statement the ledger accepted or refused
    ready_index: int | None = None  # log index of this key's last member.ready
    idle_reason: str = ""  # why this key may be in no roster now
    tier_problem: str = ""  # why rosters left it out when it joined the run
    left_at: int = -1  # log index of this key's last member.leave
    removed_at: int = -1  # log index of the entry that took this key out of the rosters
    is_leaving: bool = False
    is_light: bool = False  # it follows steps of heads, and computes none
    pause_reason: str = ""  # why this worker may not compute now
    measured: int = -1  # round of the head measured last
    measures_every: int = 0  # measure the head of every n-th round; 0: never
    is_behind: bool = False  # the view is not yet where the run was when this worker joined
    is_given_up: Callable[[int], bool] = lambda _: False  # the run goes back from that round's head
    is_replay_costlier: Callable[[Head], bool] = lambda _: False  # than fetching that head
    has_weights: Callable[[Head], bool] = lambda _: False  # its weights are in the store


@dataclass(frozen=True, slots=True)
class WaitDuty:
    """Nothing to do until the log moves; `reason` is a sentence shown to people only."""

    reason: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FetchDuty:
    head: Head  # its weights are fetched from peers


@dataclass(frozen=True, slots=True)
class AdvanceDuty:
    closed: AcceptedSet  # the round after which the head is computed


@dataclass(frozen=True, slots=True)
class FollowDuty:
    head: Head  # the promoted one, whose parent is held
    step: Digest  # root of the step between them


@dataclass(frozen=True, slots=True)
class ReadyDuty:
    """Submit member.ready for the roster after the one at this log index (-1: the first)."""

    last_roster: int


@dataclass(frozen=True, slots=True)
class LeaveDuty:
    """Submit member.leave: out of all rosters after this log index, until the next member.ready."""

    ready_index: int


@dataclass(frozen=True, slots=True)
class AttestDuty:
    round: int


@dataclass(frozen=True, slots=True)
class TrainDuty:
    round: int


@dataclass(frozen=True, slots=True)
class AuditDuty:
    round: int  # whose roster has the order


@dataclass(frozen=True, slots=True)
class ProveDuty:
    round: int  # its contributions are checked


@dataclass(frozen=True, slots=True)
class MeasureDuty:
    """Measure a held head: to submit if this key was drawn, otherwise for the local charts."""

    head: Head
    is_drawn: bool = False


@dataclass(frozen=True, slots=True)
class RunEnded:
    pass


RoundDuty: TypeAlias = AttestDuty | TrainDuty | AuditDuty | ProveDuty
Duty: TypeAlias = (
    WaitDuty
    | FetchDuty
    | AdvanceDuty
    | FollowDuty
    | ReadyDuty
    | LeaveDuty
    | RoundDuty
    | MeasureDuty
    | RunEnded
)

_RESTING = {
    RunState.PAUSED: "the organiser paused the run",
    RunState.COOLDOWN: "the run is ending: its last head is attested, and its last work audited",
}


def next_duty(view: RunView, own: MemberState) -> Duty:
    # Every step below must be safe to repeat: this runs after each entry, also while a duty is
    # under way, and returning an equal value is what keeps that duty from being cancelled.
    if view.state is RunState.FINISHED:
        return _last_duty(view, own) or _drawn_duty(view, own) or RunEnded()
    if own.pause_reason:
        return _leave_duty(own) or WaitDuty(own.pause_reason)
    if own.is_behind:
        # The rounds in the view are over for everybody else, so a proof or a commitment for one of
        # them would be refused. Weights are worth having all the same.
        return _head_duty(view, own) or WaitDuty("reading the log up to the current round")
    return (
        _prove_duty(view, own)
        or _head_duty(view, own)
        or _round_duty(view, own)
        or _ready_duty(view, own)
        or _drawn_duty(view, own)
        or _measure_duty(view, own)
        or WaitDuty(_idle_reason(view, own))
    )


def _last_duty(view: RunView, own: MemberState) -> Duty | None:
    """Come to the run's last head, if little or nothing is missing for it."""
    if own.held is None or view.head is None or own.pause_reason or own.is_leaving:
        return None
    if own.is_light:
        # A step is small, and is given up when nobody sends it.
        return _follow_duty(own.held, view.head, own)
    # Nothing larger is fetched any more: the run is over, and a worker that waits for a peer here
    # might never end.
    closed = own.closed.get(own.held.hash)
    if closed is None:
        return None
    if closed.parent in own.stuck or own.is_replay_costlier(view.head):
        return None
    return AdvanceDuty(closed)


def _leave_duty(own: MemberState) -> Duty | None:
    if own.is_leaving or own.ready_index is None:  # nobody counts on a worker that is not ready
        return None
    return _unanswered(LeaveDuty(own.ready_index), own)


def _prove_duty(view: RunView, own: MemberState) -> Duty | None:
    current, slot = _place(view, own)
    if current is None or current.phase is not RoundPhase.WITNESS:
        return None
    is_asked = slot in current.elected and slot not in current.proofs
    return _unanswered(ProveDuty(current.number), own) if is_asked else None


def _head_duty(view: RunView, own: MemberState) -> Duty | None:
    """Bring the weights to the canonical head, by replay or by fetching."""
    target = _target(view)
    if target is None or own.is_given_up(target.round):
        return None
    # Finish an older head that is being fetched while what is known since leads on from it.
    # Restarting at each new head would never end for a line that needs longer than a round.
    onward = own.steps if own.is_light else own.closed
    is_on_way = own.fetching is not None and own.fetching.hash in onward
    goal = own.fetching if own.fetching is not None and is_on_way else target
    if own.held is None:
        return FetchDuty(goal)
    if own.is_light and own.held != target:
        return _follow_duty(own.held, goal, own) or FetchDuty(goal)
    return None if own.is_light else _full_head_duty(view, own, own.held, target, goal)


def _full_head_duty(
    view: RunView, own: MemberState, held: Head, target: Head, goal: Head
) -> Duty | None:
    """The same for a member that computes heads."""
    closed = own.closed.get(held.hash)
    if held == target:
        # Its successor is not promoted yet, so nobody can name it to fetch it.
        return AdvanceDuty(closed) if closed is not None else None
    if closed is not None and held.hash not in own.stuck and not own.is_replay_costlier(goal):
        return AdvanceDuty(closed)
    return None if _is_next(view, held) else FetchDuty(goal)


def _follow_duty(held: Head, goal: Head, own: MemberState) -> Duty | None:
    """Follow the step from the held head to the next, where one is known, unless that is dear."""
    following = own.steps.get(held.hash)
    if following is None or held.hash in own.stuck or own.is_replay_costlier(goal):
        return None
    return following


def _target(view: RunView) -> Head | None:
    """The canonical head; None while a light view has not come to its promotion yet."""
    if view.head is not None:
        return view.head
    is_first = view.next_head is not None and not view.next_head.round
    return first_head(view.manifest) if is_first else None


def _is_next(view: RunView, held: Head) -> bool:
    """True if the held head is the one that the run is about to promote."""
    # Its hash is not in the log yet, so the fields that determine it are compared.
    coming = view.next_head
    return coming is not None and (coming.round, coming.parent, coming.set_root) == (
        held.round,
        held.parent,
        held.set_root,
    )


def _round_duty(view: RunView, own: MemberState) -> Duty | None:
    current, slot = _place(view, own)
    if current is None or slot is None or own.held is None:
        return None
    if current.phase is RoundPhase.ATTEST and slot not in current.attests:
        starts = _starts_from(current, own.held)
        return _unanswered(AttestDuty(current.number), own) if starts else None
    # Windows and orders are in the roster, so who holds the head need not wait for the others.
    # Not later: the trainer process is needed for the proof, and an audit takes as long as a
    # training.
    has_time = current.phase in (RoundPhase.ATTEST, RoundPhase.TRAIN)
    return _work_duty(current, slot, own.held, own) if has_time else None


def _work_duty(current: RoundView, slot: int, held: Head, own: MemberState) -> Duty | None:
    # The audit first: training can stop early, and still commits to what it has done.
    if slot in current.orders and slot not in current.reports:
        audit = _unanswered(AuditDuty(current.number), own)
        if audit is not None:
            return audit
    if is_trainer(current, own.key) and slot not in current.commitments:
        starts = _starts_from(current, held)
        return _unanswered(TrainDuty(current.number), own) if starts else None
    return None


def _starts_from(current: RoundView, held: Head) -> bool:
    """True if the round starts from the held head, as far as its attestations decide that."""
    expected = current.settled_head() or current.expected_head(held.weights_root, held.aux_root)
    return held == expected


def _ready_duty(view: RunView, own: MemberState) -> Duty | None:
    """Ask for a place in the next roster, once for each roster that lacks this key.

    A quarantine counts like such a roster, and so does a member.leave of this key. Nothing is asked
    before a quarantine has ended.
    """
    if own.is_leaving or own.idle_reason or own.held is None:
        return None
    # A member that is ready without the head would only delay the round's start for all others.
    # One that follows steps gets there once the others have promoted it, which takes a roster.
    has_all_there_is = own.is_light and own.held == view.head
    if view.next_head is not None and not _is_next(view, own.held) and not has_all_there_is:
        return None
    current, slot = _place(view, own)
    is_in = current is not None and slot is not None and not _was_dropped(current, slot)
    roster_index = view.round.roster_index if view.round else -1
    if is_in and own.removed_at < 0 and own.left_at < roster_index:
        return None
    last_roster = max(roster_index, own.removed_at, own.left_at)
    is_logged = own.ready_index is not None and own.ready_index > last_roster
    return None if is_logged else _unanswered(ReadyDuty(last_roster), own)


def _drawn_duty(view: RunView, own: MemberState) -> Duty | None:
    if own.is_leaving or own.pause_reason:
        return None
    # Oldest first: with short rounds, a newer draw would otherwise interrupt each measurement, and
    # none would ever be finished.
    for draw in view.draws.open:
        is_asked = own.key in draw.drawn and own.key not in draw.measures
        if is_asked and (own.held == draw.head or own.has_weights(draw.head)):
            wanted = _unanswered(MeasureDuty(draw.head, is_drawn=True), own)
            if wanted is not None:
                return wanted
    return None


def _measure_duty(view: RunView, own: MemberState) -> Duty | None:
    """Measure the canonical head for the local charts, unless drawn members have done so lately."""
    held, every = own.held, own.measures_every
    if not every or held is None or held != view.head:
        return None
    drawn = view.drawn.head.round if view.drawn else -1
    return MeasureDuty(held) if held.round // every > max(own.measured, drawn) // every else None


def _idle_reason(view: RunView, own: MemberState) -> str:
    if own.is_leaving:
        return "leaving the run"
    if own.idle_reason:
        return own.idle_reason
    if view.state in _RESTING:
        why = view.notices.pause_reason if view.state is RunState.PAUSED else None
        return _RESTING[view.state] + (f": {why.text}" if why else "")
    current, slot = _place(view, own)
    if current is None or current.phase is RoundPhase.OVER:
        return own.tier_problem or "waiting for enough members to start the next round"
    if slot is None:
        started = f"round {current.number} started without this worker"
        return own.tier_problem or f"{started}; it can join the next one"
    return f"done for now in round {current.number}; waiting for the other members"


def _place(view: RunView, own: MemberState) -> tuple[RoundView | None, int | None]:
    """The last round and this key's slot in it; neither while leaving."""
    if view.round is None or own.is_leaving:
        return None, None
    return view.round, view.round.slot_of.get(own.key)


def _was_dropped(last: RoundView, slot: int) -> bool:
    """True if that round may have dropped this slot from the rosters.

    Silence does so at once, contributions that were not selected do after some rounds. A light view
    cannot count these, so each one counts: member.ready changes nothing for an active member.
    """
    if last.phase is not RoundPhase.OVER:
        return False
    verdict, _ = last.verdicts().get(slot, (Verdict.SILENT, None))
    is_void = not last.accepted()  # which says nothing of contributions
    return last.is_silent(slot) or (verdict is Verdict.NOT_SELECTED and not is_void)


def _unanswered(wanted: Duty, own: MemberState) -> Duty | None:
    return None if wanted in own.answered else wanted
