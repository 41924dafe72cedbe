"""The seed: bootstrap node and content-addressed cache of a network's runs.

It trains nothing and decides nothing: it reads the log, fetches what the log names (data shards,
heads, contributions) from whoever has it, over connections that volunteers behind home routers
opened to it, and gives it to everybody who asks. Trust is in the hashes, so anybody may run one.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.link import status as link_status
from tequio_client.worker import node as nodes
from tequio_client.worker.announce import is_commitment
from tequio_client.worker.follower import LogFollower
from tequio_client.worker.gossip import Gossip
from tequio_client.worker.main import STATUS_EVERY_S, resident_mb, say_where
from tequio_client.worker.trees import TreeRef
from tequio_shared.contribution import Header
from tequio_shared.corpus import Corpus
from tequio_shared.errors import MalformedError
from tequio_shared.ids import digest_from_text, from_text, peer_id_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.manifest import Manifest
from tequio_shared.records import RecordShape
from tequio_shared.run import first_head
from tequio_shared.statements.rounds import HeadPromote, WorkCommit
from tequio_shared.statements.runs import RunClose, RunOpen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tequio_client.worker.node import Node
    from tequio_client.worker.settings import NetSettings
    from tequio_shared.ids import Digest, PeerKey, RunId
    from tequio_shared.statement import Entry, Statement

log = structlog.get_logger(__name__)


def run(settings: NetSettings, *, heads_every: int) -> None:
    """Be a seed until a signal says stop; keeps the head of every `heads_every`-th round."""
    trio.run(partial(_main, settings, heads_every))


async def _main(settings: NetSettings, heads_every: int) -> None:
    async with nodes.opened(settings, is_seed=True) as node:
        say_where(node, "seed")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(node.swarm.run)
            if settings.status_lines:
                nursery.start_soon(_report, node)
            await Gossip.join(  # carries the announcements of peers that only know us
                node.network, node.network_info.id, partial(_passes, node)
            )
            nursery.start_soon(_cache, node, heads_every)
            with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                await _first(signals)
            log.info("stopping")
            nursery.cancel_scope.cancel()


def _passes(node: Node, _forwarder: PeerKey, content: bytes) -> bool:
    return is_commitment(node.network_info.id, content)


async def _cache(node: Node, heads_every: int) -> None:
    async with (
        LogFollower(node.ledger, node.network_info, node.settings.folder, rng=node.rng) as follower,
        trio.open_nursery() as nursery,
    ):
        await Cache(node, heads_every, nursery).follow(follower.entries(after=-1))


class Cache:
    """Fetches what the log names, as it is named."""

    def __init__(self, node: Node, heads_every: int, nursery: trio.Nursery) -> None:
        self._node = node
        self._heads_every = heads_every
        self._nursery = nursery
        self._manifests: dict[RunId, Manifest] = {}  # open runs
        self._last_head: dict[RunId, HeadPromote] = {}

    async def follow(self, entries: AsyncIterator[tuple[int, Entry]]) -> None:
        """Read the log from its beginning; what is in the store already costs nothing."""
        async for _, entry in entries:
            await self._take(entry.statement)

    async def _take(self, statement: Statement) -> None:
        run, body = statement.run, statement.body
        if run is None:
            return
        if isinstance(body, RunOpen):
            await self._open(run, body)
        manifest = self._manifests.get(run)
        if manifest is not None:
            self._cache(manifest, statement)

    def _cache(self, manifest: Manifest, statement: Statement) -> None:
        """Fetch what the entry of an open run names."""
        run, body = manifest.run_id, statement.body
        match body:
            case WorkCommit():
                self._want(_payload_ref(manifest, body), statement.author)
            case HeadPromote():
                self._last_head[run] = body
                if (statement.round or 0) % self._heads_every == 0:
                    self._want_head(manifest, body)
            case RunClose():
                if run in self._last_head:
                    self._want_head(manifest, self._last_head[run])

    async def _open(self, run: RunId, body: RunOpen) -> None:
        """Begin to cache a run: documents, shards and the first head."""
        try:
            manifest = Manifest.parse(
                await self._node.exchange.blob(digest_from_text(body.manifest))
            )
            data = await self._node.exchange.blob(digest_from_text(manifest.data.manifest))
            corpus = Corpus.parse(data)
        except MalformedError as err:
            log.warning("run not cached", run=to_text(run)[:10], error=str(err))
            return
        self._manifests[run] = manifest
        for name in (manifest.model.config, manifest.tokenizer.file):
            if name:
                await self._node.exchange.blob(digest_from_text(name))
        sizes = [(one.root, one.size_bytes) for one in corpus.train]
        sizes += [(one.root, one.size_bytes) for one in corpus.held_out]
        for root, size in sizes:
            self._want(_shard_ref(root, size))
        self._want(_head_ref(manifest, first_head(manifest).weights_root))
        log.info("caching run", run=to_text(run)[:10], name=manifest.name)

    def _want_head(self, manifest: Manifest, body: HeadPromote) -> None:
        self._want(_head_ref(manifest, digest_from_text(body.weights_root)))

    def _want(self, ref: TreeRef, holder: PeerKey | None = None) -> None:
        self._nursery.start_soon(self._node.exchange.tree, ref, holder)


def _shard_ref(root: str, size_bytes: int) -> TreeRef:
    return TreeRef(root=digest_from_text(root), size_bytes=size_bytes, piece_bytes=PIECE_BYTES)


def _head_ref(manifest: Manifest, weights_root: Digest) -> TreeRef:
    size = 4 * manifest.layout.elements
    return TreeRef(root=weights_root, size_bytes=size, piece_bytes=PIECE_BYTES)


def _payload_ref(manifest: Manifest, body: WorkCommit) -> TreeRef:
    header = Header.parse(from_text(body.header, None))
    algorithm = manifest.algorithm
    shape = RecordShape(algorithm=algorithm.name, k=header.k, bits=algorithm.bits)
    return TreeRef(
        root=header.payload_root,
        size_bytes=manifest.chunks * shape.record_bytes,
        piece_bytes=shape.group_bytes,
    )


async def _report(node: Node) -> None:
    started = trio.current_time()
    stdout = trio.lowlevel.FdStream(os.dup(sys.stdout.fileno()))
    with suppress(trio.BrokenResourceError):
        async with stdout:
            while True:
                await stdout.send_all(
                    link_status.encode(
                        link_status.Status(
                            peer=peer_id_text(node.signer.key),
                            key=to_text(node.signer.key),
                            roles=("seed",),
                            state="seeding",
                            duty="seeding",
                            peers=len(node.network.connected()),
                            sent_bytes=node.blobs.sent_bytes,
                            received_bytes=sum(node.exchange.received.values()),
                            sources=len(node.exchange.received),
                            elapsed_seconds=trio.current_time() - started,
                            resident_mb=resident_mb(os.getpid()),
                        )
                    )
                )
                await trio.sleep(STATUS_EVERY_S)


async def _first(signals: AsyncIterator[int]) -> None:
    async for _ in signals:
        return
