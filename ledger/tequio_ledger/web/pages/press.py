"""The press: template and view in, an answer with its headers out.

A page's tag is the hash of its bytes, so a browser that asks again gets nothing unless something
changed. No page holds a script or a style of its own, and none may run any; of what is served at
our address, which also has what strangers brought, only the very bytes of our scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from tequio_ledger import SOFTWARE
from tequio_ledger.web.pages import words
from tequio_ledger.web.pages.figures import FILTERS
from tequio_ledger.web.pages.prints import Print, Prints
from tequio_ledger.web.pages.static_files import HASHES, address
from tequio_shared.ids import sha256, to_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from tequio_ledger.log.checkpoint import Published
    from tequio_ledger.service import Ledger
    from tequio_ledger.web.pages.turns import Turns

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


def here(request: Request, ledger: Ledger) -> str:
    """The address that the reader used, for who wants to join; strange ones never come this far."""
    host = request.headers.get("host", ledger.genesis.origin)
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
    view = words.Problem(status=status, title=title, detail=detail)
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
