"""The seed: bootstrap node and content-addressed cache of a network's runs.

A seed trains nothing and decides nothing. It begins at the newest snapshot that the log names, and
reads the log from there on. It fetches what the log names (data shards, heads, contributions) from
peers, over connections that workers behind home routers opened to it, and serves it to everybody.
All content is verified by hash, so anybody may run a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

import structlog
import trio
from msgspec import UNSET

from tequio_client import clock, heap
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.snapshots import newest_snapshot
from tequio_client.worker import metrics, shutdown
from tequio_client.worker import node as nodes
from tequio_client.worker.ledger.follower import LogFollower
from tequio_client.worker.node import Node
from tequio_client.worker.rounds import gossip
from tequio_client.worker.rounds.catch_up import (
    TRANSIENT,
    TrainerIndex,
    payload_ref,
    promoted_head,
)
from tequio_client.worker.seed_fetches import HELD_MEASURED, FetchQueue, NewestHeads, SkippedRuns
from tequio_client.worker.settings import NetSettings
from tequio_client.worker.shutdown import StoppableProgram
from tequio_client.worker.store.trees import TreeRef, head_refs, step_ref, weights_ref
from tequio_client.worker.swarm.dials import hosts_named_by
from tequio_shared.competition.rules import CompetitionRules, Submission
from tequio_shared.competition.state import CompetitionView
from tequio_shared.errors import MalformedError
from tequio_shared.head.chain import Head
from tequio_shared.head.contribution import ContributionHeader, RecordShape
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, from_text, to_text
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.network.verdicts import HeadVerdict
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.measures import is_due
from tequio_shared.statements.competitions import CompSubmit
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadPromote,
    RoundRoster,
    RunClose,
    RunOpen,
    RunRollback,
    WorkCommit,
)
from tequio_shared.statements.statement import Body, Statement

if TYPE_CHECKING:
    from prometheus_client import Metric

    from tequio_client.ipc.snapshot import Status

log = structlog.get_logger(__name__)


PINNED_TASKS = 4
"""Shards and first heads fetched at once."""
RECENT_TASKS = 12
"""Contributions and heads that stay, fetched at once."""
NEWEST_TASKS = 4
"""Runs whose newest head is fetched at once."""
MAX_RECENT = 4_096
"""Most contributions and heads waiting to be fetched."""
SNAPSHOT_HEADS = 4
"""Heads of a run that stay and are fetched at the start; few peers have those before them."""
DOCUMENT_TIMEOUT_S = 120.0
"""Longest search for a run's documents before the run is skipped until its next round."""


def run(settings: NetSettings, *, heads_every: int) -> None:
    """Run a seed until a signal stops it; the head of every `heads_every`-th round stays."""
    heap.tune_memory()
    with shutdown.explain_untrusted_log(settings.ledger):
        trio.run(StoppableProgram().run, partial(_main, settings, heads_every))


async def _main(settings: NetSettings, heads_every: int) -> None:
    async with AsyncExitStack() as stack:
        signer = stack.enter_context(nodes.locked_signer(settings))
        hosts = hosts_named_by(settings.ledger, public_only=settings.public_only)
        ledger = await stack.enter_async_context(
            LedgerApi(settings.ledger, trust=settings.trust, address_of=hosts.address_of)
        )
        node = await stack.enter_async_context(
            nodes.open_node(settings, signer, ledger, is_seed=True)
        )
        nodes.log_start(node, "seed")

        def status() -> Status:
            return nodes.node_status(node, ("seed",), "seeding")

        # Two queues: a burst of contributions must not delay the shards that a newcomer needs.
        pinned = FetchQueue(node.exchange, node.store, most=None)
        recent = FetchQueue(node.exchange, node.store, most=MAX_RECENT)
        cache = RunCache(node, heads_every, pinned, recent)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(node.run)
            if settings.status_lines:
                nursery.start_soon(nodes.report_status, status)
            waiting = {"pinned": pinned, "recent": recent}
            read = partial(_metrics, node, status, waiting)
            nursery.start_soon(metrics.publish, settings, read, "seed")
            for queue in (*[pinned] * PINNED_TASKS, *[recent] * RECENT_TASKS):
                nursery.start_soon(queue.serve)
            for _ in range(NEWEST_TASKS):
                nursery.start_soon(cache.newest.serve)
            nursery.start_soon(cache.rosters.serve)
            nursery.start_soon(cache.serve_skipped)
            await _cache(node, cache)


def _metrics(
    node: Node, status: Callable[[], Status], queues: Mapping[str, FetchQueue]
) -> Iterator[Metric]:
    yield from metrics.node_metrics(status())
    yield from metrics.store_metrics(node.store.used_bytes, node.store.quota_bytes)
    yield from metrics.reachability_metrics(node.reach())
    yield from metrics.waiting_metrics({name: one.waiting for name, one in queues.items()})


async def _cache(node: Node, cache: RunCache) -> None:
    async with LogFollower(
        node.ledger, node.network_info, node.settings.folder, rng=node.rng
    ) as follower:
        size = await _begin(node, cache)
        async for _, entry in follower.entries(after=size - 1):
            await cache.apply(entry.statement)


async def _begin(node: Node, cache: RunCache) -> int:
    """Cache what the newest snapshot names; gives the number of entries that need not be read."""
    found = await newest_snapshot(node.ledger, node.network_info, node.exchange.fetch_blob)
    if found is None:
        return 0
    state, size = found
    try:
        named = [NamedTrees.of(view, cache.heads_every) for view in state.runs.values()]
    except MalformedError as err:
        log.warning("a snapshot names no trees; reading the whole log", error=str(err))
        return 0
    log.info("begins at a snapshot", entries=size, runs=len(named))
    for one in named:
        await cache.begin(one)
    for view in state.competitions.views.values():
        cache.begin_competition(view, clock.now_ms())
    return size


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTrees:
    """Trees that a run of a snapshot names, as far as a seed wants them."""

    view: FullRunView
    heads: Sequence[TreeRef]
    works: Sequence[tuple[TreeRef, PeerKey]]
    """Of the round in progress, with their trainers."""

    @classmethod
    def of(cls, view: FullRunView, heads_every: int) -> Self:
        """Raises MalformedError: a snapshot is the ledger's word."""
        manifest, current = view.manifest, view.round
        commitments = current.commitments.values() if current is not None else ()
        numbers = sorted(view.heads)
        staying = [one for one in numbers if one % heads_every == 0][-SNAPSHOT_HEADS:]
        measured = [one for one in numbers if is_due(manifest, one, is_last=False)]
        kept = [view.heads[one] for one in sorted({*staying, *measured[-HELD_MEASURED:]})]
        return cls(
            view=view,
            heads=[ref for head in kept for ref in head_refs(manifest, head)],
            works=[(_payload_ref(manifest, one.header), one.header.trainer) for one in commitments],
        )


class RunCache:
    def __init__(
        self, node: Node, heads_every: int, pinned: FetchQueue, recent: FetchQueue
    ) -> None:
        self._node = node
        self.heads_every = heads_every
        self._pinned = pinned
        self._recent = recent
        self.newest = NewestHeads(node.exchange, node.store, partial(_is_fine, node.ledger))
        self.rosters = TrainerIndex(node.exchange.fetch_blob)
        self._manifests: dict[RunId, Manifest] = {}  # of runs that are cached
        self._skipped = SkippedRuns()
        self._submitted: dict[Digest, _SubmittedHeads] = {}  # by competition

    async def begin(self, named: NamedTrees) -> None:
        """Cache a run of a snapshot, as if its log had been read.

        Contributions and heads of earlier rounds are left out: few peers still have them.
        """
        view, run = named.view, named.view.manifest.run_id
        await self._open(run)
        if run not in self._manifests:
            return
        store = self._node.store
        self._add_recent(ref for ref in named.heads if not store.has_tree(ref.root))
        gone_back = {one.head_round for one in view.rollbacks}
        for number, head in sorted(view.heads.items()):
            refs = head_refs(view.manifest, head)
            measured = _measured_round(view.manifest, number)
            self.newest.put_earlier(run, refs, measured_round=measured)
            if number in gone_back or number % self.heads_every == 0:
                self.newest.protect(refs)
        if view.head is not None:
            self._put_newest(view.manifest, view.head, stays=view.head.round in gone_back)
        if view.state is not RunState.FINISHED:
            await self._relay(run)
        if view.state is not RunState.FINISHED and view.round is not None:
            self.rosters.set_roster(run, view.round.number, view.round.roster.digest)
            for ref, trainer in named.works:
                self._recent.add(ref, trainer)

    def begin_competition(self, view: CompetitionView, now_ms: int) -> None:
        """Store the heads that are in a competition of a snapshot, unless that is over."""
        until_ms = view.rules.dates.result
        if now_ms > until_ms:
            return
        self._submitted[view.id] = _SubmittedHeads(until_ms)
        for entrant in view.entrants.values():
            if entrant.submission is not None:
                self._add_submission(view.id, entrant.name, entrant.submission)

    async def apply(self, statement: Statement) -> None:
        run, body = statement.run, statement.body
        self._release_submissions(statement.ts)
        if run is None:
            await self._apply_to_competition(body)
            return
        if isinstance(body, RunOpen):
            await self._open(run)
        manifest = self._manifests.get(run)
        if manifest is None:
            self._skipped.see(run, statement)
            return
        if isinstance(body, RunOpen):
            await self._relay(run)
        elif isinstance(body, RunClose):
            # Peers remember a limited number of topics of one peer.
            await gossip.stop_relaying(self._node.network, self._node.network_info.id, run)
        try:
            self._cache(manifest, statement)
        except MalformedError as err:  # which a ledger does not admit, unless it lies
            log.warning("a statement names no tree", type=statement.type, error=str(err))

    async def serve_skipped(self) -> None:
        """Begin skipped runs at their next round, beside the log: documents may still be missing.

        Earlier heads and contributions are left out.
        """
        while True:
            run = await self._skipped.wait_for_due()
            await self._open(run)
            if run in self._manifests and (roster := self._skipped.pop(run)) is not None:
                await self._relay(run)
                await self.apply(roster)

    def _cache(self, manifest: Manifest, statement: Statement) -> None:
        run, number = manifest.run_id, statement.round or 0
        match statement.body:
            case RoundRoster(roster=roster):
                self.rosters.set_roster(run, number, digest_from_text(roster))
            case WorkCommit() as body:
                header = ContributionHeader.parse(from_text(body.header, None))
                ref = _payload_ref(manifest, header)
                self._recent.add(ref, statement.author)
            case HeadPromote(step_root=step):
                if step is not UNSET and manifest.algorithm.down_k:
                    self._recent.add(step_ref(manifest, digest_from_text(step)))
                self._put_newest(manifest, promoted_head(manifest, statement))
            case RunRollback():
                # Whatever its round: members that lack it begin to fetch it now, and few have it.
                self._put_newest(manifest, promoted_head(manifest, statement), stays=True)
            case RunClose():
                self.rosters.drop(run)

    async def _apply_to_competition(self, body: Body) -> None:
        if not isinstance(body, CompSubmit):
            return
        with trio.move_on_after(DOCUMENT_TIMEOUT_S):
            try:
                await self._find_submission(body)
            except MalformedError as err:  # as above
                log.warning("a submission is not valid", error=str(err))

    async def _find_submission(self, body: CompSubmit) -> None:
        competition = digest_from_text(body.competition)
        if competition not in self._submitted:
            # Its id is the digest of its rules.
            rules = CompetitionRules.parse(await self._node.exchange.fetch_blob(competition))
            self._submitted[competition] = _SubmittedHeads(rules.dates.result)
        replaced = self._submitted[competition].roots.pop(body.entrant, None)
        if replaced is not None:
            self._node.store.unpin(replaced)
        raw = await self._node.exchange.fetch_blob(digest_from_text(body.submission))
        self._add_submission(competition, body.entrant, Submission.parse(raw))

    def _release_submissions(self, now_ms: int) -> None:
        """Let go of the heads in competitions that are over, also of those without a ranking."""
        over = [name for name, one in self._submitted.items() if now_ms > one.until_ms]
        for name in over:
            for root in self._submitted.pop(name).roots.values():
                self._node.store.unpin(root)

    def _add_submission(self, competition: Digest, entrant: str, submission: Submission) -> None:
        """Pin and fetch a head that is in a competition: evaluators ask for it at the end."""
        if not submission.run:
            return
        manifest = self._manifests.get(RunId(digest_from_text(submission.run)))
        if manifest is not None:
            ref = weights_ref(manifest, digest_from_text(submission.weights_root))
            self._node.store.pin(ref.root)
            self._submitted[competition].roots[entrant] = ref.root
            self._recent.add(ref)

    def _put_newest(self, manifest: Manifest, head: Head, *, stays: bool = False) -> None:
        refs = head_refs(manifest, head)
        measured = _measured_round(manifest, head.round)
        self.newest.put(manifest.run_id, refs, measured_round=measured)
        if stays or head.round % self.heads_every == 0:
            self.newest.protect(refs)  # for as long as the store has room
            self._add_recent(refs)

    def _add_recent(self, refs: Iterable[TreeRef]) -> None:
        for ref in refs:
            self._recent.add(ref)

    async def _open(self, run: RunId) -> None:
        """Start caching a run: documents, first head and shards."""
        with trio.move_on_after(DOCUMENT_TIMEOUT_S) as patience:
            try:
                await self._open_now(run)
            except MalformedError as err:
                self._skipped.pop(run)
                log.warning("run not cached", run=to_text(run)[:10], error=str(err))
        if patience.cancelled_caught:
            self._skipped.add(run)
            log.warning("run not cached", run=to_text(run)[:10], error="its documents are missing")

    async def _open_now(self, run: RunId) -> None:
        manifest = Manifest.parse(await self._document(to_text(run)))
        corpus = Corpus.parse(await self._document(manifest.data.manifest))
        for name in (manifest.model.config, manifest.tokenizer.file):
            if name:
                await self._document(name)
        self._node.fetcher.mirrors.add(manifest.mirrors, corpus)
        # Every new member needs these.
        refs = [*head_refs(manifest, first_head(manifest))]
        refs += [TreeRef.of_file(one.root, one.size_bytes) for _, one in corpus.files]
        base = manifest.frozen.files if manifest.frozen else ()
        refs += [TreeRef.of_file(one.root, one.size_bytes) for one in base]
        for ref in refs:
            self._node.store.pin(ref.root)
            self._pinned.add(ref)
        self._manifests[run] = manifest
        log.info("caching run", run=to_text(run)[:10], name=manifest.name)

    async def _relay(self, run: RunId) -> None:
        """Relay gossip between peers that are connected to this seed only, until the run ends."""
        network, net = self._node.network, self._node.network_info.id
        trainers = partial(self.rosters.round_of, run)
        commitments = gossip.commitment_filter(net, run, trainers, gossip.log_conflict)
        await gossip.relay(network, net, run, WorkCommit, commitments)
        members = partial(self.rosters.round_of_member, run)
        attestations = gossip.attestation_filter(net, run, members)
        await gossip.relay(network, net, run, HeadAttest, attestations)

    async def _document(self, name: str) -> bytes:
        digest = digest_from_text(name)
        self._node.store.pin(digest)
        return await self._node.exchange.fetch_blob(digest)


@dataclass(frozen=True, slots=True)
class _SubmittedHeads:
    until_ms: int
    """Date of the competition's result, until which scores can be given and challenged."""
    roots: dict[str, Digest] = field(default_factory=dict)
    """Pinned weights, by entrant."""


def _measured_round(manifest: Manifest, number: int) -> int | None:
    return number if is_due(manifest, number, is_last=False) else None


async def _is_fine(ledger: LedgerApi, run: RunId, number: int) -> bool | None:
    """The ledger's word on the head of a round; None if it does not answer."""
    try:
        page = await ledger.measures(run, after=number - 1, limit=1)
    except TRANSIENT as err:
        log.warning("verdict not read", round=number, error=str(err))
        return None
    return any((one.round, one.verdict) == (number, HeadVerdict.FINE) for one in page.heads)


def _payload_ref(manifest: Manifest, header: ContributionHeader) -> TreeRef:
    algorithm = manifest.algorithm
    shape = RecordShape(algorithm=algorithm.name, k=header.k, bits=algorithm.bits)
    return payload_ref(header.payload_root, manifest.chunks, shape)
