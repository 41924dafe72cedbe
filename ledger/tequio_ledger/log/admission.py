"""May this statement enter the log? A pure function of the statement, the log's state and a time.

Two steps, cheap things first. `screen` needs no order: shape, times, known keys, roles; it runs
before any signature is verified, so that garbage costs microseconds. `admit` runs when all
signatures hold, in the order in which entries would be logged: the author's chain, then what
the run, or the standing, tier or team of keys, allows. Both raise RefusedError with a problem code
(docs/protocol.md, problems).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.competition.competition import ABOUT_COMPETITIONS
from tequio_shared.errors import RefusedError
from tequio_shared.ids import CLOCK_SKEW_MS, ZERO_DIGEST, to_text
from tequio_shared.network import conduct
from tequio_shared.network.genesis import check_role
from tequio_shared.network.tiers import ABOUT_TIERS
from tequio_shared.statements.network import FaultReport, KeyRegister, MemberTeam
from tequio_shared.statements.proof_of_work import check_work
from tequio_shared.statements.runs import NetGenesis, RunOpen

if TYPE_CHECKING:
    from collections.abc import Collection

    from tequio_ledger.state import State
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.statement import Entry, Statement


_JUDGED_ONCE = (FaultReport, *ABOUT_COMPETITIONS)
"""Judged as they are taken (`State.apply`), for they are costly to judge."""


def screen(entry: Entry, state: State, now_ms: int, newcomers: Collection[PeerKey] = ()) -> None:
    """Raise RefusedError for what no order of entries could make admissible.

    `newcomers` are keys whose registration stands earlier in the same batch.
    """
    statement = entry.statement
    _check_times(statement, now_ms)
    check_work(statement, state.net, state.genesis.work_bits)
    _check_keys(entry, state, newcomers)
    check_role(entry, state.genesis)


def admit(entry: Entry, state: State, now_ms: int) -> None:
    """Raise RefusedError unless the entry may be logged next. Signatures are verified already."""
    screen(entry, state, now_ms)
    check_chain(entry.statement, state)
    _check_run(entry, state)


def _check_times(statement: Statement, now_ms: int) -> None:
    if abs(now_ms - statement.ts) > CLOCK_SKEW_MS:
        away_s = (now_ms - statement.ts) // 1000
        raise RefusedError("clock-skew", f"ts lies {away_s} s before the ledger's clock")
    if now_ms > statement.exp:
        raise RefusedError("expired", f"expired {now_ms - statement.exp} ms ago")


def _check_keys(entry: Entry, state: State, newcomers: Collection[PeerKey]) -> None:
    if isinstance(entry.statement.body, KeyRegister):
        if any(key not in state.tiers.invitations for key, _ in entry.signatures[1:]):
            raise RefusedError("not-admitted", "no such invitation is in the log")
        return
    for key, _ in entry.signatures:
        if key not in state.peers and key not in newcomers:
            raise RefusedError("not-admitted", f"key {to_text(key)} is not registered")


def check_chain(statement: Statement, state: State) -> None:
    """Raise RefusedError unless the statement is the next of its author."""
    chain = state.peers.get(statement.author)
    seq, last = (chain.seq, chain.last) if chain else (0, ZERO_DIGEST)
    if statement.seq <= seq:
        raise RefusedError(
            "equivocation", f"another statement {statement.seq} of this author is in the log"
        )
    if statement.prev != last:  # numbers may skip: a refused statement's is never used again
        raise RefusedError("seq-gap", f"prev is not the digest of this author's last, {seq}")


def _check_run(entry: Entry, state: State) -> None:
    statement = entry.statement
    body = statement.body
    if isinstance(body, NetGenesis):
        raise RefusedError("wrong-network", "this network has its genesis")
    if isinstance(body, KeyRegister):
        _check_registration(entry, state)
    elif isinstance(body, MemberTeam):
        state.teams.admit(statement.author, body)
    elif isinstance(body, RunOpen):
        _check_opening(statement, body, state)
    elif statement.run is not None:
        state.run(statement.run).admit(statement)
    elif isinstance(body, ABOUT_TIERS):
        state.tiers.admit(statement)
    elif not isinstance(body, _JUDGED_ONCE):
        conduct.admit(state.standings, statement, state.net, state.round_of)


def _check_opening(statement: Statement, body: RunOpen, state: State) -> None:
    if statement.run in state.runs:
        raise RefusedError("wrong-state", "this run is open already")
    state.manifest_of(statement, body)


def _check_registration(entry: Entry, state: State) -> None:
    if entry.statement.author in state.peers:
        raise RefusedError("wrong-state", "this key is registered already")
    state.tiers.admit_registration(entry)
