"""GET /quarantine: who is not simply at work, since when, why, and until when."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.service import Ledger
from tequio_ledger.store import read
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import press
from tequio_ledger.web.pages.peer import Before, StandingView, standing_view
from tequio_ledger.web.read_api import NAMED
from tequio_ledger.web.routing import get
from tequio_shared.ids import to_text

ROWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRow:
    """One key that is suspected, quarantined, on probation or banned."""

    key: str
    standing: StandingView


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinePage:
    """Some of them, the longest first."""

    rows: tuple[HeldRow, ...]
    next: int | None


@get("/quarantine")
@press.by_turns
def get_quarantine(request: Request, ledger: Ledger, after: Before = 0) -> Response:
    """List them."""
    with snapshot(ledger.database) as (connection, published):
        rows = read.standings(connection, NAMED, after, ROWS)
    view = QuarantinePage(
        rows=tuple(HeldRow(key=to_text(row.key), standing=standing_view(row)) for row in rows),
        next=rows[-1].since if len(rows) == ROWS else None,
    )
    return press.page(request, "quarantine.html", press.frame(request, ledger, published), view)
