"""A seed fetches what the log names, and relays the gossip of runs that have not ended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio
from msgspec import structs

from tequio_client.worker.seed import PATIENCE_S, FetchQueue, NamedTrees, RunCache
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
from tequio_shared.ids import sha256, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import DataSpec
from tequio_shared.statements.runs import RunClose, RunOpen
from tests.client.worker.swarm.test_mirrors import corpus_of
from tests.support.answers import filled
from tests.support.loopback import network
from tests.support.memory_log import NET
from tests.support.partial_trees import open_partial
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trio.testing import MockClock

    from tequio_client.worker.node import Node
    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.ids import Digest
    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.statements.statement import Statement

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


@pytest.mark.trio
async def test_the_gossip_of_a_run_is_relayed_until_the_run_ends(tmp_path: Path) -> None:
    corpus = corpus_of(bytes(100)).encode()
    data = DataSpec(manifest=to_text(sha256(corpus)), root=to_text(sha256(b"shards")))
    manifest = structs.replace(tiny_manifest(), data=data)
    documents = {sha256(one): one for one in (manifest.encode(), corpus, b"config")}

    async def fetch_blob(name: Digest) -> bytes:
        await trio.lowlevel.checkpoint()
        return documents[name]

    async with network("seed") as ours:
        node = SimpleNamespace(
            network=ours,
            network_info=SimpleNamespace(id=NET),
            exchange=SimpleNamespace(fetch_blob=fetch_blob),
            fetcher=SimpleNamespace(mirrors=SimpleNamespace(add=lambda *_: None)),
            store=Store(tmp_path, quota_bytes=10**6),
        )
        queue = FetchQueue(cast("Exchange", node.exchange), node.store, most=None)
        cache = RunCache(cast("Node", node), 1, queue, queue)
        relayed = []
        for kind in (RunOpen, RunClose):
            said = SimpleNamespace(run=manifest.run_id, round=None, body=filled(kind))
            await cache.apply(cast("Statement", said))
            relayed.append(len(ours.topics.pubsub.topic_ids))
        for state in (RunState.FINISHED, RunState.PAUSED):
            view = SimpleNamespace(manifest=manifest, state=state, rollbacks=(), round=None)
            named = NamedTrees(view=cast("FullRunView", view), heads=(), last=(), works=())
            await cache.begin(named)
            relayed.append(len(ours.topics.pubsub.topic_ids))
    assert relayed == [2, 0, 0, 2]
