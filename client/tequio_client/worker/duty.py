"""What a volunteer has to do now: a pure function of the run's view and of what it holds.

Level-driven: after every entry of the log the duty is worked out afresh; the driver starts what
is new and drops what is no longer asked for. Nothing is remembered between two calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.round import Head, Phase, RoundView, is_trainer
from tequio_shared.run import RunView, State, first_head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.ids import ContributionId, Digest, HeadHash, PeerKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an accepted set: whose contribution, its header and its payload's root."""

    trainer: PeerKey
    id: ContributionId
    header: bytes
    payload_root: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRound:
    """A closed round whose accepted set we know: enough to go from its parent to the next head."""

    round: int
    k: int
    parent: HeadHash
    set_root: Digest
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What we hold and have said, as far as the log has confirmed it."""

    key: PeerKey
    held: HeadHash | None  # head whose weights lie in our store
    closed: Mapping[HeadHash, ClosedRound]  # by parent
    ready_index: int | None  # log index of our last member.ready
    is_leaving: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until the log moves."""


@dataclass(frozen=True, slots=True)
class FetchHead:
    """Get these weights from whoever has them."""

    head: Head


@dataclass(frozen=True, slots=True)
class Advance:
    """Compute the head after this round."""

    closed: ClosedRound


@dataclass(frozen=True, slots=True)
class Ready:
    """Say that we can be in the next roster."""


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
class Done:
    """The run has ended."""


Duty: TypeAlias = Wait | FetchHead | Advance | Ready | Attest | Train | Prove | Done


def duty(view: RunView, own: Own) -> Duty:
    """The one thing to do now, the most urgent first."""
    if view.state is State.FINISHED:
        return Done()
    return _head_duty(view, own) or _round_duty(view, own) or _ready_duty(view, own) or Wait()


def _head_duty(view: RunView, own: Own) -> Duty | None:
    """Bring the weights to where the log is."""
    closed = own.closed.get(own.held) if own.held else None
    if closed is not None:
        return Advance(closed)
    target = view.head or first_head(view.manifest)
    if own.held == target.hash:
        return None
    ahead = {one.parent for one in own.closed.values()}
    if own.held is not None and target.hash in ahead:
        return None  # we computed the head that the run is about to state
    return FetchHead(target)


def _round_duty(view: RunView, own: Own) -> Duty | None:
    current = view.round
    slot = current.slot_of.get(own.key) if current else None
    if current is None or slot is None or own.is_leaving:
        return None
    match current.phase:
        case Phase.ATTEST if slot not in current.attests:
            return Attest(current.number)
        case Phase.TRAIN if is_trainer(current, own.key) and slot not in current.commitments:
            return Train(current.number)
        case Phase.WITNESS if slot in current.elected and slot not in current.proofs:
            return Prove(current.number)
    return None


def _ready_duty(view: RunView, own: Own) -> Duty | None:
    """Ask to be in the next roster, once per roster that we are missing from."""
    if own.is_leaving or view.state in (State.COOLDOWN, State.FINISHED):
        return None
    current = view.round
    slot = current.slot_of.get(own.key) if current else None
    if current is not None and slot is not None and not _was_dropped(current, slot):
        return None
    last_roster = current.roster_index if current else -1
    said = own.ready_index is not None and own.ready_index > last_roster
    return None if said else Ready()


def _was_dropped(last: RoundView, slot: int) -> bool:
    """Whether the end of that round took us out of the coming rosters."""
    return last.phase is Phase.OVER and last.is_silent(slot)
