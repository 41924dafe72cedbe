"""Readers of pages queue for each other, and never use up the log's own connections."""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.pool import QueuePool

from tequio_ledger.log.sequencer import Known, Logged, Outcome
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.web.pages.render import (
    CONCURRENT_CARDS,
    CONCURRENT_RENDERS,
    MAX_WAITING,
    MAX_WAITING_CARDS,
    QUERY_PARAMETERS,
    RenderQueue,
)
from tequio_ledger.web.pages.router import ROUTES
from tequio_ledger.web.routing import ParameterSource
from tequio_shared.errors import RefusedError
from tests.support.attack_table import attack
from tests.support.authors import Author, newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

SERVICES = (
    "ledger",
    "reader",
    "streams",
    "description",
    "documentation",
    "tallies",
    "measure_reader",
)


class ConcurrentWork:
    """Work that records how many callers do it at once."""

    def __init__(self) -> None:
        self.at_once = self.most = 0
        self.is_full, self.may_end = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def work(self) -> str:
        """Be counted, and wait."""
        with self._lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            if self.at_once == CONCURRENT_RENDERS:
                self.is_full.set()
        assert self.may_end.wait(60)
        with self._lock:
            self.at_once -= 1
        return "done"


def test_a_few_pages_are_printed_at_once_and_of_too_many_readers_the_last_is_sent_away() -> None:
    async def run() -> tuple[list[str], int]:
        turns, crowd = RenderQueue(), ConcurrentWork()
        tasks = [
            asyncio.create_task(turns.run(crowd.work, "all"))
            for _ in range(CONCURRENT_RENDERS + MAX_WAITING)
        ]
        await asyncio.to_thread(crowd.is_full.wait, 60)
        with pytest.raises(RefusedError, match="try again later"):
            await turns.run(crowd.work, "all")
        crowd.may_end.set()
        return await asyncio.gather(*tasks), crowd.most

    done, most = asyncio.run(run())
    assert done == ["done"] * (CONCURRENT_RENDERS + MAX_WAITING)
    assert most == CONCURRENT_RENDERS


def test_a_page_that_fails_gives_its_turn_back() -> None:
    async def run() -> int:
        turns = RenderQueue()
        for _ in range(3 * CONCURRENT_RENDERS):
            with pytest.raises(ZeroDivisionError):
                await turns.run(lambda: 1 // 0, "")
        return await turns.run(lambda: 7, "")

    assert asyncio.run(run()) == 7


@attack("D15", layer="net", ends="the network that waits for most gives up a place")
def test_the_queue_of_pictures_has_room_for_others_when_one_network_fills_it() -> None:
    begun, may_end, made = threading.Event(), threading.Event(), list[str]()

    def draw(network: str) -> str:
        begun.set()
        assert may_end.wait(60)
        made.append(network)
        return network

    async def run() -> list[str | BaseException]:
        cards = RenderQueue(CONCURRENT_CARDS, MAX_WAITING_CARDS)

        def ask(network: str) -> asyncio.Task[str]:
            return asyncio.create_task(cards.run(lambda: draw(network), network))

        flood = [ask("flood") for _ in range(CONCURRENT_CARDS + MAX_WAITING_CARDS)]
        await asyncio.to_thread(begun.wait, 60)
        with pytest.raises(RefusedError, match="try again later"):
            await ask("flood")
        readers = [ask("reader"), ask("other reader")]
        await asyncio.sleep(0)
        may_end.set()
        return await asyncio.gather(*readers, *flood, return_exceptions=True)

    answers = asyncio.run(run())
    assert answers[:2] == ["reader", "other reader"]
    assert {made.index("reader"), made.index("other reader")} == {1, 2}, "soon, and not last"
    sent_away = [one for one in answers if isinstance(one, RefusedError)]
    assert [one.code for one in sent_away] == ["queue-full"] * 2
    assert "try again later" in str(sent_away[0])
    assert made.count("flood") == len(answers) - 4


def test_a_full_queue_of_many_networks_sends_the_next_one_away() -> None:
    async def run() -> int:
        turns, crowd = RenderQueue(1, 2), ConcurrentWork()
        tasks = [asyncio.create_task(turns.run(crowd.work, one)) for one in "abc"]
        await asyncio.sleep(0)
        for network in "bcd":
            with pytest.raises(RefusedError, match="try again later"):
                await turns.run(crowd.work, network)
        crowd.may_end.set()
        return len(await asyncio.gather(*tasks))

    assert asyncio.run(run()) == 3


def test_a_reader_who_leaves_the_queue_makes_room() -> None:
    async def run() -> str:
        turns, crowd = RenderQueue(1, 1), ConcurrentWork()
        first = asyncio.create_task(turns.run(crowd.work, "a"))
        gone = asyncio.create_task(turns.run(crowd.work, "b"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait([gone])
        next_ = asyncio.create_task(turns.run(crowd.work, "c"))
        await asyncio.sleep(0)
        crowd.may_end.set()
        await first
        return await next_

    assert asyncio.run(run()) == "done"


def test_a_print_is_known_by_all_that_a_page_may_be_asked_for() -> None:
    asked = set()
    for route in ROUTES:
        parameters = route.parameters(SERVICES)
        asked |= {one.name for one in parameters if one.source is ParameterSource.QUERY}
    assert asked - {"v"} == QUERY_PARAMETERS


def test_the_log_goes_on_while_readers_hold_every_connection(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger) -> list[Outcome]:
        author = Author("of the log", ledger.genesis.network_id)
        entry = author.register(clock())
        async with running(ledger):
            outcomes = [*await ledger.sequencer.submit([entry])]
            with ExitStack() as held:
                hold_all(ledger, held)
                outcomes += await ledger.sequencer.submit([entry])
                outcomes += await ledger.sequencer.submit(newcomers("more", author.net, 1, clock()))
                with pytest.raises(UnwritableError), ledger.database.translated_errors():
                    ledger.database.reader.connect()
            return outcomes

    with opened(make_settings(tmp_path), clock) as ledger:
        first, again, next_ = asyncio.run(run(ledger))
    assert isinstance(first, Logged)
    assert isinstance(again, Known), "it is looked up in the database"
    assert isinstance(next_, Logged)


def hold_all(ledger: Ledger, held: ExitStack) -> None:
    """Take every connection that readers have."""
    pool = ledger.database.reader.pool
    assert isinstance(pool, QueuePool)
    pool._timeout = 0.05  # noqa: SLF001 - a test need not wait half a minute
    while pool.checkedout() < pool.size() + pool._max_overflow:  # noqa: SLF001 - all there are
        held.enter_context(ledger.database.reader.connect())
