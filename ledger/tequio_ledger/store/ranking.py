"""Rankings: of keys, of owners (whatever number of keys they hold), and of teams.

Keys for which a connector has confirmed one account share a place, under the key that earned most;
every other key has its own, because one invitation may have let in many people. A team earned what
rounds paid to keys that were members when the round closed. While a key is quarantined or banned,
neither a ranking since a time nor a team counts what it was paid: some of that is forfeited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import (
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

from tequio_ledger.store.models import Credit, KeyTier, Peer, PeerStanding, Round
from tequio_shared.ids import PeerKey
from tequio_shared.network.standing import EXCLUDED
from tequio_shared.network.tiers import Tier
from tequio_shared.served.rows import RankedRow

if TYPE_CHECKING:
    from sqlalchemy.orm import InstrumentedAttribute


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


def owners(connection: Connection, since_ms: int | None, limit: int, after: int = 0) -> list[Owner]:
    """Read the owners after a place, the best first, by points since `since_ms` or of all time.

    Ties go to the lower key; in the ranking of all time, to the earlier registration.
    """
    places = _ever(limit + after) if since_ms is None else _places(_since(since_ms))
    best = (places.c.total.desc(), places.c.seniority, places.c.peer)
    query = select(places).order_by(*best).limit(limit).offset(after)
    return [
        Owner(
            key=PeerKey(row.peer),
            gflop=int(row.total),
            rounds=None if since_ms is None else int(row.rounds),
            keys=row.held,
        )
        for row in connection.execute(query)
    ]


def teams(connection: Connection, since_ms: int | None, limit: int, after: int = 0) -> list[Team]:
    """Read the teams after a place, the best first, by rounds that ended since `since_ms`."""
    total, keys = func.sum(Credit.gflop), func.count(Credit.peer.distinct())
    query: Select[int, int, int] = select(Credit.team, total, keys).where(
        _IN_A_TEAM, Credit.peer.not_in(_EXCLUDED)
    )
    if since_ms is not None:
        query = query.join(Round, _OF_ROUND).where(Round.ended_ms >= since_ms)
    query = query.group_by(Credit.team).order_by(total.desc(), Credit.team)
    rows = connection.execute(query.limit(limit).offset(after))
    return [Team(team=team, gflop=int(points), keys=held) for team, points, held in rows]


_VOUCHED = int(Tier.VOUCHED)
_OF_ROUND = (Round.run == Credit.run) & (Round.round == Credit.round)
# Literally the condition of the partial index: with a parameter SQLite would not use it.
_IN_A_TEAM = text("credit.team <> 0")
_EXCLUDED = select(PeerStanding.peer).where(PeerStanding.standing.in_(sorted(EXCLUDED)))


def _owner(key: InstrumentedAttribute[bytes]) -> ColumnElement[bytes]:
    return case((KeyTier.tier == _VOUCHED, KeyTier.owner), else_=key)


def _since(since_ms: int) -> Subquery:
    return (
        select(
            Credit.peer,
            _owner(Credit.peer).label("owner"),
            func.sum(Credit.gflop).label("total"),
            func.count(Round.closed_index.distinct()).label("rounds"),
            literal(0).label("seniority"),
        )
        .join(Round, _OF_ROUND)
        .outerjoin(KeyTier, KeyTier.peer == Credit.peer)
        .where(Round.ended_ms >= since_ms, Credit.peer.not_in(_EXCLUDED))
        .group_by(Credit.peer, KeyTier.tier, KeyTier.owner)
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
    # vouched keys, which are few, are all grouped: a page near the top stays cheap with a million
    # keys.
    vouched = (
        select(
            Peer.key.label("peer"),
            Peer.registered_index.label("seniority"),
            KeyTier.owner.label("owner"),
            Peer.gflop.label("total"),
            literal(0).label("rounds"),
        )
        .join(KeyTier, KeyTier.peer == Peer.key)
        .where(KeyTier.tier == _VOUCHED, Peer.gflop > 0)
        .subquery()
    )
    is_vouched = exists().where(KeyTier.peer == Peer.key, KeyTier.tier == _VOUCHED)
    alone = (
        select(
            Peer.key.label("peer"),
            Peer.registered_index.label("seniority"),
            Peer.gflop.label("total"),
            literal(0).label("rounds"),
            literal(1).label("held"),
            literal(1).label("place"),
        )
        .where(Peer.gflop > 0, ~is_vouched)
        .order_by(Peer.gflop.desc(), Peer.registered_index, Peer.key)
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
    return _count(connection, Peer.gflop > 0)


def after(connection: Connection, rank: int, limit: int) -> list[RankedRow]:
    """Read the keys after a place."""
    query = _RANKED.where(Peer.gflop > 0).order_by(*_ORDER).offset(rank).limit(limit)
    return _numbered(connection.execute(query).all(), rank + 1)


def behind(connection: Connection, key: PeerKey, limit: int) -> list[RankedRow] | None:
    """Read the keys after a key, whatever its place is now; None when it is not registered."""
    own = connection.execute(_RANKED.where(Peer.key == key)).first()
    if own is None:
        return None
    place = _count(connection, _ahead(own)) + 1
    query = _RANKED.where(_behind(own), Peer.gflop > 0).order_by(*_ORDER).limit(limit)
    return _numbered(connection.execute(query).all(), place + 1)


def around(connection: Connection, key: PeerKey, reach: int) -> list[RankedRow] | None:
    """Read a key and up to `reach` keys on either side; None when it is not registered.

    For a key without points: the last keys that have some.
    """
    own = connection.execute(_RANKED.where(Peer.key == key)).first()
    if own is None:
        return None
    ahead = _ahead(own)
    above = connection.execute(_RANKED.where(ahead).order_by(*_BACKWARDS).limit(reach)).all()
    before = list(reversed(above))
    place = _count(connection, ahead) + 1
    if own.gflop == 0:
        return _numbered(before, place - len(before))
    behind = _RANKED.where(_behind(own), Peer.gflop > 0).order_by(*_ORDER).limit(reach)
    return _numbered([*before, own, *connection.execute(behind)], place - len(before))


_RANKED = select(Peer.key, Peer.name, Peer.gflop, Peer.registered_index)
_ORDER = (Peer.gflop.desc(), Peer.registered_index, Peer.key)
_BACKWARDS = (Peer.gflop, Peer.registered_index.desc(), Peer.key.desc())


def _ahead(own: Row[bytes, str, int, int]) -> ColumnElement[bool]:
    # `points >= own` is implied by the rest. It is here for the planner, which turns a plain
    # comparison into a range of the index, but not an OR.
    points = Peer.gflop
    if own.gflop == 0:
        return points > 0
    earlier = tuple_(Peer.registered_index, Peer.key) < tuple_(own.registered_index, own.key)
    return and_(points >= own.gflop, or_(points > own.gflop, earlier))


def _behind(own: Row[bytes, str, int, int]) -> ColumnElement[bool]:
    points = Peer.gflop
    later = tuple_(Peer.registered_index, Peer.key) > tuple_(own.registered_index, own.key)
    return and_(points <= own.gflop, or_(points < own.gflop, later))


def _count(connection: Connection, wanted: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).select_from(Peer).where(wanted)) or 0


def _numbered(rows: Sequence[Row[bytes, str, int, int]], first: int) -> list[RankedRow]:
    return [
        RankedRow(rank=rank, key=PeerKey(row.key), name=row.name, gflop=row.gflop)
        for rank, row in enumerate(rows, first)
    ]
