"""Webhooks: posts news of the network to addresses that the operator names in a file.

Rules. Only the process that writes the log posts, and only what is published. Each webhook gets the
items in the order of the log, and waits for no other one. An address that does not accept an item
is tried `ATTEMPTS` times with growing pauses; then the item is dropped for it, and the operator's
log says so. After each item the database stores how far the webhook is, for all processes of a
ledger: a restart or another process that writes the log continues there. It may repeat the last
item, so a receiver should ignore an `index` that it has seen.

A name is resolved once for each request, and the request goes to the address that was checked: a
name that changes its address in between reaches nothing private.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import re
import socket
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Never, Protocol
from urllib.parse import quote

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_ledger.news import TYPES, NewsItem, news_of
from tequio_ledger.outgoing import http_client, parse_url
from tequio_ledger.store import files, log_rows, sent
from tequio_ledger.store.database import FAILURES
from tequio_shared.addresses import parse_host
from tequio_shared.errors import PeerError, TequioError, UserFacingError
from tequio_shared.ids import Digest, sha256, to_text

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
"""Entries before the newest that are looked through when a process begins to post, at most."""
PAGE = 64
DISCORD_CHARS = 2_000
_FILE_BYTES = 1 << 16
_ODD = re.compile(r"[^ -~]|^ | $")
"""A character that the secret cannot have there."""
_ACCEPTED, _TOO_MANY, _BROKEN = range(200, 300), 429, 500

log = structlog.get_logger(__name__)

HookUrl = Annotated[str, Meta(pattern=r"^https?://[!-~]{1,1000}\Z")]


class Webhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
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
    _check_url(path, found.ledger)
    for one in found.webhook:
        _check_hook(path, one)
    places = [_place(one) for one in found.webhook]
    for one in found.webhook:
        if places.count(_place(one)) > 1:
            raise UserFacingError(f"{path} names the webhook {_host(one.url)} twice: delete one")
    return found


def _check_hook(path: Path, hook: Webhook) -> None:
    _check_url(path, hook.url)
    name = f"the webhook {_host(hook.url)}"
    if hook.format == "json" and not hook.secret:
        raise UserFacingError(f"{path}: {name} needs a secret to sign with")
    if hook.format == "matrix" and not (hook.secret and hook.room):
        raise UserFacingError(f"{path}: {name} needs `secret`, an access token, and `room`")
    odd = _ODD.search(hook.secret)
    if odd is not None:
        raise UserFacingError(
            f"{path}: the secret of {name} contains {odd.group()!r} at character "
            f"{odd.start() + 1}, but may only contain printable ASCII characters, and no space at "
            "an end: copy all of it again"
        )


def _check_url(path: Path, url: str) -> None:
    try:
        parse_url(url)
    except ValueError as err:  # only its host is shown: the rest may be a secret
        raise UserFacingError(
            f"{path}: {_host(url)!r} is not a valid host ({err}): write the address as "
            "https://host.example/path, with a port such as :8443 after the host if it needs one"
        ) from err


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

    def __init__(
        self,
        *,
        ledger: NewsLedger,
        genesis: Genesis,
        database: Database,
        changed: ChangeSignal,
        settings: WebhookSettings,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._ledger = ledger
        self._genesis = genesis
        self._database = database
        self._changed = changed
        self._settings = settings
        self._pause_s = pause_s
        self._http = http_client({})

    async def run(self) -> None:
        """Post until cancelled."""
        async with self._http, asyncio.TaskGroup() as tasks:
            for hook in self._settings.webhook:
                tasks.create_task(self._post_to(hook))

    async def _post_to(self, hook: Webhook) -> Never:
        position: int | None = None
        while True:
            position = await self._step(hook, position)
            if position is None or position >= self._ledger.published.size:
                await self._changed.wait(RETRY_S)

    async def _step(self, hook: Webhook, position: int | None) -> int | None:
        """Post at most one item; gives the next position, None while another process posts."""
        if not self._ledger.is_leading:
            return None
        try:
            position, item = await asyncio.to_thread(self._next, hook, position)
            if item is not None:
                if not await self._deliver(hook, self._message(item)):
                    return None
                position = item.index + 1  # now: a failure to store it must not repeat the item
                await asyncio.to_thread(
                    sent.write_position, self._database, self._key(hook), position
                )
        except (TequioError, OSError, *FAILURES) as err:
            log.warning("webhook waits", host=_host(hook.url), why=str(err))
            await asyncio.sleep(RETRY_S)
        return position

    def _next(self, hook: Webhook, position: int | None) -> tuple[int, NewsItem | None]:
        """Find the next item in a page of the log; gives its index, or where the page ends."""
        size = self._ledger.published.size
        # Each time: meanwhile another process may have written the log, and posted its news.
        # A new webhook begins at the end of the log.
        posted = sent.read_position(self._database, self._key(hook), size)
        first = max(posted, size - MAX_CATCH_UP if position is None else position)
        end = min(size, first + PAGE)
        with self._database.glance.connect() as connection:
            for one in log_rows.each_entry(connection, first, end):
                if one.type in TYPES:
                    item = news_of(self._ledger.state, one.index, one.at_ms, one.leaf)
                    if item is not None:
                        return one.index, item
        return max(first, end), None

    def _message(self, item: NewsItem) -> NewsMessage:
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

    async def _deliver(self, hook: Webhook, told: NewsMessage) -> bool:
        """Post an item, or drop it in the end; False if another process has to post it now."""
        request, pause_s = _FORMATS[hook.format](hook, told), self._pause_s
        host = _host(hook.url)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await self._send(hook, request)
            except PeerError as err:
                is_last = attempt == ATTEMPTS or isinstance(err, _RefusedForGoodError)
                event = "webhook dropped" if is_last else "webhook will be tried again"
                log.warning(event, host=host, index=told.index, why=str(err))
                if is_last:
                    break
                await asyncio.sleep(pause_s)
                pause_s *= GROWTH
                if not self._ledger.is_leading:
                    return False
            else:
                log.info("webhook delivered", host=host, index=told.index)
                break
        return True

    async def _send(self, hook: Webhook, request: HookRequest) -> None:
        """Send a request; raises PeerError."""
        import httpx  # noqa: PLC0415 - see `outgoing`

        try:
            url = httpx.URL(request.url)
            async with asyncio.timeout(ANSWER_S):
                address = await _resolve(url, is_private_allowed=hook.allow_private)
                async with self._http.stream(
                    request.method,
                    url.copy_with(host=address),
                    headers={**request.headers, "host": url.netloc.decode("ascii")},
                    content=request.body,
                    extensions={"sni_hostname": url.raw_host.decode("ascii")},
                ) as answer:
                    status = answer.status_code
        except TimeoutError as err:
            raise PeerError(f"no answer within {ANSWER_S:.0f} s") from err
        except (httpx.HTTPError, OSError) as err:
            raise PeerError(str(err) or type(err).__name__) from err
        except (httpx.InvalidURL, ValueError) as err:
            raise _RefusedForGoodError(str(err)) from err
        if status in _ACCEPTED:
            return
        kind = PeerError if status == _TOO_MANY or status >= _BROKEN else _RefusedForGoodError
        raise kind(f"status {status}")

    def _key(self, hook: Webhook) -> Digest:
        """Name a webhook in the database, where its secrets do not belong."""
        return sha256(self._genesis.network_id, msgspec.json.encode(_place(hook)))


class _RefusedForGoodError(PeerError):
    """Trying again is of no use."""


async def _resolve(url: httpx.URL, *, is_private_allowed: bool) -> str:
    """Give an address of a host; raises PeerError for a private one unless that is allowed."""
    loop = asyncio.get_running_loop()
    host, port = url.raw_host.decode("ascii"), url.port or {"https": 443}.get(url.scheme, 80)
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for *_, place in found:
        address = parse_host(str(place[0]))
        is_public = address is not None and address.is_global and not address.is_multicast
        if not is_public and not is_private_allowed:
            raise _RefusedForGoodError(
                f"{place[0]} is not a public address: set allow-private to post to it"
            )
    return str(found[0][4][0])


def _host(url: str) -> str:
    """Shorten an address, whose other parts may be secrets, to its host and port."""
    return re.split(r"[/?#]", url, maxsplit=3)[2].rpartition("@")[2]


def _place(hook: Webhook) -> tuple[str, str, str]:
    """Give what distinguishes webhooks; its secret may change."""
    return hook.format, hook.url, hook.room
