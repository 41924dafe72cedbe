"""The paths of a connector: who it is, a challenge, a code, and what became of it.

What a volunteer holds is in bodies, not in paths: paths come into logs.
"""

from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from tequio_ledger.connector.desk import Desk
from tequio_ledger.web import errors
from tequio_ledger.web.limits import network_of, read_body
from tequio_ledger.web.routing import RouteGroup, application, get, json_answer, post
from tequio_shared.api import connector
from tequio_shared.api.connector import (
    ConnectorAbout,
    ConnectPoll,
    ConnectProof,
    ConnectRequest,
)
from tequio_shared.errors import MalformedError

T = TypeVar("T")


@get(connector.ABOUT)
async def get_about(desk: Desk) -> ConnectorAbout:
    """Say who this is, and whose accounts it knows."""
    return desk.about


@post(connector.CHALLENGES)
async def give_challenge(request: Request, desk: Desk) -> Response:
    """Give a key something to sign."""
    return _unstored(desk.challenge(await _body(request, ConnectRequest)))


@post(connector.CONNECTIONS)
async def begin(request: Request, desk: Desk) -> Response:
    """Give a code to a key that proves that it wants one."""
    proof = await _body(request, ConnectProof)
    return _unstored(await desk.begin(proof, network_of(request)))


@post(connector.ASK)
async def ask(request: Request, desk: Desk) -> Response:
    """Say what became of a code."""
    question = await _body(request, ConnectPoll)
    return _unstored(await desk.ask(question.id))


@get("/healthz")
async def get_health() -> dict[str, str]:
    """Say that we are there."""
    return {"status": "ok"}


def build(desk: Desk) -> ASGIApp:
    """Put the application together."""
    routes = (get_about, give_challenge, begin, ask, get_health)
    group = RouteGroup(routes=routes, answer_error=errors.answer_error)
    return application((group,), {"desk": desk}, errors.answer_missing)


def _unstored(value: msgspec.Struct) -> Response:
    """Answer with JSON that no cache on the way may store."""
    answer = json_answer(value)
    answer.headers["cache-control"] = "no-store"
    return answer


async def _body(request: Request, type_: type[T]) -> T:
    raw = await read_body(request, connector.REQUEST_BYTES)
    try:
        return msgspec.json.decode(raw, type=type_)
    except (ValueError, RecursionError) as err:  # msgspec's and Unicode's errors are ValueErrors
        raise MalformedError(f"not a {type_.__name__}: {err}") from err
