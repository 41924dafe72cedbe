"""A seed fetches what the log names, and what nobody has any more delays nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client.worker.seed import PATIENCE_S, FetchQueue
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
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


async def at_once(function: Callable[[TreeRef], int], ref: TreeRef) -> int:
    """Stand in for a thread, which a clock that jumps does not wait for."""
    await trio.lowlevel.checkpoint()
    return function(ref)


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
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    autojump_clock: MockClock,
    most: int | None,
    order: list[TreeRef],
) -> None:
    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)
    exchange = SlowExchange(Store(tmp_path, quota_bytes=10**6))
    queue = FetchQueue(cast("Exchange", exchange), exchange.store, most=most)
    queue.add(SLOW.ref)
    queue.add(ABSENT)
    with trio.move_on_after(3.5 * PATIENCE_S):
        await queue.serve()
    assert exchange.tried == order
    assert exchange.store.has_tree(SLOW.ref.root)
