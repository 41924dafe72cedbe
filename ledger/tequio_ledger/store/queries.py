"""Queries on the derived tables: rounds, keys, standings, and what was measured of heads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    and_,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
)

from tequio_ledger.store import ranking
from tequio_ledger.store.models import (
    ATTENDED,
    CREDIT,
    LOG_ENTRY,
    LOG_HEAD,
    MEASURED,
    OPENED_RUN,
    PEER,
    ROUND,
    STANDING,
    TIER,
)
from tequio_shared.ids import PeerKey, RunId
from tequio_shared.limits import JSON_INTEGER, MEASURED_HEADS
from tequio_shared.network.tiers import Tier
from tequio_shared.served.answers import LISTED_STANDINGS
from tequio_shared.served.rows import (
    AttendedRound,
    AttendedRow,
    CreditRow,
    KeyRows,
    MeasuredHead,
    MeasureRow,
    OpenedRunRow,
    PeerRow,
    RankedRow,
    RoundRow,
    RoundRows,
    StandingRow,
    TierRow,
    measured_heads,
)
from tequio_shared.statements.runs import RoundRoster

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The derived rows of a database, as of one transaction; for the API's answers."""

    connection: Connection

    def keys(self, after: PeerKey | None, limit: int) -> list[KeyRows]:
        """Read keys in order of registration, then by key, after a key."""
        # By index and key, because the keys of the genesis are registered by one entry.
        place = tuple_(PEER.c.registered_index, PEER.c.key)
        query = _KEYS
        if after is not None:
            last = key(self.connection, after)
            if last is None:
                return []
            query = query.where(place > tuple_(last.peer.registered_index, last.peer.key))
        ordered = query.order_by(PEER.c.registered_index, PEER.c.key).limit(limit)
        return _key_rows(self.connection.execute(ordered))

    def ranked(self, after: int, limit: int) -> list[RankedRow]:
        """Read the keys with points after a rank, the best first."""
        return ranking.after(self.connection, after, limit)

    def ranked_count(self) -> int:
        """Count the keys with points."""
        return ranking.count(self.connection)

    def standings(self, after: int, limit: int) -> list[StandingRow]:
        """Read keys of the quarantine list by the entry of their standing, after an index."""
        # Repeated in both, so that an index of its own serves each: `since > after` alone is most
        # of the table.
        later = STANDING.c.since > after
        restricted = and_(STANDING.c.standing.in_(LISTED_STANDINGS), later)
        appealed = and_(STANDING.c.appeal.is_not(None), later)
        query = select(*_columns(STANDING, StandingRow)).where(or_(restricted, appealed))
        ordered = query.order_by(STANDING.c.since).limit(limit)
        return [_standing(row) for row in self.connection.execute(ordered)]

    def rounds(self, run: RunId, after: int, limit: int) -> list[RoundRow]:
        """Read the rounds of a run after a number, ascending."""
        query = _ROUNDS.where(ROUND.c.run == run, ROUND.c.round > after)
        return _rounds(self.connection.execute(query.order_by(ROUND.c.round).limit(limit)))

    def measured(self, run: RunId, after: int, limit: int) -> list[MeasuredHead]:
        """Read the measured heads after a number, ascending; the first head is number 0."""
        heads = select(MEASURED.c.round).where(MEASURED.c.run == run, MEASURED.c.round > after)
        return _heads(
            self.connection, run, heads.distinct().order_by(MEASURED.c.round).limit(limit)
        )

    def measured_before(self, run: RunId, before: int, limit: int) -> list[MeasuredHead]:
        """Read the last measured heads before a number, ascending."""
        return last_measured_heads(self.connection, run, limit, before)

    def attended(self, key: PeerKey, before: int, limit: int) -> list[AttendedRound]:
        """Read the rounds of a key that ended with an entry below an index, the newest first."""
        query = _ATTENDED.where(ATTENDED.c.peer == key, ATTENDED.c.closed_index < before)
        rows = self.connection.execute(query.order_by(ATTENDED.c.closed_index.desc()).limit(limit))
        return [AttendedRound(**row._asdict()) for row in rows]


# The sum of a query over a bigint column is numeric on PostgreSQL, and would come as a Decimal.
_EARNED = (
    select(cast(func.coalesce(func.sum(CREDIT.c.gflop), 0), BigInteger))
    .where(
        CREDIT.c.run == ROUND.c.run,
        CREDIT.c.round == ROUND.c.round,
        CREDIT.c.peer == ATTENDED.c.peer,
    )
    .scalar_subquery()
)
_ATTENDED = (
    select(
        ROUND.c.run,
        ROUND.c.round,
        ROUND.c.roster_index,
        ROUND.c.closed_index,
        ROUND.c.outcome,
        _EARNED.label("gflop"),
    )
    .select_from(ATTENDED)
    .join(ROUND, ROUND.c.closed_index == ATTENDED.c.closed_index)
)


def first_attended(connection: Connection, key: PeerKey) -> AttendedRound | None:
    """Read the first finished round of a key; None without any."""
    query = _ATTENDED.where(ATTENDED.c.peer == key).order_by(ATTENDED.c.closed_index).limit(1)
    row = connection.execute(query).first()
    return None if row is None else AttendedRound(**row._asdict())


def _columns(table: Table, kind: type[Any]) -> list[Column[Any]]:
    return [table.c[one.name] for one in fields(kind)]


_ROUNDS = select(*_columns(ROUND, RoundRow))


def _rounds(rows: Iterable[Row[Any]]) -> list[RoundRow]:
    return [RoundRow(**row._asdict()) for row in rows]


def round_row(connection: Connection, run: bytes, number: int) -> RoundRow | None:
    """Read one round; None when there is none."""
    found = _rounds(connection.execute(_ROUNDS.where(ROUND.c.run == run, ROUND.c.round == number)))
    return found[0] if found else None


def last_rounds(connection: Connection, run: bytes, limit: int) -> list[RoundRow]:
    """Read the last rounds of a run, ascending."""
    query = _ROUNDS.where(ROUND.c.run == run).order_by(ROUND.c.round.desc()).limit(limit)
    return list(reversed(_rounds(connection.execute(query))))


def rounds_before(connection: Connection, run: bytes, before: int, limit: int) -> list[RoundRow]:
    """Read rounds of a run below a number, descending."""
    query = _ROUNDS.where(ROUND.c.run == run, ROUND.c.round < before)
    return _rounds(connection.execute(query.order_by(ROUND.c.round.desc()).limit(limit)))


# A literal and not a parameter: PostgreSQL would take the parameter in GROUP BY for another
# expression than the one in SELECT.
_DAY = ROUND.c.ended_ms // literal_column(str(DAY_MS))


def points_per_day(connection: Connection, since_ms: int) -> dict[int, int]:
    """Sum up everybody's GFLOP by day since 1970 (UTC); O(members of these rounds)."""
    # In its own subquery, so that the rounds of these days come first.
    earned = select(func.sum(CREDIT.c.gflop)).where(
        CREDIT.c.run == ROUND.c.run, CREDIT.c.round == ROUND.c.round
    )
    query = select(_DAY, func.sum(earned.scalar_subquery())).where(ROUND.c.ended_ms >= since_ms)
    return _by_day(connection, query)


def points_per_day_of(connection: Connection, since_ms: int, key: PeerKey) -> dict[int, int]:
    """Sum up a key's GFLOP by day since 1970 (UTC); O(its rounds of these days)."""
    # The times of the coordinator's statements never go back: the rounds of these days are those
    # that ended with this entry or a later one.
    first = select(ROUND.c.closed_index).where(ROUND.c.ended_ms >= since_ms)
    first = first.order_by(ROUND.c.ended_ms, ROUND.c.closed_index).limit(1)
    query = select(_DAY, func.sum(_EARNED)).select_from(ATTENDED)
    query = query.join(ROUND, ROUND.c.closed_index == ATTENDED.c.closed_index).where(
        ATTENDED.c.peer == key, ATTENDED.c.closed_index >= first.scalar_subquery()
    )
    return _by_day(connection, query)


def _by_day(connection: Connection, query: Select[int | None, int]) -> dict[int, int]:
    rows = connection.execute(query.group_by(_DAY))
    return {int(number): int(total) for number, total in rows if number and total}


def last_measured_heads(
    connection: Connection, run: bytes, limit: int, before: int = JSON_INTEGER
) -> list[MeasuredHead]:
    """Read the last measured heads of a run before a round, ascending."""
    heads = select(MEASURED.c.round).where(MEASURED.c.run == run, MEASURED.c.round < before)
    return _heads(connection, run, heads.distinct().order_by(MEASURED.c.round.desc()).limit(limit))


def newest_measures(connection: Connection, run: bytes) -> tuple[tuple[int, int], ...]:
    """Count the measures of each head of a run to which more may come, by round."""
    heads = select(MEASURED.c.round, func.count()).where(MEASURED.c.run == run)
    query = heads.group_by(MEASURED.c.round).order_by(MEASURED.c.round.desc())
    rows = connection.execute(query.limit(MEASURED_HEADS))
    return tuple((number, count) for number, count in rows)


def measured_heads_of(
    connection: Connection, run: bytes, rounds: Collection[int]
) -> list[MeasuredHead]:
    """Read the measured ones of the heads of these rounds, ascending."""
    return _heads(connection, run, rounds)


def _heads(
    connection: Connection, run: bytes, heads: Select[int] | Collection[int]
) -> list[MeasuredHead]:
    query = select(*_columns(MEASURED, MeasureRow))
    query = query.where(MEASURED.c.run == run, MEASURED.c.round.in_(heads))
    rows = connection.execute(query.order_by(MEASURED.c.round, MEASURED.c.entry))
    return measured_heads(MeasureRow(**row._asdict()) for row in rows)


# --- Keys.


def key(connection: Connection, wanted: PeerKey) -> KeyRows | None:
    """Read one key; None when it is not registered."""
    found = keys(connection, [wanted])
    return found[0] if found else None


def keys(connection: Connection, wanted: Collection[bytes]) -> list[KeyRows]:
    """Read some keys, in no order; without those that are not registered."""
    return _key_rows(connection.execute(_KEYS.where(PEER.c.key.in_(wanted))))


_STANDING = [STANDING.c[one.name].label(f"standing_{one.name}") for one in fields(StandingRow)]
_TIER = [TIER.c[one.name].label(f"tier_{one.name}") for one in fields(TierRow)]
_KEYS = (
    select(*_columns(PEER, PeerRow), *_STANDING, *_TIER)
    .join(STANDING, STANDING.c.peer == PEER.c.key)
    .outerjoin(TIER, TIER.c.peer == PEER.c.key)
)


def _key_rows(rows: Iterable[Row[Any]]) -> list[KeyRows]:
    return [
        KeyRows(
            peer=_peer(row),
            standing=_standing(row, "standing_"),
            tier=_tier(row),
        )
        for row in rows
    ]


def _peer(row: Row[Any]) -> PeerRow:
    found = {one.name: getattr(row, one.name) for one in fields(PeerRow)}
    return PeerRow(**{**found, "badges": tuple(map(tuple, found["badges"]))})


def _standing(row: Row[Any], prefix: str = "") -> StandingRow:
    found = {one.name: getattr(row, prefix + one.name) for one in fields(StandingRow)}
    return StandingRow(**{**found, "evidence": tuple(found["evidence"])})


def _tier(row: Row[Any]) -> TierRow:
    if row.tier_tier is None:
        anonymous = int(Tier.ANONYMOUS)
        return TierRow(peer=row.key, tier=anonymous, owner=row.key, run=None, until=0, since=None)
    return TierRow(**{one.name: getattr(row, f"tier_{one.name}") for one in fields(TierRow)})


# --- Rows as they are stored, for the ledger's check of its tables.


def run_row(connection: Connection, run: bytes) -> OpenedRunRow | None:
    """Read the row of a run; None when there is none."""
    found = connection.execute(
        select(*_columns(OPENED_RUN, OpenedRunRow)).where(OPENED_RUN.c.run == run)
    ).first()
    return None if found is None else OpenedRunRow(**found._asdict())


def stored_round(
    connection: Connection, run: bytes, number: int, attended: Iterable[AttendedRow]
) -> RoundRows:
    """Read the rows of a round, and those of the named rows of its members that are there."""
    credit = select(*_columns(CREDIT, CreditRow)).where(
        CREDIT.c.run == run, CREDIT.c.round == number
    )
    measure = select(*_columns(MEASURED, MeasureRow))
    measure = measure.where(MEASURED.c.run == run, MEASURED.c.round == number)
    found: list[AttendedRow] = []
    for index, members in groupby(attended, lambda one: one.closed_index):
        keys = [one.peer for one in members]
        query = select(*_columns(ATTENDED, AttendedRow))
        query = query.where(ATTENDED.c.closed_index == index, ATTENDED.c.peer.in_(keys))
        found += [AttendedRow(**row._asdict()) for row in connection.execute(query)]
    return RoundRows(
        round=round_row(connection, run, number),
        credits=tuple(CreditRow(**row._asdict()) for row in connection.execute(credit)),
        measures=tuple(MeasureRow(**row._asdict()) for row in connection.execute(measure)),
        attended=tuple(found),
    )


def attended_counts(connection: Connection, wanted: Collection[bytes]) -> dict[bytes, int]:
    """Count the rounds of each of some keys; O(their rounds), by the table's key alone."""
    query = select(ATTENDED.c.peer, func.count()).where(ATTENDED.c.peer.in_(wanted))
    return {row[0]: row[1] for row in connection.execute(query.group_by(ATTENDED.c.peer))}


def reasons(
    connection: Connection, table: str, after: tuple[Any, ...] | None, limit: int
) -> list[tuple[tuple[Any, ...], bool]]:
    """Read keys of a table after one, ascending, and whether an entry of the log explains each."""
    kind, reason = _REASONS[table]
    keys = list(kind.primary_key)
    # An entry beyond the log's end explains nothing: no check of the entries would meet it. The end
    # is read in the same statement, for the log may grow between two.
    is_logged = LOG_ENTRY.c.idx < select(LOG_HEAD.c.size).scalar_subquery()
    explained = exists().where(reason, is_logged).label("has_reason")
    query = select(*keys, explained).order_by(*keys).limit(limit)
    if after is not None:
        query = query.where(tuple_(*keys) > tuple_(*(literal(one) for one in after)))
    return [(tuple(row)[:-1], bool(row.has_reason)) for row in connection.execute(query)]


def _is_rostered(run: Any, number: Any) -> ColumnElement[bool]:  # noqa: ANN401 - columns of any table
    is_roster = LOG_ENTRY.c.type == RoundRoster.TYPE
    return and_(LOG_ENTRY.c.run == run, LOG_ENTRY.c.round == number, is_roster)


_REASONS: dict[str, tuple[Table, ColumnElement[bool]]] = {
    # A key is registered by an entry of its own.
    "peer": (PEER, LOG_ENTRY.c.author == PEER.c.key),
    "standing": (STANDING, LOG_ENTRY.c.author == STANDING.c.peer),
    "tier": (TIER, LOG_ENTRY.c.author == TIER.c.peer),
    "run": (
        OPENED_RUN,
        (LOG_ENTRY.c.idx == OPENED_RUN.c.opened_index) & (LOG_ENTRY.c.run == OPENED_RUN.c.run),
    ),
    "round": (ROUND, _is_rostered(ROUND.c.run, ROUND.c.round)),
    "credit": (CREDIT, _is_rostered(CREDIT.c.run, CREDIT.c.round)),
    "measured": (
        MEASURED,
        and_(
            LOG_ENTRY.c.idx == MEASURED.c.entry,
            LOG_ENTRY.c.author == MEASURED.c.peer,
            LOG_ENTRY.c.run == MEASURED.c.run,
            LOG_ENTRY.c.round == MEASURED.c.round,
        ),
    ),
}
