"""Requests to strangers' servers: one deadline, one size limit, no redirects, JSON or nothing.

Nothing of a request but its path is in an error: bodies and headers hold codes and tokens.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import msgspec

from tequio_ledger.connector.provider import ProviderAwayError, ProviderWrongError

if TYPE_CHECKING:
    from collections.abc import Mapping

ANSWER_S = 10.0
ANSWER_BYTES = 256 << 10
"""More than the keys of any provider that we know."""
_TOO_MANY = 429
_SERVER_FAULT = 500
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}

Json = dict[str, Any]  # what an answer can be before anybody looks at it


class Outside:
    """Asks servers; one for the whole process, closed by who made it."""

    def __init__(self, http: httpx.AsyncClient, answer_s: float = ANSWER_S) -> None:
        self._http = http
        self._answer_s = answer_s

    async def get(self, url: str, *, token: str = "") -> Json:
        """Get a JSON object of status 200, in the name of a token if there is one."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        status, answer = await self._ask("GET", url, None, headers)
        if status != httpx.codes.OK:
            raise ProviderWrongError(f"{_place(url)} answers with status {status}")
        return answer

    async def post(self, url: str, form: Mapping[str, str]) -> Json:
        """Post a form and get a JSON object, of whatever status: errors of OAuth are answers."""
        return (await self._ask("POST", url, form, {}))[1]

    async def _ask(
        self, method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> tuple[int, Json]:
        place = _place(url)
        try:
            async with asyncio.timeout(self._answer_s):
                status, raw = await self._read(method, url, form, headers)
        except TimeoutError as err:
            raise ProviderAwayError(f"{place} gave no answer in {self._answer_s:.0f} s") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise ProviderAwayError(f"{place} does not answer: {type(err).__name__}") from err
        if status >= _SERVER_FAULT or status == _TOO_MANY:
            raise ProviderAwayError(f"{place} answers with status {status}")
        return status, _parsed(raw, place)

    async def _read(
        self, method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        parts, size = [], 0
        async with self._http.stream(method, url, data=form, headers=headers) as answer:
            async for chunk in answer.aiter_raw():
                size += len(chunk)
                if size > ANSWER_BYTES:
                    raise ProviderWrongError(f"{_place(url)} gives more than {ANSWER_BYTES} bytes")
                parts.append(chunk)
        return answer.status_code, b"".join(parts)


def http_client() -> httpx.AsyncClient:
    """Make the connections: no proxies of the environment, no .netrc, no redirects, no cookies."""
    return httpx.AsyncClient(
        headers={
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": "tequio-connector",
        },
        timeout=httpx.Timeout(None),  # `Outside` bounds every request as a whole
        limits=httpx.Limits(max_connections=64),
        trust_env=False,
    )


def check_address(url: object) -> str:
    """Accept an address to ask: https, or http on this machine; raises ValueError."""
    if not isinstance(url, str) or len(url) > 512 or not url.isascii() or not url.isprintable():  # noqa: PLR2004
        raise ValueError("an address such as https://example.org")
    parts = urlsplit(url)
    is_here = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or parts.username or not (parts.scheme == "https" or is_here):
        raise ValueError("an https address, or an http one on this machine")
    if parts.query or parts.fragment:
        raise ValueError("an address without ? and #")
    return url


def _parsed(raw: bytes, place: str) -> Json:
    try:
        answer = msgspec.json.decode(raw)
    except (ValueError, RecursionError) as err:
        raise ProviderWrongError(f"{place} gives no JSON") from err
    if not isinstance(answer, dict):
        raise ProviderWrongError(f"{place} gives no JSON object")
    return answer


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"
