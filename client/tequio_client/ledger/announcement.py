"""The announcement of organisers to everybody in the network, as its log proves it.

The ledger's answer only says which entry to read: that is proven against a signed checkpoint, and
signed by the organisers of the genesis. A ledger can hide an announcement for some time, as it can
hide any entry, but cannot invent one. A request costs one small answer; a new announcement one
proof more, whose size grows with the logarithm of the log's.
"""

from __future__ import annotations

from typing import NoReturn

import structlog
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.network.notices import Notice
from tequio_shared.statements.network import NetNotice
from tequio_shared.statements.statement import Statement

log = structlog.get_logger(__name__)

POLL_S = 900.0
"""Time between two requests; a member of a run also reads announcements in the log at once."""


class NetworkAnnouncement:
    """The announcement in force; `refresh` and `apply` may be called from different tasks."""

    def __init__(self, ledger: LedgerApi) -> None:
        self._ledger = ledger
        self._index = -1  # of the last net.notice that was read, with or without a text
        self.current: Notice | None = None

    async def poll(self) -> NoReturn:
        """Refresh from time to time, until cancelled."""
        while True:
            await self.refresh()
            await trio.sleep(POLL_S)

    async def refresh(self) -> None:
        """Ask the ledger, and adopt what the log proves; an unavailable answer changes nothing."""
        try:
            await self._read()
        except (LedgerUnavailableError, LedgerRefusedError, RefusedError, PeerError) as err:
            log.info("announcement of the network unknown", error=str(err))

    def apply(self, index: int, statement: Statement) -> None:
        """Apply the next statement about the network that was read from the log."""
        body = statement.body
        if isinstance(body, NetNotice) and index > self._index:
            self._index = index
            notice = Notice(index=index, ts=statement.ts, text=body.text)
            self.current = notice if body.text else None

    async def _read(self) -> None:
        answer = await self._ledger.notice()
        known, told = self.current, answer.announcement
        if told is None:
            # An older answer may come after the entry was read from the log.
            if known is not None and known.index < answer.as_of.size:
                self.current = None
            return
        if told.index <= self._index:
            return
        found = await read_entries(self._ledger, await self._ledger.network(), [told.index])
        statement = found[told.index].statement
        if not isinstance(statement.body, NetNotice):
            raise PeerError(f"entry {told.index}, a {statement.type}, announces nothing")
        self.apply(told.index, statement)
