"""The states of a run as a table: the only place that says which one follows which.

docs/protocol.md, run.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from tequio_shared.statements.runs import RunFinish, RunPause, RunResume

if TYPE_CHECKING:
    from collections.abc import Mapping


class State(StrEnum):
    """States of a run (docs/protocol.md, run)."""

    WAITING_FOR_MEMBERS = "waiting_for_members"
    WARMUP = "warmup"  # a roster is fixed; its members state the head they hold
    ROUND_TRAIN = "round_train"
    ROUND_WITNESS = "round_witness"
    COOLDOWN = "cooldown"  # no more rounds; the last head is being stated
    PAUSED = "paused"
    FINISHED = "finished"


class Event(StrEnum):
    """What moves a run from state to state."""

    ROSTER = "round.roster"
    OPEN = "round.open"
    WITNESS = "round.witness"
    DONE = "round.close or round.void"
    DONE_THEN_PAUSE = "the same, with a pause wanted"
    DONE_THEN_FINISH = "the same, with the end wanted or the last round done"
    PAUSE = "run.pause between rounds"
    RESUME = "run.resume"
    FINISH = "run.finish between rounds"
    CLOSE = "run.close"


TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.WAITING_FOR_MEMBERS, Event.ROSTER): State.WARMUP,
    (State.WAITING_FOR_MEMBERS, Event.PAUSE): State.PAUSED,
    (State.WAITING_FOR_MEMBERS, Event.FINISH): State.COOLDOWN,
    (State.WARMUP, Event.OPEN): State.ROUND_TRAIN,
    (State.WARMUP, Event.DONE): State.WAITING_FOR_MEMBERS,
    (State.WARMUP, Event.DONE_THEN_PAUSE): State.PAUSED,
    (State.WARMUP, Event.DONE_THEN_FINISH): State.COOLDOWN,
    (State.ROUND_TRAIN, Event.WITNESS): State.ROUND_WITNESS,
    (State.ROUND_TRAIN, Event.DONE): State.WAITING_FOR_MEMBERS,
    (State.ROUND_TRAIN, Event.DONE_THEN_PAUSE): State.PAUSED,
    (State.ROUND_TRAIN, Event.DONE_THEN_FINISH): State.COOLDOWN,
    (State.ROUND_WITNESS, Event.DONE): State.WAITING_FOR_MEMBERS,
    (State.ROUND_WITNESS, Event.DONE_THEN_PAUSE): State.PAUSED,
    (State.ROUND_WITNESS, Event.DONE_THEN_FINISH): State.COOLDOWN,
    (State.COOLDOWN, Event.ROSTER): State.COOLDOWN,
    (State.COOLDOWN, Event.CLOSE): State.FINISHED,
    (State.PAUSED, Event.RESUME): State.WAITING_FOR_MEMBERS,
    (State.PAUSED, Event.FINISH): State.COOLDOWN,
}


class Wish(StrEnum):
    """What the organiser wants after the round that is under way."""

    GO_ON = "go on"
    PAUSE = "pause"
    FINISH = "finish"


class VoidReason(IntEnum):
    """Codes in round.void."""

    NO_HEAD_QUORUM = 1
    NO_COMMITMENTS = 2
    NO_PROOF_QUORUM = 3
    NOTHING_ACCEPTED = 4


class CloseReason(IntEnum):
    """Codes in run.close."""

    ROUNDS_DONE = 1
    ORGANISER_ENDED = 2


EVENTS: Mapping[type[RunPause | RunResume | RunFinish], Event] = {
    RunPause: Event.PAUSE,
    RunResume: Event.RESUME,
    RunFinish: Event.FINISH,
}
"""What an organiser's statement is between two rounds."""
WISHES: Mapping[type[RunPause | RunResume | RunFinish], Wish] = {
    RunPause: Wish.PAUSE,
    RunResume: Wish.GO_ON,
    RunFinish: Wish.FINISH,
}
"""What it asks for."""
UNSEEN: Mapping[Event, State] = {
    Event.RESUME: State.WAITING_FOR_MEMBERS,
    Event.CLOSE: State.FINISHED,
}
"""What a light view takes in any state: the pause or end wished for may lie before its start."""
