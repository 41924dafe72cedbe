"""What the log says of our own rounds, noted in the points book as it is read.

Follows the worker's own reading of the log: each entry was verified and fits the rules, and
`proven` is told how far a signed checkpoint covers it. A book that cannot be written costs no
round: what is missing is had from the ledger later (`points_catch_up`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.worker.book_file import BookError
from tequio_client.worker.points_book import Place, Work
from tequio_client.worker.points_outcome import VOIDED, Outcome, closed
from tequio_shared.documents import Result
from tequio_shared.ids import to_text
from tequio_shared.statements.rounds import RoundClose, RoundRoster, RoundVoid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.worker.points_book import PointsBook
    from tequio_shared.ids import PeerKey
    from tequio_shared.notes import Checkpoint
    from tequio_shared.round import RoundView
    from tequio_shared.statement import Statement

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
