"""Peers that fetch from each other over loopback, honestly or not."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef, hash_bytes
from tequio_client.worker.swarm.blob_server import (
    PROTOCOL,
    BlobOp,
    BlobRequest,
    BlobServer,
    BlobStatus,
)
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.streams import PeerBans
from tequio_client.worker.swarm.transfer import Exchange, Fetcher, TransferTimes
from tests.support import memory_log
from tests.support.loopback import run_peer, two_peers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream
    from tequio_shared.ids import PeerKey


MIB = 1 << 20
BIG = random.Random(1).randbytes(12 * MIB + 5)
SMALL = random.Random(2).randbytes(67_000)
PAYLOAD = random.Random(5).randbytes(300_000)
REF = hash_bytes(PAYLOAD, 1 << 16).ref
AWAY = memory_log.unused_url()


class TransferPeers:
    """One fetching peer and any number of sources, connected to it."""

    def __init__(self, folder: Path, network: PeerNetwork, nursery: trio.Nursery) -> None:
        self._folder = folder
        self._nursery = nursery
        self.network = network
        self.store = Store(folder / "ours", quota_bytes=10**9)

    async def source(self, name: str, *contents: bytes, piece_bytes: int = MIB) -> PeerKey:
        """Start an honest source that holds these trees."""
        store = Store(self._folder / name, quota_bytes=10**9)
        for content in contents:
            store.put_tree(content, piece_bytes)
        return await self.serving(name, store)

    async def serving(self, name: str, store: Store, upload: ByteBudget | None = None) -> PeerKey:
        """Start a source with a given store."""
        return await self.joined(name, lambda peers: BlobServer(peers, store, upload))

    async def crooked(self, name: str, serve: Callable[[PeerStream], Awaitable[None]]) -> PeerKey:
        """Start a source that does something else."""
        return await self.joined(name, lambda peers: peers.serve(PROTOCOL, serve))

    async def joined(self, name: str, prepare: Callable[[PeerNetwork], object]) -> PeerKey:
        """Start a peer and connect to it."""
        return await self.network.connect(await self.start(name, prepare))

    async def start(self, name: str, prepare: Callable[[PeerNetwork], object]) -> str:
        """Start a peer; return its address."""
        address: str = await self._nursery.start(run_peer, name, prepare)
        return address

    def fetcher(
        self,
        download: ByteBudget | None = None,
        bans: PeerBans | None = None,
        times: TransferTimes | None = None,
    ) -> Fetcher:
        """Make the fetcher of our store."""
        return Fetcher(
            self.network,
            self.store,
            rng=random.Random(3),
            download=download,
            bans=bans,
            times=times,
        )

    def has(self, content: bytes, ref: TreeRef) -> bool:
        """True if our store has the tree with this content."""
        return self.store.tree_path(ref.root).read_bytes() == content


def big() -> TreeRef:
    return hash_bytes(BIG, MIB).ref


def small() -> TreeRef:
    return hash_bytes(SMALL, 20_000).ref


def liar(
    content: bytes, piece_bytes: int, spoil: BlobOp
) -> Callable[[PeerStream], Awaitable[None]]:
    """Serve a tree rightly, but for one kind of answer, in which one bit is wrong."""
    tree = hash_bytes(content, piece_bytes)

    async def serve(stream: PeerStream) -> None:
        while True:
            request = BlobRequest.parse(bytes(await stream.receive_frame()))
            start, length = tree.ref.span(request.first, request.count)
            payload = {
                BlobOp.LEAVES: b"".join(tree.leaves),
                BlobOp.HELD: b"",
                BlobOp.PIECES: content[start : start + length],
            }[request.op]
            if request.op is spoil:
                payload = bytes([payload[0] ^ 1]) + payload[1:]
            await stream.send_frame(bytes([BlobStatus.OK]), payload)

    return serve


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Our exchange and store, and the store that the other peer serves."""

    exchange: Exchange
    ours: Store
    theirs: Store
    other: PeerKey


@asynccontextmanager
async def paired(
    folder: Path, ledger: str = AWAY, times: TransferTimes | None = None
) -> AsyncIterator[Pair]:
    ours, theirs = (Store(folder / name, quota_bytes=10**9) for name in ("ours", "theirs"))
    async with two_peers() as (there, here), LedgerApi(ledger) as api:
        BlobServer(there, theirs)
        async with Fetcher(here, ours, rng=random.Random(1), times=times) as fetcher:
            exchange = Exchange(fetcher, api, here.connected_peers)
            with trio.fail_after(20):
                yield Pair(exchange=exchange, ours=ours, theirs=theirs, other=there.key)
