"""Queries for entries of the log by index, hash, author, or round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Row, select

from tequio_ledger.store.models import LOG_CHECKPOINT, LOG_ENTRY, PEER, ROUND
from tequio_shared.ids import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One entry without its bytes."""

    index: int
    id: bytes
    type: str
    author: bytes
    run: bytes | None
    round: int | None
    at_ms: int


def entries_before(
    connection: Connection, index: int, limit: int, author: bytes | None = None
) -> list[EntryRow]:
    """Read entries below an index, the newest first, of one author or of all."""
    # By index and not by OFFSET, here and in all pages: a page far back costs no more than the
    # first, and entries that arrive meanwhile move nothing.
    query = _ENTRIES.where(LOG_ENTRY.c.idx < index)
    if author is not None:
        query = query.where(LOG_ENTRY.c.author == author)
    return _rows(connection.execute(query.order_by(LOG_ENTRY.c.idx.desc()).limit(limit)))


def read_entry(connection: Connection, index: int) -> tuple[EntryRow, bytes] | None:
    """Read one entry and its leaf; None when there is none."""
    rows = _rows(connection.execute(_ENTRIES.where(LOG_ENTRY.c.idx == index)))
    leaf = connection.scalar(select(LOG_ENTRY.c.leaf).where(LOG_ENTRY.c.idx == index))
    return (rows[0], leaf) if rows and leaf is not None else None


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


_ENTRIES = select(
    LOG_ENTRY.c.idx.label("index"),
    LOG_ENTRY.c.id,
    LOG_ENTRY.c.type,
    LOG_ENTRY.c.author,
    LOG_ENTRY.c.run,
    LOG_ENTRY.c.round,
    LOG_ENTRY.c.at.label("at_ms"),
)


def _rows(rows: Iterable[Row[tuple[object, ...]]]) -> list[EntryRow]:
    return [EntryRow(**row._asdict()) for row in rows]
