"""The press: template and view in, an answer with its headers out.

A page's tag is the hash of its bytes, so a browser that asks again gets nothing unless something
changed. No page holds a script or a style of its own, and none may run any; of what is served at
our address, which also has what strangers brought, only the very bytes of our scripts.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from tequio_ledger import SOFTWARE, metrics
from tequio_ledger.replicas import follower
from tequio_ledger.web.pages import text
from tequio_ledger.web.pages.static import HASHES, address
from tequio_ledger.web.pages.text import FILTERS
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.guard import Published

# --- Pages that were printed a moment ago, for all who ask for the same one at once.
#
# When the log grows, everybody who looks at a page asks for it again a second or two later: one
# print is enough for them, if it is not older than that second.

if TYPE_CHECKING:
    Name = tuple[str, ...]

ASKED = frozenset({"after", "author", "around", "before", "by", "q", "span"})
"""What pages are asked for beside their paths: whatever else an address says changes nothing."""
FRESH_S = 1.0
HELD = 64
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """A page as bytes, with its headers and the tag among them."""

    body: bytes
    tag: str
    headers: Mapping[str, str]

    def answer(self, request: Request) -> Response:
        """Give it out, or say that the reader has it already."""
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(
                b"", status_code=_NOT_MODIFIED, media_type="text/html", headers=self.headers
            )
        return Response(self.body, media_type="text/html", headers=self.headers)


class Prints:
    """The newest prints by what was asked; any thread may ask."""

    def __init__(self, elapsed_s: Callable[[], float]) -> None:
        self._elapsed_s = elapsed_s
        self._held: OrderedDict[Name, tuple[float, Print]] = OrderedDict()
        self._lock = Lock()

    def find(self, request: Request) -> Print | None:
        """Give a print of what is asked for, if there is one that is fresh."""
        with self._lock:
            made_s, found = self._held.get(_name(request), (0.0, None))
        return found if found is not None and self._elapsed_s() - made_s < FRESH_S else None

    def keep(self, request: Request, print_: Print) -> None:
        """Hold a print of what was asked for."""
        name = _name(request)
        with self._lock:
            self._held[name] = (self._elapsed_s(), print_)
            self._held.move_to_end(name)
            if len(self._held) > HELD:
                self._held.popitem(last=False)


def _name(request: Request) -> Name:
    """All that a page may depend on: where, what, and by which address it was reached."""
    asked = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = (part for pair in asked if pair[0] in ASKED for part in pair)
    headers = (request.headers.get(name, "") for name in ("host", "x-forwarded-proto"))
    return (request.scope["path"], *headers, *query)


P = ParamSpec("P")
_SCRIPTS = " ".join(f"'{one}'" for one in sorted(HASHES.values()))
SECURITY = {
    "content-security-policy": (
        f"default-src 'self'; script-src {_SCRIPTS}; style-src 'self'; worker-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
LIVE = "public, max-age=0, must-revalidate"
"""Of pages that change with the log."""
SETTLED = "public, max-age=60"
"""Of pages about what is over: only the checkpoint that they name grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around every page."""

    path: str
    network: str = "Tequio"
    origin: str = ""
    health: str = ""
    """Empty where nothing is said of it."""
    detail: str | None = None
    size: int = 0
    root: str = ""
    published: int = 0
    """What of it witnesses have cosigned, where a policy asks for them."""
    now_ms: int = 0
    software: str = SOFTWARE


def frame(request: Request, ledger: Ledger, published: Published) -> Frame:
    """The frame of a page that is true for that checkpoint."""
    health = ledger.health()
    return Frame(
        network=ledger.genesis.name,
        origin=ledger.genesis.origin,
        health=health.status,
        detail=health.detail,
        size=published.size,
        root=to_text(published.root),
        published=ledger.published.size,
        path=request.scope["path"],
        now_ms=ledger.clock(),
    )


_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)


def here(request: Request, ledger: Ledger) -> str:
    """The address that the reader used, to be printed in a command; raises RefusedError."""
    host = request.headers.get("host", ledger.genesis.origin)
    if not _HOST.fullmatch(host):  # the page shows it in a line that people paste into a shell
        raise RefusedError("malformed", "the Host header is not a host name with an optional port")
    scheme = request.headers.get("x-forwarded-proto", request.scope["scheme"])
    return f"{'https' if scheme == 'https' else 'http'}://{host}"


def page(
    request: Request, template: str, frame: Frame, view: object, cache: str = LIVE
) -> Response:
    """Print a page, or say that the reader has it already; takes milliseconds: use a thread."""
    body = _PRESS.get_template(template).render(frame=frame, view=view).encode()
    tag = f'"{to_text(sha256(body))[:22]}"'
    headers = {**SECURITY, "cache-control": cache, "etag": tag}
    made = Print(body=body, tag=tag, headers=headers)
    prints: Prints = request.state.prints
    prints.keep(request, made)
    return made.answer(request)


async def in_turn(
    request: Request, work: Callable[P, Response], /, *given: P.args, **named: P.kwargs
) -> Response:
    """Let a page be made when it is its turn, unless the same one was made meanwhile."""
    prints: Prints = request.state.prints

    def make() -> Response:
        found = prints.find(request)
        return work(*given, **named) if found is None else found.answer(request)

    turns: Turns = request.state.turns
    return await turns.take(make)


def by_turns(make: Callable[P, Response]) -> Callable[P, Awaitable[Response]]:
    """A handler whose whole work is done when it is its turn."""

    @wraps(make)
    async def made(*given: P.args, **named: P.kwargs) -> Response:
        request = cast("Request", named["request"])  # the library names all that it gives
        return await in_turn(request, make, *given, **named)

    return made


def elsewhere(path: str) -> Response:
    """Lead to another page of ours."""
    headers = {**SECURITY, "location": path, "cache-control": "no-store"}
    return Response(b"", status_code=303, media_type="text/html", headers=headers)


def problem(request: Request, status: int, title: str, detail: str) -> Response:
    """Print what went wrong, in a frame that says nothing of the ledger."""
    bare = Frame(path=request.scope["path"])
    view = text.Problem(status=status, title=title, detail=detail)
    body = _PRESS.get_template("problem.html").render(frame=bare, view=view).encode()
    headers = {**SECURITY, "cache-control": "no-store"}
    return Response(body, status_code=status, media_type="text/html", headers=headers)


def _press() -> Environment:
    made = Environment(
        loader=PackageLoader("tequio_ledger.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(FILTERS)
    made.globals["static"] = address
    made.globals["hash"] = HASHES.__getitem__
    return made


_PRESS = _press()


# --- Turns at printing a page: a few at once, so that who looks never takes the database from the
# log.
#
# A page costs milliseconds of a core and a connection; statements, proofs and tiles come first.

TURNS_P = ParamSpec("TURNS_P")
R = TypeVar("R")

AT_ONCE = 2
WAITING = 128
"""Who comes when so many wait is told to come back."""


class Turns:
    """Hands out the turns; used from one event loop."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def take(
        self, work: Callable[TURNS_P, R], *given: TURNS_P.args, **named: TURNS_P.kwargs
    ) -> R:
        """Do the work in a thread when it is its turn; raises RefusedError("queue-full")."""
        if self._waiting >= WAITING:
            metrics.RATE_LIMITED.labels(limit="pages").inc()
            raise RefusedError("queue-full", f"{WAITING} readers wait for a page: come back")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            return await follower.run(work, *given, **named)
        finally:
            self._free.release()
