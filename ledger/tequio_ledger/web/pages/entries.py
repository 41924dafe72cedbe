"""GET /entries: the log, the newest entry first, of everybody or of one author."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.service import Ledger
from tequio_ledger.store import entry_rows
from tequio_ledger.web.pages import press
from tequio_ledger.web.pages.entry_line import EntryLine, entry_line
from tequio_ledger.web.pages.peer import Before
from tequio_ledger.web.routing import get
from tequio_shared.ids import from_text
from tequio_shared.limits import JSON_INTEGER

ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class EntriesPage:
    """A page of the log."""

    author: str
    entries: tuple[EntryLine, ...]
    size: int
    older: int | None
    is_first: bool


@get("/entries")
@press.by_turns
def get_entries(
    request: Request,
    ledger: Ledger,
    author: str = "",
    before: Before = JSON_INTEGER,
) -> Response:
    """List entries."""
    key = from_text(author) if author else None
    published = ledger.published
    with ledger.database.reader.begin() as connection:
        rows = entry_rows.before(connection, min(before, published.size), ROWS, key)
    view = EntriesPage(
        author=author,
        entries=tuple(entry_line(row) for row in rows),
        size=published.size,
        older=rows[-1].index if len(rows) == ROWS and rows[-1].index else None,
        is_first=before >= published.size,
    )
    return press.page(request, "entries.html", press.frame(request, ledger, published), view)
