"""The worker's bookkeeping as one: points, ranking and events, kept for as long as it runs.

What the log says of our rounds reaches the points book through `points.Points`; here the rest is
done: catching up from the ledger, our place in the ranking, events of rounds, and the replies to
what controllers ask about all that.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

import structlog
import trio

from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.link.questions import (
    Activity,
    AskActivity,
    AskLosses,
    AskPoints,
    AskRanking,
    AskSeries,
    Losses,
    Points,
    Ranking,
    RankRow,
    Series,
)
from tequio_client.link.snapshot import PointsShown
from tequio_client.link.texts import Event
from tequio_client.worker import points_read
from tequio_client.worker.book_file import BookError
from tequio_client.worker.points_catch_up import CatchUp
from tequio_client.worker.points_outcome import NO_POINTS, NOT_SELECTED, SILENT, VOID
from tequio_shared.errors import TequioError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.link.decision import Value
    from tequio_client.worker.activity import ActivityBook
    from tequio_client.worker.points_book import Place, PointsBook
    from tequio_client.worker.points_outcome import Outcome
    from tequio_shared.api.peers import RankingAnswer
    from tequio_shared.ids import PeerKey


log = structlog.get_logger(__name__)

Asked: TypeAlias = AskPoints | AskSeries | AskLosses | AskRanking | AskActivity
Told: TypeAlias = Points | Series | Losses | Ranking | Activity

RANKING_S = 60.0
"""Least pause between two looks at our place; without news in the book it is `QUIET` times that."""
QUIET = 5
MICRO = 1e6
_NOTHING = points_read.Sums(today=0, total=0, pending=0, rejected=0)
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
        self._sums: tuple[tuple[int, int], points_read.Sums] | None = None  # of changes and day
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
                self._sums = (known, points_read.sums(self.book.file, midnight_ms))
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
                return await trio.to_thread.run_sync(points_read.points, file, asked)
            case AskSeries():
                now_ms = self.activity.now_ms()
                return await trio.to_thread.run_sync(points_read.series, file, asked, now_ms)
            case AskLosses():
                return await trio.to_thread.run_sync(points_read.losses, file, asked)
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
