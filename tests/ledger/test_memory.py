"""What the ledger remembers for speed is bounded, tightly: a long life must not show in it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from litestar._asgi.routing_trie.traversal import parse_path_params

from tequio_ledger.web.app import build
from tequio_ledger.web.events import Streams
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

PATHS = 100
CONNECTION_KIB = 1_024


def test_paths_that_come_once_are_forgotten(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        route = build(ledger, Streams()).asgi_router.handle_routing
        for number in range(2_000):
            route(path=f"/v1/blobs/{number}", method="GET")
        assert route.cache_info().currsize <= PATHS
        assert parse_path_params.cache_info().currsize <= PATHS


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
