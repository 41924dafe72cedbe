"""Routes as data: a method, a path, and a function whose parameters name what it needs.

Starlette matches paths and carries requests and answers; this module binds them to functions. A
parameter of a handler is filled by its name: `request`, one of the application's services, a part
of the path, or else the query string. What comes from the URL is converted to its annotation by
msgspec, so a handler sees values within their bounds, and `web.openapi` describes the same types.

A handler that is no coroutine runs in a thread. One that returns no response returns a value that
is sent as JSON.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as PathRoute
from starlette.routing import Router

from tequio_ledger.web.errors import problem
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    Handler = Callable[..., object]
    Answer = Callable[[Request], Awaitable[Response]]

JSON = "application/json"
_NOT_ALLOWED = 405
_SLASHES = re.compile("//+")


class Source(Enum):
    """Where a handler's parameter comes from."""

    REQUEST = "request"
    SERVICE = "service"
    PATH = "path"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a handler; `default` is msgspec's NODEFAULT where it has none."""

    name: str
    source: Source
    type: Any  # an annotation that msgspec converts to
    default: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path. `status` is that of an answer that the handler gives as a value."""

    method: str
    path: str
    handler: Handler
    status: int = 200
    is_described: bool = True

    @property
    def name(self) -> str:
        """The handler's name, which is also the operation's in the API's description."""
        return self.handler.__name__

    @property
    def template(self) -> str:
        """The path without the types of its parts: what metrics and descriptions name it by."""
        return re.sub(r"\{(\w+):\w+\}", r"{\1}", self.path)

    def parameters(self, services: Iterable[str]) -> list[Parameter]:
        """List the handler's parameters, given the names that are services."""
        sources = dict.fromkeys(re.findall(r"\{(\w+)", self.path), Source.PATH)
        sources |= dict.fromkeys(services, Source.SERVICE)
        sources["request"] = Source.REQUEST
        return [
            Parameter(
                name=one.name,
                source=sources.get(one.name, Source.QUERY),
                type=_present(one.annotation),
                default=msgspec.NODEFAULT if one.default is one.empty else one.default,
            )
            for one in inspect.signature(self.handler, eval_str=True).parameters.values()
        ]


def _present(annotation: Any) -> Any:  # noqa: ANN401 - a type as it is written
    """The type of a value that is given: a URL has no null, it only leaves a value out."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    (present,) = (one for one in get_args(annotation) if one is not NoneType)
    return present


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteGroup:
    """Routes whose errors are answered alike."""

    routes: Sequence[Route]
    answer_error: Callable[[Request, Exception], Response]
    before: Callable[[Request], Response | None] | None = None
    """Called first; a response of its own is the answer."""


def get(path: str, *, is_described: bool = True) -> Callable[[Handler], Route]:
    """Make a function the handler of GET."""
    return partial(_route, "GET", path, is_described=is_described)


def head(path: str) -> Callable[[Handler], Route]:
    """Make a function the handler of HEAD, which is refused where a path has none."""
    return partial(_route, "HEAD", path)


def post(path: str, *, status: int = 200) -> Callable[[Handler], Route]:
    """Make a function the handler of POST."""
    return partial(_route, "POST", path, status=status)


def put(path: str, *, status: int = 200) -> Callable[[Handler], Route]:
    """Make a function the handler of PUT."""
    return partial(_route, "PUT", path, status=status)


def application(
    groups: Sequence[RouteGroup],
    services: Mapping[str, object],
    answer_missing: Callable[[Request], Response],
) -> ASGIApp:
    """Put the routes of all groups together; `answer_missing` answers any other path."""
    methods: dict[str, dict[str, Answer]] = {}
    for group in groups:
        for route in group.routes:
            methods.setdefault(route.path, {})[route.method] = _endpoint(group, route, services)

    async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
        await answer_missing(Request(scope))(scope, receive, send)

    # Starlette adds HEAD to every path with GET and answers 405 in plain text, so methods are
    # chosen by `_Methods`: an endpoint that is not a function gets every method.
    router = Router(
        [PathRoute(path, _Methods(by_method)) for path, by_method in methods.items()],
        redirect_slashes=False,
        default=not_found,
    )
    return _PlainPaths(router)


class _PlainPaths:
    """Before the router: `/v1//network/` is `/v1/network`, as it has always been here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path != "/" and (path.endswith("/") or "//" in path):
            scope["path"] = _SLASHES.sub("/", path).rstrip("/") or "/"
        await self._app(scope, receive, send)


class _Methods:
    """The methods of one path."""

    def __init__(self, by_method: Mapping[str, Answer]) -> None:
        self._by_method = by_method
        self._allow = {"allow": ", ".join(sorted({*by_method, "OPTIONS"}))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._by_method.get(scope["method"])
        if answer is not None:
            response = await answer(Request(scope, receive))
        elif scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers=self._allow)
        else:
            detail = f"{scope['path'][:120]} has the methods {self._allow['allow']}"
            response = problem("method-not-allowed", detail, _NOT_ALLOWED, self._allow)
        await response(scope, receive, send)


def _route(method: str, path: str, handler: Handler, **options: Any) -> Route:  # noqa: ANN401 - Route's own fields
    return Route(method=method, path=path, handler=handler, **options)


def _endpoint(group: RouteGroup, route: Route, services: Mapping[str, object]) -> Answer:
    """Join a handler to the services and to what reads its parameters from a request."""
    parameters = route.parameters(services)
    from_url = [one for one in parameters if one.source in (Source.PATH, Source.QUERY)]
    bound = {one.name: services[one.name] for one in parameters if one.source is Source.SERVICE}
    wants_request = any(one.source is Source.REQUEST for one in parameters)
    handler, template, is_coroutine = (
        route.handler,
        route.template,
        inspect.iscoroutinefunction(route.handler),
    )

    async def call(request: Request) -> object:
        given = bound | {one.name: _value(one, request) for one in from_url}
        if wants_request:
            given["request"] = request
        if is_coroutine:
            return await handler(**given)  # type: ignore[misc]  # a coroutine function, as asked above
        return await run_in_threadpool(handler, **given)

    async def answer(request: Request) -> Response:
        request.scope["path_template"] = template
        try:
            early = group.before(request) if group.before else None
            found = await call(request) if early is None else early
        except Exception as err:  # noqa: BLE001 - the outermost place of a request: all become answers
            return group.answer_error(request, err)
        return found if isinstance(found, Response) else json_answer(found, route.status)

    return answer


def json_answer(value: object, status: int = 200) -> Response:
    """Answer with a value as JSON."""
    return Response(msgspec.json.encode(value), status_code=status, media_type=JSON)


def _value(parameter: Parameter, request: Request) -> object:
    """Convert one part of the URL; raises RefusedError("malformed")."""
    is_path = parameter.source is Source.PATH
    found = request.path_params if is_path else request.query_params
    if parameter.name not in found and parameter.default is not msgspec.NODEFAULT:
        return parameter.default
    try:
        return msgspec.convert(found.get(parameter.name), parameter.type, strict=False)
    except msgspec.ValidationError as err:
        raise RefusedError("malformed", f"{parameter.name}: {err}") from err
