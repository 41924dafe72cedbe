"""Queries on the derived tables: rounds, keys, standings, and what was measured of heads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    cast,
    exists,
    func,
    literal,
    literal_column,
    select,
    tuple_,
)

from tequio_ledger.store import ranking
from tequio_ledger.store.models import (
    Attended,
    Base,
    Credit,
    KeyTier,
    LogEntry,
    LogHead,
    Measured,
    OpenedRun,
    Peer,
    PeerStanding,
    Round,
)
from tequio_shared.ids import PeerKey, RunId
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
        place = tuple_(Peer.registered_index, Peer.key)
        query = _KEYS
        if after is not None:
            last = key(self.connection, after)
            if last is None:
                return []
            query = query.where(place > tuple_(last.peer.registered_index, last.peer.key))
        ordered = query.order_by(Peer.registered_index, Peer.key).limit(limit)
        return _key_rows(self.connection.execute(ordered))

    def ranked(self, after: int, limit: int) -> list[RankedRow]:
        """Read the keys with points after a rank, the best first."""
        return ranking.after(self.connection, after, limit)

    def ranked_count(self) -> int:
        """Count the keys with points."""
        return ranking.count(self.connection)

    def standings(self, after: int, limit: int) -> list[StandingRow]:
        """Read keys with one of `LISTED_STANDINGS` since an entry after an index, ascending."""
        listed = PeerStanding.standing.in_(LISTED_STANDINGS), PeerStanding.since > after
        query = select(*_columns(PeerStanding, StandingRow)).where(*listed)
        ordered = query.order_by(PeerStanding.since).limit(limit)
        return [_standing(row) for row in self.connection.execute(ordered)]

    def rounds(self, run: RunId, after: int, limit: int) -> list[RoundRow]:
        """Read the rounds of a run after a number, ascending."""
        query = _ROUNDS.where(Round.run == run, Round.round > after)
        return _rounds(self.connection.execute(query.order_by(Round.round).limit(limit)))

    def measured(self, run: RunId, after: int, limit: int) -> list[MeasuredHead]:
        """Read the measured heads after a number, ascending; the first head is number 0."""
        heads = select(Measured.round).where(Measured.run == run, Measured.round > after)
        return _heads(self.connection, run, heads.distinct().order_by(Measured.round).limit(limit))

    def attended(self, key: PeerKey, before: int, limit: int) -> list[AttendedRound]:
        """Read the rounds of a key that ended with an entry below an index, the newest first."""
        query = _ATTENDED.where(Attended.peer == key, Attended.closed_index < before)
        rows = self.connection.execute(query.order_by(Attended.closed_index.desc()).limit(limit))
        return [AttendedRound(**row._asdict()) for row in rows]


# The sum of a query over a bigint column is numeric on PostgreSQL, and would come as a Decimal.
_EARNED = (
    select(cast(func.coalesce(func.sum(Credit.gflop), 0), BigInteger))
    .where(Credit.run == Round.run, Credit.round == Round.round, Credit.peer == Attended.peer)
    .scalar_subquery()
)
_ATTENDED = (
    select(
        Round.run,
        Round.round,
        Round.roster_index,
        Round.closed_index,
        Round.outcome,
        _EARNED.label("gflop"),
    )
    .select_from(Attended)
    .join(Round, Round.closed_index == Attended.closed_index)
)


def first_attended(connection: Connection, key: PeerKey) -> AttendedRound | None:
    """Read the first finished round of a key; None without any."""
    query = _ATTENDED.where(Attended.peer == key).order_by(Attended.closed_index).limit(1)
    row = connection.execute(query).first()
    return None if row is None else AttendedRound(**row._asdict())


def _columns(table: Any, kind: type[Any]) -> list[Any]:  # noqa: ANN401 - columns of any table
    return [getattr(table, one.name) for one in fields(kind)]


_ROUNDS = select(*_columns(Round, RoundRow))


def _rounds(rows: Iterable[Row[Any]]) -> list[RoundRow]:
    return [RoundRow(**row._asdict()) for row in rows]


def round_row(connection: Connection, run: bytes, number: int) -> RoundRow | None:
    """Read one round; None when there is none."""
    found = _rounds(connection.execute(_ROUNDS.where(Round.run == run, Round.round == number)))
    return found[0] if found else None


def last_rounds(connection: Connection, run: bytes, limit: int) -> list[RoundRow]:
    """Read the last rounds of a run, ascending."""
    query = _ROUNDS.where(Round.run == run).order_by(Round.round.desc()).limit(limit)
    return list(reversed(_rounds(connection.execute(query))))


def rounds_before(connection: Connection, run: bytes, before: int, limit: int) -> list[RoundRow]:
    """Read rounds of a run below a number, descending."""
    query = _ROUNDS.where(Round.run == run, Round.round < before)
    return _rounds(connection.execute(query.order_by(Round.round.desc()).limit(limit)))


def points_per_day(
    connection: Connection, since_ms: int, key: bytes | None = None
) -> dict[int, int]:
    """Sum up GFLOP by day since 1970 (UTC), of one key or of all."""
    # A literal and not a parameter: PostgreSQL would take the parameter in GROUP BY for another
    # expression than the one in SELECT.
    when = Round.ended_ms // literal_column(str(DAY_MS))
    query = (
        select(when, func.sum(Credit.gflop))
        .join(Round, (Round.run == Credit.run) & (Round.round == Credit.round))
        .where(Round.ended_ms >= since_ms)
        .group_by(when)
    )
    if key is not None:
        query = query.where(Credit.peer == key)
    return {int(number): int(total) for number, total in connection.execute(query) if number}


def last_measured_heads(connection: Connection, run: bytes, limit: int) -> list[MeasuredHead]:
    """Read the last measured heads of a run, ascending."""
    heads = select(Measured.round).where(Measured.run == run)
    return _heads(connection, run, heads.distinct().order_by(Measured.round.desc()).limit(limit))


def _heads(connection: Connection, run: bytes, heads: Select[int]) -> list[MeasuredHead]:
    query = select(*_columns(Measured, MeasureRow))
    query = query.where(Measured.run == run, Measured.round.in_(heads))
    rows = connection.execute(query.order_by(Measured.round, Measured.entry))
    return measured_heads(MeasureRow(**row._asdict()) for row in rows)


# --- Keys.


def key(connection: Connection, wanted: PeerKey) -> KeyRows | None:
    """Read one key; None when it is not registered."""
    found = keys(connection, [wanted])
    return found[0] if found else None


def keys(connection: Connection, wanted: Collection[bytes]) -> list[KeyRows]:
    """Read some keys, in no order; without those that are not registered."""
    return _key_rows(connection.execute(_KEYS.where(Peer.key.in_(wanted))))


_STANDING = [
    getattr(PeerStanding, one.name).label(f"standing_{one.name}") for one in fields(StandingRow)
]
_TIER = [getattr(KeyTier, one.name).label(f"tier_{one.name}") for one in fields(TierRow)]
_KEYS = (
    select(*_columns(Peer, PeerRow), *_STANDING, *_TIER)
    .join(PeerStanding, PeerStanding.peer == Peer.key)
    .outerjoin(KeyTier, KeyTier.peer == Peer.key)
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
        select(*_columns(OpenedRun, OpenedRunRow)).where(OpenedRun.run == run)
    ).first()
    return None if found is None else OpenedRunRow(**found._asdict())


def stored_round(
    connection: Connection, run: bytes, number: int, attended: Iterable[AttendedRow]
) -> RoundRows:
    """Read the rows of a round, and those of the named rows of its members that are there."""
    credit = select(*_columns(Credit, CreditRow)).where(Credit.run == run, Credit.round == number)
    measure = select(*_columns(Measured, MeasureRow))
    measure = measure.where(Measured.run == run, Measured.round == number)
    found: list[AttendedRow] = []
    for index, members in groupby(attended, lambda one: one.closed_index):
        keys = [one.peer for one in members]
        query = select(*_columns(Attended, AttendedRow))
        query = query.where(Attended.closed_index == index, Attended.peer.in_(keys))
        found += [AttendedRow(**row._asdict()) for row in connection.execute(query)]
    return RoundRows(
        round=round_row(connection, run, number),
        credits=tuple(CreditRow(**row._asdict()) for row in connection.execute(credit)),
        measures=tuple(MeasureRow(**row._asdict()) for row in connection.execute(measure)),
        attended=tuple(found),
    )


def attended_counts(connection: Connection, wanted: Collection[bytes]) -> dict[bytes, int]:
    """Count the rounds of each of some keys; O(their rounds), by the table's key alone."""
    query = select(Attended.peer, func.count()).where(Attended.peer.in_(wanted))
    return {row[0]: row[1] for row in connection.execute(query.group_by(Attended.peer))}


def reasons(
    connection: Connection, table: str, after: tuple[Any, ...] | None, limit: int
) -> list[tuple[tuple[Any, ...], bool]]:
    """Read keys of a table after one, ascending, and whether an entry of the log explains each."""
    kind, reason = _REASONS[table]
    keys = list(kind.__table__.primary_key)
    # An entry beyond the log's end explains nothing: no check of the entries would meet it. The end
    # is read in the same statement, for the log may grow between two.
    is_logged = LogEntry.idx < select(LogHead.size).scalar_subquery()
    explained = exists().where(reason, is_logged).label("has_reason")
    query = select(*keys, explained).order_by(*keys).limit(limit)
    if after is not None:
        query = query.where(tuple_(*keys) > tuple_(*(literal(one) for one in after)))
    return [(tuple(row)[:-1], bool(row.has_reason)) for row in connection.execute(query)]


def _is_rostered(run: Any, number: Any) -> ColumnElement[bool]:  # noqa: ANN401 - columns of any table
    is_roster = LogEntry.type == RoundRoster.TYPE
    return and_(LogEntry.run == run, LogEntry.round == number, is_roster)


_REASONS: dict[str, tuple[type[Base], ColumnElement[bool]]] = {
    # A key is registered by an entry of its own.
    "peer": (Peer, LogEntry.author == Peer.key),
    "standing": (PeerStanding, LogEntry.author == PeerStanding.peer),
    "tier": (KeyTier, LogEntry.author == KeyTier.peer),
    "run": (OpenedRun, (LogEntry.idx == OpenedRun.opened_index) & (LogEntry.run == OpenedRun.run)),
    "round": (Round, _is_rostered(Round.run, Round.round)),
    "credit": (Credit, _is_rostered(Credit.run, Credit.round)),
    "measured": (
        Measured,
        and_(
            LogEntry.idx == Measured.entry,
            LogEntry.author == Measured.peer,
            LogEntry.run == Measured.run,
            LogEntry.round == Measured.round,
        ),
    ),
}
