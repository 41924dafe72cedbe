"""All clients of HTTP read the certificates once, send no cookies, and refuse wrong addresses."""

from __future__ import annotations

import re
import ssl
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import trio

from tequio_client.ledger.http import ApiLimits, LedgerHttp
from tequio_client.worker.store.trees import TreeRef
from tequio_client.worker.swarm.dials import Reach
from tequio_client.worker.swarm.mirrors import DataMirrors, MirroredFile
from tequio_ledger.monitor.remote import RemoteLedger
from tequio_ledger.outgoing import http_client
from tequio_shared.addresses import INVALID_HOST
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import DIGEST_BYTES, ZERO_DIGEST
from tests.support.http_servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

ADDRESS = "https://ledger.example"


def recorded(monkeypatch: pytest.MonkeyPatch, kind: str) -> list[object]:
    """Record what each client of that kind is told to trust."""
    told: list[object] = []
    usual: Any = getattr(httpx, kind)

    def make(*, verify: object = True, **options: object) -> object:
        told.append(verify)
        return usual(verify=verify, **options)

    monkeypatch.setattr(httpx, kind, make)
    return told


@pytest.mark.trio
async def test_two_ledgers_and_the_mirrors_trust_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    told = recorded(monkeypatch, "AsyncClient")
    for one in (LedgerHttp(ADDRESS, ApiLimits()), LedgerHttp(ADDRESS, ApiLimits()), DataMirrors()):
        await one.aclose()
    check_strict(told, 3)


@pytest.mark.trio
async def test_requests_of_a_ledger_and_of_a_monitor_trust_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, watched = recorded(monkeypatch, "AsyncClient"), recorded(monkeypatch, "Client")
    for _ in range(2):
        await http_client({}).aclose()
        with RemoteLedger(ADDRESS):
            pass
    check_strict([*asked, *watched], 4)


def check_strict(told: list[object], count: int) -> None:
    first = told[0]
    assert isinstance(first, ssl.SSLContext)
    assert first.check_hostname
    assert first.verify_mode is ssl.CERT_REQUIRED
    assert first.get_ca_certs()
    assert len(told) == count
    assert all(one is first for one in told)


class CookieServer:
    """Answers each request with a cookie; `asked` has the cookies that came with each."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str | None] = []


class CookieHandler(BaseHTTPRequestHandler):
    def __init__(self, server: CookieServer, *args: object) -> None:
        self.asked = server.asked
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:  # the library's
        self.asked.append(self.headers.get("cookie"))
        self.send_response(200)
        self.send_header("set-cookie", "id=17; max-age=999999")
        self.send_header("content-length", str(DIGEST_BYTES))
        self.end_headers()
        self.wfile.write(ZERO_DIGEST)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[CookieServer]:
    made = CookieServer()
    with serving(partial(CookieHandler, made)) as made.url:
        yield made


@pytest.mark.trio
async def test_a_worker_sends_a_ledger_no_cookie(server: CookieServer) -> None:
    http = LedgerHttp(server.url, ApiLimits())
    for _ in range(2):
        await http.call("/v1/network")
    await http.aclose()
    assert server.asked == [None, None]


@pytest.mark.trio
async def test_a_worker_sends_a_mirror_no_cookie(server: CookieServer) -> None:
    async def least() -> Reach:
        await trio.lowlevel.checkpoint()
        return Reach.LOOPBACK

    mirrors = DataMirrors()
    mirrors.least = least
    ref = TreeRef(root=ZERO_DIGEST, size_bytes=1, piece_bytes=1)
    for _ in range(2):
        assert await mirrors.leaves(MirroredFile(server.url, "shard"), ref) == (ZERO_DIGEST,)
    await mirrors.aclose()
    assert server.asked == [None, None]


def test_a_monitor_sends_a_ledger_no_cookie(server: CookieServer) -> None:
    with RemoteLedger(server.url) as ledger:
        for _ in range(2):
            ledger.tile(0, 0, 1)
    assert server.asked == [None, None]


@pytest.mark.trio
async def test_a_ledger_stores_and_sends_no_cookie(server: CookieServer) -> None:
    async with http_client({}) as http:
        for _ in range(2):
            await http.get(server.url)
        assert not http.cookies
    assert server.asked == [None, None]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ledger.example", "neither http:// nor https://"),
        ("https://", "no host"),
        ("https://ledger..example", INVALID_HOST),
        ("https://xn--a.example", INVALID_HOST),
        ("https://ledger.example:99999", "no port of this number"),
        ("http://[fe80::1%25eth0]:8600", "a host with a space, % or another character"),
        ("http://a%2fb", "a host with a space, % or another character"),
        ("http://ledger example", "a host with a space, % or another character"),
    ],
)
def test_what_is_no_address_is_refused_with_the_reason(url: str, why: str) -> None:
    said = f"is not the address of a ledger, such as https://example.org ({why}"
    with pytest.raises(UserFacingError, match=re.escape(said)):
        RemoteLedger(url)
    with pytest.raises(UserFacingError, match=re.escape(said)):
        LedgerHttp(url, ApiLimits())


@pytest.mark.parametrize("rest", ["x.example", "x.example:99999", "x..example", "x.example/?a"])
def test_a_password_in_an_address_is_not_shown(rest: str) -> None:
    with pytest.raises(UserFacingError, match="contains a user name or password") as caught:
        LedgerHttp(f"https://me:hidden@{rest}", ApiLimits())
    assert "hidden" not in str(caught.value)
