"""Statements that one process of a ledger forwards to the one that writes the log.

A row is a bundle of verified leaves, and later its answer. The process that forwarded the bundle
deletes the row when it reads the answer; rows of a process that died are deleted by the log's
writer.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, insert, select, update

from tequio_ledger.store.models import SUBMISSION


def put(connection: Connection, replica: bytes, leaves: bytes, at_ms: int) -> int:
    """Write a bundle and give its number."""
    row = {"replica": replica, "leaves": leaves, "at": at_ms}
    return connection.execute(insert(SUBMISSION).values(row).returning(SUBMISSION.c.n)).scalar_one()


def waiting(connection: Connection, without: Collection[int], limit: int) -> dict[int, bytes]:
    """Read bundles without an answer by number, the oldest first, except those with the numbers."""
    # The writer remembers which bundles it has queued, instead of marking their rows: a mark would
    # cost a write for each bundle, and outlive a writer that dies.
    query = select(SUBMISSION.c.n, SUBMISSION.c.leaves).where(SUBMISSION.c.answer.is_(None))
    rows = connection.execute(
        query.where(SUBMISSION.c.n.not_in(without)).order_by(SUBMISSION.c.n).limit(limit)
    )
    return {row.n: row.leaves for row in rows}


def answer(connection: Connection, n: int, encoded: bytes) -> None:
    """Write the answer to a bundle; does nothing when the bundle was withdrawn."""
    connection.execute(update(SUBMISSION).where(SUBMISSION.c.n == n).values(answer=encoded))


def pop_answers(connection: Connection, replica: bytes) -> dict[int, bytes]:
    """Delete the answered bundles of a process; gives the answers by number."""
    # Read and deleted by one statement: a bundle is answered once, and two queries would need a
    # stronger isolation for that.
    change = (
        delete(SUBMISSION)
        .where(SUBMISSION.c.replica == replica, SUBMISSION.c.answer.is_not(None))
        .returning(SUBMISSION.c.n, SUBMISSION.c.answer)
    )
    return {n: encoded for n, encoded in connection.execute(change) if encoded is not None}


def withdraw(connection: Connection, n: int) -> None:
    """Delete a bundle whose client has stopped waiting."""
    connection.execute(delete(SUBMISSION).where(SUBMISSION.c.n == n))


def sweep(connection: Connection, before_ms: int) -> None:
    """Delete older bundles: the process that forwarded them is gone."""
    connection.execute(delete(SUBMISSION).where(SUBMISSION.c.at < before_ms))
