"""States of a run as a table: which events lead from which state to which, and why rounds end.

Rules: `TRANSITIONS` alone decides which state follows which (docs/protocol.md, run).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from tequio_shared.statements.runs import RunFinish, RunPause, RunResume


class RunState(StrEnum):
    """States of a run (docs/protocol.md, run)."""

    WAITING_FOR_MEMBERS = "waiting_for_members"
    WARMUP = "warmup"  # a roster is fixed; its members attest the head they hold
    ROUND_TRAIN = "round_train"
    ROUND_WITNESS = "round_witness"
    COOLDOWN = "cooldown"  # no more training; the last head is attested, the last work audited
    PAUSED = "paused"
    FINISHED = "finished"


class RunEvent(StrEnum):
    """Causes of a run's transitions from state to state."""

    ROSTER = "round.roster"
    OPEN = "round.open"
    WITNESS = "round.witness"
    DONE = "round.close or round.void"
    DONE_THEN_PAUSE = "the same, with a pause wanted"
    DONE_THEN_FINISH = "the same, with the end wanted or the last round done"
    PAUSE = "run.pause between rounds"
    RESUME = "run.resume"
    ROLLBACK = "run.rollback"
    FINISH = "run.finish between rounds"
    CLOSE = "run.close"


TRANSITIONS: Mapping[tuple[RunState, RunEvent], RunState] = {
    (RunState.WAITING_FOR_MEMBERS, RunEvent.ROSTER): RunState.WARMUP,
    (RunState.WAITING_FOR_MEMBERS, RunEvent.PAUSE): RunState.PAUSED,
    (RunState.WAITING_FOR_MEMBERS, RunEvent.FINISH): RunState.COOLDOWN,
    (RunState.WARMUP, RunEvent.OPEN): RunState.ROUND_TRAIN,
    (RunState.WARMUP, RunEvent.DONE): RunState.WAITING_FOR_MEMBERS,
    (RunState.WARMUP, RunEvent.DONE_THEN_PAUSE): RunState.PAUSED,
    (RunState.WARMUP, RunEvent.DONE_THEN_FINISH): RunState.COOLDOWN,
    (RunState.ROUND_TRAIN, RunEvent.WITNESS): RunState.ROUND_WITNESS,
    (RunState.ROUND_TRAIN, RunEvent.DONE): RunState.WAITING_FOR_MEMBERS,
    (RunState.ROUND_TRAIN, RunEvent.DONE_THEN_PAUSE): RunState.PAUSED,
    (RunState.ROUND_TRAIN, RunEvent.DONE_THEN_FINISH): RunState.COOLDOWN,
    (RunState.ROUND_WITNESS, RunEvent.DONE): RunState.WAITING_FOR_MEMBERS,
    (RunState.ROUND_WITNESS, RunEvent.DONE_THEN_PAUSE): RunState.PAUSED,
    (RunState.ROUND_WITNESS, RunEvent.DONE_THEN_FINISH): RunState.COOLDOWN,
    (RunState.COOLDOWN, RunEvent.ROSTER): RunState.COOLDOWN,
    (RunState.COOLDOWN, RunEvent.OPEN): RunState.COOLDOWN,
    (RunState.COOLDOWN, RunEvent.WITNESS): RunState.COOLDOWN,
    (RunState.COOLDOWN, RunEvent.DONE): RunState.COOLDOWN,
    (RunState.COOLDOWN, RunEvent.DONE_THEN_PAUSE): RunState.COOLDOWN,
    (RunState.COOLDOWN, RunEvent.DONE_THEN_FINISH): RunState.COOLDOWN,
    (RunState.COOLDOWN, RunEvent.CLOSE): RunState.FINISHED,
    (RunState.PAUSED, RunEvent.RESUME): RunState.WAITING_FOR_MEMBERS,
    (RunState.PAUSED, RunEvent.ROLLBACK): RunState.PAUSED,
    (RunState.PAUSED, RunEvent.FINISH): RunState.COOLDOWN,
}


class RunRequest(StrEnum):
    """The organiser's request for the time after the round in progress."""

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


ORGANISER_STATEMENTS: Mapping[
    type[RunPause | RunResume | RunFinish], tuple[RunEvent, RunRequest]
] = {
    RunPause: (RunEvent.PAUSE, RunRequest.PAUSE),
    RunResume: (RunEvent.RESUME, RunRequest.GO_ON),
    RunFinish: (RunEvent.FINISH, RunRequest.FINISH),
}
"""Event of an organiser's statement between two rounds, and its request during one."""
LIGHT_VIEW_STATES: Mapping[RunEvent, RunState] = {
    RunEvent.RESUME: RunState.WAITING_FOR_MEMBERS,
    RunEvent.ROLLBACK: RunState.PAUSED,
    RunEvent.CLOSE: RunState.FINISHED,
}
"""Events that a light view accepts in any state: their cause may lie before its start."""


def close_reason(request: RunRequest) -> CloseReason:
    """Reason why a run ends of which the organiser's last request is that."""
    is_wanted = request is RunRequest.FINISH
    return CloseReason.ORGANISER_ENDED if is_wanted else CloseReason.ROUNDS_DONE
