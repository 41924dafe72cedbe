"""Chunks are taken once, the rarest first, and again when a source is late or fails."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from random import Random
from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client.worker.store.trees import PartialTree, hash_bytes
from tequio_client.worker.swarm.blob_server import BlobStatus
from tequio_client.worker.swarm.sources import (
    MAX_ATTEMPTS,
    ChunkQueue,
    FetchFailedError,
    FetchPool,
    FetchProgress,
    FetchSources,
)
from tequio_client.worker.swarm.streams import AnswerError
from tequio_shared.errors import MalformedError, PeerError
from tests.support.attackers import key_number

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableSequence
    from pathlib import Path

    from trio.testing import MockClock

    from tequio_client.worker.swarm.mirrors import Source
    from tequio_client.worker.swarm.sources import FetchFrom

pytestmark = pytest.mark.trio
CONTENT = bytes(range(100))
PIECE = 10
HEDGE_S = 1.5
ANA, BEN, CLEO = map(key_number, (1, 2, 3))


@pytest.fixture
def partial(tmp_path: Path) -> Iterator[PartialTree]:
    tree = hash_bytes(CONTENT, PIECE)
    with closing(PartialTree(tree, content=tmp_path / "content", bits=tmp_path / "bits")) as opened:
        yield opened


class LotInOrder(Random):
    """The lot that leaves everything as it is."""

    def shuffle(self, x: MutableSequence[object]) -> None: ...


def queue_of(partial: PartialTree, rng: Random | None = None, most_pieces: int = 4) -> ChunkQueue:
    rng = rng or LotInOrder()
    return ChunkQueue(partial, most_pieces=most_pieces, hedge_s=HEDGE_S, rng=rng)


async def test_neighbouring_missing_pieces_are_asked_for_at_once(partial: PartialTree) -> None:
    partial.write(5, CONTENT[50:60])
    queue = queue_of(partial)
    assert [queue.next_chunk(ANA, None) for _ in range(5)] == [(0, 4), (4, 1), (6, 4), None, None]


async def test_a_source_is_asked_only_for_what_it_holds(partial: PartialTree) -> None:
    queue, held = queue_of(partial), [index in {1, 2, 9} for index in range(10)]
    assert [queue.next_chunk(ANA, held) for _ in range(3)] == [(1, 2), (9, 1), None]
    assert not queue.wants_from(held)
    assert [queue.next_chunk(BEN, None) for _ in range(4)] == [(0, 1), (3, 1), (4, 4), (8, 1)]


async def test_a_chunk_whose_request_failed_is_next_in_line(partial: PartialTree) -> None:
    queue = queue_of(partial)
    first = queue.next_chunk(ANA, None)
    assert first == (0, 4)
    with suppress(PeerError), queue.requested(first, ANA):
        assert queue.next_chunk(BEN, None) == (4, 4)
        raise PeerError("reset")
    assert queue.next_chunk(BEN, None) == first


async def test_a_late_chunk_is_asked_of_one_other_source_and_later_of_more(
    partial: PartialTree, autojump_clock: MockClock
) -> None:
    del autojump_clock
    queue = queue_of(partial)
    chunks = [queue.next_chunk(ANA, None) for _ in range(3)]
    assert chunks == [(0, 4), (4, 4), (8, 2)]
    with queue.requested((0, 4), ANA):
        assert queue.next_chunk(BEN, None) is None
        await trio.sleep(HEDGE_S + 0.1)
        assert queue.next_chunk(ANA, None) is None, "its own"
        assert queue.next_chunk(BEN, None) == (0, 4)
        with queue.requested((0, 4), BEN):
            await trio.sleep(HEDGE_S + 0.1)
            assert queue.next_chunk(CLEO, None) is None, "two owe it: not before twice that time"
            await trio.sleep(HEDGE_S)
            assert queue.next_chunk(BEN, None) is None, "its own"
            assert queue.next_chunk(CLEO, None) == (0, 4)
            partial.write(0, CONTENT[:40])
        assert not queue.wants_from(None)


async def test_a_late_chunk_that_is_here_already_is_not_asked_for(
    partial: PartialTree, autojump_clock: MockClock
) -> None:
    del autojump_clock
    queue = queue_of(partial)
    chunk = queue.next_chunk(ANA, None)
    assert chunk == (0, 4)
    with queue.requested(chunk, ANA):
        await trio.sleep(HEDGE_S + 0.1)
        partial.write(0, CONTENT[:40])
        assert queue.next_chunk(BEN, None) == (4, 4)
        assert queue.next_chunk(BEN, None) == (8, 2)
        assert queue.next_chunk(BEN, None) is None


async def test_a_request_that_waited_for_its_turn_is_sent_if_nobody_brings_the_chunk_meanwhile(
    partial: PartialTree, autojump_clock: MockClock
) -> None:
    del autojump_clock
    queue = queue_of(partial)
    assert [queue.next_chunk(ANA, None) for _ in range(3)] == [(0, 4), (4, 4), (8, 2)]
    with queue.requested((0, 4), ANA) as may_ask_ana, queue.requested((0, 4), BEN) as may_ask_ben:
        await trio.sleep(2 * HEDGE_S + 0.1)
        assert may_ask_ben()
        assert not may_ask_ana(), "it is on its way"
        assert queue.next_chunk(CLEO, None) is None
        await trio.sleep(HEDGE_S + 0.1)
        assert may_ask_ana(), "it is late"
    with queue.requested((4, 4), ANA) as may_ask_ana:
        partial.write(4, CONTENT[40:80])
        assert not may_ask_ana(), "it is here"


async def test_the_chunk_that_the_fewest_sources_hold_comes_first(partial: PartialTree) -> None:
    queue = queue_of(partial, most_pieces=1)
    ana, ben = ([index in own for index in range(10)] for own in ({0, 1, 2, 5}, {0, 2, 5, 9}))
    with queue.holding(ana), queue.holding(ben), queue.holding(None):
        taken = [queue.next_chunk(CLEO, None) for _ in range(8)]
        assert taken == [(piece, 1) for piece in (3, 4, 6, 7, 8, 1, 9, 0)]
        assert queue.next_chunk(BEN, ben) == (2, 1)
    assert queue.next_chunk(CLEO, None) == (5, 1)


async def test_a_source_that_left_makes_its_chunks_rarer(partial: PartialTree) -> None:
    queue = queue_of(partial, most_pieces=1)
    common, other = ([index in own for index in range(10)] for own in ({0, 1}, set(range(1, 10))))
    with queue.holding(common):
        with queue.holding(other):
            assert queue.next_chunk(CLEO, None) == (0, 1)
        assert queue.next_chunk(CLEO, None) == (2, 1)


async def test_workers_begin_with_different_chunks_and_the_same_lot_gives_the_same(
    partial: PartialTree,
) -> None:
    def order(seed: int) -> list[object]:
        queue = queue_of(partial, Random(seed), most_pieces=1)
        return [queue.next_chunk(ANA, None) for _ in range(10)]

    orders = [order(seed) for seed in range(8)]
    assert all(set(one) == {(index, 1) for index in range(10)} for one in orders)
    assert len({one[0] for one in orders}) > 3
    assert order(3) == orders[3]


PIECES, NEWCOMERS, AT_ONCE = 40, 6, 4
HEAD = bytes(range(PIECES))


class TreeHolder:
    """A holder of a tree that sends one piece a second in all, and fetches what it lacks."""

    def __init__(self, partial: PartialTree, rng: Random) -> None:
        self.partial = partial
        self.queue = queue_of(partial, rng, most_pieces=1)
        self.key = object()
        self.line = trio.Lock()
        self.sent = 0

    async def send(self, piece: int) -> bytes:
        async with self.line:
            await trio.sleep(1)
            self.sent += 1
            return HEAD[piece : piece + 1]

    def held(self) -> list[bool] | None:
        return None if self.partial.is_whole else [bool(one) for one in self.partial.held_pieces()]

    async def fetch(self, others: list[TreeHolder]) -> None:
        async with trio.open_nursery() as nursery:
            for other in others:
                if other is not self:
                    nursery.start_soon(self._fetch_from, other)

    async def _fetch_from(self, other: TreeHolder) -> None:
        while not self.partial.is_whole:
            held = other.held()
            with self.queue.holding(held):
                async with trio.open_nursery() as nursery:
                    for _ in range(AT_ONCE):
                        nursery.start_soon(self._pull, other, held)
            await trio.sleep(0.2)

    async def _pull(self, other: TreeHolder, held: list[bool] | None) -> None:
        source = cast("Source", other.key)
        while not self.partial.is_whole and self.queue.wants_from(held):
            chunk = self.queue.next_chunk(source, held)
            if chunk is None:
                await self.queue.wait_for_change(0.5)
                continue
            with self.queue.requested(chunk, source):
                self.partial.write(chunk[0], await other.send(chunk[0]))


async def spread(folder: Path, lots: list[Random]) -> tuple[float, int]:
    """Spread a head from one seed; returns the time until all have it, and what the seed sent."""
    tree = hash_bytes(HEAD, 1)
    with ExitStack() as stack:
        members = []
        for number, lot in enumerate([LotInOrder(), *lots]):
            files = {"content": folder / f"{number}.content", "bits": folder / f"{number}.bits"}
            members.append(
                TreeHolder(stack.enter_context(closing(PartialTree(tree, **files))), lot)
            )
        seed, *newcomers = members
        seed.partial.write(0, HEAD)
        start_s = trio.current_time()
        async with trio.open_nursery() as nursery:
            for one in newcomers:
                nursery.start_soon(one.fetch, members)
        assert all(one.partial.is_whole for one in newcomers)
        return trio.current_time() - start_s, seed.sent


async def test_a_head_spreads_from_one_seed_without_everybody_asking_for_the_same_chunks(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    del autojump_clock
    (lots, order) = (tmp_path / "lots", tmp_path / "order")
    for one in (lots, order):
        one.mkdir()
    by_lot_s, sent = await spread(lots, [Random(number) for number in range(NEWCOMERS)])
    in_order_s, sent_in_order = await spread(order, [LotInOrder() for _ in range(NEWCOMERS)])
    # The seed alone would send every piece to each: 240 s.
    assert sent < 3 * PIECES < sent_in_order
    assert by_lot_s < 3 * PIECES < in_order_s


async def test_the_error_of_a_fetch_names_the_content_and_counts_its_peers() -> None:
    progress = FetchProgress(hash_bytes(CONTENT, PIECE).ref.root)
    progress.asked |= {ANA, BEN}
    progress.bad_sources[BEN] = "wrong"
    name = progress.name.hex()
    text = f"could not fetch {name} from 2 sources in 0 s (1 sent wrong data)"
    assert str(FetchFailedError(progress)) == text


class StepCounter(trio.abc.Instrument):
    """Counts how often any task went on."""

    def __init__(self) -> None:
        self.steps = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.steps += 1


def pool_of(
    sources: FetchSources, fetch_from: FetchFrom, hedge_s: float | None = HEDGE_S
) -> FetchPool:
    return FetchPool(
        sources,
        FetchProgress(hash_bytes(CONTENT, PIECE).ref.root),
        fetch_from,
        until_ready=trio.lowlevel.checkpoint,
        hedge_s=hedge_s,
        may_ask=lambda _: True,
        drop=lambda _source, _reason: None,
        rng=Random(1),
    )


@pytest.mark.parametrize("waiting", [10, 200])
async def test_a_source_that_waits_for_its_turn_costs_nothing(
    autojump_clock: MockClock, waiting: int
) -> None:
    asked: list[Source] = []

    async def hang(source: Source) -> None:
        asked.append(source)
        await trio.sleep_forever()

    sources = [key_number(number) for number in range(waiting)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pool_of(FetchSources(sources), hang).run)
        counter = StepCounter()
        trio.lowlevel.add_instrument(counter)
        await trio.sleep(5 * HEDGE_S + 0.1)
        trio.lowlevel.remove_instrument(counter)
        nursery.cancel_scope.cancel()
    assert asked == sources[:6], "in the order of preference"
    assert counter.steps < 40


async def test_a_source_that_fails_gives_its_turn_to_the_next_at_once(
    autojump_clock: MockClock,
) -> None:
    asked: list[tuple[Source, float]] = []

    async def refuse(source: Source) -> None:
        asked.append((source, trio.current_time()))
        raise PeerError("not here")

    began_s = trio.current_time()
    with trio.move_on_after(60):
        await pool_of(FetchSources([ANA, BEN, CLEO]), refuse).run()
    assert [source for source, at_s in asked if at_s == began_s] == [ANA, BEN, CLEO]


async def test_a_liar_gives_its_turn_to_the_next_and_a_fetch_ends_when_all_have_lied(
    autojump_clock: MockClock,
) -> None:
    asked: list[Source] = []

    async def lie(source: Source) -> None:
        asked.append(source)
        raise MalformedError("wrong bytes")

    began_s = trio.current_time()
    await pool_of(FetchSources([ANA, BEN, CLEO], may_grow=False), lie).run()
    assert asked == [ANA, BEN, CLEO]
    assert trio.current_time() == began_s


@pytest.mark.parametrize(("status", "most"), [(BlobStatus.MISSING, 14), (BlobStatus.REFUSED, 40)])
async def test_a_source_without_the_content_is_asked_again_ever_more_seldom(
    autojump_clock: MockClock, status: BlobStatus, most: int
) -> None:
    asked: list[Source] = []

    async def answer(source: Source) -> None:
        asked.append(source)
        raise AnswerError(status)

    with trio.move_on_after(100):
        await pool_of(FetchSources([ANA]), answer).run()
    assert most * 0.6 < len(asked) <= most


@pytest.mark.parametrize(
    ("status", "least", "most"),
    [(BlobStatus.BUSY, 300, 1_000), (BlobStatus.REFUSED, MAX_ATTEMPTS, MAX_ATTEMPTS)],
)
async def test_a_busy_source_is_asked_until_it_has_time_and_one_that_fails_is_given_up(
    autojump_clock: MockClock, status: BlobStatus, least: int, most: int
) -> None:
    asked: list[Source] = []

    async def answer(source: Source) -> None:
        asked.append(source)
        raise AnswerError(status)

    with trio.move_on_after(100):
        await pool_of(FetchSources([ANA], may_grow=False), answer).run()
    assert least <= len(asked) <= most
