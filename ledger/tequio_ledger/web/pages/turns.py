"""Turns at printing a page: a few at once, so that who looks never takes the database from the log.

A page costs milliseconds of a core and a connection; statements, proofs and tiles come first.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from tequio_ledger import metrics
from tequio_ledger.replicas import errand
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

AT_ONCE = 2
WAITING = 128
"""Who comes when so many wait is told to come back."""


class Turns:
    """Hands out the turns; used from one event loop."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def take(self, work: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
        """Do the work in a thread when it is its turn; raises RefusedError("queue-full")."""
        if self._waiting >= WAITING:
            metrics.RATE_LIMITED.labels(limit="pages").inc()
            raise RefusedError("queue-full", f"{WAITING} readers wait for a page: come back")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            return await errand.run(work, *given, **named)
        finally:
            self._free.release()
