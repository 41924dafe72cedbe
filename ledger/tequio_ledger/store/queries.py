"""Who earned most, in a span or ever: owners, whatever number of keys they hold, and teams.

Keys for which a connector knows one account have one place, under the one that earned most; any
other is its own, for one invitation may have let in many people. What a team earned is what rounds
paid to keys that were in it when they closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import UNSET
from sqlalchemy import (
    BigInteger,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    text,
    tuple_,
    union_all,
)

from tequio_ledger.store.models import Attended, Credit, KeyTier, Measured, Peer, Round, Standing
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.network.tiers import Tier
from tequio_shared.round import measures
from tequio_shared.statements.runs import HeadMeasure, Sample

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection, Row, Select, Subquery
    from sqlalchemy.orm import InstrumentedAttribute

# --- The rounds that one key was in, as far as they are over, the newest first.


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedRow:
    """One round that is over, and what the key earned in it."""

    run: bytes
    round: int
    roster_index: int
    closed_index: int
    outcome: str
    micropoints: int


def rounds(connection: Connection, key: bytes, before: int, limit: int) -> list[AttendedRow]:
    """Give the rounds of a key that were ended by an entry below that index, the newest first."""
    query = _ROUNDS.where(Attended.peer == key, Attended.closed_index < before)
    rows = connection.execute(query.order_by(Attended.closed_index.desc()).limit(limit))
    return [
        AttendedRow(
            run=row.run,
            round=row.round,
            roster_index=row.roster_index,
            closed_index=row.closed_index,
            outcome=row.outcome,
            micropoints=row.micropoints,
        )
        for row in rows
    ]


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


# --- What happened over time: rounds in a row, and what was earned on each day.

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRound:
    """One round in a row of rounds; times in ms by the coordinator's clock."""

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
    """Give the last rounds of a run, ascending."""
    query = _HISTORY_ROUNDS.where(Round.run == run).order_by(Round.round.desc()).limit(limit)
    return list(reversed(_past(connection.execute(query))))


def rounds_before(connection: Connection, run: bytes, before: int, limit: int) -> list[PastRound]:
    """Give rounds of a run below a number, descending."""
    query = _HISTORY_ROUNDS.where(Round.run == run, Round.round < before)
    return _past(connection.execute(query.order_by(Round.round.desc()).limit(limit)))


def points_per_day(
    connection: Connection, since_ms: int, key: bytes | None = None
) -> dict[int, int]:
    """Sum up micro-points by day since 1970 (UTC), of one key or of all."""
    when = Round.ended_ms // literal_column(str(DAY_MS))  # a parameter would be another in GROUP BY
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


_HISTORY_ROUNDS = select(
    Round.run,
    Round.round,
    Round.outcome,
    Round.opened_ms,
    Round.ended_ms,
    Round.closed_index,
    Round.accepted,
    Round.tokens,
    Round.loss_q16,
)


def _past(rows: Iterable[Row[tuple[object, ...]]]) -> list[PastRound]:
    return [
        PastRound(
            run=row.run,
            round=row.round,
            outcome=row.outcome,
            opened_ms=row.opened_ms,
            ended_ms=row.ended_ms,
            closed_index=row.closed_index,
            accepted=row.accepted,
            tokens=row.tokens,
            loss_q16=row.loss_q16,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What one owner earned."""

    key: PeerKey
    """The one of its keys that earned most."""
    micropoints: int
    rounds: int | None
    """That paid, counted once for each of its keys; not counted of all time."""
    keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """What was earned for one team."""

    name: str
    micropoints: int
    keys: int
    """That earned some of it."""


def owners(connection: Connection, since_ms: int | None, limit: int, after: int = 0) -> list[Owner]:
    """Give the owners behind a place, the best first, by what they earned since then or ever.

    Of equals the one with the lower key comes first; of all time, who was registered first.
    """
    places = _ever(limit + after) if since_ms is None else _places(_since(since_ms))
    best = (places.c.total.desc(), places.c.seniority, places.c.peer)
    query = select(places).order_by(*best).limit(limit).offset(after)
    return [
        Owner(
            key=PeerKey(row.peer),
            micropoints=int(row.total),
            rounds=None if since_ms is None else int(row.rounds),
            keys=row.held,
        )
        for row in connection.execute(query)
    ]


def teams(connection: Connection, since_ms: int | None, limit: int, after: int = 0) -> list[Team]:
    """Give the teams behind a place, the best first; in a span, of rounds that ended in it."""
    total, keys = func.sum(Credit.micropoints), func.count(Credit.peer.distinct())
    query: Select[str, int, int] = select(Credit.team, total, keys).where(_IN_A_TEAM)
    if since_ms is not None:
        query = query.join(Round, _OF_ROUND).where(Round.ended_ms >= since_ms)
    query = query.group_by(Credit.team).order_by(total.desc(), Credit.team)
    rows = connection.execute(query.limit(limit).offset(after))
    return [Team(name=name, micropoints=int(points), keys=held) for name, points, held in rows]


_VOUCHED = int(Tier.VOUCHED)
_OF_ROUND = (Round.run == Credit.run) & (Round.round == Credit.round)
_IN_A_TEAM = text("credit.team <> ''")  # in the words of the index that holds these rows alone


def _owner(key: InstrumentedAttribute[bytes]) -> ColumnElement[bytes]:
    return case((KeyTier.tier == _VOUCHED, KeyTier.owner), else_=key)


def _since(since_ms: int) -> Subquery:
    return (
        select(
            Credit.peer,
            _owner(Credit.peer).label("owner"),
            func.sum(Credit.micropoints).label("total"),
            func.count(Round.closed_index.distinct()).label("rounds"),
            literal(0).label("seniority"),
        )
        .join(Round, _OF_ROUND)
        .outerjoin(KeyTier, KeyTier.peer == Credit.peer)
        .where(Round.ended_ms >= since_ms)
        .group_by(Credit.peer, KeyTier.tier, KeyTier.owner)
        .subquery()
    )


def _places(each: Subquery) -> Subquery:
    """One row an owner: the best of its keys, and what all of them come to."""
    owner = each.c.owner
    best = (each.c.total.desc(), each.c.seniority, each.c.peer)
    keys = select(
        each.c.peer,
        each.c.seniority,
        func.sum(each.c.total).over(partition_by=owner).label("total"),
        func.sum(each.c.rounds).over(partition_by=owner).label("rounds"),
        func.count().over(partition_by=owner).label("held"),
        func.row_number().over(partition_by=owner, order_by=best).label("place"),
    ).subquery()
    return select(keys).where(keys.c.place == 1).subquery()


def _ever(most: int) -> Subquery:
    """The best of all time: of keys that are their own by the ranking's index, of others all."""
    vouched = (
        select(
            Peer.key.label("peer"),
            Peer.registered_index.label("seniority"),
            KeyTier.owner.label("owner"),
            Peer.micropoints.label("total"),
            literal(0).label("rounds"),
        )
        .join(KeyTier, KeyTier.peer == Peer.key)
        .where(KeyTier.tier == _VOUCHED, Peer.micropoints > 0)
        .subquery()
    )
    is_vouched = exists().where(KeyTier.peer == Peer.key, KeyTier.tier == _VOUCHED)
    alone = (
        select(
            Peer.key.label("peer"),
            Peer.registered_index.label("seniority"),
            Peer.micropoints.label("total"),
            literal(0).label("rounds"),
            literal(1).label("held"),
            literal(1).label("place"),
        )
        .where(Peer.micropoints > 0, ~is_vouched)
        .order_by(Peer.micropoints.desc(), Peer.registered_index, Peer.key)
        .limit(most)
        .subquery()
    )
    return union_all(select(_places(vouched)), select(alone)).subquery()


# --- What drawn members measured of a run's heads, head by head.


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """What one member measured, and which entry says so."""

    entry: int
    peer: PeerKey
    said: HeadMeasure
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredHead:
    """One head, by the round that made it; `rows` in the order of the log, at least one."""

    round: int
    head: bytes
    median: HeadMeasure
    rows: tuple[MeasuredRow, ...]
    shown: MeasuredRow | None = None
    """Whose sample of what the head writes is shown."""


def after(connection: Connection, run: bytes, number: int, limit: int) -> list[MeasuredHead]:
    """Give the measured heads of rounds after a number, ascending; 0 is a head's number too."""
    heads = select(Measured.round).where(Measured.run == run, Measured.round > number)
    return _heads(connection, run, heads.distinct().order_by(Measured.round).limit(limit))


def last(connection: Connection, run: bytes, limit: int) -> list[MeasuredHead]:
    """Give the last measured heads of a run, ascending."""
    heads = select(Measured.round).where(Measured.run == run)
    return _heads(connection, run, heads.distinct().order_by(Measured.round.desc()).limit(limit))


def _heads(connection: Connection, run: bytes, heads: Select[int]) -> list[MeasuredHead]:
    query = select(Measured.__table__).where(Measured.run == run, Measured.round.in_(heads))
    rows = connection.execute(query.order_by(Measured.round, Measured.entry))
    return [_head(number, of_head) for number, of_head in groupby(rows, lambda row: row.round)]


def _head(number: int, rows: Iterable[Row[tuple[object, ...]]]) -> MeasuredHead:
    found = list(rows)
    said = {
        PeerKey(row.peer): HeadMeasure(
            head=to_text(row.head),
            millibits=row.millibits,
            size_bytes=row.size_bytes,
            tokens=row.tokens,
            sample=UNSET if row.written is None else Sample(prompt=row.prompt, text=row.written),
        )
        for row in found
    }
    away, shown = measures.outliers(said), measures.best_sample(said)
    by_peer = {
        PeerKey(row.peer): MeasuredRow(
            entry=row.entry,
            peer=PeerKey(row.peer),
            said=said[PeerKey(row.peer)],
            is_outlier=PeerKey(row.peer) in away,
        )
        for row in found
    }
    return MeasuredHead(
        round=number,
        head=found[0].head,
        median=measures.median(said.values()),
        rows=tuple(by_peer.values()),
        shown=by_peer[shown[0]] if shown else None,
    )


# --- Keys that have earned points, the best first; who was registered first wins a tie.
#
# Rows and counts come from one index that holds all that they need, so that a place near the top
# of a million keys costs a page, and the last one a walk through that index.


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """One key's place, from 1 on."""

    rank: int
    key: PeerKey
    micropoints: int


def count(connection: Connection) -> int:
    """How many keys have earned something."""
    return _count(connection, Peer.micropoints > 0)


def ranking_after(connection: Connection, rank: int, limit: int) -> list[RankedRow]:
    """Give the keys behind a place."""
    query = _RANKED.where(Peer.micropoints > 0).order_by(*_ORDER).offset(rank).limit(limit)
    return _numbered(connection.execute(query).all(), rank + 1)


def behind(connection: Connection, key: PeerKey, limit: int) -> list[RankedRow] | None:
    """Give the keys behind a key, wherever it stands now; None when it is not registered."""
    own = connection.execute(_RANKED.where(Peer.key == key)).first()
    if own is None:
        return None
    place = _count(connection, _ahead(own)) + 1
    query = _RANKED.where(_behind(own), Peer.micropoints > 0).order_by(*_ORDER).limit(limit)
    return _numbered(connection.execute(query).all(), place + 1)


def around(connection: Connection, key: PeerKey, reach: int) -> list[RankedRow] | None:
    """Give a key and up to `reach` on either side of it; None when it is not registered.

    Around one without points are the last ones of those that have some.
    """
    own = connection.execute(_RANKED.where(Peer.key == key)).first()
    if own is None:
        return None
    ahead = _ahead(own)
    above = connection.execute(_RANKED.where(ahead).order_by(*_BACKWARDS).limit(reach)).all()
    before = list(reversed(above))
    place = _count(connection, ahead) + 1
    if own.micropoints == 0:
        return _numbered(before, place - len(before))
    behind = _RANKED.where(_behind(own), Peer.micropoints > 0).order_by(*_ORDER).limit(reach)
    return _numbered([*before, own, *connection.execute(behind)], place - len(before))


_RANKED = select(Peer.key, Peer.micropoints, Peer.registered_index)
_ORDER = (Peer.micropoints.desc(), Peer.registered_index, Peer.key)
_BACKWARDS = (Peer.micropoints, Peer.registered_index.desc(), Peer.key.desc())


def _ahead(own: Row[bytes, int, int]) -> ColumnElement[bool]:
    """Better, or as good and registered earlier."""
    points = Peer.micropoints
    if own.micropoints == 0:
        return points > 0
    earlier = _seniority() < tuple_(own.registered_index, own.key)
    return and_(points >= own.micropoints, or_(points > own.micropoints, earlier))


def _behind(own: Row[bytes, int, int]) -> ColumnElement[bool]:
    points = Peer.micropoints
    later = _seniority() > tuple_(own.registered_index, own.key)
    return and_(points <= own.micropoints, or_(points < own.micropoints, later))


def _seniority() -> ColumnElement[tuple[int, bytes]]:
    return tuple_(Peer.registered_index, Peer.key)


def _count(connection: Connection, wanted: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).select_from(Peer).where(wanted)) or 0


def _numbered(rows: Sequence[Row[bytes, int, int]], first: int) -> list[RankedRow]:
    return [
        RankedRow(rank=rank, key=PeerKey(row.key), micropoints=row.micropoints)
        for rank, row in enumerate(rows, first)
    ]


# --- Queries on the derived tables, for the API.


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRow:
    """One round of a run."""

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
    """The standing of one key, and the log indices that say why."""

    key: PeerKey
    standing: str
    since: int
    cause: int | None
    evidence: tuple[int, ...]
    until: int
    appeal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRow:
    """Who is behind one key; `since` is the log index of what says so."""

    tier: int
    owner: bytes
    run: bytes | None
    until: int
    since: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRow:
    """One registered key."""

    key: PeerKey
    registered_index: int
    last_seq: int
    last_hash: bytes
    micropoints: int
    standing: StandingRow
    tier: TierRow


def read_rounds(connection: Connection, run: bytes, after: int, limit: int) -> list[RoundRow]:
    """Give rounds of a run after a number, ascending."""
    query = select(Round.__table__).where(Round.run == run, Round.round > after)
    rows = connection.execute(query.order_by(Round.round).limit(limit))
    return [
        RoundRow(
            round=row.round,
            outcome=row.outcome,
            roster_index=row.roster_index,
            roster=row.roster,
            opened_index=row.opened_index,
            closed_index=row.closed_index,
            accepted=row.accepted,
            head=row.head,
            result=row.result,
            loss_q16=row.loss_q16,
        )
        for row in rows
    ]


def peers(connection: Connection, after: PeerKey | None, limit: int) -> list[PeerRow]:
    """Give keys in order of registration, after a key."""
    place = tuple_(Peer.registered_index, Peer.key)
    query = _PEERS
    if after is not None:
        last = peer(connection, after)
        if last is None:
            return []
        query = query.where(place > tuple_(last.registered_index, last.key))
    return _peers(connection.execute(query.order_by(Peer.registered_index, Peer.key).limit(limit)))


def peer(connection: Connection, key: PeerKey) -> PeerRow | None:
    """Give one key, or None when it is not registered."""
    found = _peers(connection.execute(_PEERS.where(Peer.key == key)))
    return found[0] if found else None


def standings(
    connection: Connection, named: Collection[str], after: int, limit: int
) -> list[StandingRow]:
    """Give keys of those standings that have them since an entry after that index, ascending."""
    query = select(Standing.__table__).where(Standing.standing.in_(named), Standing.since > after)
    return [
        _standing(row) for row in connection.execute(query.order_by(Standing.since).limit(limit))
    ]


_TIER = [
    getattr(KeyTier, name).label(f"tier_{name}")
    for name in ("tier", "owner", "run", "until", "since")
]
_PEERS = (
    select(Peer.__table__, Standing.__table__, *_TIER)
    .join(Standing, Standing.peer == Peer.key)
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
    return TierRow(
        tier=row.tier_tier,
        owner=row.tier_owner,
        run=row.tier_run,
        until=row.tier_until,
        since=row.tier_since,
    )


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
