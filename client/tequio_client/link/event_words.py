"""What can happen to a worker, as codes with their values, and the English sentence of each.

Used as `words` is: the command line fills a template as it is, the app translates it first. A
template needs no other values than those in brackets at its code. Points come as points, not as
micro-points; times are in the row.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tequio_client.link import words
from tequio_client.link.decision import Decision, Reason, State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.link.decision import Value
    from tequio_client.link.questions import ActivityRow


class Event(StrEnum):
    """Codes; the values that go with each are in brackets."""

    DECIDED = "decided"  # (state, reason, perhaps until_ms, and the decision's own)
    WORKER_STARTED = "worker-started"  # (version)
    PREFERENCES_CHANGED = "preferences-changed"
    JOINED_RUN = "joined-run"  # (run)
    LEFT_RUN = "left-run"  # (run)
    RUN_ENDED = "run-ended"  # (run)
    ROUND_ACCEPTED = "round-accepted"  # (run, round, points)
    ROUND_WITNESSED = "round-witnessed"  # (run, round, points)
    ROUND_NOTHING_DUE = "round-nothing-due"  # (run, round)
    ROUND_NOT_SELECTED = "round-not-selected"  # (run, round)
    ROUND_SILENT = "round-silent"  # (run, round)
    ROUND_VOID = "round-void"  # (run, round)
    ROUND_REJECTED = "round-rejected"  # (run, round, reason)
    POINTS_DIFFER = "points-differ"  # (ledger, proven)
    HEAD_VERIFIED = "head-verified"  # (run, round)
    STANDING_CHANGED = "standing-changed"  # (standing)
    LEDGER_LOST = "ledger-lost"  # (problem)
    LEDGER_FOUND = "ledger-found"
    LOG_FORKED = "log-forked"  # (problem)
    TRAINER_RESTARTED = "trainer-restarted"
    FILE_KEPT_ASIDE = "file-kept-aside"  # (file)
    CLOCK_SET = "clock-set"  # (seconds)


EVENTS: Mapping[Event, str] = {
    Event.WORKER_STARTED: "Started, version {version}.",
    Event.PREFERENCES_CHANGED: "Your settings were changed.",
    Event.JOINED_RUN: "Joined the run {run}.",
    Event.LEFT_RUN: "Left the run {run}.",
    Event.RUN_ENDED: "The run {run} has ended.",
    Event.ROUND_ACCEPTED: "{run}, round {round}: your work was accepted, for {points:,.3f} points.",
    Event.ROUND_WITNESSED: "{run}, round {round}: {points:,.3f} points for checking others' work.",
    Event.ROUND_NOTHING_DUE: "{run}, round {round}: you were not asked to do anything that earns "
    "points.",
    Event.ROUND_NOT_SELECTED: "{run}, round {round}: too few witnesses received your work in "
    "time. This does not count against you.",
    Event.ROUND_SILENT: "{run}, round {round}: the round ended without your work.",
    Event.ROUND_VOID: "{run}, round {round}: the round is void, and its work is assigned again.",
    Event.ROUND_REJECTED: "{run}, round {round}: the witnesses refused your work ({reason}).",
    Event.POINTS_DIFFER: "The ledger says that you have {ledger:,.3f} points, but its log proves "
    "{proven:,.3f}. What is not proven is not counted here.",
    Event.HEAD_VERIFIED: "{run}: downloaded and verified the model from round {round}.",
    Event.STANDING_CHANGED: "Your key is now {standing}.",
    Event.LEDGER_LOST: "The ledger cannot be reached ({problem}). Work goes on without it for a "
    "while.",
    Event.LEDGER_FOUND: "The ledger can be reached again.",
    Event.LOG_FORKED: "The ledger shows another log than before ({problem}). Its answers are no "
    "longer trusted.",
    Event.TRAINER_RESTARTED: "The training program stopped unexpectedly and was restarted.",
    Event.FILE_KEPT_ASIDE: "A file was damaged or belongs to another program. It was kept as "
    "{file}, and a new one was started.",
    Event.CLOCK_SET: "This computer's clock was changed by {seconds} s.",
}
"""All but `decided`, whose sentence is the decision's own (`words`)."""
UNKNOWN = "An event that this version does not know ({code})."
_OWN = ("state", "reason", "until_ms")


def values_of(decision: Decision) -> dict[str, Value]:
    """The values of the event that a decision is."""
    until = {} if decision.until_ms is None else {"until_ms": decision.until_ms}
    return {**decision.values, "state": decision.state, "reason": decision.reason, **until}


def decision_of(row: ActivityRow) -> Decision:
    """The decision that the event was; raises ValueError for one of a later version."""
    until = row.values.get("until_ms")
    return Decision(
        state=State(str(row.values.get("state"))),
        reason=Reason(str(row.values.get("reason"))),
        values={name: value for name, value in row.values.items() if name not in _OWN},
        until_ms=None if until is None else int(until),
    )


def template(row: ActivityRow) -> str:
    """Choose the template of an event; for `decided` see `decision_of`."""
    return EVENTS.get(row.code, UNKNOWN)  # type: ignore[call-overload,no-any-return]  # StrEnum keys


def sentence(row: ActivityRow, local: Callable[[int], words.Local]) -> str:
    """Say an event in English, for the local clock that `local` reads."""
    try:
        if row.code == Event.DECIDED:
            return words.sentence(decision_of(row), row.at_ms, local)
        values: dict[str, Any] = {**row.values, "code": row.code}
        return template(row).format(**values)
    except (KeyError, ValueError):
        return UNKNOWN.format(code=row.code)
