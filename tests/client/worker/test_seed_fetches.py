"""Queues of a seed's fetches, and the newest head of each run, which replaces the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
import structlog
import trio
from trio.testing import wait_all_tasks_blocked

from tequio_client.worker.seed_fetches import PATIENCE_S, FetchQueue, NewestHeads
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
from tequio_shared.ids import RunId, sha256
from tests.support.partial_trees import open_partial

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trio.testing import MockClock

    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.transfer import Exchange

PIECE = 1_024
SLOW = hash_bytes(bytes(3 * PIECE), PIECE)
ABSENT = hash_bytes(b"absent", PIECE).ref
RUN, OTHER = RunId(sha256(b"run")), RunId(sha256(b"another run"))
CONTENTS = [bytes([number]) * 10 for number in range(5)]
HEADS = [hash_bytes(one, PIECE).ref for one in CONTENTS]


async def no_word(_run: RunId, _round: int) -> None:
    """Answer as when the ledger is away."""
    await trio.lowlevel.checkpoint()


class SlowExchange:
    """Brings one piece of `SLOW` in each attempt, and nothing of another tree."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tried: list[TreeRef] = []

    async def fetch_in_background(self, ref: TreeRef, _holder: object) -> None:
        """Make one attempt."""
        self.tried.append(ref)
        if ref == SLOW.ref:
            with open_partial(self.store, SLOW) as partial:
                self.store.write_pieces(partial, self.tried.count(ref) - 1, bytes(PIECE))
        if not self.store.has_tree(ref.root):
            await trio.sleep_forever()


class HeadExchange:
    """Brings a head once it is sent."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.asked: list[TreeRef] = []
        self.sent: dict[TreeRef, trio.Event] = {}

    async def fetch_in_background(self, ref: TreeRef, _holder: object) -> None:
        """Wait until it is sent; errors of the store come in a group."""
        self.asked.append(ref)
        await self.sent.setdefault(ref, trio.Event()).wait()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._put, CONTENTS[HEADS.index(ref)])

    async def _put(self, content: bytes) -> None:
        self.store.put_tree(content, PIECE)

    async def deliver(self, *refs: TreeRef) -> None:
        """Send these, and wait until nothing follows from it."""
        for ref in refs:
            self.sent.setdefault(ref, trio.Event()).set()
        await wait_all_tasks_blocked()

    def held(self) -> list[TreeRef]:
        return [ref for ref in HEADS if self.store.has_tree(ref.root)]


async def at_once(function: Callable[[TreeRef], int], ref: TreeRef) -> int:
    """Stand in for a thread, which a clock that jumps does not wait for."""
    await trio.lowlevel.checkpoint()
    return function(ref)


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)


@pytest.mark.trio
@pytest.mark.parametrize(
    ("most", "order"),
    [
        (9, [ABSENT, SLOW.ref, SLOW.ref, SLOW.ref]),
        (None, [ABSENT, SLOW.ref, SLOW.ref, SLOW.ref, ABSENT]),
    ],
    ids=["recent", "pinned"],
)
async def test_a_tree_that_nobody_has_makes_room_and_a_slow_one_goes_on(
    tmp_path: Path, autojump_clock: MockClock, most: int | None, order: list[TreeRef]
) -> None:
    exchange = SlowExchange(Store(tmp_path, quota_bytes=10**6))
    queue = FetchQueue(cast("Exchange", exchange), exchange.store, most=most)
    queue.add(SLOW.ref)
    queue.add(ABSENT)
    with trio.move_on_after(3.5 * PATIENCE_S):
        await queue.serve()
    assert exchange.tried == order
    assert exchange.store.has_tree(SLOW.ref.root)


@pytest.mark.trio
async def test_a_complete_head_replaces_the_oldest_unless_that_is_protected(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    exchange = HeadExchange(Store(tmp_path, quota_bytes=10**6))
    heads = NewestHeads(cast("Exchange", exchange), exchange.store, no_word)
    nursery.start_soon(heads.serve)
    first, second, third, fourth, of_other = HEADS
    for ref in (first, second):
        heads.put(RUN, [ref])
        await exchange.deliver(ref)
    heads.put(OTHER, [of_other])
    await exchange.deliver(of_other)
    heads.put(RUN, [third])
    heads.protect([second])
    await wait_all_tasks_blocked()
    assert exchange.held() == [first, second, of_other], "until the next one is complete"
    await exchange.deliver(third)
    assert exchange.held() == [second, third, of_other]
    heads.put(RUN, [fourth])
    await exchange.deliver(fourth)
    assert exchange.held() == [second, third, fourth, of_other]
    nursery.cancel_scope.cancel()


@pytest.mark.trio
@pytest.mark.parametrize("stays", [False, True])
async def test_a_head_from_before_a_restart_goes_unless_it_is_protected(
    tmp_path: Path, nursery: trio.Nursery, *, stays: bool
) -> None:
    exchange = HeadExchange(Store(tmp_path, quota_bytes=10**6))
    heads = NewestHeads(cast("Exchange", exchange), exchange.store, no_word)
    first, *later, _ = HEADS
    exchange.store.put_tree(CONTENTS[0], PIECE)
    heads.put(RUN, [first])
    if stays:
        heads.protect([first])
    heads.put(RUN, [later[0]])
    nursery.start_soon(heads.serve)
    for ref in later:
        heads.put(RUN, [ref])
        await exchange.deliver(ref)
    assert exchange.held() == [first][: int(stays)] + later[-2:]
    nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_the_newest_head_of_a_slow_run_outlasts_what_others_bring(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    exchange = HeadExchange(Store(tmp_path, quota_bytes=35))
    heads = NewestHeads(cast("Exchange", exchange), exchange.store, no_word)
    nursery.start_soon(heads.serve)
    of_slow, *of_other, contribution = HEADS
    heads.put(RUN, [of_slow])
    await exchange.deliver(of_slow)
    for ref in of_other:
        heads.put(OTHER, [ref])
        await exchange.deliver(ref)
        assert exchange.held()[:1] == [of_slow]
    exchange.store.put_tree(CONTENTS[4], PIECE)
    assert exchange.held() == [of_slow, of_other[-1], contribution]
    nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_head_to_which_the_run_goes_back_is_its_newest(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    exchange = HeadExchange(Store(tmp_path, quota_bytes=10**6))
    heads = NewestHeads(cast("Exchange", exchange), exchange.store, no_word)
    nursery.start_soon(heads.serve)
    first, second, third, *_ = HEADS
    for ref in (first, second, first, third):
        heads.put(RUN, [ref])
        await exchange.deliver(ref)
    assert exchange.held() == [first, third]
    nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_head_is_finished_though_newer_ones_come_and_then_the_newest_follows(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    exchange = HeadExchange(Store(tmp_path, quota_bytes=10**6))
    heads = NewestHeads(cast("Exchange", exchange), exchange.store, no_word)
    for _ in range(2):
        nursery.start_soon(heads.serve)
    for ref in HEADS[:3]:
        heads.put(RUN, [ref])
        await wait_all_tasks_blocked()
    assert exchange.asked == HEADS[:1]
    await exchange.deliver(HEADS[0], HEADS[2])
    assert exchange.held() == [HEADS[0], HEADS[2]]
    assert HEADS[1] not in exchange.asked, "it was replaced before its fetch began"
    nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_head_that_nobody_sends_waits_behind_those_of_other_runs(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    exchange = HeadExchange(Store(tmp_path, quota_bytes=10**6))
    heads = NewestHeads(cast("Exchange", exchange), exchange.store, no_word)
    heads.put(OTHER, [HEADS[1]])
    heads.put(RUN, [HEADS[0]])
    with trio.move_on_after(2.5 * PATIENCE_S):
        await heads.serve()
    assert exchange.asked == [HEADS[0], HEADS[1], HEADS[0]]


@pytest.mark.trio
async def test_a_tree_without_room_is_left_out_and_the_next_ones_are_fetched(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    exchange = HeadExchange(Store(tmp_path, quota_bytes=25))
    store = exchange.store
    shard = store.put_tree(bytes(20), PIECE)
    store.pin(shard.root)
    heads = NewestHeads(cast("Exchange", exchange), store, no_word)
    queue = FetchQueue(cast("Exchange", exchange), store, most=None)
    nursery.start_soon(heads.serve)
    nursery.start_soon(queue.serve)
    with structlog.testing.capture_logs() as logs:
        heads.put(RUN, [HEADS[0]])
        await exchange.deliver(HEADS[0])
        queue.add(HEADS[1])
        await exchange.deliver(HEADS[1])
    assert [line["root"] for line in logs] == [ref.root.hex()[:12] for ref in HEADS[:2]]
    assert exchange.asked == HEADS[:2]
    assert exchange.held() == []
    store.unpin(shard.root)
    heads.put(RUN, [HEADS[2]])
    queue.add(HEADS[3])
    await exchange.deliver(*HEADS[2:4])
    assert exchange.held() == HEADS[2:4]
    nursery.cancel_scope.cancel()
