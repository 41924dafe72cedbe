"""A ledger that lies to a connector about the connector's own chain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest

from tequio_ledger.connector.ledger import (
    MOST_AHEAD,
    LedgerAwayError,
    LedgerClient,
    StatementAuthor,
    VouchBook,
)
from tequio_shared.api.answer import PROBLEM_PREFIX, Problem
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import UserFacingError
from tequio_shared.keys import Signer
from tests.support.answers import filled
from tests.support.statements import NET

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seq", [MOST_AHEAD + 1, 2**53 - 1])
def test_a_ledger_that_names_a_number_that_cannot_be_uses_up_none(tmp_path: Path, seq: int) -> None:
    chain = msgspec.json.encode(filled(PeerAnswer, last_seq=seq))

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(chain))

    async def join() -> None:
        lying = httpx.MockTransport(answer)
        async with httpx.AsyncClient(transport=lying) as http:
            ledger = LedgerClient("http://ledger.example", http)
            author = StatementAuthor(ledger, NET, Signer(bytes([5]) * 32), book, lambda: 0)
            await author.join(0)

    book = VouchBook(tmp_path / "book", 0)
    with pytest.raises(UserFacingError, match="check that it is the right ledger"):
        asyncio.run(join())
    assert book.used == VouchBook(tmp_path / "book", 0).used == 0


def test_only_the_ledger_itself_says_that_a_key_is_not_registered() -> None:
    pages = iter([msgspec.json.encode(Problem(type=f"{PROBLEM_PREFIX}not-found")), b"no page here"])

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(404, stream=httpx.ByteStream(next(pages)))

    async def ask() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
            ledger = LedgerClient("http://ledger.example", http)
            assert await ledger.peer(Signer(bytes([5]) * 32).key) is None
            with pytest.raises(LedgerAwayError):
                await ledger.peer(Signer(bytes([5]) * 32).key)

    asyncio.run(ask())
