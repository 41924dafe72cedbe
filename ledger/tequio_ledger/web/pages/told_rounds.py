"""Stories of rounds from the database; those that nothing can be added to are remembered."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from tequio_ledger.store import entry_rows
from tequio_ledger.web.pages.round_story import tell
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_ledger.web.pages.round_story import RoundStory
    from tequio_shared.ids import NetworkId, RunId
    from tequio_shared.run_documents import Documents

HELD = 256
"""Stories in memory; one takes some kilobytes for each member."""


class ToldRounds:
    """Tells rounds of one network; any thread may ask."""

    def __init__(self, net: NetworkId, documents: Documents) -> None:
        self._net = net
        self._documents = documents
        self._over: OrderedDict[tuple[RunId, int], RoundStory] = OrderedDict()
        self._lock = Lock()

    def story(self, connection: Connection, run: RunId, number: int) -> RoundStory:
        """Tell a round; raises RefusedError("not-found") for one that has no roster."""
        with self._lock:
            known = self._over.get((run, number))
            if known is not None:
                self._over.move_to_end((run, number))
                return known
        rows = entry_rows.leaves_of_round(connection, run, number)
        try:
            story = tell(self._net, run, number, rows, self._documents)
        except KeyError as err:
            raise RefusedError("not-found", f"this run has no round {number}") from err
        if story.is_complete:
            self._keep((run, number), story)
        return story

    def _keep(self, name: tuple[RunId, int], story: RoundStory) -> None:
        with self._lock:
            self._over[name] = story
            if len(self._over) > HELD:
                self._over.popitem(last=False)
