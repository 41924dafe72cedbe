"""Places for requests: what slow, failing and quick sources get of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.swarm.request_places import (
    LONGEST_S,
    OTHER_PLACES,
    SOON_S,
    TRUSTED_PLACES,
    RequestPlaces,
)
from tequio_shared.errors import PeerError
from tests.support.attack_table import attack
from tests.support.attackers import key_number

if TYPE_CHECKING:
    from trio.testing import MockClock

    from tequio_shared.ids import PeerKey

pytestmark = pytest.mark.trio
SLOW = [key_number(number) for number in range(2, 40)]
QUICK = key_number(1)


class Requests:
    """Requests to sources that answer when a test says so, and end when they are given up."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.places = RequestPlaces(self.give_up)
        self.given_up: list[tuple[PeerKey, float]] = []
        self.open: list[PeerKey] = []
        self._ends: dict[PeerKey, trio.Event] = {}
        self._nursery = nursery

    def give_up(self, source: PeerKey) -> None:
        self.given_up.append((source, trio.current_time()))
        self._ends.pop(source).set()

    def ask(self, source: PeerKey, takes_s: float) -> None:
        self._nursery.start_soon(self.request, source, takes_s)

    async def request(self, source: PeerKey, takes_s: float) -> bool:
        """True if the answer came."""
        try:
            async with self.places.taken(source):
                await self._answer(source, takes_s)
        except PeerError:
            return False
        return True

    async def _answer(self, source: PeerKey, takes_s: float) -> None:
        ended = self._ends.setdefault(source, trio.Event())
        self.open.append(source)
        with trio.move_on_after(takes_s):
            await ended.wait()
        self.open.remove(source)
        if ended.is_set():
            raise PeerError("given up")


async def test_a_source_has_one_request_until_it_has_answered_soon(
    autojump_clock: MockClock,
) -> None:
    del autojump_clock
    async with trio.open_nursery() as nursery:
        requests = Requests(nursery)
        for _ in range(4):
            requests.ask(QUICK, 1)
        await trio.sleep(0.5)
        assert requests.open == [QUICK]
        await trio.sleep(1)
        assert requests.open == [QUICK] * 3
        await trio.sleep(1)
        assert not requests.open
        requests.ask(QUICK, SOON_S + 1)
        await trio.sleep(SOON_S + 2)
        requests.ask(QUICK, 1)
        requests.ask(QUICK, 1)
        await trio.sleep(0.5)
        assert requests.open == [QUICK], "its last answer came late"


async def test_those_that_wait_for_a_source_whose_answer_came_late_go_one_by_one(
    autojump_clock: MockClock,
) -> None:
    del autojump_clock
    async with trio.open_nursery() as nursery:
        requests = Requests(nursery)
        requests.ask(QUICK, SOON_S + 1)
        await trio.sleep(SOON_S + 0.5)
        for _ in range(3):
            requests.ask(QUICK, 1)
        await trio.sleep(0.8)
        assert requests.open == [QUICK]


async def test_the_patience_is_a_multiple_of_what_answers_have_taken(
    autojump_clock: MockClock,
) -> None:
    del autojump_clock
    async with trio.open_nursery() as nursery:
        requests = Requests(nursery)
        for _ in range(10):
            assert await requests.request(QUICK, 2 * SOON_S)
        began_s = trio.current_time()
        for source in SLOW[: OTHER_PLACES + 1]:
            requests.ask(source, 1e9)
        await trio.sleep(LONGEST_S)
        _, given_up_s = requests.given_up[0]
        assert 3 * 2 * SOON_S < given_up_s - began_s < 4 * 2 * SOON_S
        nursery.cancel_scope.cancel()


@attack(
    "M13", layer="net", ends="sources that send have places of their own, and slow ones lose theirs"
)
async def test_quick_sources_are_answered_whatever_many_slow_ones_do(
    autojump_clock: MockClock,
) -> None:
    del autojump_clock
    async with trio.open_nursery() as nursery:
        requests = Requests(nursery)
        assert await requests.request(QUICK, 0.1)
        for source in SLOW * 4:
            requests.ask(source, 1e9)
        for _ in range(1_000):
            began_s = trio.current_time()
            assert await requests.request(QUICK, 0.1)
            assert trio.current_time() - began_s < 0.2
        assert len(requests.open) == OTHER_PLACES
        nursery.cancel_scope.cancel()


async def test_places_that_slow_sources_have_are_given_to_those_that_wait(
    autojump_clock: MockClock,
) -> None:
    del autojump_clock
    async with trio.open_nursery() as nursery:
        requests = Requests(nursery)
        for source in SLOW[:OTHER_PLACES]:
            requests.ask(source, 1e9)
        await trio.sleep(5 * SOON_S)
        assert not requests.given_up, "nobody waits"
        assert await requests.request(QUICK, 0.1)
        assert {source for source, _ in requests.given_up} == set(SLOW[:OTHER_PLACES])
        nursery.cancel_scope.cancel()


async def test_sources_that_were_trusted_lose_their_places_by_holding_back(
    autojump_clock: MockClock,
) -> None:
    del autojump_clock
    turned = SLOW[:TRUSTED_PLACES]
    async with trio.open_nursery() as nursery:
        requests = Requests(nursery)
        for source in (*turned, QUICK):
            assert await requests.request(source, 0.1)
        for source in turned:
            requests.ask(source, 1e9)
        await trio.sleep(0.1)
        began_s = trio.current_time()
        assert await requests.request(QUICK, 0.1)
        assert trio.current_time() - began_s < SOON_S + 2
        nursery.cancel_scope.cancel()


async def test_over_a_slow_line_the_patience_grows_until_an_answer_gets_through(
    autojump_clock: MockClock,
) -> None:
    del autojump_clock
    async with trio.open_nursery() as nursery:
        requests = Requests(nursery)
        sources = SLOW[: OTHER_PLACES + 2]
        answered = list[float]()

        async def fetch(source: PeerKey) -> None:
            while not await requests.request(source, 0.6 * LONGEST_S):
                pass
            answered.append(trio.current_time())

        began_s = trio.current_time()
        async with trio.open_nursery() as fetching:
            for source in sources:
                fetching.start_soon(fetch, source)
        assert len(answered) == len(sources)
        assert max(answered) - began_s < 4 * LONGEST_S
        nursery.cancel_scope.cancel()
