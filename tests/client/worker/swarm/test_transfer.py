"""A fetch gets the right bytes from one source or many, within its budgets and deadline."""

from __future__ import annotations

import random
import signal
import time
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
from tequio_client.worker.swarm.blob_server import (
    BlobOp,
    BlobRequest,
    BlobStatus,
    read_payload,
)
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.sources import FetchFailedError, FetchSources
from tequio_client.worker.swarm.streams import AnswerError, NotWantedError
from tequio_client.worker.swarm.transfer import (
    MOST_REQUESTS,
    QUICK_S,
    REQUESTS_PER_SOURCE,
    SLOW_S,
    TransferTimes,
    pull_in_parallel,
)
from tequio_shared.errors import MalformedError
from tequio_shared.ids import sha256
from tests.support.transfer_peers import BIG, MIB, SMALL, TransferPeers, big, small

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.worker.store.trees import PartialTree


@pytest.mark.trio
async def test_a_big_tree_comes_from_several_sources_at_once(swarm: TransferPeers) -> None:
    sources = [await swarm.source(name, BIG) for name in ("a", "b", "c")]
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(big(), sources, timeout_s=20)
    assert swarm.has(BIG, big())
    assert set(report.bytes_by_source) == set(sources)
    assert sum(report.bytes_by_source.values()) == len(BIG)
    assert not report.bad_sources


@pytest.mark.trio
async def test_no_piece_comes_twice_from_sources_that_keep_up(swarm: TransferPeers) -> None:
    sources = [await swarm.source(name, BIG) for name in "abc"]
    async with swarm.fetcher() as fetcher:
        await fetcher.fetch_tree(big(), sources, timeout_s=30)
        await trio.sleep(0.2)  # a second copy of a piece would still arrive
        envelopes = 100 * (big().pieces + len(sources))
        assert fetcher.client.streams.received_bytes <= len(BIG) + envelopes


@pytest.mark.trio
async def test_what_nobody_wants_any_more_at_its_turn_is_not_asked_for(
    swarm: TransferPeers,
) -> None:
    source = await swarm.source("a", BIG)
    budget = ByteBudget(1.0, burst_bytes=1)
    async with swarm.fetcher(budget) as fetcher:
        with pytest.raises(NotWantedError):
            await fetcher.pieces(source, big(), 0, 1, lambda: False)
        assert fetcher.client.streams.received_bytes == 0
    assert not budget.wait_s()


class SlowDisk(Store):
    """A store whose writes take longer than a source may be late."""

    def write_pieces(
        self, partial: PartialTree, first: int, content: bytes | bytearray | memoryview
    ) -> int:
        """Write, and only say so later."""
        written = super().write_pieces(partial, first, content)
        time.sleep(1.0)
        return written


@pytest.fixture
def alarm() -> Iterator[None]:
    """End a test whose event loop spins: no deadline inside the loop can."""

    def ring(_number: int, _frame: object) -> None:
        raise TimeoutError("the event loop was not free for others")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 30)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.trio
@pytest.mark.usefixtures("alarm")
async def test_a_slow_disk_does_not_keep_the_process_spinning(
    swarm: TransferPeers, tmp_path: Path
) -> None:
    content = BIG[:7_400_000]
    sources = [await swarm.source(name, content) for name in "abc"]
    swarm.store = SlowDisk(tmp_path / "slow", quota_bytes=10**9)
    ref = hash_bytes(content, MIB).ref
    async with swarm.fetcher(ByteBudget(3e6), times=TransferTimes(hedge_s=0.3)) as fetcher:
        await fetcher.fetch_tree(ref, sources, timeout_s=25)
    assert swarm.has(content, ref)


@pytest.mark.trio
async def test_small_trees_come_whole_and_many_at_once(swarm: TransferPeers) -> None:
    contents = [random.Random(n).randbytes(67_000) for n in range(20)]
    source = await swarm.source("a", *contents, piece_bytes=20_000)
    async with swarm.fetcher() as fetcher, trio.open_nursery() as nursery:
        for content in contents:
            ref = hash_bytes(content, 20_000).ref
            nursery.start_soon(lambda ref=ref: fetcher.fetch_tree(ref, [source], timeout_s=10))
    assert all(swarm.has(content, hash_bytes(content, 20_000).ref) for content in contents)


@pytest.mark.trio
async def test_what_is_here_already_is_not_fetched(swarm: TransferPeers) -> None:
    ref = swarm.store.put_tree(SMALL, 20_000)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(ref, [], timeout_s=1)
    assert not report.bytes_by_source


@pytest.mark.trio
async def test_sources_that_hold_parts_are_put_together(
    swarm: TransferPeers, tmp_path: Path
) -> None:
    tree, sources = hash_bytes(BIG, 300_000), []
    stores = [Store(tmp_path / f"part{turn}", quota_bytes=10**9) for turn in range(2)]
    for turn, store in enumerate(stores):
        partial = store.acquire_partial(tree)
        for index in range(turn, tree.ref.pieces, 2):
            start, length = tree.ref.span(index, 1)
            store.write_pieces(partial, index, BIG[start : start + length])
        sources.append(await swarm.serving(f"part{turn}", store))
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(tree.ref, sources, timeout_s=20)
    for store in stores:
        store.release_partial(tree.ref.root)
    assert swarm.has(BIG, tree.ref)
    assert set(report.bytes_by_source) == set(sources)


@pytest.mark.trio
async def test_a_source_may_join_while_fetching(swarm: TransferPeers) -> None:
    pool = FetchSources()
    async with swarm.fetcher() as fetcher, trio.open_nursery() as nursery:
        nursery.start_soon(lambda: fetcher.fetch_tree(big(), pool, timeout_s=20))
        await trio.sleep(0.2)
        pool.add(await swarm.source("late", BIG))
    assert swarm.has(BIG, big())


@pytest.mark.trio
async def test_without_any_source_the_deadline_ends_the_fetch(swarm: TransferPeers) -> None:
    async with swarm.fetcher() as fetcher:
        with pytest.raises(FetchFailedError):
            await fetcher.fetch_tree(big(), FetchSources(), timeout_s=0.3)
        with pytest.raises(FetchFailedError):
            await fetcher.fetch_blob(sha256(b"x"), [], timeout_s=20)


@pytest.mark.trio
async def test_two_fetches_of_one_tree_share_the_work(swarm: TransferPeers) -> None:
    sources = [await swarm.source("a", BIG)]
    async with swarm.fetcher() as fetcher, trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(lambda: fetcher.fetch_tree(big(), sources, timeout_s=20))
    assert swarm.has(BIG, big())


@pytest.mark.trio
async def test_a_download_budget_is_kept(swarm: TransferPeers) -> None:
    source = await swarm.source("a", BIG)
    async with swarm.fetcher(ByteBudget(10 * MIB)) as fetcher:
        report = await fetcher.fetch_tree(big(), [source], timeout_s=20)
    assert report.seconds > 0.9


@pytest.mark.trio
async def test_a_wait_for_the_download_budget_makes_no_source_look_late(
    swarm: TransferPeers,
) -> None:
    sources = [await swarm.source(name, SMALL, piece_bytes=20_000) for name in "abcd"]
    budget = ByteBudget(len(SMALL), burst_bytes=len(SMALL))
    async with swarm.fetcher(budget, times=TransferTimes(hedge_s=0.3)) as fetcher:
        budget.charge(2 * len(SMALL))
        await fetcher.fetch_tree(small(), sources, timeout_s=20)
        assert budget.wait_s() < 1.5, "one source was asked"


@pytest.mark.trio
async def test_blobs_come_whole_or_not_at_all(swarm: TransferPeers, tmp_path: Path) -> None:
    store = Store(tmp_path / "blobs", quota_bytes=10**9)
    names = [store.put_blob(content) for content in (b"", b"blob", BIG)]
    source = await swarm.serving("blobs", store)
    async with swarm.fetcher() as fetcher:
        for name in names:
            await fetcher.fetch_blob(name, [source], timeout_s=10)
    assert [swarm.store.get_blob(name) for name in names] == [b"", b"blob", BIG]


def test_the_answer_to_a_request_is_read_from_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path, quota_bytes=10**9)
    ref = store.put_tree(SMALL, 20_000)
    assert (
        read_payload(store, BlobRequest(op=BlobOp.PIECES, name=ref.root, count=ref.pieces)) == SMALL
    )


class TimedSource:
    """Answers each request after a time; counts those that are open."""

    def __init__(self, *answers_s: float) -> None:
        self.answers_s = list(answers_s)
        self.open = 0
        self.most_open: list[int] = []  # at each request

    async def pull(self) -> bool:
        if not self.answers_s:
            return False
        self.open += 1
        self.most_open.append(self.open)
        await trio.sleep(self.answers_s.pop(0))
        self.open -= 1
        return True


@pytest.mark.trio
async def test_a_source_that_answers_soon_has_more_requests_open(
    autojump_clock: trio.testing.MockClock,
) -> None:
    fast, slow = TimedSource(*[QUICK_S / 2] * 200), TimedSource(*[QUICK_S * 2] * 200)
    await pull_in_parallel(fast.pull)
    await pull_in_parallel(slow.pull)
    assert max(fast.most_open) == MOST_REQUESTS
    assert max(slow.most_open) == REQUESTS_PER_SOURCE


@pytest.mark.trio
async def test_a_source_that_becomes_slow_has_few_requests_open_again(
    autojump_clock: trio.testing.MockClock,
) -> None:
    source = TimedSource(*[QUICK_S / 2] * 100, *[SLOW_S * 2] * 100)
    await pull_in_parallel(source.pull)
    assert max(source.most_open) == MOST_REQUESTS
    assert source.most_open[-1] == REQUESTS_PER_SOURCE


@pytest.mark.trio
async def test_a_request_that_fails_leaves_the_others_their_time_and_no_more_follow(
    autojump_clock: trio.testing.MockClock,
) -> None:
    requests, came = iter(range(99)), list[int]()

    async def pull() -> bool:
        number = next(requests)
        await trio.sleep(number + 1)
        if number == 0:
            raise AnswerError(BlobStatus.BUSY)
        came.append(number)
        return True

    with pytest.raises(AnswerError):
        await pull_in_parallel(pull)
    assert came == [*range(1, REQUESTS_PER_SOURCE)]


@pytest.mark.trio
async def test_after_wrong_bytes_nothing_more_is_awaited_from_their_source(
    autojump_clock: trio.testing.MockClock,
) -> None:
    requests = iter(range(99))

    async def pull() -> bool:
        if next(requests) == 0:
            await trio.sleep(1)
            raise MalformedError("wrong bytes")
        await trio.sleep(99)
        return True

    with pytest.raises(MalformedError), trio.fail_after(9):
        await pull_in_parallel(pull)
