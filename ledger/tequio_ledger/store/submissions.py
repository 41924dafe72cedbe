"""Statements that one process of a ledger forwards to the one that writes the log.

A row is a bundle of verified leaves, and later its answer. The process that forwarded the bundle
deletes the row when it reads the answer; rows of a process that died are deleted by the log's
writer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from tequio_ledger.store.models import SubmissionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingBundle:
    """A bundle that has no answer yet."""

    n: int
    leaves: bytes


def put(connection: Connection, replica: bytes, leaves: bytes, at_ms: int) -> int:
    """Write a bundle and give its number."""
    row = {"replica": replica, "leaves": leaves, "at": at_ms}
    return connection.execute(
        insert(SubmissionRow).values(row).returning(SubmissionRow.n)
    ).scalar_one()


def waiting(connection: Connection, without: Collection[int], limit: int) -> list[WaitingBundle]:
    """Read bundles without an answer, the oldest first, except those with the given numbers."""
    query = select(SubmissionRow.n, SubmissionRow.leaves).where(SubmissionRow.answer.is_(None))
    rows = connection.execute(
        query.where(SubmissionRow.n.not_in(without)).order_by(SubmissionRow.n).limit(limit)
    )
    return [WaitingBundle(n=row.n, leaves=row.leaves) for row in rows]


def answer(connection: Connection, n: int, said: bytes) -> None:
    """Write the answer to a bundle; does nothing when the bundle was withdrawn."""
    connection.execute(update(SubmissionRow).where(SubmissionRow.n == n).values(answer=said))


def pop_answers(connection: Connection, replica: bytes) -> dict[int, bytes]:
    """Delete the answered bundles of a process; gives the answers by number."""
    change = (
        delete(SubmissionRow)
        .where(SubmissionRow.replica == replica, SubmissionRow.answer.is_not(None))
        .returning(SubmissionRow.n, SubmissionRow.answer)
    )
    return {n: said for n, said in connection.execute(change) if said is not None}


def withdraw(connection: Connection, n: int) -> None:
    """Delete a bundle whose client has stopped waiting."""
    connection.execute(delete(SubmissionRow).where(SubmissionRow.n == n))


def sweep(connection: Connection, before_ms: int) -> None:
    """Delete older bundles: the process that forwarded them is gone."""
    connection.execute(delete(SubmissionRow).where(SubmissionRow.at < before_ms))
