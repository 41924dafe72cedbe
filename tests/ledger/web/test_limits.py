"""Event streams, threads and bodies: those who take all that they may leave room for others."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest

from tequio_ledger.web.limits import (
    BODY_PATIENCE_S,
    CROWDED_STREAMS,
    MIN_BODY_BYTES_S,
    StreamKind,
    StreamLimit,
    Turns,
    parse_natural,
    read_chunks,
)
from tequio_shared.errors import MalformedError, RefusedError
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

MOST = 64


def take_all(limit: StreamLimit, kind: StreamKind, network: str, most: int = MOST) -> int:
    """Take as many places as are given; says how many."""
    taken = 0
    while True:
        try:
            limit.check(kind, network, most)
        except RefusedError:
            return taken
        limit.enter(kind, network)
        taken += 1


@pytest.mark.parametrize("kind", StreamKind)
def test_32_networks_that_take_what_they_may_leave_places_for_others(kind: StreamKind) -> None:
    limit = StreamLimit()
    for number in range(32):
        take_all(limit, kind, f"greedy {number}")
    for number in range(64):
        assert take_all(limit, kind, f"honest {number}") == CROWDED_STREAMS


def test_pages_take_no_place_of_a_program_and_programs_none_of_a_page() -> None:
    for full, other in ((StreamKind.LIVE, StreamKind.EVENTS), (StreamKind.EVENTS, StreamKind.LIVE)):
        limit = StreamLimit()
        assert take_all(limit, full, "everybody", most=0) == full.value
        assert take_all(limit, other, "one") == MOST
        assert limit.total == full.value + MOST


def test_a_place_that_is_left_is_free_again() -> None:
    limit = StreamLimit()
    assert take_all(limit, StreamKind.EVENTS, "one") == MOST
    limit.leave(StreamKind.EVENTS, "one")
    assert take_all(limit, StreamKind.EVENTS, "one") == 1


def test_a_process_with_few_connections_has_few_streams() -> None:
    limit = StreamLimit(0.1)
    assert take_all(limit, StreamKind.EVENTS, "everybody", most=0) == StreamKind.EVENTS.value // 10


def test_an_operators_smaller_limit_holds_when_streams_are_few() -> None:
    limit, kind = StreamLimit(), StreamKind.EVENTS
    for number in range(kind.value // (2 * MOST) + 1):
        take_all(limit, kind, f"greedy {number}")
    assert take_all(limit, kind, "one", most=2) == 2
    assert take_all(limit, kind, "another") == CROWDED_STREAMS


def test_a_process_with_hardly_a_connection_has_one_stream() -> None:
    assert take_all(StreamLimit(0.0001), StreamKind.EVENTS, "one", most=0) == 1


async def work(turns: Turns, network: str, order: list[str]) -> None:
    async with turns.turn(network) as turn:
        await asyncio.sleep(0)
        turn.used_s = 0.001
        order.append(network)


async def iterate(times: int) -> None:
    """Let the event loop work."""
    for _ in range(times):
        await asyncio.sleep(0)


@attack("D7", layer="net", ends="the network that has used least is next")
def test_a_newcomer_does_not_wait_for_all_requests_of_another() -> None:
    order: list[str] = []

    async def run() -> None:
        turns = Turns(2)
        async with asyncio.TaskGroup() as tasks:
            for number in range(40):
                tasks.create_task(work(turns, f"flooder {number % 2}", order))
            await iterate(10)
            tasks.create_task(work(turns, "newcomer", order))
        assert len(order) == 41
        last = order.index("newcomer")
        assert last < 30
        order.clear()
        async with asyncio.timeout(5), turns.turn("all"), turns.turn("are free"):
            pass

    asyncio.run(run())


@attack("D7", layer="net", ends="each waiting network has one turn before any has a second")
def test_a_regular_user_does_not_wait_longer_than_those_who_just_came() -> None:
    order: list[str] = []

    async def run() -> None:
        turns = Turns(2)
        for _ in range(100):
            await work(turns, "regular", order)
        order.clear()
        async with asyncio.TaskGroup() as tasks:
            for number in range(240):
                tasks.create_task(work(turns, f"flooder {number % 24}", order))
            await asyncio.sleep(0)
            tasks.create_task(work(turns, "regular", order))
        assert order.index("regular") <= 2 * 24  # one turn of each, and one by rounding

    asyncio.run(run())


@attack("D7", layer="net", ends="the network that has used least is next")
def test_who_used_little_lately_is_next() -> None:
    order: list[str] = []

    async def run() -> None:
        turns = Turns(2)
        await work(turns, "modest", order)
        async with asyncio.TaskGroup() as tasks:
            for number in range(240):
                tasks.create_task(work(turns, f"flooder {number % 24}", order))
            await iterate(150)
            begun = len(order)
            assert 24 < begun < 200
            for _ in range(3):
                tasks.create_task(work(turns, "modest", order))
        assert order[begun:].index("modest") <= 3

    asyncio.run(run())


def test_a_turn_that_is_cancelled_passes_on() -> None:
    async def run() -> None:
        turns, is_over = Turns(1), asyncio.Event()

        async def hold() -> None:
            async with turns.turn("one"):
                await is_over.wait()

        holding, waiting = asyncio.create_task(hold()), asyncio.create_task(hold())
        await asyncio.sleep(0)
        is_over.set()
        waiting.cancel()
        await asyncio.wait({holding, waiting})
        async with asyncio.timeout(5), turns.turn("two"):
            pass

    asyncio.run(run())


def test_a_turn_that_came_just_before_its_cancellation_passes_on() -> None:
    async def run() -> None:
        turns = Turns(1)

        async def wait() -> None:
            async with turns.turn("two"):
                pytest.fail("it was cancelled")

        async with turns.turn("one"):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
        waiting.cancel()  # its turn has come, but it has not run since
        await asyncio.wait({waiting})
        async with asyncio.timeout(5), turns.turn("three"):
            pass

    asyncio.run(run())


class PacedBody:
    """A request whose body comes in pieces, with pauses before them."""

    def __init__(self, *pieces: tuple[float, bytes], length: str | None = None) -> None:
        self.headers = {} if length is None else {"content-length": length}
        self._pieces = pieces

    async def stream(self) -> AsyncIterator[bytes]:
        for pause_s, piece in self._pieces:
            await asyncio.sleep(pause_s)
            yield piece


def read(body: PacedBody, most_bytes: int, patience_s: float = BODY_PATIENCE_S) -> bytes:
    async def read_all() -> bytes:
        chunks = read_chunks(cast("Request", body), most_bytes, patience_s)
        return b"".join([chunk async for chunk in chunks])

    return asyncio.run(read_all())


def test_a_body_may_be_as_large_as_its_limit_and_no_larger() -> None:
    for length in (None, "8"):
        assert read(PacedBody((0, b"1234"), (0, b"5678"), length=length), 8) == b"12345678"
    with pytest.raises(RefusedError) as refused:
        read(PacedBody((0, b"12345678"), (0, b"9")), 8)
    assert refused.value.code == "too-large"


def test_a_body_that_is_announced_as_too_large_is_not_read() -> None:
    body = PacedBody(length="9")
    with pytest.raises(RefusedError, match="a body of 9 bytes; at most 8 are allowed"):
        read(body, 8)


def test_a_slow_connection_has_more_time_for_a_larger_body() -> None:
    parts = (0.0, bytes(MIN_BODY_BYTES_S)), (0.2, b"the end")  # a second more
    assert read(PacedBody(*parts), 1 << 20, patience_s=0.05).endswith(b"the end")


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1_0", "\xb2", "\u0663", "9" * 17])
def test_a_number_is_ascii_digits_and_not_too_many(text: str) -> None:
    with pytest.raises(MalformedError, match="not a number"):
        parse_natural(text)
    assert parse_natural("9" * 16) == 10**16 - 1
