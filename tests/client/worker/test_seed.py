"""A seed fetches what the log names, and relays the gossip of runs that have not ended."""

from __future__ import annotations

from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio
from msgspec import structs

from tequio_client.worker.seed import NamedTrees, RunCache
from tequio_client.worker.seed_fetches import FetchQueue
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import weights_ref
from tequio_shared.competition.rules import Submission
from tequio_shared.ids import sha256, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import DataSpec
from tequio_shared.statements.competitions import CompSubmit
from tequio_shared.statements.runs import RunClose, RunOpen
from tests.client.worker.swarm.test_mirrors import corpus_of
from tests.support.answers import filled
from tests.support.loopback import network
from tests.support.memory_log import NET
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_client.worker.node import Node
    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.ids import Digest, RunId
    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.statements.statement import Statement

CORPUS = corpus_of(bytes(100)).encode()
MANIFEST = structs.replace(
    tiny_manifest(), data=DataSpec(manifest=to_text(sha256(CORPUS)), root=to_text(sha256(b"data")))
)
HEAD = sha256(b"weights of round 3")
SUBMISSION = structs.replace(
    filled(Submission), run=to_text(MANIFEST.run_id), round=3, weights_root=to_text(HEAD)
)
FOLDER = structs.replace(filled(Submission), run="", weights_root="", repo="someone/model")
DOCUMENTS = {
    sha256(one): one
    for one in (MANIFEST.encode(), CORPUS, b"config", SUBMISSION.encode(), FOLDER.encode())
}


class ListedQueue(FetchQueue):
    """Lists the trees that nobody has fetched, the newest last."""

    def refs(self) -> list[TreeRef]:
        return [ref for ref, _ in self._waiting]


class SeedSetup:
    """A cache of runs in which nothing is fetched."""

    def __init__(self, node: SimpleNamespace) -> None:
        exchange = cast("Exchange", node.exchange)
        self.pinned, self.recent = (ListedQueue(exchange, node.store, most=99) for _ in range(2))
        self.cache = RunCache(cast("Node", node), 10, self.pinned, self.recent)
        self._network = node.network

    @property
    def topics(self) -> int:
        """Topics of gossip that are relayed."""
        return len(self._network.topics.pubsub.topic_ids)

    async def apply(self, body: object, run: RunId | None = MANIFEST.run_id) -> None:
        """Apply a statement about the run, or about the network."""
        said = SimpleNamespace(run=run, round=None, body=body)
        await self.cache.apply(cast("Statement", said))


@asynccontextmanager
async def seed(folder: Path) -> AsyncIterator[SeedSetup]:
    async def fetch_blob(name: Digest) -> bytes:
        await trio.lowlevel.checkpoint()
        return DOCUMENTS[name]

    async with network("seed") as ours:
        yield SeedSetup(
            SimpleNamespace(
                network=ours,
                network_info=SimpleNamespace(id=NET),
                exchange=SimpleNamespace(fetch_blob=fetch_blob),
                fetcher=SimpleNamespace(mirrors=SimpleNamespace(add=lambda *_: None)),
                store=Store(folder, quota_bytes=10**6),
            )
        )


@pytest.mark.trio
async def test_the_gossip_of_a_run_is_relayed_until_the_run_ends(tmp_path: Path) -> None:
    async with seed(tmp_path) as ours:
        relayed = []
        for kind in (RunOpen, RunClose):
            await ours.apply(filled(kind))
            relayed.append(ours.topics)
        for state in (RunState.FINISHED, RunState.PAUSED):
            view = SimpleNamespace(
                manifest=MANIFEST, state=state, rollbacks=(), head=None, round=None
            )
            named = NamedTrees(view=cast("FullRunView", view), heads=(), works=())
            await ours.cache.begin(named)
            relayed.append(ours.topics)
    assert relayed == [2, 0, 0, 2]


@pytest.mark.trio
async def test_a_head_that_is_in_a_competition_is_fetched_whatever_its_round(
    tmp_path: Path,
) -> None:
    async with seed(tmp_path) as ours:
        await ours.apply(filled(RunOpen))
        for one in (FOLDER, SUBMISSION):
            body = structs.replace(filled(CompSubmit), submission=to_text(one.id))
            await ours.apply(body, run=None)
        assert ours.recent.refs() == [weights_ref(MANIFEST, HEAD)]
