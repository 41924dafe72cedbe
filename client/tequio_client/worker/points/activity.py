"""The activity database: the last few thousand events of this worker, as codes with values.

Events are ordered by their number, whatever the clock does. Recording must never fail the caller:
an event that cannot be written is dropped and logged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Row
from typing import Self

import msgspec
import structlog

from tequio_client.ipc.points import ActivityReply, ActivityRow, AskActivity
from tequio_client.ipc.snapshot import (
    AuditsView,
    CurrentRoundView,
    Decision,
    LendingState,
    Snapshot,
    Value,
)
from tequio_client.ipc.texts import ActivityEvent, event_values
from tequio_client.worker.points.points_db import DatabaseError, DatabaseFile
from tequio_shared.errors import UserFacingError
from tequio_shared.network.standing import EXCLUDED, Standing, StandingCause
from tequio_shared.version import BUILD

log = structlog.get_logger(__name__)

FILE = "activity.sqlite"
VERSION = 1
MAX_EVENTS = 4_000
"""Events kept."""
TRIM_EVERY = 200
"""Events beyond `MAX_EVENTS` after which the oldest are deleted together."""
MAX_TEXT = 512
"""Most characters of one value."""
LOST_MS = 10_000
"""Silence of the ledger after which an event is recorded."""
SET_BACK_MS = 5_000
"""A clock that goes back by more than this was set; forward it also jumps after sleep."""
_FINISHED = "finished"
_LOWERED = {Standing.SUSPECTED, *EXCLUDED}
_LEVELS = {LendingState.ATTENTION: "error", LendingState.LENDING: "good"}
SCHEMA = """
CREATE TABLE event (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, code TEXT NOT NULL,
    level TEXT NOT NULL, details TEXT NOT NULL
);
"""


class ActivityDatabase:
    def __init__(
        self,
        file: DatabaseFile,
        now_ms: Callable[[], int],
        *,
        max_events: int = MAX_EVENTS,
        trim_every: int = TRIM_EVERY,
    ) -> None:
        self.file = file
        self.now_ms = now_ms
        self._max_events, self._trim_every = max_events, trim_every
        ((number,),) = file.rows("SELECT COALESCE(MAX(number), 0) FROM event")
        self.number = int(number)  # number of the newest event

    @classmethod
    def opened(cls, folder: Path, now_ms: Callable[[], int]) -> Self:
        """Open the database in a worker's folder; raises UserFacingError."""
        try:
            return cls(DatabaseFile(folder / FILE, SCHEMA, version=VERSION), now_ms)
        except DatabaseError as err:
            raise UserFacingError(f"{err}: free some space, or choose another --dir") from err

    def close(self) -> None:
        self.file.close()

    def add(self, code: ActivityEvent, level: str = "info", **values: Value) -> None:
        """Record an event; `level` is info, good, warning or error."""
        shortened = {
            name: value[:MAX_TEXT] if isinstance(value, str) else value
            for name, value in values.items()
        }
        details = msgspec.json.encode(shortened).decode()
        row = (max(self.now_ms(), 0), str(code), level, details)
        try:
            with self.file.writing() as sql:
                added = sql.execute(
                    "INSERT INTO event (at_ms, code, level, details) VALUES (?, ?, ?, ?)", row
                ).lastrowid
                if added is not None and added % self._trim_every == 0:
                    sql.execute("DELETE FROM event WHERE number <= ?", (added - self._max_events,))
        except DatabaseError as err:
            log.warning("event not written", code=str(code), error=str(err))
            return
        self.number = added or self.number

    def answer(self, asked: AskActivity) -> ActivityReply:
        rows = self.file.rows(
            "SELECT * FROM event WHERE ?1 IS NULL OR number < ?1 ORDER BY number DESC LIMIT ?2",
            asked.before,
            asked.limit + 1,
        )
        shown = tuple(_row(row) for row in rows[: asked.limit])
        return ActivityReply(rows=shown, has_more=len(rows) > asked.limit)


def _row(row: Row) -> ActivityRow:
    return ActivityRow(
        number=row["number"],
        at_ms=row["at_ms"],
        code=row["code"],
        level=row["level"],
        values=msgspec.json.decode(row["details"], type=dict[str, str | int | float]),
    )


@dataclass(frozen=True, slots=True)
class WorkerEvent:
    code: ActivityEvent
    level: str = "info"
    values: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    shown: Snapshot
    standing: str  # standing of this key, in the protocol's word; empty: not known
    cause: int | None = None  # of the standing, a number of `StandingCause`; None: none
    steady_ms: int


class ActivityRecorder:
    """Records events that follow from two successive snapshots; `observe` is called once a second.

    Rounds are recorded when their last log entry is read (`points.Bookkeeping`).
    """

    def __init__(self, db: ActivityDatabase) -> None:
        self._db = db
        self._last: Observation | None = None
        self._is_lost = False  # a LEDGER_LOST event was recorded, and no LEDGER_FOUND since
        self._pids: dict[str, int] = {}  # of trainers since they were last allowed to compute

    def observe(self, now: Observation) -> None:
        last, self._last = self._last, now
        if last is None:
            self._db.add(ActivityEvent.WORKER_STARTED, version=BUILD)
        for one in (*derive_events(last, now), *self._ledger(now), *self._trainer(now)):
            self._db.add(one.code, one.level, **one.values)

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
        for trainer in now.shown.trainers:
            if not trainer.decision.may_compute:
                self._pids.pop(trainer.device, None)
            before = self._pids.get(trainer.device, 0)
            if before and trainer.pid and trainer.pid != before:
                yield WorkerEvent(ActivityEvent.TRAINER_RESTARTED, "warning")
            self._pids[trainer.device] = trainer.pid or before


def derive_events(last: Observation | None, now: Observation) -> Iterator[WorkerEvent]:
    """Events between two observations; `last` is None for the first one."""
    before = last.shown if last else None
    decision = now.shown.decision
    is_new = before is None or _ruling(before.decision) != _ruling(decision)
    # Not while the probe starts: it answers a second or two later.
    if is_new and not decision.is_probe_starting:
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
        yield _standing(now)
    audits = {one.device: one.audits for one in before.trainers}
    for trainer in now.shown.trainers:
        yield from _audits(audits.get(trainer.device, AuditsView()), trainer.audits)
    yield from _runs(_rounds(before), _rounds(now.shown))


def _standing(now: Observation) -> WorkerEvent:
    values: dict[str, Value] = {"standing": now.standing}
    if now.standing not in _LOWERED or now.cause is None:
        return WorkerEvent(ActivityEvent.STANDING_CHANGED, "warning", values)
    if now.cause in (StandingCause.CONTRADICTED, StandingCause.CONTRADICTIONS):
        return WorkerEvent(ActivityEvent.AUDIT_CONTRADICTED, "warning", values)
    return WorkerEvent(
        ActivityEvent.STANDING_LOWERED, "warning", {**values, "cause": int(now.cause)}
    )


def _audits(before: AuditsView, after: AuditsView) -> Iterator[WorkerEvent]:
    if after.declined_round not in (0, before.declined_round):
        values: dict[str, Value] = {
            "round": after.declined_of,
            "declined": after.declined_reason,
        }
        yield WorkerEvent(ActivityEvent.AUDIT_DECLINED, values=values)
    if after.warned_round > before.warned_round:
        yield WorkerEvent(ActivityEvent.AUDIT_WARNED, values={"round": after.warned_round})


def _rounds(shown: Snapshot) -> dict[str, CurrentRoundView]:
    """The rounds that the devices are in, by run."""
    return {one.round.run: one.round for one in shown.trainers if one.round is not None}


def _runs(
    before: dict[str, CurrentRoundView], after: dict[str, CurrentRoundView]
) -> Iterator[WorkerEvent]:
    for run in before.keys() - after.keys():
        yield WorkerEvent(ActivityEvent.LEFT_RUN, values={"run": before[run].run_name})
    for run, now in after.items():
        last = before.get(run)
        # A run may end between two observations, or before this worker has joined it.
        if now.state == _FINISHED and (last is None or last.state != _FINISHED):
            yield WorkerEvent(ActivityEvent.RUN_ENDED, "good", {"run": now.run_name})
        elif last is None:
            yield WorkerEvent(ActivityEvent.JOINED_RUN, "good", {"run": now.run_name})
        if last is None:
            continue
        # After that each round has an event of its own, with what it earned.
        if now.head_round > last.head_round < 0:
            values: dict[str, Value] = {"run": now.run_name, "round": now.head_round}
            yield WorkerEvent(ActivityEvent.HEAD_VERIFIED, values=values)


def _ruling(decision: Decision) -> tuple[str, str, bool]:
    """The part of a decision whose change is an event; its numbers change all the time."""
    return decision.state, decision.reason, decision.is_probe_starting
