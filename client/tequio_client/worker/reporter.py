"""Tells the ledger of authors whom the gossip shows to have signed two works for one round."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import structlog
import trio

from tequio_shared.errors import RefusedError
from tequio_shared.ids import peer_id_text, to_text
from tequio_shared.statements.standing import FaultReport

if TYPE_CHECKING:
    from tequio_client.worker.outbox import Outbox
    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Entry

log = structlog.get_logger(__name__)

WAITING = 16
"""Most reports that wait to be said; more equivocators at once are not all told of by us."""
REMEMBERED = 1_024
"""Authors reported so far; then all are forgotten, and may be reported anew."""


class Reporter:
    """Says one report for each author and round; `run` says them."""

    def __init__(self, outbox: Outbox, key: PeerKey) -> None:
        self._outbox = outbox
        self._key = key
        self._told: set[tuple[PeerKey, int | None]] = set()
        self._in, self._out = trio.open_memory_channel[FaultReport](WAITING)

    def hear(self, first: Entry, second: Entry) -> None:
        """Take two signed entries of one author that contradict each other."""
        one = first.statement
        about = one.author, one.round
        if one.author == self._key or about in self._told:
            return
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        self._told.add(about)
        log.warning("two commitments for one round", author=peer_id_text(one.author))
        report = FaultReport(leaves=(to_text(first.leaf()), to_text(second.leaf())))
        try:
            self._in.send_nowait(report)
        except trio.WouldBlock:
            log.warning("too many reports wait; this one is dropped")

    async def run(self) -> NoReturn:
        """Say what was heard, until cancelled; the ledger may know it already."""
        while True:
            report = await self._out.receive()
            try:
                await self._outbox.say(report)
            except RefusedError as err:
                log.info("report not needed", code=err.code)
