"""A ledger that all tests of one file watch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_ledger.monitor.alarms import Alarms
from tests.support.cosigned_ledger import register_keys
from tests.support.ledgers import UNLIMITED, Served, served
from tests.support.watched_ledger import InterceptedLedger, SteadyClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ledger")


@pytest.fixture(scope="module")
def ledger(home: Path) -> Iterator[Served]:
    """A ledger of 301 entries, which all tests of this file read and some make grow."""
    with served(home, *UNLIMITED) as running:
        register_keys(running, "first", 150)
        register_keys(running, "second", 150)
        yield running


@pytest.fixture
def remote(ledger: Served) -> Iterator[InterceptedLedger]:
    with InterceptedLedger(ledger.url) as asked:
        yield asked


@pytest.fixture
def alarms(tmp_path: Path, ledger: Served) -> Alarms:
    return Alarms(tmp_path / "alarms", ledger.url, lambda: 1_800_000_000_000)


@pytest.fixture
def steady_s() -> SteadyClock:
    return SteadyClock()
