"""The HTTP application: its routes and its errors."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from tequio_ledger.ledger import Ledger
from tequio_ledger.web import errors, events, log_files, openapi, read_api, write_api
from tequio_ledger.web.events import EventStreams
from tequio_ledger.web.limits import StatementLimiter, Turns
from tequio_ledger.web.routing import THREADS, RouteGroup, application
from tequio_ledger.web.write_api import SeedStore

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

PROGRAMS = ("/v1/", "/log/")
"""Paths below these never answer in HTML."""
INSTALLED_DOCS = Path(str(files("tequio_ledger.web") / "docs"))
"""Folder of the documentation that is part of an installation."""

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
    read_api.get_notice,
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


class PublicApp:
    """The routes for programs, and the pages, whose modules are loaded later.

    Templates and drawing are a fifth of a start's work, and no program should wait for them.
    """

    def __init__(self, ledger: Ledger, streams: EventStreams, docs: Path | None = None) -> None:
        """`docs` is the folder of the documentation, which may be missing."""
        self._ledger = ledger
        self._docs = docs
        self._services: dict[str, object] = {
            "ledger": ledger,
            "streams": streams,
            "seeds": SeedStore(),
            "limiter": StatementLimiter(ledger.settings, ledger.clock),
        }
        self._services["description"] = openapi.ApiDescription(
            routes=ROUTES, services=self._services.keys()
        )
        self._turns = Turns(THREADS)
        answer_error = errors.judging(ledger.database, errors.answer_error)
        api = RouteGroup(routes=ROUTES, answer_error=answer_error)
        self._api = application((api,), self._services, self._answer_other, self._turns)
        self._pages: ASGIApp | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._api(scope, receive, send)

    async def load_pages(self) -> ASGIApp:
        """Give the application of all pages; the first call loads it, in a thread."""
        async with self._loading:
            if self._pages is None:
                self._pages = await run_in_threadpool(self._load_pages)
        return self._pages

    def _load_pages(self) -> ASGIApp:
        from tequio_ledger.web.pages import router  # noqa: PLC0415 - as the class says

        group, services = router.pages(self._ledger, self._docs)
        services |= self._services
        return application((group,), services, router.answer_missing, self._turns)

    def _answer_other(self, request: Request) -> ASGIApp:
        if request.scope["path"].startswith(PROGRAMS):
            return errors.answer_missing(request)
        return self._answer_with_page

    async def _answer_with_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        pages = self._pages or await self.load_pages()
        await pages(scope, receive, send)
