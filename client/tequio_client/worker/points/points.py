"""What the log says of our own rounds, noted in the points book as it is read.

Follows the worker's own reading of the log: each entry was verified and fits the rules, and
`proven` is told how far a signed checkpoint covers it. A book that cannot be written costs no
round: what is missing is had from the ledger later (`points_catch_up`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import structlog
import trio

from tequio_client.ipc.control import (
    Activity,
    AskActivity,
    AskLosses,
    AskPoints,
    AskRanking,
    AskSeries,
    Losses,
    LossRow,
    PointsRow,
    Ranking,
    RankRow,
    Series,
)
from tequio_client.ipc.control import Points as ControlPoints
from tequio_client.ipc.snapshot import PointsShown
from tequio_client.ipc.texts import Event
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.worker.points.catch_up import CatchUp
from tequio_client.worker.points.points_db import (
    NO_POINTS,
    NOT_SELECTED,
    SILENT,
    VOID,
    VOIDED,
    BookError,
    Outcome,
    Place,
    Work,
    closed,
)
from tequio_shared.errors import TequioError
from tequio_shared.ids import to_text
from tequio_shared.round.documents import Result
from tequio_shared.statements.runs import RoundClose, RoundRoster, RoundVoid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random
    from sqlite3 import Row

    from tequio_client.ipc.snapshot import Value
    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.points.activity import ActivityBook
    from tequio_client.worker.points.points_db import BookFile, PointsBook
    from tequio_shared.api.peers import RankingAnswer
    from tequio_shared.ids import PeerKey
    from tequio_shared.log.notes import Checkpoint
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Statement


log = structlog.get_logger(__name__)


class Points:
    """One key's rounds in one reading of the log."""

    def __init__(self, book: PointsBook, key: PeerKey) -> None:
        self._book = book
        self._key = key

    async def begin(self) -> None:
        """Begin to read: what an earlier reading noted and nobody proved is forgotten."""
        await self._note(self._book.forget_unproven)

    async def take(
        self, index: int, statement: Statement, current: RoundView | None, document: bytes
    ) -> None:
        """Take an entry of our run, right after the view took it."""
        if current is None or self._key not in current.slot_of:
            return
        place = _place(current, statement.ts)
        match statement.body:
            case RoundRoster():
                await self._note(lambda: self._book.begin(place))
            case RoundClose():
                outcome = closed(current.roster, Result.parse(document), self._key)
                await self._end(place, index, outcome)
            case RoundVoid():
                await self._end(place, index, VOIDED)

    async def worked(self, current: RoundView, done: Work) -> None:
        """Note what was done in the round."""
        await self._note(lambda: self._book.work(current.roster_index, done))

    async def measured(self, run: str, number: int, bits_per_byte: float) -> None:
        """Note how good the head after a round is, as we measured it."""
        await self._note(lambda: self._book.measured(run, number, bits_per_byte))

    async def proven(self, size: int, checkpoint: Checkpoint) -> None:
        """The first `size` entries of the log follow from that signed checkpoint."""
        await self._note(lambda: self._book.prove(size, checkpoint))

    async def _end(self, place: Place, index: int, outcome: Outcome) -> None:
        self._book.on_end(place, outcome)
        await self._note(lambda: self._book.end(place, index, outcome))

    async def _note(self, what: Callable[[], object]) -> None:
        try:
            await trio.to_thread.run_sync(what)
        except BookError as err:
            log.warning("points book not written; the ledger has it", error=str(err))


def _place(current: RoundView, at_ms: int) -> Place:
    return Place(
        number=current.roster_index,
        run=to_text(current.manifest.run_id),
        run_name=current.manifest.name,
        round=current.number,
        at_ms=at_ms,
    )


# --- What the points book answers: pure reading, mapped to the replies that controllers get.

STEPS = 10_000
"""Most steps of one series; more would not be drawn."""


class Sums(NamedTuple):
    """Of the whole book: micro-points proven today and in all; rounds open, and rejected today."""

    today: int
    total: int
    pending: int
    rejected: int


def points_read_sums(book: BookFile, midnight_ms: int) -> Sums:
    """Add up; `midnight_ms` is when the local day began. Raises BookError."""
    (row,) = book.rows(
        "SELECT (SELECT COALESCE(SUM(trained + witnessed), 0) FROM round "
        "  WHERE at_ms >= ?1 AND state != 'pending') AS today, "
        "(SELECT COALESCE(SUM(trained + witnessed), 0) FROM round "
        "  WHERE state IN ('verified', 'rejected')) AS total, "
        "(SELECT COUNT(*) FROM round WHERE state = 'pending') AS pending, "
        "(SELECT COUNT(*) FROM round WHERE at_ms >= ?1 AND state = 'rejected') AS rejected",
        midnight_ms,
    )
    return Sums(*row)


def of_runs(book: BookFile) -> dict[str, int]:
    """Proven micro-points by run; raises BookError."""
    rows = book.rows(
        "SELECT run, SUM(trained + witnessed) AS amount FROM round "
        "WHERE state IN ('verified', 'rejected') GROUP BY run"
    )
    return {row["run"]: row["amount"] for row in rows}


def runs(book: BookFile) -> frozenset[str]:
    """In which runs we took part in a round; raises BookError."""
    return frozenset(row["run"] for row in book.rows("SELECT DISTINCT run FROM round"))


def points(book: BookFile, asked: AskPoints) -> ControlPoints:
    """Give rounds, the newest first; raises BookError."""
    rows = book.rows(
        "SELECT * FROM round WHERE (?1 IS NULL OR number < ?1) AND at_ms >= ?2 "
        "AND (?3 = '' OR run = ?3) AND (?4 = '' OR device = ?4) ORDER BY number DESC LIMIT ?5",
        asked.before,
        asked.since_ms,
        asked.run,
        asked.device,
        asked.limit + 1,
    )
    shown = tuple(_points_row(row) for row in rows[: asked.limit])
    return ControlPoints(rows=shown, has_more=len(rows) > asked.limit)


def series(book: BookFile, asked: AskSeries, now_ms: int) -> Series:
    """Add up by steps, from the first round if no time is given, to now.

    Rounds are timed by the coordinator: those beyond our own clock belong to the last step. Steps
    are doubled until they are few enough. Raises BookError.
    """
    since_ms = asked.since_ms or _first_ms(book, asked, now_ms)
    span_ms, step_ms = max(now_ms - since_ms, 0), asked.step_ms
    while span_ms // step_ms >= STEPS:
        step_ms *= 2
    count = span_ms // step_ms + 1
    verified, energy = [0] * count, [0.0] * count
    for row in book.rows(
        "SELECT (at_ms - ?1) / ?2 AS step, SUM(energy_j) AS energy, "
        "COALESCE(SUM(CASE WHEN state != 'pending' THEN trained + witnessed END), 0) AS amount "
        "FROM round WHERE at_ms >= ?1 AND (?3 = '' OR run = ?3) AND (?4 = '' OR device = ?4) "
        "GROUP BY step",
        since_ms,
        step_ms,
        asked.run,
        asked.device,
    ):
        step = min(row["step"], count - 1)
        verified[step] += row["amount"]
        energy[step] += row["energy"]
    return Series(
        since_ms=since_ms, step_ms=step_ms, verified=tuple(verified), energy_j=tuple(energy)
    )


def losses(book: BookFile, asked: AskLosses) -> Losses:
    """Give what is known of a run's newest rounds, the oldest first; raises BookError."""
    rows = book.rows(
        "SELECT round, MAX(loss) AS loss, MAX(bits) AS bits FROM ("
        "SELECT round, loss, NULL AS bits FROM round WHERE run = ?1 AND loss IS NOT NULL "
        "UNION ALL SELECT round, NULL, bits_per_byte FROM head WHERE run = ?1) "
        "GROUP BY round ORDER BY round DESC LIMIT ?2",
        asked.run,
        asked.limit,
    )
    return Losses(
        rows=tuple(
            LossRow(round=row["round"], loss=row["loss"], bits_per_byte=row["bits"])
            for row in reversed(rows)
        )
    )


def _first_ms(book: BookFile, asked: AskSeries, now_ms: int) -> int:
    ((first,),) = book.rows(
        "SELECT MIN(at_ms) FROM round WHERE (?1 = '' OR run = ?1) AND (?2 = '' OR device = ?2)",
        asked.run,
        asked.device,
    )
    return now_ms if first is None else int(first)


def _points_row(row: Row) -> PointsRow:
    return PointsRow(
        number=row["number"],
        run=row["run"],
        run_name=row["run_name"],
        round=row["round"],
        at_ms=row["at_ms"],
        state=row["state"],
        reason=row["reason"],
        micropoints=row["trained"] + row["witnessed"],
        trained=row["trained"],
        witnessed=row["witnessed"],
        device=row["device"],
        tokens=row["tokens"],
        energy_j=row["energy_j"],
        entry=row["entry"],
        size=row["size"],
        root=row["root"],
    )


# --- The worker's bookkeeping as one: points, ranking and events, kept for as long as it runs.
#
# What the log says of our rounds reaches the points book through `points.Points`; here the rest
# is done: catching up from the ledger, our place in the ranking, events of rounds, and the
# replies to what controllers ask about all that.

Asked: TypeAlias = AskPoints | AskSeries | AskLosses | AskRanking | AskActivity
Told: TypeAlias = ControlPoints | Series | Losses | Ranking | Activity

RANKING_S = 60.0
"""Least pause between two looks at our place; without news in the book it is `QUIET` times that."""
QUIET = 5
MICRO = 1e6
_NOTHING = Sums(today=0, total=0, pending=0, rejected=0)
_EVENTS = {
    VOID: (Event.ROUND_VOID, "info"),
    SILENT: (Event.ROUND_SILENT, "warning"),
    NOT_SELECTED: (Event.ROUND_NOT_SELECTED, "info"),
    NO_POINTS: (Event.ROUND_NOTHING_DUE, "info"),
}


class Bookkeeping:
    """The books of one worker, and what is asked of them."""

    def __init__(
        self,
        book: PointsBook,
        activity: ActivityBook,
        ledger: LedgerApi,
        key: PeerKey,
        log_memory_file: Path,
        *,
        rng: Random,
    ) -> None:
        self.book = book
        self.activity = activity
        self.catch_up = CatchUp(book, ledger, key, log_memory_file, rng=rng)
        self.catch_up.on_differing = self._tell_differing
        self._ledger = ledger
        self._key = key
        self._rank, self._ranked = 0, 0
        self._told = (0, 0)  # what differed when we last said so
        self._spent: dict[int, float] = {}  # joules by round, not written yet
        self._weighed_j: float | None = None
        self._sums: tuple[tuple[int, int], Sums] | None = None  # of changes and day
        book.on_end = self._tell_round
        for file in (book.file, activity.file):
            if file.kept_aside is not None:
                activity.add(Event.FILE_KEPT_ASIDE, "warning", file=str(file.kept_aside))

    async def run(self) -> None:
        """Catch up and look at the ranking, for ever."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._catch_up)
            seen = -1
            for look in itertools.count():
                if self.book.changes != seen or look % QUIET == 0:
                    seen = self.book.changes
                    await self._look_at_ranking()
                await trio.sleep(RANKING_S)

    async def _look_at_ranking(self) -> None:
        try:
            self._note_place(await self._ledger.ranking_around(self._key, 0))
        except TequioError as err:
            log.debug("ranking not read", error=str(err))

    async def _catch_up(self) -> None:
        await self.catch_up.run()
        self.activity.add(Event.LOG_FORKED, "error", problem=self.catch_up.forked)

    def weigh(self, total_j: float, number: int | None) -> None:
        """Book the energy since the last call to the round of that number; None: to none.

        `total_j` is what was ever counted. Written by `keep`.
        """
        before_j, self._weighed_j = self._weighed_j, total_j
        rise_j = 0.0 if before_j is None else total_j - before_j
        if number is not None and rise_j > 0:
            self._spent[number] = self._spent.get(number, 0.0) + rise_j

    def keep(self) -> None:
        """Write what was spent since; blocks. What cannot be written is lost and logged."""
        spent, self._spent = self._spent, {}
        try:
            for number, joules in spent.items():
                self.book.spend(number, joules)
        except BookError as err:
            log.warning("energy not written", error=str(err))

    def shown(self, midnight_ms: int) -> PointsShown:
        """Sums for a snapshot; `midnight_ms` is when the local day began. Cheap when repeated."""
        known = (self.book.changes, midnight_ms)
        if self._sums is None or self._sums[0] != known:
            try:
                self._sums = (known, points_read_sums(self.book.file, midnight_ms))
            except BookError as err:
                log.warning("points not read", error=str(err))
        sums = self._sums[1] if self._sums else _NOTHING
        return PointsShown(
            today=sums.today,
            total=sums.total,
            pending=sums.pending,
            unverified=max(self.catch_up.claimed - sums.total, 0),
            rejected=sums.rejected,
            rank=self._rank,
            ranked=self._ranked,
        )

    async def answer(self, asked: Asked) -> Told:
        """Answer; raises TequioError."""
        file = self.book.file
        match asked:
            case AskPoints():
                return await trio.to_thread.run_sync(points, file, asked)
            case AskSeries():
                now_ms = self.activity.now_ms()
                return await trio.to_thread.run_sync(series, file, asked, now_ms)
            case AskLosses():
                return await trio.to_thread.run_sync(losses, file, asked)
            case AskActivity():
                return await trio.to_thread.run_sync(self.activity.answer, asked)
            case AskRanking():
                return await self._ranking(asked)

    async def _ranking(self, asked: AskRanking) -> Ranking:
        try:
            found = await self._ledger.ranking_around(self._key, asked.around)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            return Ranking(rows=())  # a key that has said nothing yet has no place
        self._note_place(found)
        ours = to_text(self._key)
        rows = tuple(
            RankRow(
                rank=row.rank, key=row.key, micropoints=row.micropoints, is_ours=row.key == ours
            )
            for row in found.rows[: 2 * asked.around + 1]
        )
        return Ranking(rows=rows, ranked=found.ranked)

    def _note_place(self, found: RankingAnswer) -> None:
        ours = to_text(self._key)
        self._rank = next((row.rank for row in found.rows if row.key == ours), 0)
        self._ranked = found.ranked

    def _tell_round(self, place: Place, outcome: Outcome) -> None:
        code, level = _event(outcome)
        values: dict[str, Value] = {"run": place.run_name, "round": place.round}
        match code:
            case Event.ROUND_REJECTED:
                values["reason"] = outcome.reason
            case Event.ROUND_ACCEPTED | Event.ROUND_WITNESSED:
                values["points"] = outcome.micropoints / MICRO
        self.activity.add(code, level, **values)

    def _tell_differing(self, claimed: int, proven: int) -> None:
        if (claimed, proven) != self._told:
            self._told = (claimed, proven)
            values = {"ledger": claimed / MICRO, "proven": proven / MICRO}
            self.activity.add(Event.POINTS_DIFFER, "warning", **values)


def _event(outcome: Outcome) -> tuple[Event, str]:
    if outcome.reason and outcome.reason not in _EVENTS:
        return Event.ROUND_REJECTED, "error"
    if outcome.trained or not (outcome.reason or outcome.witnessed):
        return Event.ROUND_ACCEPTED, "good"
    return (Event.ROUND_WITNESSED, "good") if outcome.witnessed else _EVENTS[outcome.reason]
