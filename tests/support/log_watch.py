"""The log of a live ledger as it grows: every entry within milliseconds, and waits for entries.

It reads the ledger's event stream, resumes where it was when the ledger comes back, and keeps the
entries in order, which no fault may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_shared.errors import PeerError
from tequio_shared.statements.runs import RoundClose, RoundOpen, RoundVoid
from tequio_shared.statements.statement import Entry
from tests.support.history import LogHistory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.statements.statement import Statement

RETRY_S = 0.1
CHECK_S = 0.2

T = TypeVar("T")


class LogWatch(LogHistory):
    """A history that follows the ledger: `run` belongs in its own task."""

    def __init__(self, ledger: LedgerApi, check: Callable[[], None]) -> None:
        """`check` raises an exception when waiting has become pointless."""
        super().__init__(ledger)
        self._stream_of = ledger.events
        self._check = check
        self._grown = trio.Event()  # replaced with every entry

    @property
    def size(self) -> int:
        """The number of entries read so far."""
        return len(self.statements)

    async def run(self) -> NoReturn:
        """Follow the log until cancelled, also while the ledger is down."""
        while True:
            try:
                await self._follow()
            except (LedgerUnavailableError, PeerError):
                await trio.sleep(RETRY_S)

    async def _follow(self) -> None:
        async with self._stream_of(self.size - 1) as stream:
            async for event in stream:
                assert event.index == self.size, f"entry {event.index} where {self.size} is due"
                await self._add(Entry.parse(event.leaf).statement)
                self._grown.set()
                self._grown = trio.Event()

    async def until(self, what: str, find: Callable[[], T | None], patience_s: float) -> T:
        """Wait until `find` returns something; raises AssertionError after `patience_s`."""
        with trio.move_on_after(patience_s):
            while True:
                found = find()
                if found is not None:
                    return found
                self._check()
                with trio.move_on_after(CHECK_S):
                    await self._grown.wait()
        raise AssertionError(f"not in the log within {patience_s:.0f} s: {what}")

    # --- rounds

    def after(self, size: int) -> Iterator[Statement]:
        """The entries after the first `size`."""
        return iter(self.statements[size:])

    def closed_after(self, size: int) -> list[int]:
        """Rounds that were closed after the first `size` entries."""
        return [one.round or 0 for one in self.after(size) if isinstance(one.body, RoundClose)]

    def over_after(self, size: int) -> list[int]:
        """Rounds that were closed or became void after the first `size` entries."""
        ends = (RoundClose, RoundVoid)
        return [one.round or 0 for one in self.after(size) if isinstance(one.body, ends)]

    def head_of(self, number: int) -> str | None:
        """The head that the round started from; None if it never opened."""
        for one in reversed(self.statements):
            if one.round == number and isinstance(one.body, RoundOpen):
                return one.body.head
        return None
