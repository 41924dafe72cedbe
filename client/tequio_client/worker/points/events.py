"""Activity events derived from two successive snapshots of the worker.

`happened` is pure: it compares two snapshots a second apart. Rounds are not covered here; they are
recorded when their last log entry is read (`points.Bookkeeping`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_client.ipc.snapshot import LendingState
from tequio_client.ipc.texts import ActivityEvent, event_values
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.ipc.snapshot import Decision, Snapshot, Value
    from tequio_client.worker.points.activity import ActivityDatabase


LOST_MS = 10_000
"""Silence of the ledger after which an event is recorded."""
SET_BACK_MS = 5_000
"""A clock that goes back by more than this was set; forward it also jumps after sleep."""
_FINISHED = "finished"
_LEVELS = {LendingState.ATTENTION: "error", LendingState.LENDING: "good"}


@dataclass(frozen=True, slots=True)
class WorkerEvent:
    """One event to record."""

    code: ActivityEvent
    level: str = "info"
    values: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The observable state of the worker at one instant."""

    shown: Snapshot
    standing: str
    """Standing of this key, in the protocol's word; empty: not known."""
    steady_ms: int


class ActivityRecorder:
    """Records activity events; `observe` is called once a second."""

    def __init__(self, book: ActivityDatabase) -> None:
        self._book = book
        self._last: Observation | None = None
        self._is_lost = False  # a LEDGER_LOST event was recorded, and no LEDGER_FOUND since
        self._pid = 0  # of the trainer since it was last allowed to compute

    def observe(self, now: Observation) -> None:
        """Record what has happened since the last call."""
        last, self._last = self._last, now
        if last is None:
            self._book.add(ActivityEvent.WORKER_STARTED, version=BUILD)
        happenings = (*derive_events(last, now), *self._ledger(now), *self._trainer(now))
        for one in happenings:
            self._book.add(one.code, one.level, **one.values)

    def _ledger(self, now: Observation) -> Iterator[WorkerEvent]:
        ledger = now.shown.ledger
        if self._is_lost and ledger.is_reached:
            self._is_lost = False
            yield WorkerEvent(ActivityEvent.LEDGER_FOUND, "good")
        is_gone = bool(ledger.since_ms) and not ledger.is_reached
        if is_gone and not self._is_lost and now.shown.at_ms - ledger.since_ms >= LOST_MS:
            self._is_lost = True
            yield WorkerEvent(ActivityEvent.LEDGER_LOST, "warning", {"problem": ledger.problem})

    def _trainer(self, now: Observation) -> Iterator[WorkerEvent]:
        if not now.shown.decision.may_compute:
            self._pid = 0
        for trainer in now.shown.trainers[:1]:
            if self._pid and trainer.pid and trainer.pid != self._pid:
                yield WorkerEvent(ActivityEvent.TRAINER_RESTARTED, "warning")
            self._pid = trainer.pid or self._pid


def derive_events(last: Observation | None, now: Observation) -> Iterator[WorkerEvent]:
    """Events between two observations; `last` is None for the first one."""
    before = last.shown if last else None
    if before is None or _ruling(before.decision) != _ruling(now.shown.decision):
        decision = now.shown.decision
        yield WorkerEvent(
            ActivityEvent.DECIDED, _LEVELS.get(decision.state, "info"), event_values(decision)
        )
    if last is None or before is None:
        return
    if now.shown.at_ms - before.at_ms < now.steady_ms - last.steady_ms - SET_BACK_MS:
        moved_ms = now.shown.at_ms - before.at_ms - (now.steady_ms - last.steady_ms)
        yield WorkerEvent(ActivityEvent.CLOCK_SET, "warning", {"seconds": moved_ms // 1_000})
    if before.preferences != now.shown.preferences:
        yield WorkerEvent(ActivityEvent.PREFERENCES_CHANGED)
    if now.standing and last.standing and now.standing != last.standing:
        yield WorkerEvent(ActivityEvent.STANDING_CHANGED, "warning", {"standing": now.standing})
    yield from _run(before, now.shown)


def _run(before: Snapshot, after: Snapshot) -> Iterator[WorkerEvent]:
    was_in, is_in = before.round, after.round
    if was_in is not None and (is_in is None or is_in.run != was_in.run):
        yield WorkerEvent(ActivityEvent.LEFT_RUN, values={"run": was_in.run_name})
    if is_in is not None and (was_in is None or is_in.run != was_in.run):
        yield WorkerEvent(ActivityEvent.JOINED_RUN, "good", {"run": is_in.run_name})
    if before.status is None or after.status is None or is_in is None:
        return
    if after.status.state == _FINISHED != before.status.state:
        yield WorkerEvent(ActivityEvent.RUN_ENDED, "good", {"run": is_in.run_name})
    if after.status.head_round > before.status.head_round:
        values: dict[str, Value] = {"run": is_in.run_name, "round": after.status.head_round}
        yield WorkerEvent(ActivityEvent.HEAD_VERIFIED, values=values)


def _ruling(decision: Decision) -> tuple[str, str]:
    """The part of a decision whose change is an event; its numbers change all the time."""
    return decision.state, decision.reason
