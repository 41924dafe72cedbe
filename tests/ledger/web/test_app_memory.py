"""The ledger's caches have tight bounds: they must not grow over a long life."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from contextlib import ExitStack
from typing import TYPE_CHECKING

from tequio_ledger.web.app import PublicApp
from tequio_ledger.web.events import EventStreams
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Message

PATHS = 300
PATH_BYTES = 2_000
CONNECTION_KIB = 1_024


def test_paths_that_come_once_are_forgotten(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        app = PublicApp(ledger, EventStreams())
        asyncio.run(_ask_for_missing_blobs(app, 0, 200))  # fills what is remembered of any path
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        asyncio.run(_ask_for_missing_blobs(app, 200, 200 + PATHS))
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    assert grown < PATHS * PATH_BYTES // 4


async def _ask_for_missing_blobs(app: ASGIApp, first: int, end: int) -> None:
    """Ask without a client library, whose log of requests a test would remember."""

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(_message: Message) -> None:
        pass

    for number in range(first, end):
        path = f"/v1/blobs/{number:0>{PATH_BYTES}}"
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
        await app(scope, receive, send)


def test_connections_to_the_database_keep_few_pages(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        for engine in (ledger.database.reader, ledger.database.writer):
            with engine.connect() as connection:
                cached = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
                assert -CONNECTION_KIB <= cached < 0


def test_one_reader_uses_one_connection(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        reader = ledger.database.reader
        with ExitStack() as at_once:
            for _ in range(4):
                at_once.enter_context(reader.connect())
        used = set()
        for _ in range(12):
            with reader.connect() as connection:
                used.add(id(connection.connection.driver_connection))
        assert len(used) == 1
