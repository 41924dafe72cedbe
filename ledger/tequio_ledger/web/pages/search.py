"""GET /search: leads to what was meant, or lists what it may have been."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.service import Ledger
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import press
from tequio_ledger.web.pages.finding import Found, find
from tequio_ledger.web.routing import get

CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """What was asked, and what fits."""

    asked: str
    found: tuple[Found, ...]


@get("/search")
@press.by_turns
def get_search(request: Request, ledger: Ledger, q: str = "") -> Response:
    """Find an entry, a key, a run or a hash."""
    asked = q.strip()[:CHARS]
    with snapshot(ledger.database) as (connection, published):
        found = find(connection, ledger, asked) if asked else []
    if len(found) == 1:
        return press.elsewhere(found[0].path)
    view = SearchPage(asked=asked, found=tuple(found))
    return press.page(request, "search.html", press.frame(request, ledger, published), view)
