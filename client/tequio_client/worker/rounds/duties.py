"""What a volunteer has to do now: a pure function of the run's view and of what it holds.

Level-driven: after every entry of the log the duty is worked out afresh; the driver starts what
is new and drops what is no longer asked for. Nothing is remembered between two calls.

Rules. A proof needs no weights and has a deadline, so it comes first. Next the weights are brought
to where the log is: computed from the rounds that we saw close, or fetched, whichever moves fewer
bytes. A head that is being
fetched while rounds go by stays worth having as long as those rounds lead on from it; otherwise
whoever needs longer than a round for its bytes would begin again for ever. Only who holds the head
that the next round starts from says that it is ready. Who may not compute for now takes its leave
once, follows the log, and does nothing else until it may.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.network.run import RunView, State, first_head
from tequio_shared.round.round import Head, Phase, RoundView, is_trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from tequio_shared.ids import HeadHash, PeerKey
    from tequio_shared.round.round import AcceptedSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What we hold, what we are at, and what we have said."""

    key: PeerKey
    held: Head | None  # whose weights lie in our store
    fetching: Head | None = None  # whose weights are on their way
    closed: Mapping[HeadHash, AcceptedSet]  # by parent
    stuck: Collection[HeadHash] = ()  # parents from which we could not go on by ourselves
    said: Collection[Duty] = ()  # statements that the ledger has answered, whatever it said
    ready_index: int | None = None  # log index of our last member.ready
    outside: str = ""  # why our key may be in no roster now
    left_at: int = -1  # log index of our last member.leave
    removed_at: int = -1  # log index of what took our key out of the rosters
    is_leaving: bool = False
    resting: str = ""  # why we may not compute now
    measured: int = -1  # round of the head that we measured last
    measures_every: int = 0  # heads of which rounds we measure; 0: of none
    is_behind: bool = False  # the view has still to catch up with where the run was as we joined
    is_dear: Callable[[Head], bool] = lambda _: False  # replaying up to there, against fetching it
    has_weights: Callable[[Head], bool] = lambda _: False  # of a head, in our store


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until the log moves; `reason` says why, in one sentence, for eyes alone."""

    reason: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FetchHead:
    """Get these weights from whoever has them."""

    head: Head


@dataclass(frozen=True, slots=True)
class Advance:
    """Compute the head after this round."""

    closed: AcceptedSet


@dataclass(frozen=True, slots=True)
class Ready:
    """Say that we can be in the roster after the one at this log index (-1: in the first)."""

    last_roster: int


@dataclass(frozen=True, slots=True)
class TakeLeave:
    """Say that we are in no roster after this log index until we are ready anew."""

    ready_index: int


@dataclass(frozen=True, slots=True)
class Attest:
    """State the head that we hold, for this round."""

    round: int


@dataclass(frozen=True, slots=True)
class Train:
    """Train and commit in this round."""

    round: int


@dataclass(frozen=True, slots=True)
class Prove:
    """Check this round's contributions and send a witness proof."""

    round: int


@dataclass(frozen=True, slots=True)
class Measure:
    """Measure a head that we have, and say so if we were drawn; else for ourselves alone."""

    head: Head
    is_drawn: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The run has ended."""


Duty: TypeAlias = (
    Wait | FetchHead | Advance | Ready | TakeLeave | Attest | Train | Prove | Measure | Done
)


_RESTING = {
    State.PAUSED: "the organiser has paused the run",
    State.COOLDOWN: "the run is ending; waiting for its last head to be agreed on",
}


def duty(view: RunView, own: Own) -> Duty:
    """The one thing to do now, the most urgent first."""
    if view.state is State.FINISHED:
        return _last_duty(view, own) or _drawn_duty(view, own) or Done()
    if own.resting:
        return _leave_duty(own) or Wait(own.resting)
    if own.is_behind:
        return _head_duty(view, own) or Wait("reading the log up to where the run is")
    return (
        _prove_duty(view, own)
        or _head_duty(view, own)
        or _round_duty(view, own)
        or _ready_duty(view, own)
        or _drawn_duty(view, own)
        or _measure_duty(view, own)
        or Wait(_idle_reason(view, own))
    )


def _last_duty(view: RunView, own: Own) -> Duty | None:
    """End with the run's last head, where that takes no more than what we hold."""
    closed = own.closed.get(own.held.hash) if own.held else None
    if closed is None or view.head is None or own.resting or own.is_leaving:
        return None
    is_able = closed.parent not in own.stuck and not own.is_dear(view.head)
    return Advance(closed) if is_able else None


def _leave_duty(own: Own) -> Duty | None:
    """Say so when others still count on us."""
    if own.is_leaving or own.ready_index is None:
        return None
    return _unsaid(TakeLeave(own.ready_index), own)


def _prove_duty(view: RunView, own: Own) -> Duty | None:
    current, slot = _place(view, own)
    if current is None or current.phase is not Phase.WITNESS:
        return None
    is_asked = slot in current.elected and slot not in current.proofs
    return _unsaid(Prove(current.number), own) if is_asked else None


def _head_duty(view: RunView, own: Own) -> Duty | None:
    """Bring the weights to where the log is."""
    target = _target(view)
    if target is None:
        return None
    is_on_way = own.fetching is not None and own.fetching.hash in own.closed
    goal = own.fetching if own.fetching is not None and is_on_way else target
    closed = own.closed.get(own.held.hash) if own.held else None
    if closed is not None and _is_to_replay(closed, own, goal, target):
        return Advance(closed)
    if own.held is not None and (own.held == target or _is_next(view, own.held)):
        return None
    return FetchHead(goal)


def _is_to_replay(closed: AcceptedSet, own: Own, goal: Head, target: Head) -> bool:
    """Whether to go on from the head that we hold; the present one cannot be fetched past."""
    if closed.parent == target.hash:
        return True
    return closed.parent not in own.stuck and not own.is_dear(goal)


def _target(view: RunView) -> Head | None:
    """The canonical head; None while a light view has not come to its promotion yet."""
    if view.head is not None:
        return view.head
    is_first = view.next_head is not None and not view.next_head.round
    return first_head(view.manifest) if is_first else None


def _is_next(view: RunView, held: Head) -> bool:
    """Whether we hold the head that the run is about to state."""
    coming = view.next_head
    return coming is not None and (coming.round, coming.parent, coming.set_root) == (
        held.round,
        held.parent,
        held.set_root,
    )


def _round_duty(view: RunView, own: Own) -> Duty | None:
    current, slot = _place(view, own)
    if current is None or slot is None or own.held is None:
        return None
    match current.phase:
        case Phase.ATTEST if slot not in current.attests and _starts_from(current, own.held):
            return _unsaid(Attest(current.number), own)
        case Phase.TRAIN if is_trainer(current, own.key) and slot not in current.commitments:
            return _unsaid(Train(current.number), own) if own.held == current.head else None
    return None


def _starts_from(current: RoundView, held: Head) -> bool:
    """Whether the round may start from the head that we hold, as far as is settled."""
    settled = current.settled_head()
    return held == (settled or current.expected_head(held.weights_root, held.aux_root))


def _ready_duty(view: RunView, own: Own) -> Duty | None:
    """Ask to be in the next roster, once per roster that we are missing from.

    A quarantine counts like such a roster, and so does a leave that we took, be it from a round
    that we were in; until a quarantine's term is over nothing is asked.
    """
    if own.is_leaving or own.outside or own.held is None or view.state is State.COOLDOWN:
        return None
    if view.next_head is not None and not _is_next(view, own.held):
        return None
    current, slot = _place(view, own)
    is_in = current is not None and slot is not None and not _was_dropped(current, slot)
    roster_index = view.round.roster_index if view.round else -1
    if is_in and own.removed_at < 0 and own.left_at < roster_index:
        return None
    last_roster = max(roster_index, own.removed_at, own.left_at)
    is_logged = own.ready_index is not None and own.ready_index > last_roster
    return None if is_logged else _unsaid(Ready(last_roster), own)


def _drawn_duty(view: RunView, own: Own) -> Duty | None:
    """With nothing else to do, measure a head that we were drawn for, the oldest one first.

    While its weights stay, and it is still asked for: with another one in between, where rounds are
    short, none would ever be measured to the end.
    """
    if own.is_leaving or own.resting:
        return None
    for draw in view.draws.open:
        wanted = Measure(draw.head, is_drawn=True)
        is_asked = own.key in draw.drawn and own.key not in draw.said and wanted not in own.said
        if is_asked and (own.held == draw.head or own.has_weights(draw.head)):
            return wanted
    return None


def _measure_duty(view: RunView, own: Own) -> Duty | None:
    """Then look how good the canonical head is, once in so many rounds: if nobody was drawn."""
    held, every = own.held, own.measures_every
    if not every or held is None or held != view.head:
        return None
    told = view.drawn.head.round if view.drawn else -1
    return Measure(held) if held.round // every > max(own.measured, told) // every else None


def _idle_reason(view: RunView, own: Own) -> str:
    """Why there is nothing to do."""
    if own.is_leaving:
        return "we are leaving the run"
    if own.outside:
        return own.outside
    if view.state in _RESTING:
        return _RESTING[view.state]
    current, slot = _place(view, own)
    if current is None or current.phase is Phase.OVER:
        return "waiting for enough members to begin the next round"
    if slot is None:
        return f"round {current.number} has begun without us; we can be in the next one"
    return f"our part in round {current.number} is done for now; waiting for the others"


def _place(view: RunView, own: Own) -> tuple[RoundView | None, int | None]:
    """The last round and our slot in it; neither while we are leaving."""
    if view.round is None or own.is_leaving:
        return None, None
    return view.round, view.round.slot_of.get(own.key)


def _unsaid(wanted: Duty, own: Own) -> Duty | None:
    return None if wanted in own.said else wanted


def _was_dropped(last: RoundView, slot: int) -> bool:
    """Whether the end of that round took us out of the coming rosters."""
    return last.phase is Phase.OVER and last.is_silent(slot)
