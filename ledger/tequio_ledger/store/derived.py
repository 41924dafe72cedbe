"""The derived rows: collected entry by entry, and written together with those entries.

`derive` is a pure function of an entry and the state after it; `replay` runs it over the whole log
and must get the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from sqlalchemy import Connection

from tequio_ledger.store.insertion import empty, insert_many, upsert
from tequio_ledger.store.models import (
    ATTENDED,
    CREDIT,
    DERIVED,
    MEASURED,
    OPENED_RUN,
    PEER,
    ROUND,
    STANDING,
    TIER,
)
from tequio_shared.ids import PeerKey, RunId, key_from_text
from tequio_shared.network import conduct
from tequio_shared.network.key_links import ended_by
from tequio_shared.served.rows import (
    AttendedRow,
    CreditRow,
    MeasureRow,
    OpenedRunRow,
    PeerRow,
    RoundRow,
    RoundRows,
    columns,
    measure_row,
    place_of,
    run_row,
)
from tequio_shared.served.state import State, peer_row, standing_row, tier_row
from tequio_shared.statements.network import NameWithdraw, TeamMember
from tequio_shared.statements.runs import (
    HeadMeasure,
    NetGenesis,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RunClose,
    RunOpen,
)
from tequio_shared.statements.statement import Entry, Statement

_OF_ROUND = (RoundRoster, RoundOpen, RoundClose, RoundVoid)
"""Statements that change the rows of their round."""
ENTRIES = 4_096
"""Entries whose rows are held in memory while a log is read from its beginning."""
_FRESH_PEER = tuple(
    one.name for one in fields(PeerRow) if one.name not in ("key", "registered_index", "replaces")
)


@dataclass(slots=True)
class Changes:
    """The changes of a batch of entries to the derived tables."""

    peers: set[PeerKey] = field(default_factory=set)
    """Keys whose row is written again from the state; so are `standings` and `tiers`."""
    standings: set[PeerKey] = field(default_factory=set)
    tiers: set[PeerKey] = field(default_factory=set)
    runs: list[OpenedRunRow] = field(default_factory=list)
    rounds: dict[tuple[bytes, int], RoundRow] = field(default_factory=dict)
    credits: list[CreditRow] = field(default_factory=list)
    attended: list[AttendedRow] = field(default_factory=list)
    measures: list[MeasureRow] = field(default_factory=list)


def derive(changes: Changes, index: int, entry: Entry, state: State) -> None:
    """Collect the changes of an entry; `state` is the one right after it.

    Raises KeyError when a document of a round is missing.
    """
    # Keys are only named here, and their rows read from the state when the batch is written: a key
    # that speaks ten times in a batch costs one row. Rounds and credits must be read now, because
    # the state forgets a round when the next one begins.
    statement = entry.statement
    changes.peers.add(statement.author)
    _derive_subjects(changes, entry, state)
    match statement.body:
        case NetGenesis():
            changes.peers.update(state.peers)
            changes.standings.update(state.peers)
            changes.tiers.update(state.peers)
        case RunOpen():
            changes.runs.append(run_row(index, statement))
        case HeadMeasure() as body:
            changes.measures.append(measure_row(index, statement, body))
        case RunClose():
            changes.peers.update(state.run(_run_of(statement)).accounts.earned)
        case body if isinstance(body, _OF_ROUND):
            run, _ = place_of(statement)
            _derive_round(changes, state.last_round(run))
            if isinstance(body, RoundClose):
                settled = state.runs[run].settled
                changes.peers.update(state.links.holder(one.trainer) for one in settled)
                unpaid = (key for one in settled for key, _ in one.unpaid)
                changes.peers.update(state.links.holder(key) for key in unpaid)
                # All of the roster: points, and badges of work that was worth no whole GFLOP.
                changes.peers.update(state.last_members(run))
                changes.peers.update(state.runs[run].accounts.receivers)


def _derive_subjects(changes: Changes, entry: Entry, state: State) -> None:
    """Collect the keys whose standing, tier, name, team or end this entry states."""
    statement = entry.statement
    changed = conduct.subject(statement)
    if changed is not None:
        changes.standings.add(changed)
        changes.peers.add(changed)  # a quarantine takes points, also of those it gave some to
        for view in state.runs.values():
            changes.peers.update(view.accounts.receivers)
    match statement.body:
        case NameWithdraw(peer=peer) if peer:
            changes.peers.add(key_from_text(peer))
        case TeamMember(peer=peer):
            changes.peers.add(key_from_text(peer))
    changes.tiers.update(state.tiers.subjects(entry))
    ended = ended_by(statement)
    if ended is not None:  # the author is the successor of a key that was replaced
        for one in (changes.peers, changes.standings, changes.tiers):
            one.update((ended, statement.author))


def _run_of(statement: Statement) -> RunId:
    if statement.run is None:
        raise AssertionError(f"{statement.type} without a run was admitted")
    return statement.run


def _derive_round(changes: Changes, rows: RoundRows) -> None:
    if rows.round is not None:
        changes.rounds[rows.round.run, rows.round.round] = rows.round
    changes.credits += rows.credits
    changes.attended += rows.attended


def write(connection: Connection, changes: Changes, state: State) -> None:
    """Bring the derived tables up to date with the state."""
    # Peers before standings and tiers, runs before rounds before credits: each refers to the one
    # before by a foreign key. Keys are sorted, so that neighbours are written together: a batch of
    # the log touches keys at random. `registered_index` never changes, and writing it again would
    # cost a change of its index.
    peers = [columns(peer_row(state, key)) for key in sorted(changes.peers)]
    upsert(connection, PEER, peers, fresh=_FRESH_PEER)
    standings = [columns(standing_row(state, key)) for key in sorted(changes.standings)]
    upsert(connection, STANDING, standings)
    tiers = [columns(tier_row(state, key)) for key in sorted(changes.tiers)]
    upsert(connection, TIER, tiers)
    insert_many(connection, OPENED_RUN, [columns(one) for one in changes.runs])
    upsert(connection, ROUND, [columns(one) for one in changes.rounds.values()])
    insert_many(connection, CREDIT, [columns(one) for one in changes.credits])
    insert_many(connection, ATTENDED, [columns(one) for one in changes.attended])
    insert_many(connection, MEASURED, [columns(one) for one in changes.measures])


def clear(connection: Connection) -> None:
    empty(connection, DERIVED)


class Rebuild:
    """The rows of a whole log, written to empty tables every `ENTRIES` entries."""

    def __init__(self, connection: Connection, state: State) -> None:
        self._connection = connection
        self._state = state
        self._changes = Changes()
        self._keys = Changes()

    def add(self, index: int, entry: Entry) -> None:
        """Add an entry that the state has just applied; raises KeyError as `derive` does."""
        derive(self._changes, index, entry, self._state)
        if (index + 1) % ENTRIES == 0:
            self._write()

    def finish(self) -> None:
        """Write what is left, and the rows of all keys as they are in the end."""
        self._write()
        write(self._connection, self._keys, self._state)

    def _write(self) -> None:
        write(self._connection, self._changes, self._state)
        self._keys.peers |= self._changes.peers
        self._keys.standings |= self._changes.standings
        self._keys.tiers |= self._changes.tiers
        self._changes = Changes()
