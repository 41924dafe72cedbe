"""Queries for entries of the log by index, hash, author, or round."""

from __future__ import annotations

from sqlalchemy import Connection, select

from tequio_ledger.store.log_rows import StoredEntry, each_entry
from tequio_ledger.store.models import LOG_CHECKPOINT, LOG_ENTRY, PEER, ROUND
from tequio_shared.ids import Digest


def entries_before(
    connection: Connection, index: int, limit: int, author: bytes | None = None
) -> list[StoredEntry]:
    """Read entries below an index, the newest first, of one author or of all."""
    # By index and not by OFFSET, here and in all pages: a page far back costs no more than the
    # first, and entries that arrive meanwhile move nothing.
    query = select(LOG_ENTRY).where(LOG_ENTRY.c.idx < index)
    if author is not None:
        query = query.where(LOG_ENTRY.c.author == author)
    rows = connection.execute(query.order_by(LOG_ENTRY.c.idx.desc()).limit(limit))
    return [StoredEntry.of(row) for row in rows]


def read_entry(connection: Connection, index: int) -> StoredEntry | None:
    """Read one entry; None when there is none."""
    return next(each_entry(connection, index, index + 1), None)


def leaves_of_round(
    connection: Connection, run: bytes, number: int
) -> list[tuple[int, bytes, int]]:
    """Read all entries about one round as index, leaf and time logged (ms), in log order."""
    query = select(LOG_ENTRY.c.idx, LOG_ENTRY.c.leaf, LOG_ENTRY.c.at)
    wanted = query.where(LOG_ENTRY.c.run == run, LOG_ENTRY.c.round == number).order_by(
        LOG_ENTRY.c.idx
    )
    return [(row.idx, row.leaf, row.at) for row in connection.execute(wanted)]


def rounds_of_head(connection: Connection, head: Digest, limit: int) -> list[tuple[bytes, int]]:
    """Read the rounds that started from a head, as run and number."""
    query = select(ROUND.c.run, ROUND.c.round).where(ROUND.c.head == head).limit(limit)
    return [(row.run, row.round) for row in connection.execute(query)]


def keys_like(connection: Connection, lowest: bytes, highest: bytes, limit: int) -> list[bytes]:
    """Read registered keys from `lowest` to `highest`, ascending."""
    query = select(PEER.c.key).where(PEER.c.key >= lowest, PEER.c.key <= highest)
    return list(connection.scalars(query.order_by(PEER.c.key).limit(limit)))


def checkpoints(connection: Connection, limit: int) -> list[tuple[int, bytes, int]]:
    """Read the newest checkpoints as size, root and time (ms)."""
    query = select(LOG_CHECKPOINT.c.size, LOG_CHECKPOINT.c.root, LOG_CHECKPOINT.c.at)
    rows = connection.execute(query.order_by(LOG_CHECKPOINT.c.size.desc()).limit(limit))
    return [(row.size, row.root, row.at) for row in rows]
