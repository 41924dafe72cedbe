"""Decides whether a statement may enter the log: cheap checks first, then one that is final.

`screen` does not depend on the order of entries: shape, times, known keys, roles. It runs when a
request arrives, before any signature is verified, so that garbage costs microseconds; a statement
that passes may still be refused. `admit` runs once for each statement, in the sequencer, on the
state that the statement extends: the state's own `apply` decides, and a refused statement changes
nothing. Both raise RefusedError with a problem code (docs/protocol.md, problems).
"""

from __future__ import annotations

from collections.abc import Collection

from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.network.genesis import check_role
from tequio_shared.served.state import State
from tequio_shared.statements.network import KeyRegister
from tequio_shared.statements.statement import Entry, Statement, check_work


def screen(entry: Entry, state: State, now_ms: int, newcomers: Collection[PeerKey] = ()) -> None:
    """Raise RefusedError for a statement that no order of entries could make admissible.

    `newcomers` are keys that an earlier entry of the same bundle registers.
    """
    statement = entry.statement
    # The cheapest checks come first. Proof of work costs its sender seconds and us one hash, so
    # it stands before every check that looks something up.
    _check_times(statement, now_ms)
    check_work(statement, state.net, state.genesis.work_bits)
    _check_invitation(entry, state)
    state.check_keys(entry, newcomers)
    check_role(entry, state.genesis)


def admit(index: int, entry: Entry, state: State, now_ms: int) -> None:
    """Apply the entry to the state as the log's next one; raises RefusedError if it may not be.

    Its signatures have been verified.
    """
    _check_times(entry.statement, now_ms)  # again: it may have expired in the queue
    state.apply(index, entry, now_ms)


def _check_times(statement: Statement, now_ms: int) -> None:
    away_ms = abs(now_ms - statement.ts)
    if away_ms > CLOCK_SKEW_MS:
        how = "behind" if statement.ts < now_ms else "ahead of"
        raise RefusedError("clock-skew", f"ts is {away_ms // 1000} s {how} the ledger's clock")
    if now_ms > statement.exp:
        raise RefusedError("expired", f"expired {now_ms - statement.exp} ms ago")


def _check_invitation(entry: Entry, state: State) -> None:
    # Verifying costs two signature checks; an invitation that is not in the log can be refused
    # for the price of a look-up.
    if not isinstance(entry.statement.body, KeyRegister):
        return
    if any(key not in state.tiers.invitations for key, _ in entry.signatures[1:]):
        raise RefusedError("not-admitted", "the log has no such invitation")
