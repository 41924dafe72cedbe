"""One running program for all tests of the HTTP API, and somebody to talk to it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support.authors import Author
from tests.support.ledgers import Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), "--blob-quota-mb", "200") as running:
        yield running


@pytest.fixture
def http(program: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=program.url, timeout=10) as client:
        yield client


@pytest.fixture
def author(program: Served, request: pytest.FixtureRequest) -> Author:
    """Somebody whom the ledger does not know yet, another one in each test."""
    return Author(request.node.nodeid, program.net)


@pytest.fixture
def now_ms() -> int:
    return time.time_ns() // 1_000_000
