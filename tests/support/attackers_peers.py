"""Peers that serve wrong data: real hosts on the loopback device, real streams."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import trio

from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import MerkleBlob, hash_bytes
from tequio_client.worker.swarm.blob_server import (
    PROTOCOL,
    BlobOp,
    BlobRequest,
    BlobServer,
    BlobStatus,
)
from tequio_client.worker.swarm.transfer import Fetcher, TransferTimes
from tests.support.loopback import network, run_peer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream
    from tequio_shared.ids import PeerKey

MIB = 1 << 20
CONTENT = random.Random(16).randbytes(6 * MIB + 5)
Serve: TypeAlias = "Callable[[PeerStream], Awaitable[None]]"


@dataclass
class PeerSetup:
    """Our own peer, with a store and a fetcher, and the peers added to it."""

    folder: Path
    us: PeerNetwork
    nursery: trio.Nursery
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.store = Store(self.folder / "ours", quota_bytes=10**9)

    async def honest(self, name: str, content: bytes = CONTENT) -> PeerKey:
        """Add a peer that has the tree."""
        store = Store(self.folder / name, quota_bytes=10**9)
        store.put_tree(content, MIB)
        return await self._join(name, lambda peers: BlobServer(peers, store))

    async def crooked(self, name: str, serve: Serve) -> PeerKey:
        """Add a peer that answers with `serve`."""
        return await self._join(name, lambda peers: peers.serve(PROTOCOL, serve))

    def fetcher(self, times: TransferTimes | None = None) -> Fetcher:
        """A fetcher into our store."""
        return Fetcher(self.us, self.store, rng=random.Random(3), times=times)

    def has(self, content: bytes = CONTENT) -> bool:
        """True if our store holds the tree with exactly this content."""
        root = tree_of(content).ref.root
        return self.store.has_tree(root) and self.store.tree_path(root).read_bytes() == content

    async def _join(self, name: str, prepare: Callable[[PeerNetwork], object]) -> PeerKey:
        address: str = await self.nursery.start(run_peer, name, prepare)
        return await self.us.connect(address)


@asynccontextmanager
async def peer_setup(folder: Path) -> AsyncIterator[PeerSetup]:
    """Start our own peer; leaving the block stops all peers."""
    async with network("ours") as us, trio.open_nursery() as nursery:
        yield PeerSetup(folder, us, nursery)
        nursery.cancel_scope.cancel()


def tree_of(content: bytes = CONTENT) -> MerkleBlob:
    """The tree of the content in chunks of one MiB."""
    return hash_bytes(content, MIB)


def honest_payload(request: BlobRequest, tree: MerkleBlob, content: bytes) -> bytes:
    """The answer of an honest source."""
    start, length = tree.ref.span(request.first, request.count)
    return {
        BlobOp.LEAVES: b"".join(tree.leaves[request.first : request.first + request.count]),
        BlobOp.HELD: b"",
        BlobOp.PIECES: content[start : start + length],
        BlobOp.BLOB: len(content).to_bytes(8, "big") + content[request.first :][: request.count],
    }[request.op]


def answering(change: Callable[[BlobRequest, bytes], bytes | None]) -> Serve:
    """Answer with what `change` makes of the honest payload; None: never answer."""
    tree = tree_of()

    async def serve(stream: PeerStream) -> None:
        while True:
            request = BlobRequest.parse(bytes(await stream.receive_frame(timeout_s=60)))
            payload = change(request, honest_payload(request, tree, CONTENT))
            if payload is None:
                await trio.sleep_forever()
            else:
                await stream.send_frame(bytes([BlobStatus.OK]), payload)

    return serve


def only_in(op: BlobOp, change: Callable[[bytes], bytes | None]) -> Serve:
    """Lie in answers of one kind; the others are honest."""
    return answering(lambda request, honest: change(honest) if request.op is op else honest)


async def trickling(stream: PeerStream) -> None:
    """Announce a full frame and send it one byte at a time, without end."""
    await stream.receive_frame(timeout_s=60)
    await stream.write((MIB + 1).to_bytes(4, "big") + bytes([BlobStatus.OK]))
    while True:
        await stream.write(b"x")
        await trio.sleep(0.2)


def holding_back(content: bytes = CONTENT) -> Serve:
    """Answer honestly what it has, and trickle the content itself."""
    tree = tree_of(content)

    async def serve(stream: PeerStream) -> None:
        while True:
            request = BlobRequest.parse(bytes(await stream.receive_frame(timeout_s=60)))
            if request.op is BlobOp.PIECES:
                await stream.write((MIB + 1).to_bytes(4, "big") + bytes([BlobStatus.OK]))
                while True:
                    await stream.write(b"x")
                    await trio.sleep(0.2)
            await stream.send_frame(bytes([BlobStatus.OK]), honest_payload(request, tree, content))

    return serve


async def shouting(stream: PeerStream) -> None:
    """Announce a frame of four gigabytes, and send bytes as long as they are accepted."""
    await stream.receive_frame(timeout_s=60)
    await stream.write(b"\xff\xff\xff\xff")
    while True:
        await stream.write(bytes(65_536))


@dataclass
class SilentSources:
    """Sources that accept every request, answer none, and count the requested bytes."""

    asked_bytes: int = 0

    def source(self, ref: TreeRef) -> Serve:
        """A silent source; it counts every request as one for a tree of this size."""

        async def serve(stream: PeerStream) -> None:
            while True:
                request = BlobRequest.parse(bytes(await stream.receive_frame(timeout_s=60)))
                if request.op is BlobOp.PIECES:
                    self.asked_bytes += ref.span(request.first, request.count)[1]

        return serve


async def until(condition: Callable[[], bool], timeout_s: float) -> None:
    """Return once the condition holds; raises trio.TooSlowError."""
    with trio.fail_after(timeout_s):
        while not condition():  # noqa: ASYNC110  # what it asks about sets no event
            await trio.sleep(0.05)
