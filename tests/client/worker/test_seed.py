"""A seed fetches what the log names, and relays the gossip of runs that have not ended."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio
from msgspec import structs

from tequio_client.worker.seed import NamedTrees, RunCache
from tequio_client.worker.seed_fetches import FetchQueue
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import weights_ref
from tequio_shared.competition.rules import CompetitionRules, Submission
from tequio_shared.competition.state import (
    CompetitionPhase,
    CompetitionView,
    Entrant,
    SignedEntry,
)
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import DataSpec
from tequio_shared.statements.competitions import CompResult, CompSubmit
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
WEIGHTS = {sha256(one): one for one in (b"weights of round 3", b"weights of round 4")}
HEAD, LATER = WEIGHTS
SUBMISSION, LATER_SUBMISSION = (
    filled(Submission, run=to_text(MANIFEST.run_id), round=number, weights_root=to_text(root))
    for number, root in enumerate(WEIGHTS, 3)
)
FOLDER = structs.replace(filled(Submission), run="", weights_root="", repo="someone/model")
DOCUMENTS = {
    sha256(one): one
    for one in (
        MANIFEST.encode(),
        CORPUS,
        b"config",
        *(said.encode() for said in (SUBMISSION, LATER_SUBMISSION, FOLDER)),
    )
}
CONTEST, OTHER = sha256(b"a competition"), sha256(b"another competition")


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
        self._network, self._store = node.network, node.store

    @property
    def topics(self) -> int:
        """Topics of gossip that are relayed."""
        return len(self._network.topics.pubsub.topic_ids)

    async def apply(self, body: object, run: RunId | None = MANIFEST.run_id) -> None:
        """Apply a statement about the run, or about the network."""
        said = SimpleNamespace(run=run, round=None, body=body)
        await self.cache.apply(cast("Statement", said))

    async def submit(self, competition: Digest, submission: Submission) -> None:
        """Submit for the only entrant of a competition."""
        said = filled(
            CompSubmit, competition=to_text(competition), submission=to_text(submission.id)
        )
        await self.apply(said, run=None)

    async def decide(self, competition: Digest) -> None:
        await self.apply(filled(CompResult, competition=to_text(competition)), run=None)

    @property
    def staying(self) -> list[Digest]:
        """Heads that stay in the store though others need the room."""
        for content in WEIGHTS.values():
            self._store.put_blob(content)
        for root in WEIGHTS:
            self._store.remove(root)
        return [root for root in WEIGHTS if self._store.has_blob(root)]


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
            await ours.submit(CONTEST, one)
        assert ours.recent.refs() == [weights_ref(MANIFEST, HEAD)]


@pytest.mark.trio
async def test_a_submitted_head_stays_until_it_is_replaced_or_its_competitions_are_decided(
    tmp_path: Path,
) -> None:
    async with seed(tmp_path) as ours:
        await ours.apply(filled(RunOpen))
        assert ours.staying == []
        await ours.submit(CONTEST, SUBMISSION)
        assert ours.staying == [HEAD]
        await ours.submit(OTHER, LATER_SUBMISSION)
        assert ours.staying == [HEAD, LATER]
        await ours.submit(CONTEST, LATER_SUBMISSION)
        assert ours.staying == [LATER]
        await ours.decide(OTHER)
        assert ours.staying == [LATER], "it is in a competition that is not decided"
        await ours.decide(CONTEST)
        assert ours.staying == []


@pytest.mark.trio
@pytest.mark.parametrize(
    ("phase", "staying"),
    [
        (CompetitionPhase.OPEN, [HEAD]),
        (CompetitionPhase.DRAWN, []),  # without evaluators, so it ends without a ranking
        (CompetitionPhase.DECIDED, []),
    ],
)
async def test_after_a_restart_the_heads_stay_that_are_in_a_competition(
    tmp_path: Path, phase: CompetitionPhase, staying: list[Digest]
) -> None:
    author = PeerKey(sha256(b"organiser"))
    entrant = Entrant(
        name="maize",
        author=author,
        entered=SignedEntry(index=1, author=author, ts=1),
        side=MANIFEST.run_id,
        submission=SUBMISSION,
    )
    view = CompetitionView(
        id=CONTEST,
        rules=filled(CompetitionRules),
        phase=phase,
        entrants={entrant.name: entrant, "silent": replace(entrant, submission=None)},
    )
    async with seed(tmp_path) as ours:
        await ours.apply(filled(RunOpen))
        ours.cache.begin_competition(view, now_ms=10)
        assert ours.staying == staying
        await ours.decide(CONTEST)
        assert ours.staying == []
