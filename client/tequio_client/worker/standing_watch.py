"""Our own standing while we work: read at the start, followed in the log, told once.

Who is quarantined stays connected and serves bytes; it is in no roster, so it neither trains nor
witnesses once the round that it is in has ended. When its term is over it asks to come back.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import structlog

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.own_standing import read_standing, standing_after
from tequio_client.worker.standing_words import sentence
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.standing import OUTSIDE, Standing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.api.peers import StandingAnswer
    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Statement

log = structlog.get_logger(__name__)

MARGIN_MS = 1_000
"""How long after the end of the term we ask: clocks differ a little."""


class StandingWatch:
    """Knows how our key stands; written by whoever follows the log."""

    def __init__(self, key: PeerKey, ledger: LedgerApi, clock: Callable[[], int]) -> None:
        self._key = key
        self._ledger = ledger
        self._clock = clock
        self.known: StandingAnswer | None = None

    async def refresh(self) -> None:
        """Ask the ledger, and believe what the log proves; what cannot be had now is left out."""
        try:
            told, _ = await read_standing(self._ledger, self._key)
        except (LedgerUnavailableError, RefusedError, PeerError, UserFacingError) as err:
            log.debug("our standing is not known", error=str(err))  # a new key has none
            return
        self._adopt(told)

    def take(self, index: int, statement: Statement) -> None:
        """Take an entry of the log that is about the network."""
        after = standing_after(index, statement, self._key)
        if after is not None:
            self._adopt(after)

    @property
    def removed_at(self) -> int:
        """The log index at which our quarantine took us out of the rosters; -1: none did."""
        return self.known.since if self.known and self.known.standing in OUTSIDE else -1

    def outside(self) -> str:
        """Why we may be in no roster now, in one sentence; empty when we may."""
        if self.known is None or self._left_ms() <= 0:
            return ""
        return f"our key is {sentence(self.known)}; see `tequio standing`"

    def left_s(self) -> float:
        """How long until `outside` may change by time alone, seconds."""
        left_ms = self._left_ms()
        return left_ms / 1000 if left_ms > 0 else math.inf

    def _left_ms(self) -> float:
        if self.known is None or self.known.standing not in OUTSIDE:
            return 0
        if self.known.standing == Standing.BANNED:
            return math.inf
        return self.known.until + MARGIN_MS - self._clock()

    def _adopt(self, after: StandingAnswer) -> None:
        if self.known is not None and after.since <= self.known.since:
            return
        self.known = after
        if self.outside():
            log.warning("our key may be in no roster", why=self.outside())
        elif after.standing != Standing.NEWCOMER:
            log.info("our standing", standing=sentence(after))
