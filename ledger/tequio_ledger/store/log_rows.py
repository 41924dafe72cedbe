"""Queries on the log's own tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import (
    Connection,
    Row,
    and_,
    delete,
    exists,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from tequio_ledger.store.insertion import insert_many, upsert
from tequio_ledger.store.models import (
    LogCheckpoint,
    LogCosigned,
    LogEntry,
    LogHead,
    LogMark,
    LogTile,
)
from tequio_shared.ids import Digest, PeerKey
from tequio_shared.log.tiles import TILE_WIDTH, TileName, hashes_at
from tequio_shared.statements.network import LogSnapshot
from tequio_shared.statements.statement import Entry

_LOG_ID = 1
_PAGE = 1024
TILE_LEVELS = 8
"""More levels of tiles than a log of 2^63 entries has."""
SEARCHED_ENTRIES = 64
"""Number of an author's last entries among which a number is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedHead:
    """Size and root of the log, and the term of the writer that wrote it."""

    origin: str
    size: int
    root: Digest
    term: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntry:
    """One entry and the columns by which it is found."""

    index: int
    id: Digest
    leaf: bytes
    type: str
    author: bytes
    run: bytes | None
    round: int | None
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    size: int
    root: Digest
    note: bytes
    at_ms: int


def create_head(connection: Connection, head: SignedHead) -> None:
    connection.execute(insert(LogHead).values(log_id=_LOG_ID, **asdict(head)))


def read_head(connection: Connection) -> SignedHead | None:
    """Read the head; None in a fresh database."""
    row = connection.execute(select(LogHead.__table__)).one_or_none()
    if row is None:
        return None
    return SignedHead(origin=row.origin, size=row.size, root=Digest(row.root), term=row.term)


def swap_head(connection: Connection, old: SignedHead, new: SignedHead) -> bool:
    """Replace the head if it is still the old one and no mark forbids it; False otherwise."""
    # One conditional UPDATE instead of a read and a write: it is atomic in every isolation level,
    # so a writer that lost the lead without noticing changes nothing. The mark is in the
    # condition too, so a mark set by another process takes effect before we have read it.
    change = (
        update(LogHead)
        .where(LogHead.log_id == _LOG_ID, LogHead.size == old.size)
        .where(LogHead.term == old.term, LogHead.root == old.root)
        .where(~exists().select_from(LogMark))
        .values(size=new.size, root=new.root, term=new.term)
    )
    return connection.execute(change).rowcount == 1


def read_mark(connection: Connection) -> bytes | None:
    """Read the mark that forbids signing, as the guard encoded it; None without one."""
    return connection.scalar(select(LogMark.mark))


def write_mark(connection: Connection, mark: bytes) -> None:
    """Forbid signing."""
    upsert(connection, LogMark, [{"log_id": _LOG_ID, "mark": mark}])


def delete_mark(connection: Connection) -> None:
    """Allow signing again."""
    connection.execute(delete(LogMark))


def insert_entries(connection: Connection, entries: Sequence[StoredEntry]) -> None:
    """Write entries; an index or id that exists already fails the transaction."""
    rows = [
        {
            "idx": entry.index,
            "id": entry.id,
            "leaf": entry.leaf,
            "type": entry.type,
            "author": entry.author,
            "run": entry.run,
            "round": entry.round,
            "at": entry.at_ms,
        }
        for entry in entries
    ]
    insert_many(connection, LogEntry, rows)


def write_tiles(connection: Connection, tiles: Mapping[TileName, bytes]) -> None:
    """Write tiles; one that was shorter is replaced."""
    # Only the right edge is rewritten, one tile a level: all others are full and never change.
    rows = [{"level": level, "n": n, "data": data} for (level, n), data in tiles.items()]
    upsert(connection, LogTile, rows)


def read_tile(connection: Connection, tile: TileName) -> bytes | None:
    """Read a tile as far as it has grown; None when there is none."""
    level, n = tile
    query = select(LogTile.data).where(LogTile.level == level, LogTile.n == n)
    return connection.scalar(query)


def read_tiles(connection: Connection, tiles: Sequence[TileName]) -> dict[TileName, bytes]:
    """Read those of the tiles that exist, with one query."""
    # One comparison of the whole primary key for each tile, so that both databases use its index.
    named = or_(*(and_(LogTile.level == level, LogTile.n == n) for level, n in tiles))
    rows = connection.execute(select(LogTile.level, LogTile.n, LogTile.data).where(named))
    return {(level, n): data for level, n, data in rows}


def has_tiles_beyond(connection: Connection, size: int) -> bool:
    """Return whether there is a tile to which none of the first `size` entries belongs."""
    # One look at the end of each level, in the order of the primary key: tiles are not counted.
    ends = [-(-hashes_at(level, size) // TILE_WIDTH) for level in range(TILE_LEVELS)]
    beyond = [and_(LogTile.level == level, LogTile.n >= end) for level, end in enumerate(ends)]
    beyond.append(LogTile.level >= TILE_LEVELS)
    return bool(connection.scalar(select(or_(*(exists().where(one) for one in beyond)))))


def read_leaves(connection: Connection, first: int, end: int) -> list[bytes]:
    """Read the leaves of indices first to end - 1."""
    query = select(LogEntry.leaf).where(LogEntry.idx >= first, LogEntry.idx < end)
    return list(connection.scalars(query.order_by(LogEntry.idx)))


def each_entry(connection: Connection, first: int, end: int) -> Iterator[StoredEntry]:
    """Yield the entries of indices first to end - 1 in order."""
    # By pages: drivers fetch a whole result at once, and a log may not fit into memory.
    while page := _page(connection, first, end):
        yield from page
        first = page[-1].index + 1


def each_leaf_of(connection: Connection, types: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """Yield every entry of some types in order, as index and leaf; O(entries)."""
    query = select(LogEntry.idx, LogEntry.leaf).where(LogEntry.type.in_(types))
    for row in connection.execute(query.order_by(LogEntry.idx)):
        yield row.idx, row.leaf


def last_snapshots(connection: Connection, end: int, limit: int) -> list[tuple[int, bytes]]:
    """Read the newest entries below an index that name a snapshot, as index and leaf."""
    query = select(LogEntry.idx, LogEntry.leaf).where(
        # As text, or PostgreSQL would not know that its index holds these entries.
        LogEntry.type == literal_column(f"'{LogSnapshot.TYPE}'"),
        LogEntry.idx < end,
    )
    rows = connection.execute(query.order_by(LogEntry.idx.desc()).limit(limit))
    return [(row.idx, row.leaf) for row in rows]


def arrival_ms(connection: Connection, index: int) -> int:
    """Read the time at which the ledger accepted an entry; raises KeyError without one."""
    found = connection.scalar(select(LogEntry.at).where(LogEntry.idx == index))
    if found is None:
        raise KeyError(index)
    return found


def each_checkpoint(connection: Connection) -> Iterator[StoredCheckpoint]:
    """Yield every checkpoint, the smallest first."""
    query = select(LogCheckpoint.__table__).order_by(LogCheckpoint.size)
    yield from map(_checkpoint, connection.execute(query))


def find_index(connection: Connection, statement_id: Digest) -> int | None:
    """Find the index of a statement; None when it is not in the log."""
    query = select(LogEntry.idx).where(LogEntry.id == statement_id)
    return connection.scalar(query)


def insert_checkpoint(connection: Connection, checkpoint: StoredCheckpoint) -> None:
    """Write a checkpoint; a second one of the same size fails the transaction."""
    # Plainly inserted and not upserted: the table's key is what makes a fork of the log fail, even
    # for a program that went wrong everywhere else.
    size, root = checkpoint.size, checkpoint.root
    values = {"size": size, "root": root, "note": checkpoint.note, "at": checkpoint.at_ms}
    connection.execute(insert(LogCheckpoint).values(values))


def read_last_checkpoint(connection: Connection) -> StoredCheckpoint | None:
    """Read the checkpoint with the largest size."""
    query = select(LogCheckpoint.__table__).order_by(LogCheckpoint.size.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else _checkpoint(row)


def _checkpoint(row: Row[tuple[object, ...]]) -> StoredCheckpoint:
    return StoredCheckpoint(size=row.size, root=Digest(row.root), note=row.note, at_ms=row.at)


def _page(connection: Connection, first: int, end: int) -> list[StoredEntry]:
    query = select(LogEntry.__table__).where(LogEntry.idx >= first, LogEntry.idx < end)
    rows = connection.execute(query.order_by(LogEntry.idx).limit(_PAGE))
    return [
        StoredEntry(
            index=row.idx,
            id=Digest(row.id),
            leaf=row.leaf,
            type=row.type,
            author=row.author,
            run=row.run,
            round=row.round,
            at_ms=row.at,
        )
        for row in rows
    ]


def find_leaf(connection: Connection, author: PeerKey, seq: int) -> bytes | None:
    """Find the leaf of an author's statement by its number; None when it is not found."""
    # The number has no column: only reports of faults need it, and these are rare and about recent
    # entries. The bound keeps an author from making a search expensive.
    query = select(LogEntry.leaf).where(LogEntry.author == author)
    for leaf in connection.scalars(query.order_by(LogEntry.idx.desc()).limit(SEARCHED_ENTRIES)):
        found = Entry.parse(leaf).statement.seq
        if found <= seq:
            return leaf if found == seq else None
    return None


def write_cosigned(connection: Connection, size: int, note: bytes, at_ms: int) -> None:
    """Write a published checkpoint; replaces one of the same size.

    That one can only be the same checkpoint with other cosignatures, from before a change of the
    policy.
    """
    connection.execute(delete(LogCosigned).where(LogCosigned.size == size))
    connection.execute(insert(LogCosigned).values(size=size, note=note, at=at_ms))


def read_last_cosigned(connection: Connection) -> bytes | None:
    query = select(LogCosigned.note).order_by(LogCosigned.size.desc()).limit(1)
    return connection.scalar(query)
