"""Rankings: of keys, of owners (whatever number of keys they hold), and of teams.

Keys for which a connector has confirmed one account share a place, under the key that earned most;
every other key has its own, because one invitation may have let in many people. A team earned what
rounds paid, to any key, for the work of keys that were members when the round closed. While
a key is quarantined or banned, neither a ranking since a time nor a team counts what was paid for
its work, and the ranking not what it received: some of that is forfeited. The same goes for keys
whose place it took, and for a revoked key that forfeited something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import (
    CTE,
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    Subquery,
    and_,
    case,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    tuple_,
    union_all,
)

from tequio_ledger.store.models import CREDIT, PEER, ROUND, STANDING, TIER
from tequio_shared.ids import PeerKey
from tequio_shared.network.tiers import Tier
from tequio_shared.served.rows import RankedRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    key: PeerKey
    """The owner's key that earned most."""
    gflop: int
    rounds: int | None
    """Paid rounds, counted once for each key; None for the ranking of all time."""
    keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    team: int
    """Log index of the entry that founded it."""
    gflop: int
    keys: int
    """Number of keys that earned them."""


def owners(connection: Connection, since_ms: int | None, limit: int) -> list[Owner]:
    """Read the first owners, the best first, by points since `since_ms` or of all time.

    Ties go to the lower key; in the ranking of all time, to the earlier registration.
    """
    places = _ever(limit) if since_ms is None else _places(_since(since_ms))
    best = (places.c.total.desc(), places.c.seniority, places.c.peer)
    query = select(places).order_by(*best).limit(limit)
    return [
        Owner(
            key=PeerKey(row.peer),
            gflop=int(row.total),
            rounds=None if since_ms is None else int(row.rounds),
            keys=row.held,
        )
        for row in connection.execute(query)
    ]


def teams(connection: Connection, since_ms: int | None, limit: int) -> list[Team]:
    """Read the teams, the best first, by rounds that ended since `since_ms`."""
    total, keys = func.sum(CREDIT.c.gflop), func.count(CREDIT.c.author.distinct())
    query: Select[int, int, int] = select(CREDIT.c.team, total, keys).where(
        CREDIT.c.author.not_in(select(_EXCLUDED))
    )
    if since_ms is None:
        query = query.where(_IN_A_TEAM)
    else:  # Not that condition: SQLite would read the credits of all time in the partial index.
        in_span = ROUND.c.ended_ms >= since_ms, CREDIT.c.team > 0
        query = query.join(ROUND, _OF_ROUND).where(*in_span)
    query = query.group_by(CREDIT.c.team).order_by(total.desc(), CREDIT.c.team)
    rows = connection.execute(query.limit(limit))
    return [Team(team=team, gflop=int(points), keys=held) for team, points, held in rows]


_VOUCHED = int(Tier.VOUCHED)
_OF_ROUND = (ROUND.c.run == CREDIT.c.run) & (ROUND.c.round == CREDIT.c.round)
# Literally the conditions of the partial indices: with a parameter SQLite would not use them.
_IN_A_TEAM = text("credit.team <> 0")
_IS_RESTRICTED = text("standing.is_restricted")


def _excluded() -> CTE:
    """Find the few restricted keys, and from each the keys before it, up to the first."""
    found = select(STANDING.c.peer).where(_IS_RESTRICTED).cte("excluded", recursive=True)
    former = select(PEER.c.replaces).join(found, PEER.c.key == found.c.peer)
    return found.union_all(former.where(PEER.c.replaces.is_not(None)))


_EXCLUDED = _excluded()


def _owner(key: Column[bytes]) -> ColumnElement[bytes]:
    return case((TIER.c.tier == _VOUCHED, TIER.c.owner), else_=key)


def _since(since_ms: int) -> Subquery:
    return (
        select(
            CREDIT.c.peer,
            _owner(CREDIT.c.peer).label("owner"),
            func.sum(CREDIT.c.gflop).label("total"),
            func.count(ROUND.c.closed_index.distinct()).label("rounds"),
            literal(0).label("seniority"),
        )
        .join(ROUND, _OF_ROUND)
        .outerjoin(TIER, TIER.c.peer == CREDIT.c.peer)
        .where(
            ROUND.c.ended_ms >= since_ms,
            CREDIT.c.peer.not_in(select(_EXCLUDED)),
            CREDIT.c.author.not_in(select(_EXCLUDED)),
        )
        .group_by(CREDIT.c.peer, TIER.c.tier, TIER.c.owner)
        .subquery()
    )


def _places(each: Subquery) -> Subquery:
    """Reduce the keys to one row per owner: the best key, and the sums over all keys."""
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
    # Keys that are their own owner are read from the ranking's index, no more than needed. Only the
    # vouched keys are all grouped: without any, a million keys cost no more than these places.
    vouched = (
        select(
            PEER.c.key.label("peer"),
            PEER.c.registered_index.label("seniority"),
            TIER.c.owner.label("owner"),
            PEER.c.gflop.label("total"),
            literal(0).label("rounds"),
        )
        .join(TIER, TIER.c.peer == PEER.c.key)
        .where(TIER.c.tier == _VOUCHED, PEER.c.gflop > 0)
        .subquery()
    )
    is_vouched = exists().where(TIER.c.peer == PEER.c.key, TIER.c.tier == _VOUCHED)
    alone = (
        select(
            PEER.c.key.label("peer"),
            PEER.c.registered_index.label("seniority"),
            PEER.c.gflop.label("total"),
            literal(0).label("rounds"),
            literal(1).label("held"),
            literal(1).label("place"),
        )
        .where(PEER.c.gflop > 0, ~is_vouched)
        .order_by(PEER.c.gflop.desc(), PEER.c.registered_index, PEER.c.key)
        .limit(most)
        .subquery()
    )
    return union_all(select(_places(vouched)), select(alone)).subquery()


# --- The ranking of keys with points, the best first; the earlier registration wins a tie.
#
# Rows and counts come from one index that contains all columns they need: a place near the top of a
# million keys costs a page, and the last one a walk through that index.


def count(connection: Connection) -> int:
    """Count the keys that have earned something."""
    return _count(connection, PEER.c.gflop > 0)


def after(connection: Connection, rank: int, limit: int) -> list[RankedRow]:
    """Read the keys after a place."""
    query = _RANKED.where(PEER.c.gflop > 0).order_by(*_ORDER).offset(rank).limit(limit)
    return _numbered(connection.execute(query).all(), rank + 1)


def behind(connection: Connection, key: PeerKey, limit: int) -> list[RankedRow] | None:
    """Read the keys after a key, whatever its place is now; None when it is not registered."""
    own = connection.execute(_RANKED.where(PEER.c.key == key)).first()
    if own is None:
        return None
    place = _count(connection, _ahead(own)) + 1
    query = _RANKED.where(_behind(own), PEER.c.gflop > 0).order_by(*_ORDER).limit(limit)
    return _numbered(connection.execute(query).all(), place + 1)


def around(connection: Connection, key: PeerKey, reach: int) -> list[RankedRow] | None:
    """Read a key and up to `reach` keys on either side; None when it is not registered.

    For a key without points: the last keys that have some.
    """
    own = connection.execute(_RANKED.where(PEER.c.key == key)).first()
    if own is None:
        return None
    ahead = _ahead(own)
    above = connection.execute(_RANKED.where(ahead).order_by(*_BACKWARDS).limit(reach)).all()
    before = list(reversed(above))
    place = _count(connection, ahead) + 1
    if own.gflop == 0:
        return _numbered(before, place - len(before))
    behind = _RANKED.where(_behind(own), PEER.c.gflop > 0).order_by(*_ORDER).limit(reach)
    return _numbered([*before, own, *connection.execute(behind)], place - len(before))


_RANKED = select(PEER.c.key, PEER.c.name, PEER.c.gflop, PEER.c.registered_index)
_ORDER = (PEER.c.gflop.desc(), PEER.c.registered_index, PEER.c.key)
_BACKWARDS = (PEER.c.gflop, PEER.c.registered_index.desc(), PEER.c.key.desc())


def _ahead(own: Row[bytes, str, int, int]) -> ColumnElement[bool]:
    # `points >= own` is implied by the rest. It is here for the planner, which turns a plain
    # comparison into a range of the index, but not an OR.
    points = PEER.c.gflop
    if own.gflop == 0:
        return points > 0
    earlier = tuple_(PEER.c.registered_index, PEER.c.key) < tuple_(own.registered_index, own.key)
    return and_(points >= own.gflop, or_(points > own.gflop, earlier))


def _behind(own: Row[bytes, str, int, int]) -> ColumnElement[bool]:
    points = PEER.c.gflop
    later = tuple_(PEER.c.registered_index, PEER.c.key) > tuple_(own.registered_index, own.key)
    return and_(points <= own.gflop, or_(points < own.gflop, later))


def _count(connection: Connection, wanted: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).select_from(PEER).where(wanted)) or 0


def _numbered(rows: Sequence[Row[bytes, str, int, int]], first: int) -> list[RankedRow]:
    return [
        RankedRow(rank=rank, key=PeerKey(row.key), name=row.name, gflop=row.gflop)
        for rank, row in enumerate(rows, first)
    ]
