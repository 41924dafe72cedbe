"""The HTTP application: its routes and its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from tequio_ledger.ledger import Ledger
from tequio_ledger.web import errors, events, log_files, openapi, read_api, write_api
from tequio_ledger.web.events import EventStreams
from tequio_ledger.web.limits import StatementLimiter
from tequio_ledger.web.pages import router
from tequio_ledger.web.pages.documentation import Documentation
from tequio_ledger.web.routing import RouteGroup, application
from tequio_ledger.web.write_api import SeedStore
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp


# The router compares paths one after another, so the most requested ones come first.
ROUTES = (
    write_api.post_statements,
    log_files.get_checkpoint,
    log_files.get_tile,
    log_files.get_proof,
    write_api.get_blob,
    write_api.head_blob,
    write_api.put_blob,
    read_api.get_health,
    read_api.get_network,
    events.get_events,
    read_api.get_runs,
    read_api.get_run,
    read_api.get_rounds,
    read_api.get_round,
    read_api.get_measures,
    read_api.get_peers,
    read_api.get_peer,
    read_api.get_peer_rounds,
    read_api.get_team,
    read_api.get_ranking,
    read_api.get_quarantine,
    read_api.get_invitations,
    read_api.get_connectors,
    read_api.get_release,
    read_api.get_snapshots,
    read_api.get_competitions,
    read_api.get_competition,
    log_files.get_witnesses,
    log_files.get_policy,
    write_api.post_checkpoint,
    write_api.get_seeds,
    write_api.put_seed,
    openapi.get_openapi,
)


def build(ledger: Ledger, streams: EventStreams, docs: Documentation | None = None) -> ASGIApp:
    """Build the application; without `docs` it serves no documentation."""

    def answer_error(request: Request, err: Exception) -> Response:
        if isinstance(err, (DatabaseError, NoConnectionError)):
            judged = ledger.database.failed_write(err)
            # a refusal asks the client to try again later; any other failure is a fault here
            err = judged if isinstance(judged, RefusedError) else err
        return errors.answer_error(request, err)

    services: dict[str, object] = {
        "ledger": ledger,
        "streams": streams,
        "seeds": SeedStore(),
        "limiter": StatementLimiter(ledger.settings, ledger.clock),
    }
    services["description"] = openapi.ApiDescription(routes=ROUTES, services=services.keys())
    api = RouteGroup(routes=ROUTES, answer_error=answer_error)
    pages, page_services = router.pages(ledger, answer_error, docs)
    return application((api, pages), services | page_services, router.answer_missing)
