"""An entry in one line: where it stands, what it says, who said it, and about what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import words
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_ledger.store.entry_rows import EntryRow


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine:
    """One entry of the log."""

    index: int
    id: str
    type: str
    says: str
    author: str
    run: str
    round: int | None
    at_ms: int


def entry_line(row: EntryRow) -> EntryLine:
    """Write an entry in a line."""
    return EntryLine(
        index=row.index,
        id=to_text(row.id),
        type=row.type,
        says=words.TYPES.get(row.type, "A statement of a newer tequio"),
        author=to_text(row.author),
        run=to_text(row.run) if row.run else "",
        round=row.round,
        at_ms=row.at_ms,
    )
