"""HTTP requests to a ledger or a connector; the one file that imports httpx.

Every call has a deadline and every answer a size limit, so a hostile server can waste neither time
nor memory. Texts of the server are cleaned here.

Errors: `LedgerUnavailableError` when trying again later may help, `LedgerRefusedError` with the
problem code for a refusal, MalformedError and other PeerErrors for an invalid answer.
"""

from __future__ import annotations

import ssl
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TypeAlias

import httpx
import trio

from tequio_client import clock
from tequio_client.ledger.networks import NO_LEDGER
from tequio_client.names import clean_text
from tequio_shared import encoding
from tequio_shared.addresses import INVALID_HOST, check_place
from tequio_shared.api.answer import UNNAMED, Problem
from tequio_shared.api.network import EventReader, LogEvent
from tequio_shared.errors import (
    MalformedError,
    PeerError,
    RefusedError,
    TequioError,
    UserFacingError,
)
from tequio_shared.limits import DOCUMENT_BYTES

MAX_SERVER_TEXT = 500
"""Maximum characters of a server's text that are shown and logged."""
_CODE_CHARACTERS = 64
_DATE_PRECISION_MS = 5_000
"""Dates have whole seconds, and an answer takes time: less does not mean that a clock was set."""


AddressOf: TypeAlias = Callable[[str], Awaitable[str]]
"""Gives the IP address to dial for a host; raises PeerError for none."""


class LedgerUnavailableError(TequioError):
    """The ledger is unreachable, too slow, or reports that it cannot serve now; try later."""

    def __init__(self, message: str, retry_after_s: float = 0.0, detail: str = "") -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.detail = detail  # the server's own text, cleaned; may be empty


class UnnamedRefusalError(LedgerUnavailableError):
    """No answer of a ledger: a redirection, or the page of a proxy, a bucket or a log-in."""


class UnansweredError(LedgerUnavailableError):
    """A statement was sent, and the ledger may still log it."""


class LedgerRefusedError(RefusedError):
    """The ledger refused; `code` is its problem code."""

    def __init__(self, code: str, message: str, detail: str = "") -> None:
        super().__init__(code, message)
        self.detail = detail  # as above


class LogForkedError(PeerError):
    """The log is shorter than before, or not an extension of what was verified before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiLimits:
    """Deadlines in seconds, sizes in bytes."""

    call_s: float = 20.0
    blob_s: float = 180.0
    """Deadline for a blob of at most 64 MiB, up or down."""
    idle_s: float = 40.0
    """Longest silence of an event stream; the ledger sends a heartbeat every 15 s."""
    answer_bytes: int = DOCUMENT_BYTES
    connections: int = 16


@dataclass(slots=True)
class Reachability:
    """Reachability of a server: since when, and the last problem; written by `LedgerHttp`."""

    is_reached: bool = False
    since_ms: int = 0
    """0: no call was made yet."""
    was_reached: bool = False
    problem: str = ""

    def record(self, problem: str = "") -> None:
        """Record an answer of any kind, or the problem because of which there was none."""
        is_reached = not problem
        if is_reached != self.is_reached or not self.since_ms:
            self.is_reached, self.since_ms = is_reached, clock.now_ms()
        self.was_reached |= is_reached
        self.problem = problem


def http_client(connections: int, base_url: str = "") -> httpx.AsyncClient:
    """Make a client without proxies of the environment, .netrc, cookies, redirects and time-outs.

    Proxies could see what is sent. By cookies a server could recognise a volunteer, and they would
    go to each server at the same IP address. Deadlines are trio's: the callers set them.
    """
    return httpx.AsyncClient(
        base_url=base_url,
        headers={"accept-encoding": "identity"},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        limits=httpx.Limits(max_connections=connections),
        timeout=None,  # noqa: S113 - as above
        trust_env=False,
        verify=_trusted(),
    )


@cache
def _trusted() -> ssl.SSLContext:
    """Authorities that all connections trust, read once: that takes 20 ms and 0.7 MB."""
    return httpx.create_ssl_context(trust_env=False)


class LedgerHttp:
    """Connections to one ledger; a few stay open until `aclose`."""

    def __init__(
        self,
        url: str,
        limits: ApiLimits,
        what: str = "ledger",
        address_of: AddressOf | None = None,
    ) -> None:
        """Make no connection yet; raises UserFacingError unless the URL is an http(s) address.

        `address_of` gives the IP address to connect to, for a host that a stranger named. For
        `NO_LEDGER` every call fails, and nothing is sent.
        """
        self._limits = limits
        self._what = what  # the server's name in errors
        self.url = url if url == NO_LEDGER else _base_url(url, what)
        self.on_date: Callable[[int], None] = lambda _: None  # given each answer's time, ms
        self.clock_ahead_ms = 0
        """How far our clock was ahead of the date of an answer; moves by `_DATE_PRECISION_MS`."""
        self.reach = Reachability()
        self._client = http_client(limits.connections, self.url)
        self._address_of = address_of
        if address_of is not None:
            self._client.event_hooks = {"request": [self._redirect_to_address]}

    async def aclose(self) -> None:
        await self._client.aclose()

    async def call(
        self,
        path: str,
        *,
        method: str = "GET",
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        most: int | None = None,
        seconds: float | None = None,
    ) -> bytes:
        """Send a request and read its whole answer, at most `most` bytes, within the deadline."""
        with self._translated(method, path), trio.fail_after(seconds or self._limits.call_s):
            async with self._client.stream(method, path, content=content, headers=headers) as got:
                await self._check(got)
                most = self._limits.answer_bytes if most is None else most
                return await _read(got, most, self._what)

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[AsyncIterator[LogEvent]]:
        """Open a stream of log entries, which ends by LedgerUnavailableError."""
        request = self._client.build_request("GET", path)
        with self._translated("GET", path), trio.fail_after(self._limits.call_s):
            response = await self._client.send(request, stream=True)
        try:
            with self._translated("GET", path):
                await self._check(response)
            chunks = response.aiter_raw()
            try:
                async with aclosing(_log_events(chunks, path, self._limits.idle_s)) as events:
                    yield events
            finally:
                await abandon(chunks)
        finally:
            await response.aclose()

    async def _redirect_to_address(self, request: httpx.Request) -> None:
        """Connect to the address of `address_of`; the certificate must still be the name's."""
        if self._address_of is not None:
            host = request.url.host
            request.extensions = {**request.extensions, "sni_hostname": host}
            request.url = request.url.copy_with(host=await self._address_of(host))

    @contextmanager
    def _translated(self, method: str, path: str) -> Iterator[None]:
        try:
            if self.url == NO_LEDGER:
                raise LedgerUnavailableError("no network was chosen yet")  # noqa: TRY301 - as below
            with _translated(method, path, self._what):
                yield
        except LedgerUnavailableError as err:
            self.reach.record(str(err))
            raise

    async def _check(self, response: httpx.Response) -> None:
        self.reach.record()
        shown_ms = _date_ms(response.headers.get("date", ""))
        if shown_ms is not None:
            self.on_date(shown_ms)
            ahead_ms = clock.now_ms() - shown_ms
            if abs(ahead_ms - self.clock_ahead_ms) > _DATE_PRECISION_MS:
                self.clock_ahead_ms = ahead_ms
        if response.headers.get("content-encoding", "identity") != "identity":
            raise MalformedError(
                f"the {self._what}'s answer is encoded although we did not ask for it"
            )
        if not response.is_success or _is_page(response):
            with trio.fail_after(self._limits.call_s):
                raw = await _read(response, self._limits.answer_bytes, self._what)
            raise _refusal(response, raw, self._what)


def _date_ms(date: str) -> int | None:
    """Parse an HTTP date, which has whole seconds; None for a missing or invalid one."""
    try:
        return int(parsedate_to_datetime(date).timestamp()) * 1000
    except (ValueError, OverflowError):
        return None


async def _log_events(
    chunks: AsyncIterator[bytes], path: str, idle_s: float
) -> AsyncGenerator[LogEvent, None]:
    """Yield log entries in the ledger's order; LedgerUnavailableError at a cut or a silence."""
    reader = EventReader()
    while True:
        with _translated("GET", path), trio.fail_after(idle_s):
            chunk = await anext(chunks, None)
        if chunk is None:
            raise LedgerUnavailableError("the ledger ended its event stream")
        for event in reader.feed(chunk):
            yield event


@contextmanager
def _translated(method: str, path: str, what: str = "ledger") -> Iterator[None]:
    try:
        yield
    except trio.TooSlowError as err:
        raise LedgerUnavailableError(f"the {what} did not answer {method} {path} in time") from err
    except (httpx.HTTPError, httpx.StreamError) as err:
        reason = clean_text(str(err), MAX_SERVER_TEXT) or type(err).__name__
        raise LedgerUnavailableError(f"{method} {path} failed: {reason}") from err


async def _read(response: httpx.Response, most: int, what: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    chunks = response.aiter_raw()
    try:
        async for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise MalformedError(f"the {what}'s answer has more than {most} bytes")
            parts.append(chunk)
    finally:
        await abandon(chunks)
    return b"".join(parts)


async def abandon(chunks: AsyncIterator[bytes]) -> None:
    """Close an iteration that may not be at its end.

    httpx's generator does not close the ones below it; an error from the innermost, here a
    cancelled read, ends them all, and the connection.
    """
    with trio.CancelScope() as scope:
        scope.cancel()
        async for _ in chunks:
            pass


def _refusal(response: httpx.Response, raw: bytes, what: str) -> TequioError:
    """Convert an answer that is not a success into our error."""
    status = response.status_code
    try:
        problem = encoding.read(raw, Problem)
    except MalformedError:
        problem = Problem()  # a proxy's page: the status says enough
    detail = clean_text(problem.detail, MAX_SERVER_TEXT)
    request = response.request
    message = f"{request.method} {request.url.path}: {status} {detail}".rstrip()
    is_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR and problem.code != "quota"
    if is_fault or status == HTTPStatus.TOO_MANY_REQUESTS:
        return LedgerUnavailableError(message, _retry_after_s(response), detail)
    if response.has_redirect_location:
        return UnnamedRefusalError(f"{message}: moved to {_place(response)}")
    if problem.code == UNNAMED:
        return UnnamedRefusalError(f"{message}: this is not the answer of a {what}")
    return LedgerRefusedError(clean_text(problem.code, _CODE_CHARACTERS), message, detail)


def _is_page(response: httpx.Response) -> bool:
    """Return if a person is meant to read the answer: a ledger gives its clients none."""
    kind: str = response.headers.get("content-type", "")
    return kind.lower().startswith("text/html")


def _place(response: httpx.Response) -> str:
    """Give the scheme and host of a redirection, which a person may compare with the address."""
    url = response.request.url.join(response.headers["location"])  # valid: httpx checked it
    return clean_text(f"{url.scheme}://{url.netloc.decode('ascii')}", MAX_SERVER_TEXT)


def _retry_after_s(response: httpx.Response) -> float:
    """Read the pause that the ledger asks for, at most a minute; a date counts as 0."""
    text = response.headers.get("retry-after", "")
    return min(float(text), 60.0) if text.isascii() and text.isdigit() else 0.0


def _base_url(text: str, what: str) -> str:
    try:
        url = httpx.URL(text)
        _check_url(url, what)
    except (httpx.InvalidURL, ValueError) as err:
        raise UserFacingError(
            f"{text!r} is not the address of a {what}, such as https://example.org ({err})"
        ) from err
    return str(url).rstrip("/")


def _check_url(url: httpx.URL, what: str) -> None:
    host = url.raw_host.decode("ascii")
    if url.userinfo:  # first: the other errors show the whole address
        raise UserFacingError(
            f"the address of the {what} at {host} contains a user name or password, which "
            "other programs could see: remove it"
        )
    if url.scheme not in {"http", "https"}:
        raise ValueError("neither http:// nor https://")
    try:
        _ = url.host  # decodes it, which fails for a name such as xn--a
    except UnicodeError as err:
        raise ValueError(INVALID_HOST) from err
    check_place(host, url.port)
    if url.query or url.fragment:
        raise ValueError("it contains ? or #")
