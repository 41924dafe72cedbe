"""Chunks are taken once, by sources that hold them, and again when a source is late or fails."""

from __future__ import annotations

from contextlib import closing, suppress
from random import Random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.store.trees import PartialTree, hash_bytes
from tequio_client.worker.swarm.blob_server import BlobStatus
from tequio_client.worker.swarm.sources import (
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
    from collections.abc import Iterator
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


def queue_of(partial: PartialTree) -> ChunkQueue:
    return ChunkQueue(partial, most_pieces=4, hedge_s=HEDGE_S)


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


async def test_a_late_chunk_is_asked_of_one_other_source(
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
            assert queue.next_chunk(CLEO, None) is None
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
