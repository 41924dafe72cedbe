"""The HTTP application: routes, errors, and the one ledger behind them."""

from functools import cache, lru_cache, partial

from litestar import Litestar
from litestar._asgi.routing_trie import traversal
from litestar.datastructures import State as LitestarState
from litestar.di import Provide
from litestar.exceptions import HTTPException, NotFoundException
from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from tequio_ledger.ledger import Ledger
from tequio_ledger.web import competitions, errors, events, log_files, openapi, read_api, write_api
from tequio_ledger.web.events import Streams
from tequio_ledger.web.limits import Doors
from tequio_ledger.web.pages import router as pages_problem
from tequio_ledger.web.pages.router import pages
from tequio_ledger.web.write_api import SeedBook
from tequio_shared.errors import PeerError, RefusedError

_PATHS = 64
"""Paths whose handlers are remembered; most name a blob or a tile, and come once."""

ROUTES = (
    read_api.get_health,
    read_api.get_network,
    read_api.get_runs,
    read_api.get_run,
    read_api.get_rounds,
    read_api.get_round,
    read_api.get_measures,
    read_api.get_peers,
    read_api.get_peer,
    read_api.get_peer_rounds,
    read_api.get_ranking,
    read_api.get_quarantine,
    read_api.get_invitations,
    read_api.get_connectors,
    competitions.get_competitions,
    competitions.get_competition,
    write_api.post_statements,
    log_files.get_proof,
    log_files.get_witnesses,
    log_files.get_checkpoint,
    log_files.get_tile,
    log_files.get_policy,
    write_api.post_checkpoint,
    write_api.get_blob,
    write_api.head_blob,
    write_api.put_blob,
    events.get_events,
    write_api.get_seeds,
    write_api.put_seed,
    openapi.get_openapi,
)


def build(ledger: Ledger, streams: Streams) -> Litestar:
    """Put the application together."""
    book, doors = SeedBook(), Doors(ledger.settings, ledger.clock)
    dependencies = {
        "ledger": Provide(lambda: ledger, sync_to_thread=False),
        "streams": Provide(lambda: streams, sync_to_thread=False),
        "book": Provide(lambda: book, sync_to_thread=False),
        "doors": Provide(lambda: doors, sync_to_thread=False),
    }
    app = Litestar(
        route_handlers=(*ROUTES, pages(ledger)),
        dependencies=dependencies,
        exception_handlers={
            RefusedError: errors.on_refused,
            PeerError: errors.on_peer_error,
            NotFoundException: pages_problem.on_missing,
            HTTPException: errors.on_http,
            DatabaseError: partial(errors.on_database, ledger.database.failed_write),
            NoConnectionError: partial(errors.on_database, ledger.database.failed_write),
            Exception: errors.on_bug,
        },
        openapi_config=None,  # the library's pages load scripts from elsewhere
        state=LitestarState({"openapi": cache(partial(openapi.document, ROUTES, dependencies))}),
        logging_config=None,
        request_max_body_size=None,  # every handler that reads a body has a limit of its own
    )
    router = app.asgi_router
    router.handle_routing = lru_cache(_PATHS)(router.handle_routing.__wrapped__)
    return app


# The library remembers 1,024 paths here and as many in each router.
traversal.parse_path_params = lru_cache(_PATHS)(traversal.parse_path_params.__wrapped__)
