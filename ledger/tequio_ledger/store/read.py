"""Queries on the derived tables, for the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select, tuple_

from tequio_ledger.store.models import Peer, Round
from tequio_shared.ids import PeerKey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Row


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRow:
    """One registered key."""

    key: PeerKey
    registered_index: int
    last_seq: int
    last_hash: bytes
    micropoints: int


def rounds(connection: Connection, run: bytes, after: int, limit: int) -> list[RoundRow]:
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
        )
        for row in rows
    ]


def peers(connection: Connection, after: PeerKey | None, limit: int) -> list[PeerRow]:
    """Give keys in order of registration, after a key."""
    place = tuple_(Peer.registered_index, Peer.key)
    query = select(Peer.__table__)
    if after is not None:
        last = peer(connection, after)
        if last is None:
            return []
        query = query.where(place > tuple_(last.registered_index, last.key))
    return _peers(connection.execute(query.order_by(Peer.registered_index, Peer.key).limit(limit)))


def peer(connection: Connection, key: PeerKey) -> PeerRow | None:
    """Give one key, or None when it is not registered."""
    found = _peers(connection.execute(select(Peer.__table__).where(Peer.key == key)))
    return found[0] if found else None


def _peers(rows: Iterable[Row[tuple[object, ...]]]) -> list[PeerRow]:
    return [
        PeerRow(
            key=PeerKey(row.key),
            registered_index=row.registered_index,
            last_seq=row.last_seq,
            last_hash=row.last_hash,
            micropoints=row.micropoints,
        )
        for row in rows
    ]
