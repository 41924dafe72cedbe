"""GET /about: what this is, how points come about, and how to check all of it."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.service import Ledger
from tequio_ledger.web.pages import press
from tequio_ledger.web.routing import get
from tequio_shared import points

TOKENS, PARAMETERS, SHARE_BP, ELECTED = 1_000_000, 350_000_000, 500, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutPage:
    """Figures of the example, by the functions that pay."""

    tokens: int
    parameters: int
    trainer_micropoints: int
    share_bp: int
    elected: int
    round_micropoints: int
    witness_micropoints: int
    ledger: str


@get("/about")
@press.by_turns
def get_about(request: Request, ledger: Ledger) -> Response:
    """Explain."""
    one = points.trainer_micropoints(TOKENS, PARAMETERS)
    round_total = ELECTED * one
    view = AboutPage(
        tokens=TOKENS,
        parameters=PARAMETERS,
        trainer_micropoints=one,
        share_bp=SHARE_BP,
        elected=ELECTED,
        round_micropoints=round_total,
        witness_micropoints=points.witness_micropoints(round_total, SHARE_BP, ELECTED),
        ledger=press.here(request, ledger),
    )
    frame = press.frame(request, ledger, ledger.published)
    return press.page(request, "about.html", frame, view, press.SETTLED)
