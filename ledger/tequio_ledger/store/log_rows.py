"""Queries on the log's own tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

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
    LOG_CHECKPOINT,
    LOG_COSIGNED,
    LOG_ENTRY,
    LOG_HEAD,
    LOG_MARK,
    LOG_TILE,
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

    @classmethod
    def of(cls, row: Row[Any]) -> StoredEntry:
        columns = row._asdict()
        return cls(index=columns.pop("idx"), at_ms=columns.pop("at"), **columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    size: int
    root: Digest
    note: bytes
    at_ms: int


def create_head(connection: Connection, head: SignedHead) -> None:
    connection.execute(insert(LOG_HEAD).values(log_id=_LOG_ID, **asdict(head)))


def read_head(connection: Connection) -> SignedHead | None:
    """Read the head; None in a fresh database."""
    row = connection.execute(select(LOG_HEAD)).one_or_none()
    if row is None:
        return None
    return SignedHead(origin=row.origin, size=row.size, root=Digest(row.root), term=row.term)


def swap_head(connection: Connection, old: SignedHead, new: SignedHead) -> bool:
    """Replace the head if it is still the old one and no mark forbids it; False otherwise."""
    # One conditional UPDATE instead of a read and a write: it is atomic in every isolation level,
    # so a writer that lost the lead without noticing changes nothing. The mark is in the
    # condition too, so a mark set by another process takes effect before we have read it.
    change = (
        update(LOG_HEAD)
        .where(LOG_HEAD.c.log_id == _LOG_ID, LOG_HEAD.c.size == old.size)
        .where(LOG_HEAD.c.term == old.term, LOG_HEAD.c.root == old.root)
        .where(~exists().select_from(LOG_MARK))
        .values(size=new.size, root=new.root, term=new.term)
    )
    return connection.execute(change).rowcount == 1


def read_mark(connection: Connection) -> bytes | None:
    """Read the mark that forbids signing, as the guard encoded it; None without one."""
    return connection.scalar(select(LOG_MARK.c.mark))


def write_mark(connection: Connection, mark: bytes) -> None:
    """Forbid signing."""
    upsert(connection, LOG_MARK, [{"log_id": _LOG_ID, "mark": mark}])


def delete_mark(connection: Connection) -> None:
    """Allow signing again."""
    connection.execute(delete(LOG_MARK))


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
    insert_many(connection, LOG_ENTRY, rows)


def write_tiles(connection: Connection, tiles: Mapping[TileName, bytes]) -> None:
    """Write tiles; one that was shorter is replaced."""
    # Only the right edge is rewritten, one tile a level: all others are full and never change.
    rows = [{"level": level, "n": n, "data": data} for (level, n), data in tiles.items()]
    upsert(connection, LOG_TILE, rows)


def read_tile(connection: Connection, tile: TileName) -> bytes | None:
    """Read a tile as far as it has grown; None when there is none."""
    level, n = tile
    query = select(LOG_TILE.c.data).where(LOG_TILE.c.level == level, LOG_TILE.c.n == n)
    return connection.scalar(query)


def read_tiles(connection: Connection, tiles: Sequence[TileName]) -> dict[TileName, bytes]:
    """Read those of the tiles that exist, with one query."""
    # One comparison of the whole primary key for each tile, so that both databases use its index.
    named = or_(*(and_(LOG_TILE.c.level == level, LOG_TILE.c.n == n) for level, n in tiles))
    rows = connection.execute(select(LOG_TILE.c.level, LOG_TILE.c.n, LOG_TILE.c.data).where(named))
    return {(level, n): data for level, n, data in rows}


def has_tiles_beyond(connection: Connection, size: int) -> bool:
    """Return whether there is a tile to which none of the first `size` entries belongs."""
    # One look at the end of each level, in the order of the primary key: tiles are not counted.
    ends = [-(-hashes_at(level, size) // TILE_WIDTH) for level in range(TILE_LEVELS)]
    beyond = [
        and_(LOG_TILE.c.level == level, LOG_TILE.c.n >= end) for level, end in enumerate(ends)
    ]
    beyond.append(LOG_TILE.c.level >= TILE_LEVELS)
    return bool(connection.scalar(select(or_(*(exists().where(one) for one in beyond)))))


def read_leaves(connection: Connection, first: int, end: int) -> list[bytes]:
    """Read the leaves of indices first to end - 1."""
    query = select(LOG_ENTRY.c.leaf).where(LOG_ENTRY.c.idx >= first, LOG_ENTRY.c.idx < end)
    return list(connection.scalars(query.order_by(LOG_ENTRY.c.idx)))


def each_entry(connection: Connection, first: int, end: int) -> Iterator[StoredEntry]:
    """Yield the entries of indices first to end - 1 in order."""
    # By pages: drivers fetch a whole result at once, and a log may not fit into memory.
    while page := _page(connection, first, end):
        yield from page
        first = page[-1].index + 1


def each_leaf_of(connection: Connection, types: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """Yield every entry of some types in order, as index and leaf; O(entries)."""
    query = select(LOG_ENTRY.c.idx, LOG_ENTRY.c.leaf).where(LOG_ENTRY.c.type.in_(types))
    for row in connection.execute(query.order_by(LOG_ENTRY.c.idx)):
        yield row.idx, row.leaf


def last_snapshots(connection: Connection, end: int, limit: int) -> list[tuple[int, bytes]]:
    """Read the newest entries below an index that name a snapshot, as index and leaf."""
    query = select(LOG_ENTRY.c.idx, LOG_ENTRY.c.leaf).where(
        # As text, or PostgreSQL would not know that its index holds these entries.
        LOG_ENTRY.c.type == literal_column(f"'{LogSnapshot.TYPE}'"),
        LOG_ENTRY.c.idx < end,
    )
    rows = connection.execute(query.order_by(LOG_ENTRY.c.idx.desc()).limit(limit))
    return [(row.idx, row.leaf) for row in rows]


def arrival_ms(connection: Connection, index: int) -> int:
    """Read the time at which the ledger accepted an entry; raises KeyError without one."""
    found = connection.scalar(select(LOG_ENTRY.c.at).where(LOG_ENTRY.c.idx == index))
    if found is None:
        raise KeyError(index)
    return found


def each_checkpoint(connection: Connection) -> Iterator[StoredCheckpoint]:
    """Yield every checkpoint, the smallest first."""
    query = select(LOG_CHECKPOINT).order_by(LOG_CHECKPOINT.c.size)
    yield from map(_checkpoint, connection.execute(query))


def find_index(connection: Connection, statement_id: Digest) -> int | None:
    """Find the index of a statement; None when it is not in the log."""
    query = select(LOG_ENTRY.c.idx).where(LOG_ENTRY.c.id == statement_id)
    return connection.scalar(query)


def insert_checkpoint(connection: Connection, checkpoint: StoredCheckpoint) -> None:
    """Write a checkpoint; a second one of the same size fails the transaction."""
    # Plainly inserted and not upserted: the table's key is what makes a fork of the log fail, even
    # for a program that went wrong everywhere else.
    size, root = checkpoint.size, checkpoint.root
    values = {"size": size, "root": root, "note": checkpoint.note, "at": checkpoint.at_ms}
    connection.execute(insert(LOG_CHECKPOINT).values(values))


def read_last_checkpoint(connection: Connection) -> StoredCheckpoint | None:
    """Read the checkpoint with the largest size."""
    query = select(LOG_CHECKPOINT).order_by(LOG_CHECKPOINT.c.size.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else _checkpoint(row)


def _checkpoint(row: Row[tuple[object, ...]]) -> StoredCheckpoint:
    return StoredCheckpoint(size=row.size, root=Digest(row.root), note=row.note, at_ms=row.at)


def _page(connection: Connection, first: int, end: int) -> list[StoredEntry]:
    query = select(LOG_ENTRY).where(LOG_ENTRY.c.idx >= first, LOG_ENTRY.c.idx < end)
    rows = connection.execute(query.order_by(LOG_ENTRY.c.idx).limit(_PAGE))
    return [StoredEntry.of(row) for row in rows]


def find_leaves(
    connection: Connection, author: PeerKey, numbers: Collection[int]
) -> dict[int, bytes]:
    """Find leaves of an author's statements by their numbers, among the last ones."""
    # The number has no column: only reports of faults need it, and these are rare and about recent
    # entries. The bound keeps an author from making a search expensive.
    query = select(LOG_ENTRY.c.leaf).where(LOG_ENTRY.c.author == author)
    found: dict[int, bytes] = {}
    for leaf in connection.scalars(query.order_by(LOG_ENTRY.c.idx.desc()).limit(SEARCHED_ENTRIES)):
        seq = Entry.parse(leaf).statement.seq
        if seq in numbers:
            found[seq] = leaf
        if seq <= min(numbers):
            break
    return found


def write_cosigned(connection: Connection, size: int, note: bytes, at_ms: int) -> None:
    """Write a published checkpoint; replaces one of the same size.

    That one can only be the same checkpoint with other cosignatures: older ones, or from before a
    change of the policy.
    """
    connection.execute(delete(LOG_COSIGNED).where(LOG_COSIGNED.c.size == size))
    connection.execute(insert(LOG_COSIGNED).values(size=size, note=note, at=at_ms))


def read_last_cosigned(connection: Connection) -> bytes | None:
    query = select(LOG_COSIGNED.c.note).order_by(LOG_COSIGNED.c.size.desc()).limit(1)
    return connection.scalar(query)
