"""An entry that passed admission, with what it is stored under."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.store.log_rows import StoredEntry
from tequio_shared.statement import Entry, statement_id

if TYPE_CHECKING:
    from tequio_shared.ids import Digest, NetworkId


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """An entry that passed admission, with what it is stored under."""

    entry: Entry
    leaf: bytes
    id: Digest
    at_ms: int
    """When the ledger took it."""

    @classmethod
    def of(cls, entry: Entry, net: NetworkId, at_ms: int) -> Admitted:
        """Name and pack an entry."""
        name = statement_id(net, entry.statement.raw)
        return cls(entry=entry, leaf=entry.leaf(), id=name, at_ms=at_ms)

    def row(self, index: int) -> StoredEntry:
        """Write the row as which it is stored at an index."""
        statement = self.entry.statement
        return StoredEntry(
            index=index,
            id=self.id,
            leaf=self.leaf,
            type=statement.type,
            author=statement.author,
            run=statement.run,
            round=statement.round,
            at_ms=self.at_ms,
        )
