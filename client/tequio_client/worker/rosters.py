"""Who trains in the last round of each run, for a reader that does not fold the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from tequio_shared.documents import TRAINER, Roster
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tequio_shared.ids import Digest, PeerKey, RunId

log = structlog.get_logger(__name__)

DOCUMENT_S = 60.0
"""How long a roster is looked for; by then the next one is named."""


class Rosters:
    """The last roster of each run, fetched once it is named; `serve` is one task."""

    def __init__(self, document: Callable[[Digest], Awaitable[bytes]]) -> None:
        self._document = document
        self._named: dict[RunId, tuple[int, Digest]] = {}  # round and document
        self._trainers: dict[RunId, tuple[int, frozenset[PeerKey]]] = {}
        self._came = trio.Event()  # replaced whenever one was named

    def name(self, run: RunId, number: int, document: Digest) -> None:
        """Note the roster of a round; those before it count no longer."""
        self._named[run] = (number, document)
        self._came.set()
        self._came = trio.Event()

    def forget(self, run: RunId) -> None:
        """Let go of a run that has ended."""
        self._named.pop(run, None)
        self._trainers.pop(run, None)

    def round_of(self, run: RunId, key: PeerKey) -> int | None:
        """The number of the last round if the key is to train in it."""
        number, trainers = self._trainers.get(run, (0, frozenset()))
        return number if key in trainers else None

    async def serve(self) -> None:
        """Fetch what is named, the newest only, until cancelled."""
        while True:
            came = self._came
            for run in list(self._named):
                await self._fetch(run)
            if came is self._came:
                await came.wait()

    async def _fetch(self, run: RunId) -> None:
        number, document = self._named.get(run, (0, None))
        if document is None or self._trainers.get(run, (0, None))[0] == number:
            return
        with trio.move_on_after(DOCUMENT_S) as patience:
            try:
                roster = Roster.parse(await self._document(document))
            except MalformedError as err:
                log.warning("a roster does not parse", run=to_text(run)[:10], error=str(err))
                self._named.pop(run, None)
                return
            keys = frozenset(one.key for one in roster.members if TRAINER in one.roles)
            self._trainers[run] = (number, keys)
        if patience.cancelled_caught and self._named.get(run) == (number, document):
            del self._named[run]  # nobody waits for it once more; the next one is named soon
