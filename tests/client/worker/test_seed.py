"""A seed fetches what the log names, and relays the gossip of runs that have not ended."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio
from msgspec import structs
from trio.testing import wait_all_tasks_blocked

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker import seed as seed_module
from tequio_client.worker.seed import NamedTrees, RunCache
from tequio_client.worker.seed_fetches import FetchQueue
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes, weights_ref
from tequio_shared.api.runs import MeasuredAnswer, MeasuresAnswer
from tequio_shared.competition.rules import Submission
from tequio_shared.competition.state import CompetitionView, Entrant, SignedEntry
from tequio_shared.head.chain import Head
from tequio_shared.head.head import head_hash
from tequio_shared.ids import Digest, HeadHash, PeerKey, sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.network.verdicts import HeadVerdict
from tequio_shared.round.manifest import DataSpec, MeasureRules
from tequio_shared.statements.competitions import CompSubmit
from tequio_shared.statements.runs import HeadPromote, RoundRoster, RunClose, RunOpen, RunPause
from tests.client.worker.swarm.test_mirrors import corpus_of
from tests.support import competition_documents
from tests.support.answers import filled
from tests.support.attackers_peers import until
from tests.support.competition_documents import HOUR_MS, OPENS, RESULT, TEXTS, Sealing
from tests.support.loopback import network
from tests.support.memory_log import NET
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_client.worker.node import Node
    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.ids import RunId
    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.statements.statement import Statement

CORPUS = corpus_of(bytes(100)).encode()
MANIFEST = structs.replace(
    tiny_manifest(),
    data=DataSpec(manifest=to_text(sha256(CORPUS)), root=to_text(sha256(b"data"))),
    measure=MeasureRules(every=4),
)
WEIGHTS = {sha256(one): one for one in (b"weights of round 3", b"weights of round 4")}
HEAD, LATER = WEIGHTS
SUBMISSION, LATER_SUBMISSION = (
    filled(Submission, run=to_text(MANIFEST.run_id), round=number, weights_root=to_text(root))
    for number, root in enumerate(WEIGHTS, 3)
)
ROSTER = filled(RoundRoster, roster=to_text(sha256(b"roster")))
FOLDER = structs.replace(filled(Submission), run="", weights_root="", repo="someone/model")
CUSTODIANS = [PeerKey(sha256(name.encode())) for name in competition_documents.CUSTODIANS]
RULES = competition_documents.rules(
    Sealing.of(TEXTS).sealed, CUSTODIANS, window=64, drawn=len(TEXTS)
)
LONGER = structs.replace(RULES, dates=structs.replace(RULES.dates, result=RESULT + HOUR_MS))
CONTEST, OTHER = RULES.id, LONGER.id
DOCUMENTS = {
    sha256(one): one
    for one in (
        MANIFEST.encode(),
        CORPUS,
        b"config",
        RULES.encode(),
        LONGER.encode(),
        *(said.encode() for said in (SUBMISSION, LATER_SUBMISSION, FOLDER)),
    )
}


def head_of(number: int) -> tuple[Head, bytes]:
    """A head of the run, and its weights."""
    weights = bytes([number]) * MANIFEST.weights_bytes
    root, zero = hash_bytes(weights, PIECE_BYTES).ref.root, Digest(bytes(32))
    parent = HeadHash(zero)
    made = head_hash(MANIFEST.run_id, number, parent, zero, root, zero)
    head = Head(
        hash=made, round=number, parent=parent, set_root=zero, weights_root=root, aux_root=zero
    )
    return head, weights


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
        self._sent: list[bytes] = node.sent
        self.verdicts: dict[int, str | None] = node.verdicts
        """By round; None: the ledger does not answer for it."""

    @property
    def topics(self) -> int:
        """Topics of gossip that are relayed."""
        return len(self._network.topics.pubsub.topic_ids)

    async def apply(
        self,
        body: object,
        run: RunId | None = MANIFEST.run_id,
        ts: int = OPENS,
        number: int | None = None,
    ) -> None:
        """Apply a statement about the run or a round of it, or about the network."""
        said = SimpleNamespace(run=run, round=number, body=body, ts=ts)
        await self.cache.apply(cast("Statement", said))

    async def submit(self, competition: Digest, submission: Submission) -> None:
        """Submit for the only entrant of a competition."""
        said = filled(
            CompSubmit, competition=to_text(competition), submission=to_text(submission.id)
        )
        await self.apply(said, run=None)

    async def promote(self, number: int) -> None:
        """Promote a head that peers send at once, and wait until it is here."""
        head, weights = head_of(number)
        self._sent.append(weights)
        said = filled(HeadPromote, head=to_text(head.hash), weights_root=to_text(head.weights_root))
        await self.apply(said, number=number)
        await until(lambda: number in self.held(number), 20)

    async def begin(self, last: int) -> None:
        """Begin at the snapshot after that round of a run that went back to round 25."""
        made = [head_of(number) for number in range(1, last + 1)]
        self._sent += (weights for _, weights in made)
        view = SimpleNamespace(
            manifest=MANIFEST,
            round=None,
            heads={head.round: head for head, _ in made},
            head=made[-1][0] if made else None,
            rollbacks=(SimpleNamespace(head_round=25),),
            state=RunState.PAUSED,
        )
        await self.cache.begin(NamedTrees.of(cast("FullRunView", view), 10))

    def held(self, last: int) -> list[int]:
        """Rounds up to the last one whose heads are in the store."""
        heads = (head_of(number)[0] for number in range(1, last + 1))
        return [head.round for head in heads if self._store.has_tree(head.weights_root)]

    def holds(self, last: int, due: list[int]) -> bool:
        return self.held(last) == due

    async def read_on(self, ts: int) -> None:
        """Apply a statement of that time which says nothing about a competition."""
        await self.apply(filled(RunPause), ts=ts)

    @property
    def staying(self) -> list[Digest]:
        """Heads that stay in the store though others need the room."""
        for content in WEIGHTS.values():
            self._store.put_blob(content)
        for root in WEIGHTS:
            self._store.remove(root)
        return [root for root in WEIGHTS if self._store.has_blob(root)]


@asynccontextmanager
async def seed(folder: Path, is_back: trio.Event | None = None) -> AsyncIterator[SeedSetup]:
    """Set up a seed, whose ledger is away until `is_back`."""

    async def fetch_blob(name: Digest) -> bytes:
        await trio.lowlevel.checkpoint()
        if is_back is not None:
            await is_back.wait()
        return DOCUMENTS[name]

    async def fetch_in_background(ref: TreeRef, _holder: object) -> None:
        await trio.lowlevel.checkpoint()
        for content in sent:
            if hash_bytes(content, ref.piece_bytes).ref == ref:
                store.put_tree(content, ref.piece_bytes)

    async def measures(_run: RunId, *, after: int, limit: int) -> MeasuresAnswer:
        verdict = verdicts.get(after + 1, HeadVerdict.UNMEASURED)
        assert limit == 1
        if verdict is None:
            raise LedgerUnavailableError("away")
        head = filled(MeasuredAnswer, round=after + 1, verdict=verdict)
        return filled(MeasuresAnswer, heads=(head,))

    sent: list[bytes] = []
    verdicts: dict[int, str | None] = {}
    store = Store(folder, quota_bytes=10**7)
    exchange = SimpleNamespace(fetch_blob=fetch_blob, fetch_in_background=fetch_in_background)
    async with network("seed") as ours:
        yield SeedSetup(
            SimpleNamespace(
                network=ours,
                network_info=SimpleNamespace(id=NET),
                exchange=exchange,
                fetcher=SimpleNamespace(mirrors=SimpleNamespace(add=lambda *_: None)),
                store=store,
                sent=sent,
                ledger=SimpleNamespace(measures=measures),
                verdicts=verdicts,
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
                manifest=MANIFEST, state=state, rollbacks=(), heads={}, head=None, round=None
            )
            named = NamedTrees(view=cast("FullRunView", view), heads=(), works=())
            await ours.cache.begin(named)
            relayed.append(ours.topics)
    assert relayed == [2, 0, 0, 2]


@pytest.mark.trio
async def test_a_run_that_was_opened_while_the_ledger_was_away_is_cached_from_its_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nursery: trio.Nursery
) -> None:
    is_back = trio.Event()
    async with seed(tmp_path, is_back) as ours:
        with monkeypatch.context() as hasty:
            hasty.setattr(seed_module, "DOCUMENT_TIMEOUT_S", 0.01)
            await ours.apply(filled(RunOpen))
        assert not ours.pinned.refs()
        nursery.start_soon(ours.cache.serve_skipped)
        await ours.apply(ROSTER)
        await wait_all_tasks_blocked()
        assert not ours.pinned.refs(), "and the log is read on"
        is_back.set()
        await until(lambda: ours.topics == 2, 20)
        assert first_head(MANIFEST).weights_root in {one.root for one in ours.pinned.refs()}
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_skipped_run_that_has_ended_is_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nursery: trio.Nursery
) -> None:
    is_back = trio.Event()
    async with seed(tmp_path, is_back) as ours:
        monkeypatch.setattr(seed_module, "DOCUMENT_TIMEOUT_S", 0.01)
        await ours.apply(filled(RunOpen))
        nursery.start_soon(ours.cache.serve_skipped)
        await ours.apply(filled(RunClose))
        is_back.set()
        await ours.apply(ROSTER)
        await wait_all_tasks_blocked()
        assert not ours.pinned.refs()
        assert ours.topics == 0
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_measured_heads_are_held_until_members_have_had_the_time_to_measure_them(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    async with seed(tmp_path) as ours:
        await ours.apply(filled(RunOpen))
        nursery.start_soon(ours.cache.newest.serve)
        for number in range(1, 27):
            await ours.promote(number)
        due = [8, 10, 12, 16, 20, 24, 25, 26]
        await until(lambda: ours.held(26) == due, 20)  # the last one left out goes beside this
        nursery.cancel_scope.cancel()


FINE, WORSE = HeadVerdict.FINE, HeadVerdict.WORSE


@pytest.mark.trio
@pytest.mark.parametrize(
    ("verdicts", "stay"),
    [
        ({4: FINE, 8: WORSE, 12: WORSE, 24: FINE}, [4]),
        ({4: FINE, 8: FINE, 12: WORSE}, [8]),
        ({4: FINE, 8: FINE, 12: None}, [8, 12]),
        ({4: WORSE}, []),
        ({4: FINE, 8: "a word of a newer ledger"}, [4]),
    ],
)
async def test_the_newest_fine_head_is_held_however_many_worse_ones_come_later(
    tmp_path: Path,
    nursery: trio.Nursery,
    verdicts: dict[int, str | None],
    stay: list[int],
) -> None:
    async with seed(tmp_path) as ours:
        ours.verdicts.update(verdicts)
        await ours.apply(filled(RunOpen))
        nursery.start_soon(ours.cache.newest.serve)
        for number in range(1, 34):
            await ours.promote(number)
        due = sorted([*stay, 10, 16, 20, 24, 28, 30, 32, 33])
        await until(lambda: ours.held(33) == due, 20)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("every", "begun"),
    [
        (0, [30, 40, 50, 60]),
        (1, [30, 40, 50, 58, 59, 60, 61, 62]),
        (4, [30, 40, 44, 48, 50, 52, 56, 60]),
    ],
)
def test_a_seed_begins_with_the_last_tenth_heads_and_the_last_measured_ones(
    every: int, begun: list[int]
) -> None:
    heads = {number: head_of(number)[0] for number in range(1, 63)}
    manifest = structs.replace(MANIFEST, measure=MeasureRules(every=every))
    view = SimpleNamespace(manifest=manifest, round=None, heads=heads)
    named = NamedTrees.of(cast("FullRunView", view), 10)
    assert named.heads == [weights_ref(manifest, heads[one].weights_root) for one in begun]


@pytest.mark.trio
async def test_after_a_restart_the_heads_from_before_it_go_too(tmp_path: Path) -> None:
    due = {
        26: [8, 10, 12, 16, 20, 24, 25, 26],
        42: [10, 20, 24, 25, 28, 30, 32, 36, 40, 41, 42],
    }
    for numbers in (range(1, 27), range(27, 43)):
        async with seed(tmp_path) as ours, trio.open_nursery() as nursery:
            await ours.begin(numbers[0] - 1)
            assert not ours.recent.refs(), "what is here is not fetched after it has gone"
            for serve in (ours.cache.newest.serve, ours.recent.serve):
                nursery.start_soon(serve)
            for number in numbers:
                await ours.promote(number)
            await until(partial(ours.holds, numbers[-1], due[numbers[-1]]), 20)
            nursery.cancel_scope.cancel()


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
async def test_a_submitted_head_stays_until_it_is_replaced_or_its_competition_is_over(
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
        for over in (RESULT, LONGER.dates.result):
            await ours.read_on(over)
            assert ours.staying == [LATER], "scores can still be challenged in one of the two"
        await ours.read_on(LONGER.dates.result + 1)
        assert ours.staying == [], "although nobody has stated a result"


@pytest.mark.trio
@pytest.mark.parametrize(("now_ms", "staying"), [(RESULT, [HEAD]), (RESULT + 1, [])])
async def test_after_a_restart_the_heads_stay_that_are_in_a_competition(
    tmp_path: Path, now_ms: int, staying: list[Digest]
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
        rules=RULES,
        entrants={entrant.name: entrant, "silent": replace(entrant, submission=None)},
    )
    async with seed(tmp_path) as ours:
        await ours.apply(filled(RunOpen))
        ours.cache.begin_competition(view, now_ms)
        assert ours.staying == staying
        await ours.read_on(RESULT + 1)
        assert ours.staying == []
