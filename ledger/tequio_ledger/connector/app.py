"""The connector process: a folder with its key and secret, and a web server, until a signal."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from tequio_ledger import runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.connector.ledger import LedgerAwayError, LedgerClient, StatementAuthor, VouchBook
from tequio_ledger.connector.providers import (
    SCOPE,
    ClientRegistration,
    GitHub,
    OpenId,
    Provider,
    ProviderClient,
    http_client,
    issuer_name,
)
from tequio_ledger.connector.service import ConnectionService
from tequio_ledger.connector.settings import CONNECTOR, ConnectorSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.runtime import now_ms
from tequio_ledger.store import files
from tequio_ledger.web import errors
from tequio_ledger.web.connections import ConnectionLimits
from tequio_ledger.web.limits import network_of, read_body
from tequio_ledger.web.middleware import with_limits
from tequio_ledger.web.routing import RouteGroup, application, get, json_answer, post
from tequio_ledger.web.server import WebServer, bind, server_url
from tequio_shared import encoding
from tequio_shared.api import connector
from tequio_shared.api.connector import ConnectorAbout, ConnectPoll, ConnectProof, ConnectRequest
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.network.genesis import Genesis

if TYPE_CHECKING:
    import socket

    import httpx


# --- The paths of a connector: its description, a challenge, a code, and the code's outcome.
#
# A volunteer's secrets are in bodies, never in paths, because paths are logged.

T = TypeVar("T")


@get(connector.ABOUT)
async def get_about(service: ConnectionService) -> ConnectorAbout:
    """Describe the connector and its providers."""
    return service.about


@post(connector.CHALLENGES)
async def give_challenge(request: Request, service: ConnectionService) -> Response:
    """Give a challenge for a key to sign."""
    return _unstored(service.challenge(await _body(request, ConnectRequest)))


@post(connector.CONNECTIONS)
async def begin(request: Request, service: ConnectionService) -> Response:
    """Give a code to a key that signed its challenge."""
    proof = await _body(request, ConnectProof)
    return _unstored(await service.begin(proof, network_of(request)))


@post(connector.ASK)
async def ask(request: Request, service: ConnectionService) -> Response:
    """Give the outcome of a code."""
    poll = await _body(request, ConnectPoll)
    return _unstored(await service.ask(poll.id))


@get("/healthz")
async def get_health() -> dict[str, str]:
    """Answer that the connector is running."""
    return {"status": "ok"}


def build(service: ConnectionService) -> ASGIApp:
    routes = (get_about, give_challenge, begin, ask, get_health)
    group = RouteGroup(routes=routes, answer_error=errors.answer_error)
    return application((group,), {"service": service}, errors.answer_missing)


def _unstored(value: msgspec.Struct) -> Response:
    """Answer with JSON that no cache may store."""
    answer = json_answer(value)
    answer.headers["cache-control"] = "no-store"
    return answer


async def _body(request: Request, type_: type[T]) -> T:
    return encoding.read(await read_body(request, connector.REQUEST_BYTES), type_)


KEY = "connector"
OWNERS = "owners"
"""Secret from which owners' names are derived; without it every account gets another owner."""
BOOK = "said.jsonl"
_SECRET_CHARACTERS = 512

log = structlog.get_logger(__name__)


def serve(settings: ConnectorSettings) -> None:
    """Serve until SIGTERM or SIGINT; raises UserFacingError."""
    with DataFolder(settings.folder) as folder, bind(settings.host, settings.port) as listener:
        asyncio.run(_serve(settings, folder, listener))


async def _serve(settings: ConnectorSettings, folder: DataFolder, listener: socket.socket) -> None:
    url = settings.url or server_url(listener)
    stopping = asyncio.Event()
    runtime.on_stop_signal(stopping.set)
    async with http_client() as http:
        opening = asyncio.create_task(_open_service(settings, folder, url, http))
        waiting = asyncio.create_task(stopping.wait())
        await asyncio.wait({opening, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            await _serve_until(waiting, await opening, settings, listener)
        waiting.cancel()
        opening.cancel()
    log.info("stopped")


async def _serve_until(
    stopping: asyncio.Task[bool],
    service: ConnectionService,
    settings: ConnectorSettings,
    listener: socket.socket,
) -> None:
    proxies = settings.trusted_proxies
    app = with_limits(build(service), proxies, 1, settings.request_rate)
    server = WebServer(app, listener, ConnectionLimits.of_process(1, proxies))
    stopping.add_done_callback(lambda _: server.stop())
    log.info(
        "tequio-ledger connect serves",
        url=server_url(listener),
        known_as=service.about.url,
        key=service.about.key,
        providers=list(service.about.providers),
        network_id=service.about.network,
        folder=str(settings.folder),
    )
    await server.serve()


async def _open_service(
    settings: ConnectorSettings, folder: DataFolder, url: str, http: httpx.AsyncClient
) -> ConnectionService:
    """Assemble the service and register its key; raises UserFacingError."""
    signer, secret = folder.signer(KEY), folder.secret(OWNERS)
    providers = _providers(settings, folder.path, http)
    book = VouchBook(folder.path / BOOK, now_ms())
    ledger = LedgerClient(settings.ledger, http)
    genesis = await _genesis(ledger)
    author = StatementAuthor(ledger, genesis.network_id, signer, book, now_ms)
    try:
        await author.join(genesis.work_bits)
    except (LedgerAwayError, PeerError, RefusedError) as err:
        raise UserFacingError(f"the ledger at {ledger.url} did not register us: {err}") from err
    about = ConnectorAbout(
        network=to_text(genesis.network_id),
        key=to_text(signer.key),
        url=url,
        providers=tuple(providers),
        keys_per_account=settings.keys_per_account,
        term_days=settings.term_days,
    )
    return ConnectionService(
        about, secret, providers, author, now_ms, codes_per_hour=settings.codes_per_hour
    )


async def _genesis(ledger: LedgerClient) -> Genesis:
    try:
        return await ledger.genesis()
    except LedgerAwayError as err:
        raise UserFacingError(f"the ledger at {ledger.url} does not answer: {err}") from err
    except (PeerError, RefusedError) as err:
        raise UserFacingError(f"{ledger.url} is not the address of a ledger: {err}") from err


def _providers(
    settings: ConnectorSettings, folder: Path, http: httpx.AsyncClient
) -> dict[str, Provider]:
    """Make the providers by name; raises UserFacingError for an invalid or repeated name."""
    client = ProviderClient(http)
    made: list[Provider] = [
        GitHub(client, ClientRegistration(id=one.client), one.address) for one in settings.github
    ]
    for one in settings.openid:
        secret = _client_secret(folder / f"{issuer_name(one.address).replace('/', '_')}.secret")
        registration = ClientRegistration(id=one.client, secret=secret, scope=SCOPE)
        made.append(OpenId(client, registration, one.address, now_ms))
    found: dict[str, Provider] = {}
    for provider in made:
        name = provider.name
        try:
            msgspec.convert(name, connector.Provider)
        except msgspec.ValidationError as err:
            raise UserFacingError(f"{name!r} cannot be the name of a provider: {err}") from err
        if name in found:
            raise UserFacingError(f"two providers have the name {name}: leave one out")
        found[name] = provider
    return found


def _client_secret(path: Path) -> str:
    """Read the client secret of a provider; empty without one. Raises UserFacingError."""
    try:
        return files.read_secret(path, _SECRET_CHARACTERS).decode("ascii").strip()
    except FileNotFoundError:
        return ""
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err
    except UnicodeDecodeError as err:
        raise UserFacingError(f"{path} is not a client secret: it must be ASCII") from err


@click.command("connect")
@with_settings(CONNECTOR)
def connect(settings: ConnectorSettings) -> None:
    """Let accounts at GitHub or any OpenID Connect provider vouch for keys (`tequio connect`).

    Organisers must admit its key, which is printed at the start. Do not lose the folder: it
    contains the secret from which the names of accounts' owners are derived.
    """
    runtime.configure_by(settings)
    serve(settings)
