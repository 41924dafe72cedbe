"""What happened over time: rounds in a row, and what was earned on each day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, literal_column, select

from tequio_ledger.store.models import Credit, Round

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Row

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
    query = _ROUNDS.where(Round.run == run).order_by(Round.round.desc()).limit(limit)
    return list(reversed(_past(connection.execute(query))))


def rounds_before(connection: Connection, run: bytes, before: int, limit: int) -> list[PastRound]:
    """Give rounds of a run below a number, descending."""
    query = _ROUNDS.where(Round.run == run, Round.round < before)
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


_ROUNDS = select(
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
