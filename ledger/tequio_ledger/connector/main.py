"""The connector process: a folder with its key and its secret, a web server, until a signal."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING

import msgspec
import structlog

from tequio_ledger import ending
from tequio_ledger.clock import now_ms
from tequio_ledger.connector import openid, outside
from tequio_ledger.connector.author import Author
from tequio_ledger.connector.book import Book
from tequio_ledger.connector.challenges import Challenges
from tequio_ledger.connector.desk import Desk, Rules
from tequio_ledger.connector.device_grant import Client
from tequio_ledger.connector.github import GitHub
from tequio_ledger.connector.ledger import LedgerAwayError, LedgerClient
from tequio_ledger.connector.openid import OpenId
from tequio_ledger.connector.outside import Outside
from tequio_ledger.connector.web import build
from tequio_ledger.folder import Folder
from tequio_ledger.store import files
from tequio_ledger.web.middleware import limited
from tequio_ledger.web.server import WebServer, address, bind
from tequio_shared.api import connector
from tequio_shared.api.connector import ConnectorAbout
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    import httpx

    from tequio_ledger.connector.provider import Provider
    from tequio_ledger.connector.settings import ConnectorSettings
    from tequio_shared.genesis import Genesis

KEY = "connector"
OWNERS = "owners"
"""Under which accounts are named; without it every owner begins anew."""
BOOK = "said.jsonl"
_SECRET_CHARACTERS = 512

log = structlog.get_logger(__name__)


def serve(settings: ConnectorSettings) -> None:
    """Serve until SIGTERM or SIGINT; raises UserFacingError."""
    with Folder(settings.folder) as folder, bind(settings.host, settings.port) as listener:
        asyncio.run(_serve(settings, folder, listener))


async def _serve(settings: ConnectorSettings, folder: Folder, listener: socket.socket) -> None:
    url = settings.url or address(listener)
    stopping = asyncio.Event()
    ending.when_asked(stopping.set)
    async with outside.http_client() as http:
        opening = asyncio.create_task(_open_desk(settings, folder, url, http))
        waiting = asyncio.create_task(stopping.wait())
        await asyncio.wait({opening, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            await _answer(await opening, settings, listener, waiting)
        waiting.cancel()
        opening.cancel()
    log.info("stopped")


async def _answer(
    desk: Desk, settings: ConnectorSettings, listener: socket.socket, stopping: asyncio.Task[bool]
) -> None:
    here = address(listener)
    app = limited(build(desk), settings.trusted_proxies, 1, settings.request_rate)
    server = WebServer(app, listener)
    stopping.add_done_callback(lambda _: server.stop())
    log.info(
        "tequio-ledger connect serves",
        url=here,
        known_as=desk.about.url,
        key=desk.about.key,
        providers=list(desk.about.providers),
        network_id=desk.about.network,
        folder=str(settings.folder),
    )
    await server.serve()


async def _open_desk(
    settings: ConnectorSettings, folder: Folder, url: str, http: httpx.AsyncClient
) -> Desk:
    """Put the parts together, our key registered; raises UserFacingError."""
    signer, secret = folder.signer(KEY), folder.secret(OWNERS)
    providers = _providers(settings, folder.path, http)
    book = Book(folder.path / BOOK, now_ms())
    ledger = LedgerClient(settings.ledger, http)
    genesis = await _genesis(ledger)
    net = genesis.network_id
    author = Author(ledger, net, signer, book, now_ms)
    try:
        await author.join(genesis.work_bits)
    except (LedgerAwayError, PeerError, RefusedError) as err:
        raise UserFacingError(f"the ledger at {ledger.url} does not help: {err}") from err
    about = ConnectorAbout(
        network=to_text(net),
        key=to_text(signer.key),
        url=url,
        providers=tuple(providers),
        keys_per_account=settings.keys_per_account,
        term_days=settings.term_days,
    )
    rules = Rules(about=about, net=net, secret=secret, codes_per_hour=settings.codes_per_hour)
    return Desk(rules, providers, Challenges(now_ms), author, book, now_ms)


async def _genesis(ledger: LedgerClient) -> Genesis:
    try:
        return await ledger.genesis()
    except LedgerAwayError as err:
        raise UserFacingError(f"the ledger at {ledger.url} does not answer: {err}") from err
    except (PeerError, RefusedError) as err:
        raise UserFacingError(f"what answers at {ledger.url} is no ledger: {err}") from err


def _providers(
    settings: ConnectorSettings, folder: Path, http: httpx.AsyncClient
) -> dict[str, Provider]:
    asker = Outside(http)
    made: list[Provider] = [
        GitHub(asker, Client(id=one.client), one.address) for one in settings.github
    ]
    for one in settings.openid:
        client = Client(id=one.client, scope=openid.SCOPE)
        plain = OpenId(asker, client, one.address, now_ms)
        secret = _client_secret(folder / f"{plain.name.replace('/', '_')}.secret")
        client = Client(id=one.client, secret=secret, scope=openid.SCOPE)
        made.append(OpenId(asker, client, one.address, now_ms) if secret else plain)
    return _by_name(made)


def _by_name(made: list[Provider]) -> dict[str, Provider]:
    """Raise UserFacingError for names that volunteers could not write or tell apart."""
    found: dict[str, Provider] = {}
    for one in made:
        try:
            msgspec.convert(one.name, connector.Provider)
        except msgspec.ValidationError as err:
            raise UserFacingError(f"{one.name!r} cannot be the name of a provider: {err}") from err
        if one.name in found:
            raise UserFacingError(f"two providers would be called {one.name}: leave one out")
        found[one.name] = one
    return found


def _client_secret(path: Path) -> str:
    """Read what a provider gave us, if it is there; raises UserFacingError."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(_SECRET_CHARACTERS).decode("ascii").strip()
    except FileNotFoundError:
        return ""
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err
    except UnicodeDecodeError as err:
        raise UserFacingError(f"{path} is not a secret of a provider: it has to be ASCII") from err
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserFacingError(
            f"others may read the secret {path} (mode {mode:o}): run chmod 600 {path}"
        )
    return text
