"""The ledger that the connector speaks to, over HTTP, as any member does.

Every answer has a deadline and a size limit. What cannot be had now is LedgerAwayError, answers
that cannot be right are PeerError, and what the ledger refuses is RefusedError with its code.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from tequio_shared.api.answer import parse_answer
from tequio_shared.api.log import PostedAnswer
from tequio_shared.api.network import NetworkAnswer
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import PeerError, RefusedError, TequioError
from tequio_shared.ids import to_text
from tequio_shared.limits import POST_BYTES
from tequio_shared.statement import statement_id
from tequio_shared.tlog import bundle

if TYPE_CHECKING:
    from tequio_shared.genesis import Genesis
    from tequio_shared.ids import NetworkId, PeerKey
    from tequio_shared.statement import Entry

ANSWER_S = 15.0
_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER_FAULT = 500
_FOREIGN_CHARACTERS = 200


class LedgerAwayError(TequioError):
    """The ledger does not answer, or says that it cannot now; try later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """Where a key's statements end in the log."""

    last_seq: int
    last_hash: str


class LedgerClient:
    """One ledger; used from one event loop, its connections closed by who made them."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url.rstrip("/")
        self._http = http

    async def genesis(self) -> Genesis:
        """Get the network's genesis document, checked against the network's id."""
        return parse_answer(await self._call("GET", "/v1/network"), NetworkAnswer).checked_genesis()

    async def chain(self, key: PeerKey) -> ChainEnd | None:
        """Say where a key's chain ends; None when it is not registered."""
        try:
            answer = parse_answer(await self._call("GET", f"/v1/peers/{to_text(key)}"), PeerAnswer)
        except RefusedError as err:
            if err.code == "not-found":
                return None
            raise
        return ChainEnd(last_seq=answer.last_seq, last_hash=answer.last_hash)

    async def post(self, net: NetworkId, entry: Entry) -> int:
        """Have an entry logged and give its index, also when it was logged before.

        Raises RefusedError with the ledger's code.
        """
        raw = await self._call("POST", "/v1/statements", bundle([entry.leaf()]))
        items = parse_answer(raw, PostedAnswer).items
        if len(items) != 1:
            raise PeerError("the ledger answered about other statements than the one sent")
        (item,) = items
        if item.status == "refused":
            if item.code in ("rate-limited", "queue-full", "read-only"):
                raise LedgerAwayError(f"the ledger accepts nothing now: {item.code}")
            raise RefusedError(item.code or "unnamed", _cleaned(item.detail or ""))
        if item.index is None or item.id != to_text(statement_id(net, entry.statement.raw)):
            raise PeerError("the ledger answered about other statements than the one sent")
        return item.index

    async def _call(self, method: str, path: str, content: bytes | None = None) -> bytes:
        try:
            async with asyncio.timeout(ANSWER_S):
                status, raw = await self._read(method, path, content)
        except TimeoutError as err:
            raise LedgerAwayError(f"no answer in {ANSWER_S:.0f} s") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise LedgerAwayError(str(err) or type(err).__name__) from err
        if status == _NOT_FOUND:
            raise RefusedError("not-found", f"{path} is not there")
        if status >= _SERVER_FAULT or status == _TOO_MANY:
            raise LedgerAwayError(f"{path} is answered with status {status}")
        if status != httpx.codes.OK:
            raise PeerError(f"{path} is answered with status {status}")
        return raw

    async def _read(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        parts, size = [], 0
        async with self._http.stream(method, self.url + path, content=content) as answer:
            async for chunk in answer.aiter_raw():
                size += len(chunk)
                if size > POST_BYTES:
                    raise PeerError(f"{path} gives more than {POST_BYTES} bytes")
                parts.append(chunk)
        return answer.status_code, b"".join(parts)


def _cleaned(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text[:_FOREIGN_CHARACTERS])
