"""Who earned most, in a span or ever: owners, whatever number of keys they hold, and teams.

Keys for which a connector knows one account have one place, under the one that earned most; any
other is its own, for one invitation may have let in many people. What a team earned is what rounds
paid to keys that were in it when they closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import case, exists, func, literal, select, text, union_all

from tequio_ledger.store.models import Credit, KeyTier, Peer, Round
from tequio_shared.ids import PeerKey
from tequio_shared.tiers import Tier

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select, Subquery
    from sqlalchemy.orm import InstrumentedAttribute


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
