"""One ledger with a past for all pages, and a way to read them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import WatchedPage, chromium, watched
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.page_reader import PageReader
from tests.support.sample_ledger import SampleLedger, live_through

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@dataclass(frozen=True, slots=True)
class PageSite:
    """A ledger with history, and its pages."""

    shown: SampleLedger
    pages: PageReader


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    """Let days pass in a ledger, and keep it open."""
    clock = VirtualClock()
    with opened(make_settings(tmp_path_factory.mktemp("shown")), clock) as ledger:

        async def live() -> SampleLedger:
            async with running(ledger):
                return await live_through(ledger, clock)

        yield PageSite(asyncio.run(live()), PageReader(ledger))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium once for a file: while it is up, its own event loop runs in this thread."""
    with chromium() as started:
        yield started


@pytest.fixture
def window(browser: Browser) -> Iterator[WatchedPage]:
    """Open a window in which nothing may go wrong."""
    with watched(browser) as one:
        yield one
        assert one.faults == []
