"""Renders pages: a template and its fields in, a response with its headers out.

A page's tag is the hash of its bytes, so a browser that asks again gets nothing unless something
changed. No page contains an inline script or style, and none may run: of all that is served from
our origin, which includes uploads of strangers, the policy allows only the exact bytes of our
scripts.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from threading import Lock
from types import SimpleNamespace
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from tequio_ledger import SOFTWARE, metrics
from tequio_ledger.log.guard import Published
from tequio_ledger.runtime import run_in_thread
from tequio_ledger.web.limits import CONNECTION, Turns, WaitingRequest, network_of
from tequio_ledger.web.pages.static import HASHES, static_url
from tequio_ledger.web.pages.text import FILTERS
from tequio_shared.errors import RefusedError
from tequio_shared.ids import key_from_text, sha256, to_text

if TYPE_CHECKING:
    from starlette.requests import Request

    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.ledger import Ledger

P = ParamSpec("P")
R = TypeVar("R")

QUERY_PARAMETERS = frozenset({"after", "author", "around", "before", "by", "q", "sample", "span"})
"""Query parameters of pages; any other parameter changes nothing."""
QUERY_CHARS = 200
"""Characters of a search that count."""
FRESH_S = 1.0
CACHED_PAGES = 64
CONCURRENT_RENDERS = 2
MAX_WAITING = 128
"""Requests waiting for a render, at most; a further one is told to try again later."""
CONCURRENT_CARDS, MAX_WAITING_CARDS = 1, 8
"""The same of pictures beside shared links, which take a hundred times as long as a page."""
CACHE_LIVE = "public, max-age=0, must-revalidate"
"""Of pages that change with the log."""
CACHE_SETTLED = "public, max-age=60"
"""Of pages about finished things: only the checkpoint that they name grows."""
CACHE_CARD = "public, max-age=600"
"""Of pictures beside shared links."""
CARDS = frozenset({"runs", "competitions", "peers", "teams"})
"""First parts of the paths of pages that have a card of their own."""
_NOT_MODIFIED = 304
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)


def security_headers(hashes: Iterable[str], images: str = "'self'") -> dict[str, str]:
    """Give the headers of a page that runs exactly the scripts with these hashes.

    `images` are the sources of its images, as in a Content-Security-Policy.
    """
    scripts = " ".join(f"'{one}'" for one in sorted(hashes))
    return {
        "content-security-policy": (
            f"default-src 'self'; script-src {scripts}; style-src 'self'; img-src {images}; "
            "worker-src 'none'; base-uri 'none'; form-action 'self'; "
            "frame-ancestors 'none'; object-src 'none'"
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
    }


SECURITY_HEADERS = security_headers(HASHES.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFrame:
    path: str
    network: str = "Tequio"
    url: str = ""
    """Address of the ledger as the reader used it; empty on pages about errors."""
    downloads: tuple[tuple[str, str], ...] = ()
    """Systems that the app can be downloaded for, each with the URL that the operator names."""
    origin: str = ""
    health: str = ""
    """Empty on pages that do not report it."""
    size: int = 0
    root: str = ""
    published: int = 0
    """Cosigned entries, if a policy asks for cosignatures."""
    now_ms: int = 0
    software: str = SOFTWARE
    has_docs: bool = False
    """True if the documentation is served here."""
    name_of: Callable[[str], str] = lambda _: ""
    """Gives the public name of a key; empty without one."""

    @property
    def card(self) -> str:
        """Path of the picture that is shown beside a link to this page."""
        _, kind, *rest = self.path.split("/")
        is_own = kind in CARDS and len(rest) == 1
        return f"/card/{kind}/{rest[0]}.png" if is_own else "/card/network.png"


def page(
    request: Request,
    ledger: Ledger,
    published: Published,
    template: str,
    *,
    cache: str = CACHE_LIVE,
    **view: object,
) -> Response:
    """Render a page that is true for a checkpoint; takes milliseconds: use a thread.

    The template reads `view.NAME`; a name that it uses and that is missing raises.
    """
    frame = PageFrame(
        network=ledger.genesis.name,
        url=ledger_url(request, ledger),
        downloads=downloads(ledger.settings),
        origin=ledger.genesis.origin,
        health=ledger.health().status,
        size=published.size,
        root=to_text(published.root),
        published=ledger.published.size,
        path=request.scope["path"],
        now_ms=ledger.clock(),
        has_docs=request.state.has_docs,
        name_of=lambda key: ledger.state.names.of(key_from_text(key)),
    )
    return finish(request, _render(template, frame, view), cache=cache)


def downloads(settings: LedgerSettings) -> tuple[tuple[str, str], ...]:
    """List the systems for which the operator names a URL, and the URLs."""
    named = {
        "Windows": settings.download_url_windows,
        "macOS": settings.download_url_macos,
        "Linux": settings.download_url_linux,
    }
    urls = ((system, own or settings.download_url) for system, own in named.items())
    return tuple((system, url) for system, url in urls if url)


def finish(request: Request, body: bytes, *, cache: str, media_type: str = "text/html") -> Response:
    """Answer with what was made for a request, and keep it for those who ask the same."""
    tag = f'"{to_text(sha256(body))[:22]}"'
    made = CachedPage(
        body=body,
        tag=tag,
        headers={
            **SECURITY_HEADERS,
            "cache-control": cache,
            "etag": tag,
            "vary": "host, x-forwarded-proto",  # pages name the ledger's address
        },
        media_type=media_type,
    )
    pages: PageCache = request.state.page_cache
    pages.store(request, made)
    return made.answer(request)


def error_page(
    request: Request, status: int, title: str, detail: str, section: tuple[str, str]
) -> Response:
    """Render an error page, in a frame without facts about the ledger.

    `section` is the path and name of a page where the reader may look for what is missing here.
    """
    path = request.scope["path"]
    view: dict[str, object] = {
        "status": status,
        "title": title,
        "detail": f"{detail[:1].upper()}{detail[1:].rstrip('.')}.",
        "section": section,
        "asked": path.rpartition("/")[2][:QUERY_CHARS],
    }
    body = _render("problem.html", PageFrame(path=path), view)
    headers = {**SECURITY_HEADERS, "cache-control": "no-store"}
    return Response(body, status_code=status, media_type="text/html", headers=headers)


def redirect(path: str) -> Response:
    """Redirect to another page."""
    headers = {**SECURITY_HEADERS, "location": path, "cache-control": "no-store"}
    return Response(b"", status_code=303, media_type="text/html", headers=headers)


def ledger_url(request: Request, ledger: Ledger) -> str:
    """Give the ledger's address as the reader used it, to print in commands and links."""
    host = request.headers.get("host", ledger.genesis.origin.partition("/")[0])
    if not _HOST.fullmatch(host):  # the page shows it in a line that people paste into a shell
        raise RefusedError("malformed", "the Host header is not a host name with an optional port")
    scheme = request.headers.get("x-forwarded-proto", request.scope["scheme"])
    return f"{'https' if scheme == 'https' else 'http'}://{host}"


def _render(template: str, frame: PageFrame, view: Mapping[str, object]) -> bytes:
    found = _TEMPLATES.get_template(template)
    return found.render(frame=frame, view=SimpleNamespace(**view)).encode()


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("tequio_ledger.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(FILTERS)
    made.globals["static"] = static_url
    made.globals["hash"] = HASHES.__getitem__
    return made


_TEMPLATES = _environment()


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPage:
    """A page as bytes, with its headers; the tag is among them."""

    body: bytes
    tag: str
    headers: Mapping[str, str]
    media_type: str = "text/html"

    def answer(self, request: Request) -> Response:
        """Send the page, or 304 if the browser has it."""
        has_it = self.tag in request.headers.get("if-none-match", "")
        return Response(
            b"" if has_it else self.body,
            status_code=_NOT_MODIFIED if has_it else 200,
            media_type=self.media_type,
            headers=self.headers,
        )


class PageCache:
    """The newest pages by their request; thread-safe.

    When the log grows, everyone who has a page open asks for it again within a second or two. One
    render serves them all, if it is at most `FRESH_S` old.
    """

    def __init__(self, elapsed_s: Callable[[], float]) -> None:
        self._elapsed_s = elapsed_s
        self._held: OrderedDict[tuple[str, ...], tuple[float, CachedPage]] = OrderedDict()
        self._lock = Lock()

    def find(self, request: Request) -> CachedPage | None:
        """Return the page for a request, if there is a fresh one."""
        with self._lock:
            made_s, found = self._held.get(_cache_key(request), (0.0, None))
        return found if found is not None and self._elapsed_s() - made_s < FRESH_S else None

    def store(self, request: Request, print_: CachedPage) -> None:
        key = _cache_key(request)
        with self._lock:
            self._held[key] = (self._elapsed_s(), print_)
            self._held.move_to_end(key)
            if len(self._held) > CACHED_PAGES:
                self._held.popitem(last=False)


def _cache_key(request: Request) -> tuple[str, ...]:
    """List everything that a page may depend on: path, query, and the address that was used."""
    asked = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = (part for pair in asked if pair[0] in QUERY_PARAMETERS for part in pair)
    headers = (request.headers.get(name, "") for name in ("host", "x-forwarded-proto"))
    return (request.scope["path"], *headers, *query)


class RenderQueue:
    """Runs renders in threads, a few at a time; used from one event loop.

    A page costs milliseconds of a core and a connection to the database, and readers must never use
    these up: statements, proofs and tiles come first. Network addresses take turns, and when the
    queue is full, the address that waits for most gives up a place to one that waits for fewer: so
    nobody's flood of long pages keeps others from any page.
    """

    def __init__(self, slots: int = CONCURRENT_RENDERS, waiting: int = MAX_WAITING) -> None:
        self._turns = Turns(slots)
        self._most_waiting = waiting
        self._waiting: dict[str, list[_WaitingRender]] = {}  # by network, the newest last

    async def run(
        self, work: Callable[[], R], network: str, connection: WaitingRequest | None = None
    ) -> R:
        """Do the work in a thread when it is its turn; raises RefusedError("queue-full")."""
        if sum(map(len, self._waiting.values())) >= self._most_waiting:
            self._make_room(network)
        mine = _WaitingRender(connection)
        self._waiting.setdefault(network, []).append(mine)
        try:
            async with self._turns.turn(network, mine) as turn:
                self._leave(network, mine)
                return await run_in_thread(turn.run, work)
        except RefusedError:
            if mine.is_given_up:
                raise self._full() from None
            raise
        finally:
            self._leave(network, mine)

    def _make_room(self, network: str) -> None:
        """Give up the newest request of the network that waits for most; O(places).

        Raises RefusedError if it waits for hardly more than `network` does.
        """
        metrics.RATE_LIMITED.labels(limit="pages").inc()
        most = max(self._waiting.values(), key=len)
        if len(most) <= len(self._waiting.get(network, ())) + 1:
            raise self._full()
        most.pop().give_up()

    def _full(self) -> RefusedError:
        return RefusedError(
            "queue-full",
            f"{self._most_waiting} requests wait for a page already: try again later",
        )

    def _leave(self, network: str, mine: _WaitingRender) -> None:
        waiting = self._waiting.get(network, [])
        if mine in waiting:
            waiting.remove(mine)
        if not waiting:
            self._waiting.pop(network, None)


class _WaitingRender:
    """A request that waits for its turn, or whose place another one got."""

    def __init__(self, connection: WaitingRequest | None) -> None:
        self._connection = connection
        self._turn: asyncio.Future[bool] | None = None
        self.is_given_up = False

    def give_up(self) -> None:
        self.is_given_up = True
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(False)

    def queue_request(self, turn: asyncio.Future[bool]) -> None:
        self._turn = turn
        if self._connection is not None:
            self._connection.queue_request(turn)

    def resume_request(self) -> None:
        if self._connection is not None:
            self._connection.resume_request()


async def enqueue(
    request: Request, make: Callable[[], Response], *, is_card: bool = False
) -> Response:
    """Render a page when it is its turn, unless the same one was rendered meanwhile."""
    pages: PageCache = request.state.page_cache
    queue: RenderQueue = request.state.card_queue if is_card else request.state.render_queue
    connection = request.scope.get("state", {}).get(CONNECTION)

    def work() -> Response:
        found = pages.find(request)
        return make() if found is None else found.answer(request)

    return await queue.run(work, network_of(request), connection)


def in_queue(make: Callable[P, Response]) -> Callable[P, Awaitable[Response]]:
    """Make a handler that runs as a whole when it is its turn."""

    @wraps(make)
    async def handler(*args: P.args, **named: P.kwargs) -> Response:
        request = cast("Request", named["request"])  # `routing` passes every parameter by name
        return await enqueue(request, lambda: make(*args, **named))

    return handler
