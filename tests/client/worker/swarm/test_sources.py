"""Chunks are taken once, by sources that hold them, and again when a source is late or fails."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.store.trees import PartialTree, hash_bytes
from tequio_client.worker.swarm.sources import (
    ChunkQueue,
    FetchFailedError,
    FetchProgress,
    OneSourceAtATime,
)
from tequio_shared.errors import PeerError
from tests.support.attackers import key_number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from trio.testing import MockClock

    from tequio_client.worker.swarm.mirrors import Source
    from tequio_shared.ids import PeerKey

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


@pytest.mark.parametrize("waiting", [10, 200])
async def test_a_start_costs_the_same_however_many_sources_wait(
    autojump_clock: MockClock, waiting: int
) -> None:
    asked: list[Source] = []

    async def hang(source: Source) -> None:
        asked.append(source)
        await trio.sleep_forever()

    turns = OneSourceAtATime(hang, hedge_s=HEDGE_S)
    sources = [key_number(number) for number in range(waiting)]
    async with trio.open_nursery() as nursery:
        for source in sources:
            nursery.start_soon(turns, source)
            await trio.lowlevel.checkpoint()
        counter = StepCounter()
        trio.lowlevel.add_instrument(counter)
        await trio.sleep(5 * HEDGE_S + 0.1)
        trio.lowlevel.remove_instrument(counter)
        nursery.cancel_scope.cancel()
    assert asked == sources[:6], "in the order of preference"
    assert counter.steps < 50


async def test_a_source_that_fails_gives_its_turn_to_the_next_at_once(
    autojump_clock: MockClock,
) -> None:
    asked: list[Source] = []

    async def refuse(source: Source) -> None:
        asked.append(source)
        raise PeerError("not here")

    turns = OneSourceAtATime(refuse, hedge_s=HEDGE_S)

    async def ask(source: PeerKey) -> None:
        with suppress(PeerError):
            await turns(source)

    async with trio.open_nursery() as nursery:
        for source in (ANA, BEN, CLEO):
            nursery.start_soon(ask, source)
            await trio.lowlevel.checkpoint()
    assert asked == [ANA, BEN, CLEO]
    assert trio.current_time() < HEDGE_S
