"""Who earned most, in a span or ever: owners, whatever number of keys they hold, and teams.

Keys for which a connector knows one account have one place, under the one that earned most; any
other is its own, for one invitation may have let in many people. What a team earned is what rounds
paid to keys that were in it when they closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import case, func, literal, select, text

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
    each = _ever() if since_ms is None else _since(since_ms)
    owner = each.c.owner
    first = (each.c.total.desc(), each.c.seniority, each.c.peer)
    best = func.row_number().over(partition_by=owner, order_by=first)
    summed = select(
        each.c.peer,
        each.c.seniority,
        func.sum(each.c.total).over(partition_by=owner).label("total"),
        func.sum(each.c.rounds).over(partition_by=owner).label("rounds"),
        func.count().over(partition_by=owner).label("held"),
        best.label("place"),
    ).subquery()
    query = select(summed).where(summed.c.place == 1)
    query = query.order_by(summed.c.total.desc(), summed.c.seniority, summed.c.peer)
    return [
        Owner(
            key=PeerKey(row.peer),
            micropoints=int(row.total),
            rounds=None if since_ms is None else int(row.rounds),
            keys=row.held,
        )
        for row in connection.execute(query.limit(limit).offset(after))
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


_OF_ROUND = (Round.run == Credit.run) & (Round.round == Credit.round)
_IN_A_TEAM = text("credit.team <> ''")  # in the words of the index that holds these rows alone


def _owner(key: InstrumentedAttribute[bytes]) -> ColumnElement[bytes]:
    return case((KeyTier.tier == int(Tier.VOUCHED), KeyTier.owner), else_=key)


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


def _ever() -> Subquery:
    return (
        select(
            Peer.key.label("peer"),
            _owner(Peer.key).label("owner"),
            Peer.micropoints.label("total"),
            literal(0).label("rounds"),
            Peer.registered_index.label("seniority"),
        )
        .outerjoin(KeyTier, KeyTier.peer == Peer.key)
        .where(Peer.micropoints > 0)
        .subquery()
    )
