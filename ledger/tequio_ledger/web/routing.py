"""Routes as data: a method, a path, and a function whose parameters name what it needs.

Starlette matches paths and carries requests and answers; this module binds them to functions. A
parameter of a handler is filled by its name: `request`, one of the application's services, a part
of the path, or else the query string. msgspec converts values from the URL to their annotations, so
a handler gets values within their bounds, and `web.openapi` describes the same types.

A coroutine function runs on the event loop, any other handler in a thread when it is its network's
turn. A handler may return a response, or a value that is sent as JSON.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as PathRoute
from starlette.routing import Router

from tequio_ledger.web.errors import problem
from tequio_ledger.web.limits import CONNECTION, Turns, network_of
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.errors import RefusedError
from tequio_shared.limits import JSON_INTEGER

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    Handler = Callable[..., object]
    Answer = Callable[[Request], Awaitable[Response]]

JSON = "application/json"
Index = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]
"""Where a list continues: a log index, a round or a place."""
Limit = Annotated[int, msgspec.Meta(ge=1, le=PAGE_ROWS)]
"""Most rows of one answer."""
ID_FORM = "43 letters, digits, - and _"
THREADS = 2
"""Handlers at once: more only compete for the interpreter's lock, with the event loop."""
_MALFORMED, _NOT_ALLOWED = 400, 405
_ORIGIN = re.compile("^https?://[^/]*", re.IGNORECASE)
_SLASHES = re.compile("//+")


class ParameterSource(Enum):
    REQUEST = "request"
    SERVICE = "service"
    PATH = "path"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerParameter:
    """One parameter of a handler; `default` is msgspec's NODEFAULT if it has none."""

    name: str
    source: ParameterSource
    type: Any  # an annotation that msgspec converts to
    default: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path; `status` is sent when the handler returns a value."""

    method: str
    path: str
    handler: Handler
    status: int = 200
    is_described: bool = True

    @property
    def name(self) -> str:
        """Name of the handler, and of its operation in the description of the API."""
        return self.handler.__name__

    @property
    def template(self) -> str:
        """Path without the types of its parts, as metrics and descriptions name it."""
        return re.sub(r"\{(\w+):\w+\}", r"{\1}", self.path)

    def parameters(self, services: Iterable[str]) -> list[HandlerParameter]:
        sources = dict.fromkeys(re.findall(r"\{(\w+)", self.path), ParameterSource.PATH)
        sources |= dict.fromkeys(services, ParameterSource.SERVICE)
        sources["request"] = ParameterSource.REQUEST
        return [
            HandlerParameter(
                name=one.name,
                source=sources.get(one.name, ParameterSource.QUERY),
                type=_present(one.annotation),
                default=msgspec.NODEFAULT if one.default is one.empty else one.default,
            )
            for one in inspect.signature(self.handler, eval_str=True).parameters.values()
        ]


def _present(annotation: Any) -> Any:  # noqa: ANN401 - a type as it is written
    """Drop None from an optional type: a URL has no null, it only leaves a value out."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    (present,) = (one for one in get_args(annotation) if one is not NoneType)
    return present


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteGroup:
    """Routes that share one handler of errors."""

    routes: Sequence[Route]
    answer_error: Callable[[Request, Exception], Response]
    before: Callable[[Request], Response | None] | None = None
    """Called first; if it returns a response, the handler is not called."""


def _decorator(
    method: str, path: str, *, status: int = 200, is_described: bool = True
) -> Callable[[Handler], Route]:
    return lambda handler: Route(
        method=method, path=path, handler=handler, status=status, is_described=is_described
    )


get, head, post, put = (partial(_decorator, one) for one in ("GET", "HEAD", "POST", "PUT"))
"""Decorators that make a function the handler of a method and a path."""


def application(
    groups: Sequence[RouteGroup],
    services: Mapping[str, object],
    answer_missing: Callable[[Request], ASGIApp],
    turns: Turns | None = None,
) -> ASGIApp:
    """Build the application of all groups; `answer_missing` names what answers any other path.

    Handlers in threads take turns with those of other applications that have the same `turns`.
    """
    methods: dict[str, dict[str, Answer]] = {}
    turns = turns or Turns(THREADS)
    for group in groups:
        for route in group.routes:
            endpoint = _endpoint(group, route, services, turns)
            methods.setdefault(route.path, {})[route.method] = endpoint

    async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
        await answer_missing(Request(scope))(scope, receive, send)

    # Starlette would answer 405 in plain text, so `_Methods` chooses the method: Starlette passes
    # every method to an endpoint that is not a function.
    router = Router(
        [PathRoute(path, _Methods(by_method)) for path, by_method in methods.items()],
        redirect_slashes=False,
        default=not_found,
    )

    async def route_plain_path(scope: Scope, receive: Receive, send: Send) -> None:
        path = _ORIGIN.sub("", scope["path"]) or "/"  # RFC 9112, 3.2.2: a whole address may be sent
        if not path.startswith("/"):
            refusal = problem("malformed", f"{path[:120]!r} does not begin with /", _MALFORMED)
            return await refusal(scope, receive, send)
        if path != "/" and (path.endswith("/") or "//" in path):  # `/v1//network/` is `/v1/network`
            path = _SLASHES.sub("/", path).rstrip("/") or "/"
        scope["path"] = path
        return await router(scope, receive, send)

    return route_plain_path


class _Methods:
    """The answers of one path by method; HEAD is answered as GET (RFC 9110, 9.3.2).

    The server sends no content after HEAD, and ConditionalRequests needs it for the tag.
    """

    def __init__(self, by_method: Mapping[str, Answer]) -> None:
        self._by_method = dict(by_method)
        if "GET" in by_method:
            self._by_method.setdefault("HEAD", by_method["GET"])
        self._allow = {"allow": ", ".join(sorted({*self._by_method, "OPTIONS"}))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._by_method.get(scope["method"])
        if answer is not None:
            response = await answer(Request(scope, receive))
            if scope["method"] == "HEAD" and isinstance(response, StreamingResponse):
                response.body_iterator = _no_content()  # some streams never end
        elif scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers=self._allow)
        else:
            detail = f"{scope['path'][:120]} allows {self._allow['allow']} only"
            response = problem("method-not-allowed", detail, _NOT_ALLOWED, self._allow)
        await response(scope, receive, send)


async def _no_content() -> AsyncIterator[bytes]:
    pieces: tuple[bytes, ...] = ()
    for piece in pieces:
        yield piece


def _endpoint(
    group: RouteGroup, route: Route, services: Mapping[str, object], turns: Turns
) -> Answer:
    """Bind a handler to its services and to the parameters that each request carries."""
    parameters = route.parameters(services)
    from_url = [
        one for one in parameters if one.source in (ParameterSource.PATH, ParameterSource.QUERY)
    ]
    bound = {
        one.name: services[one.name] for one in parameters if one.source is ParameterSource.SERVICE
    }
    wants_request = any(one.source is ParameterSource.REQUEST for one in parameters)
    handler, template = route.handler, route.template
    is_coroutine = inspect.iscoroutinefunction(handler)

    async def call(request: Request) -> object:
        arguments = bound | {one.name: _value(one, request) for one in from_url}
        if wants_request:
            arguments["request"] = request
        if is_coroutine:
            return await handler(**arguments)  # type: ignore[misc]  # `is_coroutine` proves it
        connection = request.scope.get("state", {}).get(CONNECTION)
        async with turns.turn(network_of(request), connection) as turn:
            return await run_in_threadpool(turn.run, partial(handler, **arguments))

    async def answer(request: Request) -> Response:
        request.scope["path_template"] = template
        try:
            early = group.before(request) if group.before else None
            found = await call(request) if early is None else early
        except Exception as err:  # noqa: BLE001 - outermost frame of a request: every error becomes an answer
            return group.answer_error(request, err)
        return found if isinstance(found, Response) else json_answer(found, route.status)

    return answer


def json_answer(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status_code=status, media_type=JSON)


def _value(parameter: HandlerParameter, request: Request) -> object:
    """Convert one part of the URL; raises RefusedError("malformed")."""
    is_path = parameter.source is ParameterSource.PATH
    found = request.path_params if is_path else request.query_params
    if parameter.name not in found and parameter.default is not msgspec.NODEFAULT:
        return parameter.default
    value = found.get(parameter.name)
    try:
        return msgspec.convert(value, parameter.type, strict=False)
    except msgspec.ValidationError as err:
        expected = _expected(parameter.type)
        detail = f"{parameter.name}: {str(value)[:60]!r} is not {expected}"
        raise RefusedError("malformed", detail) from err


def _expected(kind: Any) -> str:  # noqa: ANN401 - a type as it is written
    base, *rules = get_args(kind) or (kind,)
    if base is int and rules:
        return f"a whole number from {rules[0].ge} to {rules[0].le}"
    return f"an id: an id has {ID_FORM}"
