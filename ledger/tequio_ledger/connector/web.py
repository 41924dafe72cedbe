"""The paths of a connector: who it is, a challenge, a code, and what became of it.

What a volunteer holds is in bodies, not in paths: paths come into logs.
"""

from typing import TypeVar

import msgspec
from litestar import Litestar, Response, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import HTTPException
from litestar.params import SkipValidation

from tequio_ledger.connector.desk import Desk
from tequio_ledger.web import problems
from tequio_ledger.web.bodies import read_body
from tequio_ledger.web.doors import network_of
from tequio_shared.api import connector
from tequio_shared.api.connector import (
    ConnectChallenge,
    ConnectCode,
    ConnectorAbout,
    ConnectOutcome,
    ConnectPoll,
    ConnectProof,
    ConnectRequest,
)
from tequio_shared.errors import MalformedError, PeerError, RefusedError

GivenDesk = NamedDependency[SkipValidation[Desk]]
T = TypeVar("T")

_UNSAID = {"cache-control": "no-store"}


@get(connector.ABOUT, sync_to_thread=False)
def get_about(desk: GivenDesk) -> ConnectorAbout:
    """Say who this is, and whose accounts it knows."""
    return desk.about


@post(connector.CHALLENGES, status_code=200)
async def give_challenge(
    request: problems.AnyRequest, desk: GivenDesk
) -> Response[ConnectChallenge]:
    """Give a key something to sign."""
    return Response(desk.challenge(await _body(request, ConnectRequest)), headers=_UNSAID)


@post(connector.CONNECTIONS, status_code=200)
async def begin(request: problems.AnyRequest, desk: GivenDesk) -> Response[ConnectCode]:
    """Give a code to a key that proves that it wants one."""
    proof = await _body(request, ConnectProof)
    return Response(await desk.begin(proof, network_of(request)), headers=_UNSAID)


@post(connector.ASK, status_code=200)
async def ask(request: problems.AnyRequest, desk: GivenDesk) -> Response[ConnectOutcome]:
    """Say what became of a code."""
    question = await _body(request, ConnectPoll)
    return Response(await desk.ask(question.id), headers=_UNSAID)


@get("/healthz", sync_to_thread=False)
def get_health() -> dict[str, str]:
    """Say that we are there."""
    return {"status": "ok"}


def build(desk: Desk) -> Litestar:
    """Put the application together."""
    return Litestar(
        route_handlers=(get_about, give_challenge, begin, ask, get_health),
        dependencies={"desk": Provide(lambda: desk, sync_to_thread=False)},
        exception_handlers={
            RefusedError: problems.on_refused,
            PeerError: problems.on_peer_error,
            HTTPException: problems.on_http,
            Exception: problems.on_bug,
        },
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,  # `read_body` has the limit
    )


async def _body(request: problems.AnyRequest, type_: type[T]) -> T:
    raw = await read_body(request, connector.REQUEST_BYTES)
    try:
        return msgspec.json.decode(raw, type=type_)
    except (ValueError, RecursionError) as err:  # msgspec's and Unicode's errors are ValueErrors
        raise MalformedError(f"not a {type_.__name__}: {err}") from err
