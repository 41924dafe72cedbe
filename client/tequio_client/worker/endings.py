"""How a program ends when it cannot go on: one error, chosen from a group, and one sentence."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_shared.errors import MalformedError, TequioError, UserFacingError
from tequio_shared.policy import NoQuorumError, UntrustedLogError

if TYPE_CHECKING:
    from collections.abc import Iterator


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
