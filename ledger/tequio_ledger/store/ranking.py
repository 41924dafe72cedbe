"""Keys that have earned points, the best first; who was registered first wins a tie.

Rows and counts come from one index that holds all that they need, so that a place near the top of
a million keys costs a page, and the last one a walk through that index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, func, or_, select, tuple_

from tequio_ledger.store.models import Peer
from tequio_shared.ids import PeerKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """One key's place, from 1 on."""

    rank: int
    key: PeerKey
    micropoints: int


def count(connection: Connection) -> int:
    """How many keys have earned something."""
    return _count(connection, Peer.micropoints > 0)


def after(connection: Connection, rank: int, limit: int) -> list[RankedRow]:
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
