"""The HTTP application: routes, errors, and the one ledger behind them."""

from functools import cache, lru_cache, partial

from litestar import Litestar
from litestar._asgi.routing_trie import traversal
from litestar.datastructures import State as LitestarState
from litestar.di import Provide
from litestar.exceptions import HTTPException, NotFoundException
from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from tequio_ledger.service import Ledger
from tequio_ledger.web import (
    blobs,
    competitions,
    cosigned,
    events,
    files,
    held_out,
    invitations,
    network,
    openapi,
    problems,
    quarantine,
    ranking,
    seeds,
    shown,
    statements,
)
from tequio_ledger.web.doors import Doors
from tequio_ledger.web.events import Streams
from tequio_ledger.web.pages import problem as pages_problem
from tequio_ledger.web.pages.routes import pages
from tequio_ledger.web.seeds import SeedBook
from tequio_shared.errors import PeerError, RefusedError

_PATHS = 64
"""Paths whose handlers are remembered; most name a blob or a tile, and come once."""

ROUTES = (
    network.get_health,
    network.get_network,
    network.get_runs,
    network.get_run,
    network.get_rounds,
    network.get_round,
    held_out.get_measures,
    network.get_peers,
    network.get_peer,
    ranking.get_peer_rounds,
    ranking.get_ranking,
    quarantine.get_quarantine,
    invitations.get_invitations,
    invitations.get_connectors,
    competitions.get_competitions,
    competitions.get_competition,
    statements.post_statements,
    cosigned.get_proof,
    cosigned.get_witnesses,
    files.get_checkpoint,
    files.get_tile,
    cosigned.get_policy,
    shown.post_checkpoint,
    blobs.get_blob,
    blobs.head_blob,
    blobs.put_blob,
    events.get_events,
    seeds.get_seeds,
    seeds.put_seed,
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
            RefusedError: problems.on_refused,
            PeerError: problems.on_peer_error,
            NotFoundException: pages_problem.on_missing,
            HTTPException: problems.on_http,
            DatabaseError: partial(problems.on_database, ledger.database.failed_write),
            NoConnectionError: partial(problems.on_database, ledger.database.failed_write),
            Exception: problems.on_bug,
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
