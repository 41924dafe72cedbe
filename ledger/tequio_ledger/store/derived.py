"""The derived rows: collected entry by entry, and written together with those entries.

`derive` is a pure function of an entry and the state after it; `replay` runs it over the whole log
and must get the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median_low
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, exists, insert, select, update

from tequio_ledger.store.models import (
    DERIVED,
    Attended,
    Credit,
    KeyTier,
    Measured,
    Peer,
    PeerStanding,
    Round,
    Run,
)
from tequio_ledger.store.postgresql import insert_many, upsert
from tequio_shared.ids import PeerKey, RunId, digest_from_text, from_text
from tequio_shared.network import conduct
from tequio_shared.round import measures
from tequio_shared.round.documents import TRAINER, WITNESS, RoundResult
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import (
    HeadMeasure,
    NetGenesis,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RunOpen,
)
from tequio_shared.statements.statement import Entry, Statement

if TYPE_CHECKING:
    from tequio_ledger.state import State


OPEN, CLOSED, VOID = "open", "closed", "void"
_LATER = ("opened_index", "closed_index", "head", "result", "opened_ms", "ended_ms", "loss_q16")

Row = dict[str, object]
RoundKey = tuple[bytes, int]


@dataclass(slots=True)
class Changes:
    """The changes of a batch of entries to the derived tables."""

    peers: set[PeerKey] = field(default_factory=set)
    """Keys whose row is written again from the state; so are `standings` and `tiers`."""
    standings: set[PeerKey] = field(default_factory=set)
    tiers: set[PeerKey] = field(default_factory=set)
    runs: list[Row] = field(default_factory=list)
    new_rounds: dict[RoundKey, Row] = field(default_factory=dict)
    rounds: dict[RoundKey, Row] = field(default_factory=dict)
    """Columns to change in rows of earlier batches."""
    credits: list[Row] = field(default_factory=list)
    attended: list[Row] = field(default_factory=list)
    measured: list[Row] = field(default_factory=list)


def derive(changes: Changes, index: int, entry: Entry, state: State) -> None:
    """Collect the changes of an entry; `state` is the one right after it."""
    # Keys are only named here, and their rows read from the state when the batch is written: a key
    # that speaks ten times in a batch costs one row. Rounds and credits must be read now, because
    # the state forgets a round when the next one begins.
    statement = entry.statement
    changes.peers.add(statement.author)
    changed = conduct.subject(statement)
    if changed is not None:
        changes.standings.add(changed)
    changes.tiers.update(state.tiers.subjects(entry))
    match statement.body:
        case NetGenesis():
            changes.peers.update(state.peers)
            changes.standings.update(state.peers)
            changes.tiers.update(state.peers)
        case RunOpen(manifest=manifest):
            row: Row = {"opened_index": index, "manifest": digest_from_text(manifest)}
            changes.runs.append({"run": statement.run, **row})
        case HeadMeasure() as body:
            changes.measured.append(_measured_row(index, statement, body))
        case _:
            _derive_round(changes, index, statement, state)


def write(connection: Connection, changes: Changes, state: State) -> None:
    """Bring the derived tables up to date with the state."""
    # Peers before standings and tiers, runs before rounds before credits: each refers to the one
    # before by a foreign key.
    _write_keys(connection, changes, state)
    if changes.runs:
        connection.execute(insert(Run), changes.runs)
    if changes.new_rounds:
        connection.execute(insert(Round), list(changes.new_rounds.values()))
    for (run, number), columns in changes.rounds.items():
        where = update(Round).where(Round.run == run, Round.round == number)
        connection.execute(where.values(**columns))
    if changes.credits:
        insert_many(connection, Credit, changes.credits)
    if changes.attended:
        insert_many(connection, Attended, changes.attended)
    if changes.measured:
        insert_many(connection, Measured, changes.measured)


def _write_keys(connection: Connection, changes: Changes, state: State) -> None:
    if changes.peers:
        rows = [_peer_row(key, state) for key in sorted(changes.peers)]
        fresh = ("last_seq", "last_hash", "micropoints")
        upsert(connection, Peer, rows, keys=("key",), fresh=fresh)
    if changes.standings:
        rows = [_standing_row(key, state) for key in sorted(changes.standings)]
        upsert(connection, PeerStanding, rows, keys=("peer",), fresh=list(rows[0])[1:])
    if changes.tiers:
        rows = [_tier_row(key, state) for key in sorted(changes.tiers)]
        upsert(connection, KeyTier, rows, keys=("peer",), fresh=list(rows[0])[1:])


def clear(connection: Connection) -> None:
    """Empty every derived table."""
    for table in DERIVED:
        connection.execute(delete(table))


def is_incomplete(connection: Connection) -> bool:
    """Return whether an older program wrote the rows, with fewer columns of each round."""
    is_over = exists().where(Round.closed_index.is_not(None))
    is_timeless = exists().where(Round.closed_index.is_not(None), Round.ended_ms.is_(None))
    is_unattended = is_over & ~exists().select_from(Attended)
    return bool(connection.scalar(select(is_timeless | is_unattended)))


def _derive_round(changes: Changes, index: int, statement: Statement, state: State) -> None:
    match statement.body:
        case RoundRoster(roster=roster):
            run, number = _round_key(statement)
            changes.new_rounds[run, number] = {
                "run": run,
                "round": number,
                "roster_index": index,
                "roster": digest_from_text(roster),
                "outcome": OPEN,
                "accepted": 0,
                "tokens": 0,
                # All rows of an INSERT need the same columns, so those of later are here as well.
                **dict.fromkeys(_LATER),
            }
        case RoundOpen(head=head, opened=opened_ms):
            columns: Row = {"opened_index": index, "opened_ms": opened_ms, "head": from_text(head)}
            _change_round(changes, statement, columns)
        case RoundClose() as body:
            _close_round(changes, index, statement, body, state)
        case RoundVoid():
            columns = {"closed_index": index, "ended_ms": statement.ts, "outcome": VOID}
            _change_round(changes, statement, columns)
            _attend(changes, index, _members(statement, state))


def _change_round(changes: Changes, statement: Statement, columns: Row) -> None:
    key = _round_key(statement)
    fresh = changes.new_rounds.get(key)  # a round of this batch has no row yet to update
    (changes.rounds.setdefault(key, {}) if fresh is None else fresh).update(columns)


def _close_round(
    changes: Changes, index: int, statement: Statement, body: RoundClose, state: State
) -> None:
    digest = digest_from_text(body.result)
    columns: Row = {"closed_index": index, "outcome": CLOSED, "accepted": body.accepted}
    columns |= {"result": digest, "ended_ms": statement.ts, **_work_done(statement, state)}
    _change_round(changes, statement, columns)
    run, number = _round_key(statement)
    members = _members(statement, state)
    _attend(changes, index, members)
    for slot, row in enumerate(RoundResult.parse(state.documents(digest)).slots):
        kinds = {TRAINER: row.trainer_micropoints, WITNESS: row.witness_micropoints}
        for kind, amount in kinds.items():
            if amount:
                credit: Row = {"run": run, "round": number, "peer": members[slot], "kind": kind}
                team = state.teams.of(members[slot])
                changes.credits.append({**credit, "micropoints": amount, "team": team})
                changes.peers.add(members[slot])


def _work_done(statement: Statement, state: State) -> Row:
    """Sum up the accepted contributions of a round."""
    headers = [one.header for one in _round_view(statement, state).accepted().values()]
    tokens = sum(header.tokens for header in headers)
    return {
        "tokens": tokens,
        "loss_q16": median_low(header.claimed_loss_last_q16 for header in headers),
    }


def _attend(changes: Changes, index: int, members: dict[int, PeerKey]) -> None:
    changes.attended += [{"peer": key, "closed_index": index} for key in members.values()]


def _measured_row(index: int, statement: Statement, body: HeadMeasure) -> Row:
    run, number = _round_key(statement)
    sample = measures.sample_of(body)
    return {
        "prompt": sample.prompt if sample else None,
        "written": sample.text if sample else None,
        "run": run,
        "round": number,
        "peer": statement.author,
        "entry": index,
        "head": from_text(body.head),
        "millibits": body.millibits,
        "size_bytes": body.size_bytes,
        "tokens": body.tokens,
    }


def _members(statement: Statement, state: State) -> dict[int, PeerKey]:
    return _round_view(statement, state).roster.keys


def _round_view(statement: Statement, state: State) -> RoundView:
    view = state.run(statement.run) if statement.run else None
    if view is None or view.round is None:
        raise AssertionError(f"{statement.type} without a round was admitted")
    return view.round


def _peer_row(key: PeerKey, state: State) -> Row:
    chain = state.peers[key]
    return {
        "key": key,
        "registered_index": chain.registered_index,
        "last_seq": chain.seq,
        "last_hash": chain.last,
        "micropoints": state.micropoints(key),
    }


def _standing_row(key: PeerKey, state: State) -> Row:
    record = state.standings.records[key]
    return {
        "peer": key,
        "standing": str(record.standing),
        "since": record.since,
        "cause": None if record.cause is None else int(record.cause),
        "evidence": list(record.evidence),
        "until": record.until,
        "appeal": None if record.appeal is None else record.appeal[0],
    }


def _tier_row(key: PeerKey, state: State) -> Row:
    word = state.tiers.highest(key)
    row: Row = {"peer": key, "tier": int(word.tier), "owner": word.owner, "run": word.run}
    return {**row, "until": word.until, "since": word.since}


def _round_key(statement: Statement) -> tuple[RunId, int]:
    if statement.run is None or statement.round is None:
        raise AssertionError(f"{statement.type} without run and round was admitted")
    return statement.run, statement.round
