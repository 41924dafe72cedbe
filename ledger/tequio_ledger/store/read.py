"""Queries on the derived tables, for the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select, tuple_

from tequio_ledger.store.models import KeyTier, Peer, Round, Standing
from tequio_shared.ids import PeerKey
from tequio_shared.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

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
