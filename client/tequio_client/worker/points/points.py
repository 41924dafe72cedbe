"""Points of this key: recorded as the log is read, summed for controllers, and ranked.

`PointsRecorder` follows the worker's own reading of the log: each entry was verified and fits the
rules, and `mark_proven` learns how far a signed checkpoint covers it. A failed write never costs a
round: what is missing is proven later from the ledger's list (`PointsCatchUp`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import structlog
import trio

from tequio_client.ipc.points import (
    AskActivity,
    AskLosses,
    AskPoints,
    AskRanking,
    AskSeries,
    LossesReply,
    LossRow,
    PointsAnswer,
    PointsQuestion,
    PointsReply,
    PointsRow,
    PointsSeries,
    RankingReply,
    RankRow,
)
from tequio_client.ipc.snapshot import PointsView, Value
from tequio_client.ipc.texts import ActivityEvent
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.worker.points import forecast
from tequio_client.worker.points.activity import ActivityDatabase
from tequio_client.worker.points.catch_up import PointsCatchUp
from tequio_client.worker.points.points_db import (
    NO_POINTS,
    NOT_AUDITED,
    NOT_SELECTED,
    SILENT,
    VOID,
    VOIDED,
    DatabaseError,
    DatabaseFile,
    PointsDatabase,
    RoundOutcome,
    RoundPlace,
    closed_outcome,
    is_receiver,
)
from tequio_shared.api.peers import RankingAnswer
from tequio_shared.errors import TequioError
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.log.notes import Checkpoint
from tequio_shared.round.documents import RoundResult
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import RoundClose, RoundRoster, RoundVoid
from tequio_shared.statements.statement import Statement

log = structlog.get_logger(__name__)

STEPS = 10_000
"""Most steps of one series; more could not be drawn."""
RANKING_S = 60.0
"""Shortest time between two requests for the rank; `QUIET` times as long without new points."""
QUIET_FACTOR = 5
_EVENTS = {
    VOID: (ActivityEvent.ROUND_VOID, "info"),
    SILENT: (ActivityEvent.ROUND_SILENT, "warning"),
    NOT_SELECTED: (ActivityEvent.ROUND_NOT_SELECTED, "info"),
    NO_POINTS: (ActivityEvent.ROUND_NOTHING_DUE, "info"),
    NOT_AUDITED: (ActivityEvent.ROUND_NOT_AUDITED, "info"),
}


class PointsRecorder:
    def __init__(self, db: PointsDatabase, key: PeerKey, run: str) -> None:
        """`run` is the id of the joined run, as text."""
        self._db = db
        self._key = key
        self._run = run

    async def begin(self) -> None:
        """Start reading: outcomes of an earlier reading that were never proven are dropped."""
        await self._write(lambda: self._db.forget_unproven(self._run))

    async def apply(
        self, index: int, statement: Statement, current: RoundView | None, document: bytes
    ) -> None:
        """Apply an entry of the joined run, right after the view applied it."""
        if current is None:
            return
        is_member = self._key in current.slot_of
        place = RoundPlace(
            number=current.roster_index,
            run=to_text(current.manifest.run_id),
            run_name=current.manifest.name,
            round=current.number,
            at_ms=statement.ts,
        )
        match statement.body:
            case RoundRoster() if is_member:
                await self._write(lambda: self._db.add_round(place))
            case RoundClose():
                result = RoundResult.parse(document)
                if is_member or is_receiver(result, self._key):
                    await self._end(place, index, closed_outcome(current.roster, result, self._key))
            case RoundVoid() if is_member:
                await self._end(place, index, VOIDED)

    async def worked(self, current: RoundView, device: str, tokens: int, loss: float) -> None:
        number = current.roster_index
        await self._write(lambda: self._db.record_work(number, device, tokens, loss))

    async def measured(self, run: str, number: int, bits_per_byte: float) -> None:
        await self._write(lambda: self._db.record_measurement(run, number, bits_per_byte))

    async def mark_proven(self, size: int, checkpoint: Checkpoint) -> None:
        """Mark the first `size` log entries as proven by that signed checkpoint."""
        await self._write(lambda: self._db.mark_proven(self._run, size, checkpoint))

    async def _end(self, place: RoundPlace, index: int, outcome: RoundOutcome) -> None:
        self._db.on_end(place, outcome)
        await self._write(lambda: self._db.record_end(place, index, outcome))

    async def _write(self, write: Callable[[], object]) -> None:
        try:
            await trio.to_thread.run_sync(write)
        except DatabaseError as err:  # `PointsCatchUp` will get it from the ledger
            log.warning("points not written", error=str(err))


class PointsTotals(NamedTuple):
    """Proven GFLOP today and in total; pending rounds, and rounds rejected today."""

    today: int = 0
    total: int = 0
    pending: int = 0
    rejected: int = 0


def read_sums(file: DatabaseFile, midnight_ms: int) -> PointsTotals:
    """Sums over all rounds; `midnight_ms` is the start of the local day. Raises DatabaseError."""
    # `+state`, or SQLite would look through the rejected ones of all time.
    (row,) = file.rows(
        "SELECT (SELECT COALESCE(SUM(trained + witnessed + received), 0) FROM round "
        "  WHERE at_ms >= ?1 AND state != 'pending') AS today, "
        "(SELECT COALESCE(SUM(gflop), 0) FROM earned) AS total, "
        "(SELECT COUNT(*) FROM round WHERE state = 'pending') AS pending, "
        "(SELECT COUNT(*) FROM round WHERE at_ms >= ?1 AND +state = 'rejected') AS rejected",
        midnight_ms,
    )
    return PointsTotals(*row)


def points_by_run(file: DatabaseFile) -> dict[str, int]:
    """Proven GFLOP by run id, of runs that gave any; raises DatabaseError."""
    return {row["run"]: row["gflop"] for row in file.rows("SELECT run, gflop FROM earned")}


def run_ids(file: DatabaseFile) -> frozenset[str]:
    """Ids of runs in which this key had a slot; raises DatabaseError."""
    return frozenset(row["run"] for row in file.rows("SELECT DISTINCT run FROM round"))


def last_accepted(file: DatabaseFile, run: str = "") -> int:
    """Number (`RoundPlace`) of the newest round that accepted training; -1: none has.

    Of any run, or of the one with that id. Read from the newest round back, so its cost does not
    grow. Raises DatabaseError.
    """
    of_run = "SELECT number FROM round WHERE run = ? AND trained > 0 ORDER BY number DESC LIMIT 1"
    of_all = "SELECT number FROM round WHERE trained > 0 ORDER BY number DESC LIMIT 1"
    rows = file.rows(of_run, run) if run else file.rows(of_all)
    return rows[0]["number"] if rows else -1


def first_rounds(file: DatabaseFile) -> dict[str, int]:
    """First round in which this key has proven points, by run id; raises DatabaseError."""
    return {row["run"]: row["first"] for row in file.rows("SELECT run, first FROM earned")}


def read_rounds(file: DatabaseFile, asked: AskPoints) -> PointsReply:
    rows = file.rows(
        "SELECT *, trained + witnessed + received AS gflop "
        "FROM round WHERE (?1 IS NULL OR number < ?1) AND at_ms >= ?2 "
        "AND (?3 = '' OR run = ?3) AND (?4 = '' OR device = ?4) ORDER BY number DESC LIMIT ?5",
        asked.before,
        asked.since_ms,
        asked.run,
        asked.device,
        asked.limit + 1,
    )
    columns = PointsRow.__struct_fields__
    shown = tuple(PointsRow(**{name: row[name] for name in columns}) for row in rows[: asked.limit])
    return PointsReply(rows=shown, has_more=len(rows) > asked.limit)


def read_series(file: DatabaseFile, asked: AskSeries, now_ms: int) -> PointsSeries:
    """Points and energy per time step, from the given time or the first round, until now.

    Steps are doubled until there are at most `STEPS`. Raises DatabaseError.
    """
    since_ms = asked.since_ms or _first_ms(file, asked, now_ms)
    span_ms, step_ms = max(now_ms - since_ms, 0), asked.step_ms
    while span_ms // step_ms >= STEPS:
        step_ms *= 2
    count = span_ms // step_ms + 1
    verified, energy = [0] * count, [0.0] * count
    for row in file.rows(
        "SELECT (at_ms - ?1) / ?2 AS step, SUM(energy_j) AS energy, "
        "COALESCE(SUM(CASE WHEN state != 'pending' THEN trained + witnessed + received END), 0) "
        "AS amount FROM round WHERE at_ms >= ?1 AND (?3 = '' OR run = ?3) "
        "AND (?4 = '' OR device = ?4) GROUP BY step",
        since_ms,
        step_ms,
        asked.run,
        asked.device,
    ):
        step = min(row["step"], count - 1)  # the coordinator's clock may be ahead of this one
        verified[step] += row["amount"]
        energy[step] += row["energy"]
    return PointsSeries(
        since_ms=since_ms, step_ms=step_ms, verified=tuple(verified), energy_j=tuple(energy)
    )


def read_losses(file: DatabaseFile, asked: AskLosses) -> LossesReply:
    """Losses of a run's newest rounds, the oldest first; raises DatabaseError."""
    rows = file.rows(
        "SELECT round, MAX(loss) AS loss, MAX(bits_per_byte) AS bits_per_byte FROM ("
        "SELECT round, loss, NULL AS bits_per_byte FROM round WHERE run = ?1 AND loss IS NOT NULL "
        "UNION ALL SELECT round, NULL, bits_per_byte FROM head WHERE run = ?1) "
        "GROUP BY round ORDER BY round DESC LIMIT ?2",
        asked.run,
        asked.limit,
    )
    return LossesReply(rows=tuple(LossRow(**dict(row)) for row in reversed(rows)))


def _first_ms(file: DatabaseFile, asked: AskSeries, now_ms: int) -> int:
    ((first,),) = file.rows(
        "SELECT MIN(at_ms) FROM round WHERE (?1 = '' OR run = ?1) AND (?2 = '' OR device = ?2)",
        asked.run,
        asked.device,
    )
    return now_ms if first is None else int(first)


class Bookkeeping:
    """Points, ranking and activity of one worker, for as long as it runs."""

    def __init__(
        self,
        db: PointsDatabase,
        activity: ActivityDatabase,
        ledger: LedgerApi,
        key: PeerKey,
        log_memory_file: Path,
        *,
        rng: Random,
    ) -> None:
        self.points_db = db
        self.activity = activity
        self.catch_up = PointsCatchUp(db, ledger, key, log_memory_file, rng=rng)
        self.catch_up.on_difference = self._record_difference
        self._ledger = ledger
        self._key = key
        self._rank, self._ranked = 0, 0
        self._reported = (0, 0)  # claimed and proven points in the last event about a difference
        self._unsaved_j: dict[int, float] = {}  # by round
        self._sums: tuple[tuple[int, int], PointsTotals] | None = None  # of changes and day
        self._per_day = 0
        db.on_end = self._record_round
        for file in (db.file, activity.file):
            if file.set_aside_path is not None:
                activity.add(
                    ActivityEvent.FILE_KEPT_ASIDE, "warning", file=str(file.set_aside_path)
                )

    async def run(self) -> None:
        """Catch up and refresh the ranking, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._catch_up)
            seen = -1
            for count in itertools.count():
                if self.points_db.changes != seen or count % QUIET_FACTOR == 0:
                    seen = self.points_db.changes
                    try:
                        self._set_rank(await self._ledger.ranking_around(self._key, 0))
                    except TequioError as err:
                        log.debug("ranking not read", error=str(err))
                await trio.sleep(RANKING_S)

    async def _catch_up(self) -> None:
        await self.catch_up.run()
        self.activity.add(ActivityEvent.LOG_FORKED, "error", problem=self.catch_up.forked)

    def add_energy(self, number: int, joules: float) -> None:
        """Add energy that a device used in a round; written at the next `save`."""
        if joules > 0:
            self._unsaved_j[number] = self._unsaved_j.get(number, 0.0) + joules

    def save(self) -> None:
        """Write the energy assigned since the last call; blocks. A failed write is logged."""
        unsaved_j, self._unsaved_j = self._unsaved_j, {}
        try:
            for number, joules in unsaved_j.items():
                self.points_db.add_energy(number, joules)
        except DatabaseError as err:
            log.warning("energy not written", error=str(err))

    def totals(self, midnight_ms: int) -> PointsView:
        """Sums for a snapshot; `midnight_ms` is the start of the local day."""
        # Called every second, so the sums over all rounds are kept until the database changes.
        known = (self.points_db.changes, midnight_ms)
        if self._sums is None or self._sums[0] != known:
            try:
                self._sums = (known, read_sums(self.points_db.file, midnight_ms))
                self._per_day = forecast.by_rounds(self.points_db.file, self.activity.now_ms())
            except DatabaseError as err:
                log.warning("points not read", error=str(err))
        sums = self._sums[1] if self._sums else PointsTotals()
        forfeited = min(self.catch_up.forfeited, sums.total)
        return PointsView(
            **sums._replace(total=sums.total - forfeited)._asdict(),
            per_day=self._per_day,
            unvested=self.catch_up.unvested,
            forfeited=forfeited,
            unverified=max(self.catch_up.claimed - sums.total, 0),
            rank=self._rank,
            ranked=self._ranked,
        )

    async def answer(self, asked: PointsQuestion) -> PointsAnswer:
        """Answer a controller's question; raises TequioError."""
        file = self.points_db.file
        match asked:
            case AskPoints():
                return await trio.to_thread.run_sync(read_rounds, file, asked)
            case AskSeries():
                now_ms = self.activity.now_ms()
                return await trio.to_thread.run_sync(read_series, file, asked, now_ms)
            case AskLosses():
                return await trio.to_thread.run_sync(read_losses, file, asked)
            case AskActivity():
                return await trio.to_thread.run_sync(self.activity.answer, asked)
            case AskRanking():
                return await self._ranking(asked)

    async def _ranking(self, asked: AskRanking) -> RankingReply:
        try:
            found = await self._ledger.ranking_around(self._key, asked.around)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            return RankingReply(rows=())  # a key without statements has no place yet
        self._set_rank(found)
        ours = to_text(self._key)
        rows = tuple(
            RankRow(
                rank=row.rank,
                key=row.key,
                name=row.name,
                gflop=row.gflop,
                is_ours=row.key == ours,
            )
            for row in found.rows[: 2 * asked.around + 1]
        )
        return RankingReply(rows=rows, ranked=found.ranked)

    def _set_rank(self, found: RankingAnswer) -> None:
        ours = to_text(self._key)
        self._rank = next((row.rank for row in found.rows if row.key == ours), 0)
        self._ranked = found.ranked

    def _record_round(self, place: RoundPlace, outcome: RoundOutcome) -> None:
        code, level = _event(outcome)
        values: dict[str, Value] = {"run": place.run_name, "round": place.round}
        match code:
            case ActivityEvent.ROUND_REJECTED:
                values["reason"] = outcome.reason
            case ActivityEvent.ROUND_AUDITED:
                values |= {
                    "points": outcome.gflop,
                    "audited": outcome.audited_round,
                }
            case (
                ActivityEvent.ROUND_ACCEPTED
                | ActivityEvent.ROUND_WITNESSED
                | ActivityEvent.ROUND_RECEIVED
            ):
                values["points"] = outcome.gflop
        self.activity.add(code, level, **values)

    def _record_difference(self, claimed: int, proven: int) -> None:
        if (claimed, proven) != self._reported:
            self._reported = (claimed, proven)
            values = {"ledger": claimed, "proven": proven}
            self.activity.add(ActivityEvent.POINTS_DIFFER, "warning", **values)


def _event(outcome: RoundOutcome) -> tuple[ActivityEvent, str]:
    if outcome.received and outcome.received == outcome.gflop:
        return ActivityEvent.ROUND_RECEIVED, "good"
    if outcome.reason and outcome.reason not in _EVENTS:
        return ActivityEvent.ROUND_REJECTED, "error"
    if outcome.audited_round:
        return ActivityEvent.ROUND_AUDITED, "good"
    if outcome.trained or not (outcome.reason or outcome.witnessed):
        return ActivityEvent.ROUND_ACCEPTED, "good"
    return (ActivityEvent.ROUND_WITNESSED, "good") if outcome.witnessed else _EVENTS[outcome.reason]
