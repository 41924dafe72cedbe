"""Queries for entries of the log by index, hash, author, or round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Row, select

from tequio_ledger.store.models import LogCheckpoint, LogEntry, Peer, Round
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
    query = _ENTRIES.where(LogEntry.idx < index)
    if author is not None:
        query = query.where(LogEntry.author == author)
    return _rows(connection.execute(query.order_by(LogEntry.idx.desc()).limit(limit)))


def read_entry(connection: Connection, index: int) -> tuple[EntryRow, bytes] | None:
    """Read one entry and its leaf; None when there is none."""
    rows = _rows(connection.execute(_ENTRIES.where(LogEntry.idx == index)))
    leaf = connection.scalar(select(LogEntry.leaf).where(LogEntry.idx == index))
    return (rows[0], leaf) if rows and leaf is not None else None


def leaves_of_round(
    connection: Connection, run: bytes, number: int
) -> list[tuple[int, bytes, int]]:
    """Read all entries about one round as index, leaf and time logged (ms), in log order."""
    query = select(LogEntry.idx, LogEntry.leaf, LogEntry.at)
    wanted = query.where(LogEntry.run == run, LogEntry.round == number).order_by(LogEntry.idx)
    return [(row.idx, row.leaf, row.at) for row in connection.execute(wanted)]


def rounds_of_head(connection: Connection, head: Digest, limit: int) -> list[tuple[bytes, int]]:
    """Read the rounds that started from a head, as run and number."""
    query = select(Round.run, Round.round).where(Round.head == head).limit(limit)
    return [(row.run, row.round) for row in connection.execute(query)]


def keys_like(connection: Connection, lowest: bytes, highest: bytes, limit: int) -> list[bytes]:
    """Read registered keys from `lowest` to `highest`, ascending."""
    query = select(Peer.key).where(Peer.key >= lowest, Peer.key <= highest)
    return list(connection.scalars(query.order_by(Peer.key).limit(limit)))


def checkpoints(connection: Connection, limit: int) -> list[tuple[int, bytes, int]]:
    """Read the newest checkpoints as size, root and time (ms)."""
    query = select(LogCheckpoint.size, LogCheckpoint.root, LogCheckpoint.at)
    rows = connection.execute(query.order_by(LogCheckpoint.size.desc()).limit(limit))
    return [(row.size, row.root, row.at) for row in rows]


_ENTRIES = select(
    LogEntry.idx.label("index"),
    LogEntry.id,
    LogEntry.type,
    LogEntry.author,
    LogEntry.run,
    LogEntry.round,
    LogEntry.at.label("at_ms"),
)


def _rows(rows: Iterable[Row[tuple[object, ...]]]) -> list[EntryRow]:
    return [EntryRow(**row._asdict()) for row in rows]
