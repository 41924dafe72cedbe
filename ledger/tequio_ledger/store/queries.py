"""Queries on the derived tables: rounds, peers, standings, and what was measured of heads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from itertools import groupby

from msgspec import UNSET
from sqlalchemy import (
    BigInteger,
    Connection,
    Row,
    Select,
    cast,
    func,
    literal_column,
    select,
    tuple_,
)

from tequio_ledger.store.models import (
    Attended,
    Credit,
    KeyTier,
    Measured,
    Peer,
    PeerStanding,
    Round,
)
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.network.tiers import Tier
from tequio_shared.round import measures
from tequio_shared.statements.runs import HeadMeasure, Sample

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedRow:
    """One finished round, and the points that the key earned in it."""

    run: bytes
    round: int
    roster_index: int
    closed_index: int
    outcome: str
    micropoints: int


def rounds(connection: Connection, key: bytes, before: int, limit: int) -> list[AttendedRow]:
    """Read the rounds of a key that ended with an entry below an index, the newest first."""
    query = _ROUNDS.where(Attended.peer == key, Attended.closed_index < before)
    rows = connection.execute(query.order_by(Attended.closed_index.desc()).limit(limit))
    return [AttendedRow(**row._asdict()) for row in rows]


# The sum of a query over a bigint column is numeric on PostgreSQL, and would come as a Decimal.
_EARNED = (
    select(cast(func.coalesce(func.sum(Credit.micropoints), 0), BigInteger))
    .where(Credit.run == Round.run, Credit.round == Round.round, Credit.peer == Attended.peer)
    .scalar_subquery()
)
_ROUNDS = (
    select(
        Round.run,
        Round.round,
        Round.roster_index,
        Round.closed_index,
        Round.outcome,
        _EARNED.label("micropoints"),
    )
    .select_from(Attended)
    .join(Round, Round.closed_index == Attended.closed_index)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRound:
    """One round of a run's history; times in ms by the coordinator's clock."""

    run: bytes
    round: int
    outcome: str
    opened_ms: int | None
    ended_ms: int | None
    closed_index: int | None
    accepted: int
    tokens: int
    loss_q16: int | None


def last_rounds(connection: Connection, run: bytes, limit: int) -> list[PastRound]:
    """Read the last rounds of a run, ascending."""
    query = _HISTORY_ROUNDS.where(Round.run == run).order_by(Round.round.desc()).limit(limit)
    return list(reversed(_past(connection.execute(query))))


def rounds_before(connection: Connection, run: bytes, before: int, limit: int) -> list[PastRound]:
    """Read rounds of a run below a number, descending."""
    query = _HISTORY_ROUNDS.where(Round.run == run, Round.round < before)
    return _past(connection.execute(query.order_by(Round.round.desc()).limit(limit)))


def points_per_day(
    connection: Connection, since_ms: int, key: bytes | None = None
) -> dict[int, int]:
    """Sum up micro-points by day since 1970 (UTC), of one key or of all."""
    # A literal and not a parameter: PostgreSQL would take the parameter in GROUP BY for another
    # expression than the one in SELECT.
    when = Round.ended_ms // literal_column(str(DAY_MS))
    query = (
        select(when, func.sum(Credit.micropoints))
        .join(Round, (Round.run == Credit.run) & (Round.round == Credit.round))
        .where(Round.ended_ms >= since_ms)
        .group_by(when)
    )
    if key is not None:
        query = query.where(Credit.peer == key)
    return {int(number): int(total) for number, total in connection.execute(query) if number}


def tokens(connection: Connection) -> int:
    """Sum up the accepted tokens of all runs."""
    return int(connection.scalar(select(func.coalesce(func.sum(Round.tokens), 0))) or 0)


_HISTORY_ROUNDS = select(*(getattr(Round, one.name) for one in fields(PastRound)))


def _past(rows: Iterable[Row[tuple[object, ...]]]) -> list[PastRound]:
    return [PastRound(**row._asdict()) for row in rows]


# --- Measurements of a run's heads by drawn members.


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """The measurement of one member, and the entry that contains it."""

    entry: int
    peer: PeerKey
    said: HeadMeasure
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredHead:
    """One head, by the round that made it; `rows` in log order, at least one."""

    round: int
    head: bytes
    median: HeadMeasure
    rows: tuple[MeasuredRow, ...]
    shown: MeasuredRow | None = None
    """The row whose sample of the head's text is shown."""


def measured_heads_after(
    connection: Connection, run: bytes, number: int, limit: int
) -> list[MeasuredHead]:
    """Read the measured heads of rounds after a number, ascending; the first head is number 0."""
    heads = select(Measured.round).where(Measured.run == run, Measured.round > number)
    return _heads(connection, run, heads.distinct().order_by(Measured.round).limit(limit))


def last_measured_heads(connection: Connection, run: bytes, limit: int) -> list[MeasuredHead]:
    """Read the last measured heads of a run, ascending."""
    heads = select(Measured.round).where(Measured.run == run)
    return _heads(connection, run, heads.distinct().order_by(Measured.round.desc()).limit(limit))


def _heads(connection: Connection, run: bytes, heads: Select[int]) -> list[MeasuredHead]:
    query = select(Measured.__table__).where(Measured.run == run, Measured.round.in_(heads))
    rows = connection.execute(query.order_by(Measured.round, Measured.entry))
    return [_head(number, of_head) for number, of_head in groupby(rows, lambda row: row.round)]


def _head(number: int, rows: Iterable[Row[tuple[object, ...]]]) -> MeasuredHead:
    found = list(rows)
    measured = {
        PeerKey(row.peer): HeadMeasure(
            head=to_text(row.head),
            millibits=row.millibits,
            size_bytes=row.size_bytes,
            tokens=row.tokens,
            sample=UNSET if row.written is None else Sample(prompt=row.prompt, text=row.written),
        )
        for row in found
    }
    outliers, best = measures.outliers(measured), measures.best_sample(measured)
    by_peer = {
        peer: MeasuredRow(entry=row.entry, peer=peer, said=body, is_outlier=peer in outliers)
        for row, (peer, body) in zip(found, measured.items(), strict=True)
    }
    return MeasuredHead(
        round=number,
        head=found[0].head,
        median=measures.median(measured.values()),
        rows=tuple(by_peer.values()),
        shown=by_peer[best[0]] if best else None,
    )


# --- Queries on the derived tables, for the API.


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRow:
    round: int
    outcome: str
    roster_index: int
    roster: bytes
    opened_index: int | None
    closed_index: int | None
    accepted: int
    head: bytes | None
    result: bytes | None
    loss_q16: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """The standing of one key, and the log indices of the reasons."""

    key: PeerKey
    standing: str
    since: int
    cause: int | None
    evidence: tuple[int, ...]
    until: int
    appeal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRow:
    """Tier and owner of one key; `since` is the log index of the entry that set them."""

    tier: int
    owner: bytes
    run: bytes | None
    until: int
    since: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRow:
    key: PeerKey
    registered_index: int
    last_seq: int
    last_hash: bytes
    micropoints: int
    standing: StandingRow
    tier: TierRow


def read_rounds(connection: Connection, run: bytes, after: int, limit: int) -> list[RoundRow]:
    """Read rounds of a run after a number, ascending."""
    columns = (getattr(Round, one.name) for one in fields(RoundRow))
    query = select(*columns).where(Round.run == run, Round.round > after)
    rows = connection.execute(query.order_by(Round.round).limit(limit))
    return [RoundRow(**row._asdict()) for row in rows]


def peers(connection: Connection, after: PeerKey | None, limit: int) -> list[PeerRow]:
    """Read keys in order of registration, after a key."""
    # By index and key, because the keys of the genesis are registered by one entry.
    place = tuple_(Peer.registered_index, Peer.key)
    query = _PEERS
    if after is not None:
        last = peer(connection, after)
        if last is None:
            return []
        query = query.where(place > tuple_(last.registered_index, last.key))
    return _peers(connection.execute(query.order_by(Peer.registered_index, Peer.key).limit(limit)))


def peer(connection: Connection, key: PeerKey) -> PeerRow | None:
    """Read one key; None when it is not registered."""
    found = _peers(connection.execute(_PEERS.where(Peer.key == key)))
    return found[0] if found else None


def standings(
    connection: Connection, named: Collection[str], after: int, limit: int
) -> list[StandingRow]:
    """Read keys with one of the standings since an entry after an index, ascending."""
    wanted = PeerStanding.standing.in_(named), PeerStanding.since > after
    query = select(PeerStanding.__table__).where(*wanted).order_by(PeerStanding.since)
    return [_standing(row) for row in connection.execute(query.limit(limit))]


_TIER = [getattr(KeyTier, one.name).label(f"tier_{one.name}") for one in fields(TierRow)]
_PEERS = (
    select(Peer.__table__, PeerStanding.__table__, *_TIER)
    .join(PeerStanding, PeerStanding.peer == Peer.key)
    .outerjoin(KeyTier, KeyTier.peer == Peer.key)
)


def _peers(rows: Iterable[Row[tuple[object, ...]]]) -> list[PeerRow]:
    return [
        PeerRow(
            key=PeerKey(row.key),
            registered_index=row.registered_index,
            last_seq=row.last_seq,
            last_hash=row.last_hash,
            micropoints=row.micropoints,
            standing=_standing(row),
            tier=_tier(row),
        )
        for row in rows
    ]


def _tier(row: Row[tuple[object, ...]]) -> TierRow:
    if row.tier_tier is None:
        return TierRow(tier=int(Tier.ANONYMOUS), owner=row.key, run=None, until=0, since=None)
    return TierRow(**{one.name: getattr(row, f"tier_{one.name}") for one in fields(TierRow)})


def _standing(row: Row[tuple[object, ...]]) -> StandingRow:
    return StandingRow(
        key=PeerKey(row.peer),
        standing=row.standing,
        since=row.since,
        cause=row.cause,
        evidence=tuple(row.evidence),
        until=row.until,
        appeal=row.appeal,
    )
