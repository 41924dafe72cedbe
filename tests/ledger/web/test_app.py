"""The application: routes for programs at once, pages as soon as they are loaded."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import httpx

from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.web.app import PublicApp
from tequio_ledger.web.events import EventStreams
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tequio_shared.ids import Digest

BROWSER = {"accept": "text/html"}


def asked(folder: Path, *paths: str) -> list[httpx.Response]:
    """Ask a new application for several paths at once, as a browser does."""

    async def ask(app: PublicApp) -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            return await asyncio.gather(*(http.get(path, headers=BROWSER) for path in paths))

    with opened(make_settings(folder), VirtualClock()) as ledger:
        return asyncio.run(ask(PublicApp(ledger, EventStreams())))


def test_the_first_readers_wait_together_until_the_pages_are_loaded(tmp_path: Path) -> None:
    answers = asked(tmp_path, "/", "/about", "/", "/nowhere")
    assert [one.status_code for one in answers] == [200, 200, 200, 404]
    assert all(one.headers["content-type"].startswith("text/html") for one in answers)
    assert answers[0].text == answers[2].text


def test_an_unknown_path_of_the_api_is_never_a_page(tmp_path: Path) -> None:
    for answer in asked(tmp_path, "/v1/nowhere", "/log/nowhere"):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_blob_is_looked_up_outside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blobs of several processes are listed in the database, which may not answer."""
    seen: list[threading.Thread] = []

    def size(_: BlobFolder, __: Digest) -> int:
        seen.append(threading.current_thread())
        return 7

    async def ask(app: PublicApp) -> list[int]:
        transport = httpx.ASGITransport(app=app)
        path, name = f"/v1/blobs/{'A' * 43}", f'"{"A" * 43}"'
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            sized = await http.head(path)
            unchanged = await http.get(path, headers={"if-none-match": name})
        return [sized.status_code, unchanged.status_code]

    monkeypatch.setattr(BlobFolder, "size", size)
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        assert asyncio.run(ask(PublicApp(ledger, EventStreams()))) == [200, 304]
    assert len(seen) == 2
    assert threading.main_thread() not in seen
