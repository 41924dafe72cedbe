"""The entries of one author, found by the numbers that it gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from tequio_ledger.store.models import LogEntry
from tequio_shared.statement import Entry

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_shared.ids import PeerKey

LOOKED_AT = 64
"""Entries of an author, from its last one back, among which a number is looked for."""


def leaf_of(connection: Connection, author: PeerKey, seq: int) -> bytes | None:
    """Give the leaf of the author's statement with that number, or None when it is not found."""
    query = select(LogEntry.leaf).where(LogEntry.author == author)
    leaves = connection.execute(query.order_by(LogEntry.idx.desc()).limit(LOOKED_AT)).scalars()
    for leaf in leaves:
        found = Entry.parse(leaf).statement.seq
        if found <= seq:
            return leaf if found == seq else None
    return None
