"""How a program ends when it cannot go on: one error, chosen from a group, and one sentence."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_shared.errors import MalformedError, TequioError, UserFacingError
from tequio_shared.log.policy import NoQuorumError, UntrustedLogError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator


class BrokenRulesError(TequioError):
    """An entry does not follow from the log before it: the run's coordinator broke the rules."""


@contextmanager
def named(ledger: str) -> Iterator[None]:
    """Say of a log that cannot be trusted which ledger it is from and how to look into it.

    Raises UserFacingError, in a group, for those errors wherever they are; others pass.
    """
    try:
        yield
    except* (LogForkedError, BrokenRulesError, NoQuorumError, UntrustedLogError) as group:
        raise UserFacingError(
            f"{first_of(group)}; do not trust {ledger} before you have seen what "
            f"`tequio audit --ledger {ledger}` says"
        ) from group


@contextmanager
def reached(ledger: str) -> Iterator[None]:
    """Say of a ledger that is away, or is none, which one it is and what to do.

    Raises UserFacingError, as `named` does for a log that cannot be trusted.
    """
    with named(ledger):
        try:
            yield
        except* LedgerUnavailableError as group:
            raise UserFacingError(
                f"the ledger at {ledger} does not answer ({first_of(group)}): "
                "check the address and that it is running"
            ) from group
        except* LedgerRefusedError as group:
            raise UserFacingError(f"the ledger at {ledger} says no: {first_of(group)}") from group
        except* MalformedError as group:
            raise UserFacingError(
                f"what answers at {ledger} is no ledger that we know: {first_of(group)}"
            ) from group


def first_of(error: BaseException) -> BaseException:
    """The error itself, or the first one in its group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


# --- Stopping when told to: the first signal ends a program in order, a second one at once.

log = structlog.get_logger(__name__)

LAST_WORDS_S = 2.5
"""How long the last words may take: with what has to be closed, a program ends within 5 s."""


class Stopping:
    """Runs a program until it ends or a signal says stop; `last_words` may be set meanwhile."""

    def __init__(self) -> None:
        self.last_words: Callable[[], Awaitable[None]] | None = None

    async def run(self, program: Callable[[], Awaitable[None]]) -> None:
        """Return when the program has ended, by itself or by a signal; its errors pass."""
        async with trio.open_nursery() as nursery:
            watching = trio.Event()
            nursery.start_soon(self._watch, nursery.cancel_scope, watching)
            await watching.wait()
            await program()
            nursery.cancel_scope.cancel()

    async def _watch(self, scope: trio.CancelScope, watching: trio.Event) -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            watching.set()
            log.info("stopping", signal=await _next(signals))
            with trio.move_on_after(LAST_WORDS_S):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_cancel_at_next, signals, nursery.cancel_scope)
                    await self._say_last_words()
                    nursery.cancel_scope.cancel()
        scope.cancel()

    async def _say_last_words(self) -> None:
        try:
            if self.last_words is not None:
                await self.last_words()
        except* TequioError as group:
            log.warning("could not say goodbye", error=str(first_of(group)))


async def _next(signals: AsyncIterator[int]) -> str:
    return signal.Signals(await anext(signals)).name


async def _cancel_at_next(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    await anext(signals)
    scope.cancel()
