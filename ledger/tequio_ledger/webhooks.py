"""Webhooks: posts news of the network to addresses that the operator names in a file.

Rules. Only the process that writes the log posts, and only what is published. Items go out in the
order of the log, each to all addresses at once. An address that does not accept one is tried again
`ATTEMPTS` times with growing pauses; then the item is dropped for it, and the operator's log says
so. The position is stored after each item: a restart repeats the last one at most, so a receiver
should ignore an `index` that it has seen.

A name is resolved once for each request, and the request goes to the address that was checked: a
name that changes its address in between reaches nothing private.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import socket
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Never, Protocol
from urllib.parse import quote

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_ledger.news import NewsItem, news_of
from tequio_ledger.outgoing import http_client
from tequio_ledger.store import entries, files, log_rows
from tequio_ledger.store.database import FAILURES
from tequio_shared.addresses import parse_host
from tequio_shared.errors import PeerError, TequioError, UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    import httpx

    from tequio_ledger.log.guard import Published
    from tequio_ledger.log.sequencer import ChangeSignal
    from tequio_ledger.store.database import Database
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.served.state import State

ATTEMPTS = 5
PAUSE_S, GROWTH = 2.0, 4
"""Pause after the first failure, and by what each further one is longer: 2, 8, 32 and 128 s."""
ANSWER_S = 10.0
RETRY_S = 5.0
"""Pause after the log could not be read, and between looks for news that nothing announced."""
MAX_CATCH_UP = 100_000
"""Entries before the newest that are looked through after a start, at most."""
PAGE = 64
DISCORD_CHARS = 2_000
_FILE_BYTES = 1 << 16
_ACCEPTED, _TOO_MANY, _BROKEN = range(200, 300), 429, 500

log = structlog.get_logger(__name__)

HookUrl = Annotated[str, Meta(pattern=r"^https?://[!-~]{1,1000}\Z")]


class Webhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """One address."""

    url: HookUrl
    format: Literal["json", "discord", "matrix"] = "json"
    secret: Annotated[str, Meta(max_length=1_000)] = ""
    """JSON: key of the signature. Matrix: access token. Discord has its secret in the URL."""
    room: Annotated[str, Meta(max_length=255)] = ""
    """Matrix: id of the room, such as !abc:example.org."""
    allow_private: bool = False
    """Also post to an address that is not public, such as 127.0.0.1."""


class WebhookSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file: the address at which people reach the ledger, for links, and the webhooks."""

    ledger: HookUrl
    webhook: Annotated[tuple[Webhook, ...], Meta(min_length=1, max_length=16)]


def read_settings(path: Path) -> WebhookSettings:
    """Read the file of webhooks; raises UserFacingError."""
    with files.explained(path), path.open("rb") as file:
        mode, raw = stat.S_IMODE(path.stat().st_mode), file.read(_FILE_BYTES)
    if mode & stat.S_IRWXO:
        raise UserFacingError(
            f"other users may read {path}, which contains secrets (mode {mode:o}): run chmod 600 "
            f"{path}"
        )
    try:
        found = msgspec.convert(tomllib.loads(raw.decode()), WebhookSettings)
    except (ValueError, msgspec.ValidationError) as err:
        raise UserFacingError(f"{path} is not a valid file of webhooks: {err}") from err
    for one in found.webhook:
        if one.format == "json" and not one.secret:
            raise UserFacingError(f"{path}: the webhook {_host(one)} needs a secret to sign with")
        if one.format == "matrix" and not (one.secret and one.room):
            raise UserFacingError(
                f"{path}: the webhook {_host(one)} needs `secret`, an access token, and `room`"
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRequest:
    url: str
    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"


class NewsMessage(Struct, frozen=True, kw_only=True):
    """A news item as JSON."""

    network: str
    network_id: str
    event: str
    index: int
    """Entry of the log that it follows from; unique among all items of a network."""
    at: int
    """Milliseconds since 1970."""
    title: str
    text: str
    url: str
    """The page about it."""
    proof: str
    """The page of the entry, which a browser can verify."""
    run: str | None


def as_json(hook: Webhook, told: NewsMessage) -> HookRequest:
    """Post the announcement itself, signed with HMAC-SHA-256 of the body."""
    body = msgspec.json.encode(told)
    signature = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "x-tequio-event": told.event,
        "x-tequio-signature": f"sha256={signature}",
    }
    return HookRequest(url=hook.url, headers=headers, body=body)


def as_discord(hook: Webhook, told: NewsMessage) -> HookRequest:
    """Post a message by a webhook of Discord; nobody is mentioned, whatever a name contains."""
    content = f"**{told.title}**\n{told.text}\n{told.url}"[:DISCORD_CHARS]
    body = msgspec.json.encode({"content": content, "allowed_mentions": {"parse": []}})
    return HookRequest(url=hook.url, headers={"content-type": "application/json"}, body=body)


def as_matrix(hook: Webhook, told: NewsMessage) -> HookRequest:
    """Send a notice to a room of Matrix; the server ignores one that it has already."""
    title, text, link = html.escape(told.title), html.escape(told.text), html.escape(told.url)
    content = {
        "msgtype": "m.notice",
        "body": f"{told.title}\n{told.text}\n{told.url}",
        "format": "org.matrix.custom.html",
        "formatted_body": f'<b><a href="{link}">{title}</a></b><br>{text}',
    }
    path = f"rooms/{quote(hook.room, safe='')}/send/m.room.message/{told.network_id}-{told.index}"
    return HookRequest(
        method="PUT",
        url=f"{hook.url.rstrip('/')}/_matrix/client/v3/{path}",
        headers={"content-type": "application/json", "authorization": f"Bearer {hook.secret}"},
        body=msgspec.json.encode(content),
    )


_FORMATS = {"json": as_json, "discord": as_discord, "matrix": as_matrix}


class NewsLedger(Protocol):
    """The part of the ledger that the webhooks use."""

    @property
    def state(self) -> State: ...

    @property
    def published(self) -> Published: ...

    @property
    def is_leading(self) -> bool:
        """True if this process writes the log."""


class Webhooks:
    """Posts the news of a ledger; `run` belongs to its event loop."""

    def __init__(  # noqa: PLR0913 - its whole surroundings
        self,
        *,
        ledger: NewsLedger,
        genesis: Genesis,
        database: Database,
        changed: ChangeSignal,
        settings: WebhookSettings,
        position: Path,
        pause_s: float = PAUSE_S,
    ) -> None:
        """`position` is the file that stores how far the log is posted."""
        self._ledger = ledger
        self._genesis = genesis
        self._database = database
        self._changed = changed
        self._settings = settings
        self._place = position
        self._pause_s = pause_s
        self._http = http_client({})

    async def run(self) -> Never:
        """Post until cancelled."""
        position: int | None = None
        async with self._http:
            while True:
                position = await self._step(position)
                if position is None or position >= self._ledger.published.size:
                    await self._changed.wait(RETRY_S)

    async def _step(self, position: int | None) -> int | None:
        """Post some news after a position; gives the next one, None while another process posts."""
        if not self._ledger.is_leading:
            return None
        try:
            if position is None:
                return await asyncio.to_thread(self._load)
            return await self._advance(position)
        except (TequioError, OSError, *FAILURES) as err:
            log.warning("webhooks wait", why=str(err))
            await asyncio.sleep(RETRY_S)
            return position

    async def _advance(self, position: int) -> int:
        """Post the news of the next entries; gives the position behind them."""
        end = min(self._ledger.published.size, position + PAGE)
        leaves = await asyncio.to_thread(self._leaves, position, end)
        for index, leaf in enumerate(leaves, position):
            if news_of(self._ledger.state, index, 0, leaf) is not None:
                await self._announce(index)
                await asyncio.to_thread(self._store, index + 1)
        return end

    def _leaves(self, first: int, end: int) -> list[bytes]:
        with self._database.glance.connect() as connection:
            return log_rows.read_leaves(connection, first, end)

    async def _announce(self, index: int) -> None:
        entry = await asyncio.to_thread(self._entry, index)
        item = news_of(self._ledger.state, index, *entry)
        if item is not None:
            told = self._told(item)
            await asyncio.gather(*(self._deliver(one, told) for one in self._settings.webhook))

    def _entry(self, index: int) -> tuple[int, bytes]:
        with self._database.glance.connect() as connection:
            found = entries.read_entry(connection, index)
        if found is None:
            raise AssertionError(f"published entry {index} is not in the log")
        return found[0].at_ms, found[1]

    def _told(self, item: NewsItem) -> NewsMessage:
        url = self._settings.ledger.rstrip("/")
        return NewsMessage(
            network=self._genesis.name,
            network_id=to_text(self._genesis.network_id),
            event=item.kind,
            index=item.index,
            at=item.at_ms,
            title=item.title,
            text=item.text,
            url=url + item.path,
            proof=f"{url}/entries/{item.index}",
            run=item.run or None,
        )

    async def _deliver(self, hook: Webhook, told: NewsMessage) -> None:
        request, pause_s = _FORMATS[hook.format](hook, told), self._pause_s
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await self._send(hook, request)
            except PeerError as err:
                is_last = attempt == ATTEMPTS or isinstance(err, _RefusedForGoodError)
                event = "webhook dropped" if is_last else "webhook will be tried again"
                log.warning(event, host=_host(hook), index=told.index, why=str(err))
                if is_last:
                    return
                await asyncio.sleep(pause_s)
                pause_s *= GROWTH
            else:
                log.info("webhook delivered", host=_host(hook), index=told.index)
                return

    async def _send(self, hook: Webhook, request: HookRequest) -> None:
        """Send a request; raises PeerError."""
        import httpx  # noqa: PLC0415 - see `outgoing`

        url = httpx.URL(request.url)
        try:
            async with asyncio.timeout(ANSWER_S):
                address = await _resolve(url, is_private_allowed=hook.allow_private)
                async with self._http.stream(
                    request.method,
                    url.copy_with(host=address),
                    headers={**request.headers, "host": url.netloc.decode("ascii")},
                    content=request.body,
                    extensions={"sni_hostname": url.host},
                ) as answer:
                    status = answer.status_code
        except TimeoutError as err:
            raise PeerError(f"no answer within {ANSWER_S:.0f} s") from err
        except (httpx.HTTPError, OSError) as err:
            raise PeerError(str(err) or type(err).__name__) from err
        if status in _ACCEPTED:
            return
        kind = PeerError if status == _TOO_MANY or status >= _BROKEN else _RefusedForGoodError
        raise kind(f"status {status}")

    def _load(self) -> int:
        """Read where to continue; the first time that is the end of the log."""
        size = self._ledger.published.size
        try:
            stored = int(self._place.read_text("ascii"))
        except FileNotFoundError:
            self._store(size)
            return size
        except ValueError:
            log.warning("the position of the webhooks is damaged", file=str(self._place))
            return size
        return min(max(stored, size - MAX_CATCH_UP, 0), size)

    def _store(self, position: int) -> None:
        files.write_file(self._place, b"%d\n" % position)


class _RefusedForGoodError(PeerError):
    """Trying again is of no use."""


async def _resolve(url: httpx.URL, *, is_private_allowed: bool) -> str:
    """Give an address of a host; raises PeerError for a private one unless that is allowed."""
    loop = asyncio.get_running_loop()
    port = url.port or {"https": 443}.get(url.scheme, 80)
    found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    for *_, place in found:
        address = parse_host(str(place[0]))
        if not is_private_allowed and (address is None or not _is_public(address)):
            raise _RefusedForGoodError(
                f"{place[0]} is not a public address: set allow-private to post to it"
            )
    return str(found[0][4][0])


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    return address.is_global and not address.is_multicast


def _host(hook: Webhook) -> str:
    """Name a webhook without its secrets, which its path may contain."""
    return hook.url.split("/")[2].rpartition("@")[2]
