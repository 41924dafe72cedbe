"""HTTP requests to programs that may be hostile: witnesses, account providers, other ledgers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from tequio_shared.addresses import INVALID_HOST, check_place
from tequio_shared.errors import PeerError

if TYPE_CHECKING:
    import ssl
    from http.cookiejar import CookieJar

    import httpx  # imported where it is used: a ledger without witnesses starts faster without it

CONNECTIONS = 64


@cache
def trusted() -> ssl.SSLContext:
    """Authorities that all connections trust, read once: that takes 20 ms and 0.7 MB."""
    import httpx  # noqa: PLC0415 - see above

    return httpx.create_ssl_context(trust_env=False)


def no_cookies() -> CookieJar:
    """Make a jar for a client: it stores and sends no cookie.

    A hostile server could fill it until the ledger stops, and as an address that was checked takes
    the place of its name, cookies would go to each server at that address.
    """
    from http import cookiejar  # noqa: PLC0415 - see above

    return cookiejar.CookieJar(cookiejar.DefaultCookiePolicy(allowed_domains=()))


def http_client(headers: Mapping[str, str]) -> httpx.AsyncClient:
    """Make a client with these headers, without proxies of the environment, .netrc and redirects.

    It stores no cookies, and has no time-outs: the callers bound each request as a whole.
    """
    import httpx  # noqa: PLC0415 - see above

    return httpx.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        cookies=no_cookies(),
        timeout=httpx.Timeout(None),
        limits=httpx.Limits(max_connections=CONNECTIONS),
        trust_env=False,
        verify=trusted(),
    )


def parse_url(text: str) -> httpx.URL:
    """Parse an address to which requests can go, http or https; raises ValueError."""
    import httpx  # noqa: PLC0415 - see above

    try:
        url = httpx.URL(text)
        _ = url.host  # decodes it, which fails for a name such as xn--a
    except UnicodeError as err:
        raise ValueError(INVALID_HOST) from err
    except httpx.InvalidURL as err:
        raise ValueError(str(err)) from err
    if url.scheme not in ("http", "https"):
        raise ValueError("neither http:// nor https://")
    check_place(url.raw_host.decode("ascii"), url.port)
    return url


async def read_bounded(answer: httpx.Response, most: int) -> bytes:
    """Read an answer of at most `most` bytes; raises PeerError for a longer one."""
    parts, size = [], 0
    async for chunk in answer.aiter_raw():
        size += len(chunk)
        if size > most:
            raise PeerError(f"more than {most} bytes")
        parts.append(chunk)
    return b"".join(parts)
