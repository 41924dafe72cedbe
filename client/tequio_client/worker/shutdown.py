"""How worker and seed end: by a signal, or with one error sentence that names the ledger.

The first signal ends a program in order, a second one at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import structlog
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import (
    LedgerRefusedError,
    LedgerUnavailableError,
    LogForkedError,
    UnansweredError,
    UnnamedRefusalError,
)
from tequio_shared.errors import MalformedError, TequioError, UserFacingError, first_error
from tequio_shared.log.policy import NoQuorumError, Policy, UntrustedLogError

T = TypeVar("T")
log = structlog.get_logger(__name__)

STOP_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
if sys.platform == "win32":  # Ctrl+Break; Windows ends a program at once if its console closes
    STOP_SIGNALS = (*STOP_SIGNALS, signal.SIGBREAK)
BEFORE_STOP_S = 2.5
"""Longest time for leaving the run; with everything else to close, a program ends within 5 s."""


class BrokenRulesError(TequioError):
    """An entry does not follow from the log before it: the run's coordinator broke the rules."""


@contextmanager
def explain_untrusted_log(ledger: str) -> Iterator[None]:
    """Add the ledger's address and advice to errors that mean that its log cannot be trusted.

    Raises UserFacingError, in a group, for those errors at any depth; other errors pass through.
    """
    try:
        yield
    except* (LogForkedError, BrokenRulesError, NoQuorumError, UntrustedLogError) as group:
        raise UserFacingError(
            f"{first_error(group)}; do not trust {ledger} before `tequio audit --ledger {ledger}` "
            "has passed"
        ) from group


class UnreachableLedgerError(UserFacingError):
    """A ledger does not answer now; nothing is known against it or its address."""


@contextmanager
def explain_unreachable_ledger(ledger: str) -> Iterator[None]:
    """Add the ledger's address and advice to errors of an unreachable or unusable ledger.

    Raises UserFacingError, as `explain_untrusted_log` does for a log that cannot be trusted.
    """
    with explain_untrusted_log(ledger):
        try:
            yield
        except* UnnamedRefusalError as group:
            raise UserFacingError(
                f"{ledger} does not answer as a ledger ({first_error(group)}): check the address, "
                "and any proxy or log-in page on the way"
            ) from group
        except* UnansweredError as group:
            raise UnreachableLedgerError(str(first_error(group))) from group
        except* LedgerUnavailableError as group:
            away = first_error(group)
            if isinstance(away, LedgerUnavailableError) and away.detail:
                raise UnreachableLedgerError(
                    f"the ledger at {ledger} cannot serve this now: {away.detail}; try again later"
                ) from group
            raise UnreachableLedgerError(
                f"can't reach the network at {ledger}: check your connection, and check the "
                "address (--verbose shows details)"
            ) from group
        except* LedgerRefusedError as group:
            raise UserFacingError(
                f"the ledger at {ledger} refused the request: {first_error(group)}"
            ) from group
        except* MalformedError as group:
            raise UserFacingError(
                f"the server at {ledger} is not a Tequio ledger of this version: "
                f"{first_error(group)}"
            ) from group


@contextmanager
def ungrouped_errors() -> Iterator[None]:
    """Raise the first error of a group, for callers that handle single errors."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise first_error(group) from group


def ask_ledger(
    ledger: str, question: Callable[[LedgerApi], Awaitable[T]], trust: Policy | None = None
) -> T:
    """Ask a ledger over a connection of its own; raises UserFacingError."""

    async def asked() -> T:
        async with LedgerApi(ledger, trust=trust) as api:
            return await question(api)

    with explain_unreachable_ledger(ledger):
        return trio.run(asked)


class StoppableProgram:
    """Runs a program until it ends or a signal stops it; `before_stop` runs before a stop."""

    def __init__(self) -> None:
        self.before_stop: Callable[[], Awaitable[None]] | None = None

    async def run(self, program: Callable[[], Awaitable[None]]) -> None:
        """Run the program until it ends or is stopped; raises its errors."""
        async with trio.open_nursery() as nursery:
            watching = trio.Event()
            nursery.start_soon(self._watch, nursery.cancel_scope, watching)
            await watching.wait()
            await program()
            nursery.cancel_scope.cancel()

    async def _watch(self, scope: trio.CancelScope, watching: trio.Event) -> None:
        with trio.open_signal_receiver(*STOP_SIGNALS) as signals:
            watching.set()
            log.info("stopping", signal=signal.Signals(await anext(signals)).name)
            with trio.move_on_after(BEFORE_STOP_S):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_cancel_at_next, signals, nursery.cancel_scope)
                    await self._run_before_stop()
                    nursery.cancel_scope.cancel()
        scope.cancel()

    async def _run_before_stop(self) -> None:
        try:
            if self.before_stop is not None:
                await self.before_stop()
        except* TequioError as group:
            log.warning("member.leave not sent", error=str(first_error(group)))


async def _cancel_at_next(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    await anext(signals)
    scope.cancel()
