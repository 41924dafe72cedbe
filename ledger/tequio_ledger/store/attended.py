"""The rounds that one key was in, as far as they are over, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, cast, func, select

from tequio_ledger.store.models import Attended, Credit, Round

if TYPE_CHECKING:
    from sqlalchemy import Connection


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
