"""The derived rows: collected entry by entry, and written together with those entries.

`derive` is a pure function of an entry and the state after it; `replay` runs it over the whole log
and must get the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median_low

from sqlalchemy import Connection, delete, exists, select, update

from tequio_ledger.state import State
from tequio_ledger.store.insertion import insert_many, upsert
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
            digest = digest_from_text(manifest)
            changes.runs.append({"run": statement.run, "opened_index": index, "manifest": digest})
        case HeadMeasure() as body:
            changes.measured.append(_measured_row(index, statement, body))
        case _:
            _derive_round(changes, index, statement, state)


def write(connection: Connection, changes: Changes, state: State) -> None:
    """Bring the derived tables up to date with the state."""
    # Peers before standings and tiers, runs before rounds before credits: each refers to the one
    # before by a foreign key.
    _write_keys(connection, changes, state)
    insert_many(connection, Run, changes.runs)
    insert_many(connection, Round, list(changes.new_rounds.values()))
    for (run, number), columns in changes.rounds.items():
        where = update(Round).where(Round.run == run, Round.round == number)
        connection.execute(where.values(**columns))
    insert_many(connection, Credit, changes.credits)
    insert_many(connection, Attended, changes.attended)
    insert_many(connection, Measured, changes.measured)


def _write_keys(connection: Connection, changes: Changes, state: State) -> None:
    # Sorted, so that neighbours are written together: a batch of the log touches keys at random.
    # `registered_index` never changes, and writing it again would cost a change of its index.
    rows = [_peer_row(key, state) for key in sorted(changes.peers)]
    upsert(connection, Peer, rows, fresh=("last_seq", "last_hash", "micropoints"))
    rows = [_standing_row(key, state) for key in sorted(changes.standings)]
    upsert(connection, PeerStanding, rows)
    upsert(connection, KeyTier, [_tier_row(key, state) for key in sorted(changes.tiers)])


def clear(connection: Connection) -> None:
    """Empty every derived table."""
    for table in DERIVED:
        connection.execute(delete(table))


def is_incomplete(connection: Connection) -> bool:
    """Return whether an older program wrote the rows, with fewer columns of each round."""
    # A migration only adds the columns: their values follow from the log alone, and reading it is
    # the work of the start that comes next.
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
            columns = _round_columns(changes, statement)
            columns.update(opened_index=index, opened_ms=opened_ms, head=from_text(head))
        case RoundClose() as body:
            _close_round(changes, index, statement, body, state)
        case RoundVoid():
            columns = _round_columns(changes, statement)
            columns.update(closed_index=index, ended_ms=statement.ts, outcome=VOID)
            members = _round_view(statement, state).roster.keys
            changes.attended += _attended_rows(index, members.values())


def _round_columns(changes: Changes, statement: Statement) -> Row:
    """Give the columns of a round to change: of its new row, or of one from an earlier batch."""
    key = _round_key(statement)
    fresh = changes.new_rounds.get(key)  # a round of this batch has no row yet to update
    return changes.rounds.setdefault(key, {}) if fresh is None else fresh


def _close_round(
    changes: Changes, index: int, statement: Statement, body: RoundClose, state: State
) -> None:
    view, digest = _round_view(statement, state), digest_from_text(body.result)
    headers = [one.header for one in view.accepted().values()]
    _round_columns(changes, statement).update(
        closed_index=index,
        outcome=CLOSED,
        accepted=body.accepted,
        result=digest,
        ended_ms=statement.ts,
        tokens=sum(header.tokens for header in headers),
        loss_q16=median_low(header.claimed_loss_last_q16 for header in headers),
    )
    members = view.roster.keys
    changes.attended += _attended_rows(index, members.values())
    run, number = _round_key(statement)
    for slot, row in enumerate(RoundResult.parse(state.documents(digest)).slots):
        kinds = {TRAINER: row.trainer_micropoints, WITNESS: row.witness_micropoints}
        for kind, amount in kinds.items():
            if amount:
                peer = members[slot]
                credit: Row = {"run": run, "round": number, "peer": peer, "kind": kind}
                # The team of this moment: a member that leaves takes no points away from it.
                changes.credits.append(
                    {**credit, "micropoints": amount, "team": state.teams.of(peer)}
                )
                changes.peers.add(peer)


def _attended_rows(index: int, members: Iterable[PeerKey]) -> list[Row]:
    return [{"peer": key, "closed_index": index} for key in members]


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
    found = state.tiers.highest(key)
    return {
        "peer": key,
        "tier": int(found.tier),
        "owner": found.owner,
        "run": found.run,
        "until": found.until,
        "since": found.since,
    }


def _round_key(statement: Statement) -> tuple[RunId, int]:
    if statement.run is None or statement.round is None:
        raise AssertionError(f"{statement.type} without run and round was admitted")
    return statement.run, statement.round
