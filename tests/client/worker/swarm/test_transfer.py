"""Fetching gets the right bytes from any mixture of honest, slow, lying and dying sources."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pytest
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
    read_payload,
)
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.sources import FetchFailedError, FetchSources
from tequio_client.worker.swarm.streams import FIRST_BAN_S, PeerBans
from tequio_client.worker.swarm.transfer import Exchange, Fetcher, TransferTimes
from tequio_shared.ids import sha256
from tests.support import memory_log
from tests.support.attack_table import attack
from tests.support.loopback import network, two_peers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from trio_typing import TaskStatus

    from tequio_client.worker.store.trees import PartialTree
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
        address: str = await self._nursery.start(_run_peer, name, prepare)
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


async def _run_peer(
    name: str,
    prepare: Callable[[PeerNetwork], object],
    *,
    task_status: TaskStatus[str] = trio.TASK_STATUS_IGNORED,
) -> None:
    async with network(name) as peers:
        prepare(peers)
        task_status.started(peers.addresses()[0])
        await trio.sleep_forever()


@pytest.fixture
async def swarm(tmp_path: Path) -> AsyncIterator[TransferPeers]:
    async with network("ours") as ours, trio.open_nursery() as nursery:
        yield TransferPeers(tmp_path, ours, nursery)
        nursery.cancel_scope.cancel()


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


@pytest.mark.trio
async def test_a_big_tree_comes_from_several_sources_at_once(swarm: TransferPeers) -> None:
    sources = [await swarm.source(name, BIG) for name in ("a", "b", "c")]
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(big(), sources, timeout_s=20)
    assert swarm.has(BIG, big())
    assert set(report.bytes_by_source) == set(sources)
    assert sum(report.bytes_by_source.values()) == len(BIG)
    assert not report.bad_sources


@pytest.mark.trio
async def test_no_piece_comes_twice_from_sources_that_keep_up(swarm: TransferPeers) -> None:
    sources = [await swarm.source(name, BIG) for name in "abc"]
    async with swarm.fetcher() as fetcher:
        await fetcher.fetch_tree(big(), sources, timeout_s=30)
        await trio.sleep(0.2)  # a second copy of a piece would still arrive
        envelopes = 100 * (big().pieces + len(sources))
        assert fetcher.client.streams.received_bytes <= len(BIG) + envelopes


class SlowDisk(Store):
    """A store whose writes take longer than a source may be late."""

    def write_pieces(
        self, partial: PartialTree, first: int, content: bytes | bytearray | memoryview
    ) -> int:
        """Write, and only say so later."""
        written = super().write_pieces(partial, first, content)
        time.sleep(1.0)
        return written


@pytest.fixture
def alarm() -> Iterator[None]:
    """End a test whose event loop spins: no deadline inside the loop can."""

    def ring(_number: int, _frame: object) -> None:
        raise TimeoutError("the event loop was not free for others")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 30)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.trio
@pytest.mark.usefixtures("alarm")
async def test_a_slow_disk_does_not_keep_the_process_spinning(
    swarm: TransferPeers, tmp_path: Path
) -> None:
    content = BIG[:7_400_000]
    sources = [await swarm.source(name, content) for name in "abc"]
    swarm.store = SlowDisk(tmp_path / "slow", quota_bytes=10**9)
    ref = hash_bytes(content, MIB).ref
    async with swarm.fetcher(ByteBudget(3e6), times=TransferTimes(hedge_s=0.3)) as fetcher:
        await fetcher.fetch_tree(ref, sources, timeout_s=25)
    assert swarm.has(content, ref)


@pytest.mark.trio
async def test_small_trees_come_whole_and_many_at_once(swarm: TransferPeers) -> None:
    contents = [random.Random(n).randbytes(67_000) for n in range(20)]
    source = await swarm.source("a", *contents, piece_bytes=20_000)
    async with swarm.fetcher() as fetcher, trio.open_nursery() as nursery:
        for content in contents:
            ref = hash_bytes(content, 20_000).ref
            nursery.start_soon(lambda ref=ref: fetcher.fetch_tree(ref, [source], timeout_s=10))
    assert all(swarm.has(content, hash_bytes(content, 20_000).ref) for content in contents)


@pytest.mark.trio
async def test_what_is_here_already_is_not_fetched(swarm: TransferPeers) -> None:
    ref = swarm.store.put_tree(SMALL, 20_000)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(ref, [], timeout_s=1)
    assert not report.bytes_by_source


@pytest.mark.trio
@pytest.mark.parametrize("spoil", [BlobOp.LEAVES, BlobOp.PIECES])
async def test_a_lying_source_is_dropped_and_named(swarm: TransferPeers, spoil: BlobOp) -> None:
    bad = await swarm.crooked("liar", liar(BIG, MIB, spoil))
    good = await swarm.source("good", BIG)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(big(), [bad, good], timeout_s=20)
    assert swarm.has(BIG, big())
    assert set(report.bad_sources) == {bad}


@pytest.mark.trio
async def test_a_lying_source_of_a_small_tree_is_dropped_and_named(swarm: TransferPeers) -> None:
    bad = await swarm.crooked("liar", liar(SMALL, 20_000, BlobOp.PIECES))
    good = await swarm.source("good", SMALL, piece_bytes=20_000)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(small(), [bad, good], timeout_s=20)
    assert swarm.has(SMALL, small())
    assert set(report.bad_sources) == {bad}
    assert dict(report.bytes_by_source) == {good: len(SMALL)}


@pytest.mark.trio
async def test_when_only_liars_are_left_the_fetch_fails_and_names_them(
    swarm: TransferPeers,
) -> None:
    bad = await swarm.crooked("liar", liar(BIG, MIB, BlobOp.PIECES))
    async with swarm.fetcher() as fetcher:
        with pytest.raises(FetchFailedError) as failure:
            await fetcher.fetch_tree(big(), [bad], timeout_s=20)
    assert set(failure.value.progress.bad_sources) == {bad}
    assert failure.value.progress.seconds < 5


@pytest.mark.trio
async def test_a_source_without_the_tree_does_no_harm(swarm: TransferPeers) -> None:
    empty, good = await swarm.source("empty"), await swarm.source("good", BIG)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(big(), [empty, good], timeout_s=20)
    assert not report.bad_sources
    assert set(report.bytes_by_source) == {good}


@pytest.mark.trio
async def test_sources_that_hold_parts_are_put_together(
    swarm: TransferPeers, tmp_path: Path
) -> None:
    tree, sources = hash_bytes(BIG, 300_000), []
    stores = [Store(tmp_path / f"part{turn}", quota_bytes=10**9) for turn in range(2)]
    for turn, store in enumerate(stores):
        partial = store.acquire_partial(tree)
        for index in range(turn, tree.ref.pieces, 2):
            start, length = tree.ref.span(index, 1)
            store.write_pieces(partial, index, BIG[start : start + length])
        sources.append(await swarm.serving(f"part{turn}", store))
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(tree.ref, sources, timeout_s=20)
    for store in stores:
        store.release_partial(tree.ref.root)
    assert swarm.has(BIG, tree.ref)
    assert set(report.bytes_by_source) == set(sources)


@pytest.mark.trio
async def test_a_silent_source_does_not_hold_the_others_up(swarm: TransferPeers) -> None:
    async def silent(stream: PeerStream) -> None:
        while True:
            request = BlobRequest.parse(bytes(await stream.receive_frame()))
            if request.op is not BlobOp.PIECES:
                payload = (
                    b"" if request.op is BlobOp.HELD else b"".join(hash_bytes(BIG, MIB).leaves)
                )
                await stream.send_frame(bytes([BlobStatus.OK]), payload)

    mute, good = await swarm.crooked("mute", silent), await swarm.source("good", BIG)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(big(), [mute, good], timeout_s=20)
    assert dict(report.bytes_by_source) == {good: len(BIG)}
    assert report.seconds < 6


@pytest.mark.trio
async def test_a_cancelled_fetch_goes_on_where_it_was(swarm: TransferPeers, tmp_path: Path) -> None:
    store = Store(tmp_path / "slow", quota_bytes=10**9)
    store.put_tree(BIG, MIB)
    slow = await swarm.serving("slow", store, ByteBudget(4 * MIB))
    async with swarm.fetcher() as fetcher:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: fetcher.fetch_tree(big(), [slow], timeout_s=60))
            while swarm.store.missing_bytes(big()) > len(BIG) - 2 * MIB:  # noqa: ASYNC110
                await trio.sleep(0.02)
            nursery.cancel_scope.cancel()
        fast = await swarm.source("fast", BIG)
        report = await fetcher.fetch_tree(big(), [fast, slow], timeout_s=20)
    assert swarm.has(BIG, big())
    assert sum(report.bytes_by_source.values()) <= len(BIG) - 2 * MIB


@pytest.mark.trio
async def test_a_source_may_join_while_fetching(swarm: TransferPeers) -> None:
    pool = FetchSources()
    async with swarm.fetcher() as fetcher, trio.open_nursery() as nursery:
        nursery.start_soon(lambda: fetcher.fetch_tree(big(), pool, timeout_s=20))
        await trio.sleep(0.2)
        pool.add(await swarm.source("late", BIG))
    assert swarm.has(BIG, big())


@pytest.mark.trio
async def test_without_any_source_the_deadline_ends_the_fetch(swarm: TransferPeers) -> None:
    async with swarm.fetcher() as fetcher:
        with pytest.raises(FetchFailedError):
            await fetcher.fetch_tree(big(), FetchSources(), timeout_s=0.3)
        with pytest.raises(FetchFailedError):
            await fetcher.fetch_blob(sha256(b"x"), [], timeout_s=20)


@pytest.mark.trio
async def test_two_fetches_of_one_tree_share_the_work(swarm: TransferPeers) -> None:
    sources = [await swarm.source("a", BIG)]
    async with swarm.fetcher() as fetcher, trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(lambda: fetcher.fetch_tree(big(), sources, timeout_s=20))
    assert swarm.has(BIG, big())


@pytest.mark.trio
async def test_a_download_budget_is_kept(swarm: TransferPeers) -> None:
    source = await swarm.source("a", BIG)
    async with swarm.fetcher(ByteBudget(10 * MIB)) as fetcher:
        report = await fetcher.fetch_tree(big(), [source], timeout_s=20)
    assert report.seconds > 0.9


@pytest.mark.trio
async def test_blobs_come_whole_or_not_at_all(swarm: TransferPeers, tmp_path: Path) -> None:
    store = Store(tmp_path / "blobs", quota_bytes=10**9)
    names = [store.put_blob(content) for content in (b"", b"blob", BIG)]
    source = await swarm.serving("blobs", store)
    async with swarm.fetcher() as fetcher:
        for name in names:
            await fetcher.fetch_blob(name, [source], timeout_s=10)
    assert [swarm.store.get_blob(name) for name in names] == [b"", b"blob", BIG]


@pytest.mark.trio
async def test_a_blob_that_is_wrong_or_too_large_names_its_source(swarm: TransferPeers) -> None:
    async def wrong(stream: PeerStream) -> None:
        while True:
            await stream.receive_frame()
            await stream.send_frame(bytes([BlobStatus.OK]), (4).to_bytes(8, "big"), b"glob")

    bad = await swarm.crooked("wrong", wrong)
    async with swarm.fetcher() as fetcher:
        for most in (100, 3):
            with pytest.raises(FetchFailedError) as failure:
                await fetcher.fetch_blob(sha256(b"blob"), [bad], timeout_s=10, most_bytes=most)
            assert set(failure.value.progress.bad_sources) == {bad}


CHILD = """
import pathlib, random, sys, trio
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.store.store import Store
async def main():
    store = Store(pathlib.Path(sys.argv[1]), quota_bytes=10**9)
    async with PeerNetwork(seed=b"k" * 32, listen=["/ip4/127.0.0.1/tcp/0"]) as peers:
        BlobServer(peers, store, ByteBudget(4 << 20))
        print(peers.addresses()[0], file=sys.stderr, flush=True)
        await trio.sleep_forever()
trio.run(main)
"""


def child_with(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


@pytest.mark.trio
async def test_a_source_that_is_killed_while_serving_is_replaced(
    swarm: TransferPeers, tmp_path: Path
) -> None:
    Store(tmp_path / "killed", quota_bytes=10**9).put_tree(BIG, MIB)
    good_store = Store(tmp_path / "good", quota_bytes=10**9)
    good_store.put_tree(BIG, MIB)
    good = await swarm.serving("good", good_store, ByteBudget(4 * MIB))
    with child_with(tmp_path / "killed") as child:
        assert child.stderr is not None
        addr = (await trio.to_thread.run_sync(child.stderr.readline)).decode().strip()
        killed = await swarm.network.connect(addr)
        async with swarm.fetcher() as fetcher, trio.open_nursery() as nursery:
            nursery.start_soon(lambda: fetcher.fetch_tree(big(), [killed, good], timeout_s=20))
            await trio.sleep(0.7)
            assert not swarm.store.has_tree(big().root)
            child.kill()
    assert swarm.has(BIG, big())


def test_the_answer_to_a_request_is_read_from_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path, quota_bytes=10**9)
    ref = store.put_tree(SMALL, 20_000)
    assert (
        read_payload(store, BlobRequest(op=BlobOp.PIECES, name=ref.root, count=ref.pieces)) == SMALL
    )


@attack("M1", layer="net", ends="not asked again for a while, and recorded")
@pytest.mark.trio
async def test_a_liar_is_not_asked_again_for_a_while_and_is_on_record(swarm: TransferPeers) -> None:
    asked: list[BlobRequest] = []
    lie = liar(BIG, MIB, BlobOp.PIECES)

    async def noting(stream: PeerStream) -> None:
        asked.append(BlobRequest(op=BlobOp.HELD, name=big().root))
        await lie(stream)

    bad, good = await swarm.crooked("liar", noting), await swarm.source("good", BIG, SMALL)
    now_s = [0.0]
    async with swarm.fetcher(bans=PeerBans(lambda: now_s[0])) as fetcher:
        await fetcher.fetch_tree(big(), [bad, good], timeout_s=20)
        (record,) = fetcher.bans.newest_first
        assert (record.peer, record.times) == (bad, 1)
        assert "leaf hash" in record.reason
        for later_s, is_asked in ((1.0, False), (FIRST_BAN_S + 1, True)):
            now_s[0] = later_s
            asked.clear()
            swarm.store.remove(big().root)
            report = await fetcher.fetch_tree(big(), [bad, good], timeout_s=20)
            assert bool(asked) is is_asked
            assert set(report.bad_sources) == ({bad} if is_asked else set())
        (record,) = fetcher.bans.newest_first
        assert record.times == 2


@pytest.mark.trio
async def test_an_honest_source_of_a_name_with_another_shape_is_not_banned(
    swarm: TransferPeers,
) -> None:
    good = await swarm.source("good", BIG)
    names = [
        TreeRef(root=big().root, size_bytes=MIB, piece_bytes=MIB),  # one piece of it
        TreeRef(root=big().root, size_bytes=3 * MIB, piece_bytes=MIB),
        TreeRef(root=big().root, size_bytes=len(BIG) - 1, piece_bytes=MIB),
    ]
    async with swarm.fetcher() as fetcher:
        for ref in names:
            with pytest.raises(FetchFailedError) as failure:
                await fetcher.fetch_tree(ref, [good], timeout_s=20)
            assert failure.value.progress.bad_sources
            assert not fetcher.bans.newest_first
            swarm.store.remove(ref.root)


FETCHING = """
import pathlib, random, sys, trio
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.transfer import Fetcher
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef
async def main():
    folder, address, root, size = sys.argv[1:]
    store = Store(pathlib.Path(folder), quota_bytes=10**9)
    ref = TreeRef(root=bytes.fromhex(root), size_bytes=int(size), piece_bytes=1 << 20)
    async with PeerNetwork(seed=b"f" * 32, listen=["/ip4/127.0.0.1/tcp/0"]) as peers:
        source = await peers.connect(address)
        async with Fetcher(peers, store, rng=random.Random(1)) as fetcher:
            report = await fetcher.fetch_tree(ref, [source], timeout_s=60)
            received = fetcher.client.streams.received_bytes
            print(sum(report.bytes_by_source.values()), received, flush=True)
trio.run(main)
"""


@pytest.mark.trio
async def test_a_fetch_that_is_killed_goes_on_with_what_is_missing_only(
    swarm: TransferPeers, tmp_path: Path
) -> None:
    theirs = Store(tmp_path / "theirs", quota_bytes=10**9)
    theirs.put_tree(BIG, MIB)
    upload = ByteBudget(6 * MIB)
    servers: list[BlobServer] = []
    address: str = await swarm.start(
        "slow", lambda peers: servers.append(BlobServer(peers, theirs, upload))
    )
    ref = big()
    command = [sys.executable, "-c", FETCHING, str(tmp_path / "killed"), address]
    command += [ref.root.hex(), str(ref.size_bytes)]
    part = tmp_path / "killed" / "trees" / ref.root.hex()[:2] / (ref.root.hex() + ".bits")
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            run = partial(trio.run_process, command, check=False)
            process = await nursery.start(run)
            while not part.exists() or part.read_bytes().count(1) < 4:  # noqa: ASYNC110
                await trio.sleep(0.02)
            process.kill()
        kept = part.read_bytes().count(1)
        assert 4 <= kept < ref.pieces
        sent = servers[0].sent_bytes
        second = await trio.run_process(command, capture_stdout=True)
    verified, received = map(int, second.stdout.split()[-2:])
    missing = ref.size_bytes - kept * MIB
    assert verified == missing
    assert received <= missing + 1_000  # envelopes, and not one piece twice
    assert servers[0].sent_bytes - sent <= missing + 1_000
    again = Store(tmp_path / "killed", quota_bytes=10**9)
    assert again.verify_tree(ref.root)


@pytest.mark.trio
async def test_a_damaged_tree_costs_the_damaged_piece_alone(swarm: TransferPeers) -> None:
    ref, source = swarm.store.put_tree(BIG, MIB), await swarm.source("a", BIG)
    flip(swarm.store.tree_path(ref.root), 5 * MIB + 7)
    assert not swarm.store.verify_tree(ref.root)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(ref, [source], timeout_s=20)
        assert dict(report.bytes_by_source) == {source: MIB}
        assert fetcher.client.streams.received_bytes <= MIB + 100  # not even the leaf hashes
    assert swarm.has(BIG, ref)


@pytest.mark.trio
async def test_of_a_tree_like_one_that_is_here_only_the_pieces_that_differ_come(
    swarm: TransferPeers,
) -> None:
    ours = bytearray(BIG)
    ours[3 * MIB + 1] ^= 64
    mine, ref = swarm.store.put_tree(bytes(ours), MIB), big()
    source = await swarm.source("a", BIG)
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(ref, [source], timeout_s=20, like=[mine.root])
        assert dict(report.bytes_by_source) == {source: MIB}
        assert report.copied_bytes == len(BIG) - MIB
        leaves = 32 * ref.pieces
        assert fetcher.client.streams.received_bytes <= leaves + MIB + 100
    assert swarm.has(BIG, ref)
    assert swarm.has(bytes(ours), mine)


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


@pytest.mark.trio
async def test_a_tree_comes_from_its_likely_holder(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        assert await pair.exchange.fetch_tree(REF, pair.other) == {pair.other: len(PAYLOAD)}
        assert pair.ours.tree_path(REF.root).read_bytes() == PAYLOAD
        assert await pair.exchange.fetch_tree(REF, pair.other) == {}


@pytest.mark.trio
async def test_when_the_likely_holder_does_not_answer_others_are_asked(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        stranger = random.Random(2).randbytes(32)
        await pair.exchange.fetch_tree(REF, stranger)  # type: ignore[arg-type]  # any 32 bytes
        assert pair.ours.has_tree(REF.root)


@pytest.mark.trio
async def test_a_tree_that_no_peer_has_yet_is_waited_for(tmp_path: Path) -> None:
    times = TransferTimes(try_s=0.5, retry_s=0.1)
    async with paired(tmp_path, times=times) as pair, trio.open_nursery() as nursery:
        nursery.start_soon(pair.exchange.fetch_tree, REF, pair.other)
        await trio.sleep(1)
        assert not pair.ours.has_tree(REF.root)
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)


@pytest.mark.trio
async def test_asked_for_twice_at_once_a_tree_is_fetched_once(tmp_path: Path) -> None:
    came: list[int] = []
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)

        async def get() -> None:
            came.append(sum((await pair.exchange.fetch_tree(REF, pair.other)).values()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(get)
            nursery.start_soon(get)
    assert sorted(came) == [0, len(PAYLOAD)]


@pytest.mark.trio
async def test_when_the_first_caller_gives_up_the_second_gets_the_tree(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        async with trio.open_nursery() as nursery:
            scope = trio.CancelScope()

            async def impatient() -> None:
                with scope:
                    await pair.exchange.fetch_tree(REF, pair.other)

            nursery.start_soon(impatient)
            await trio.sleep(0.2)
            nursery.start_soon(pair.exchange.fetch_tree, REF, pair.other)
            await trio.sleep(0.1)
            scope.cancel()
            pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        assert pair.ours.has_tree(REF.root)


@pytest.mark.trio
async def test_waiters_wake_for_fetched_trees_and_for_our_own(tmp_path: Path) -> None:
    own = hash_bytes(b"own" * 1_000, 1 << 10).ref
    async with paired(tmp_path) as pair, trio.open_nursery() as nursery:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        nursery.start_soon(pair.exchange.wait_for_trees, [REF.root, own.root])
        await pair.exchange.fetch_in_background(REF, pair.other)
        pair.ours.put_tree(b"own" * 1_000, own.piece_bytes)
        pair.exchange.wake_waiters()


@pytest.mark.trio
async def test_a_blob_comes_from_peers_while_the_ledger_is_away(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        name = pair.theirs.put_blob(b"a roster")
        assert await pair.exchange.fetch_blob(name) == b"a roster"
        assert pair.ours.has_blob(name)


@pytest.mark.trio
async def test_a_blob_comes_from_the_ledger_and_is_kept(tmp_path: Path) -> None:
    log = memory_log.MemoryLog.founded()
    name = sha256(b"a result")
    async with memory_log.serving(log) as server, paired(tmp_path, server.url) as pair:
        server.blobs[name] = b"a result"
        assert await pair.exchange.fetch_blob(name) == b"a result"
        assert pair.ours.get_blob(name) == b"a result"


@pytest.mark.trio
async def test_what_is_wrong_with_a_tree_does_not_end_its_gatherer(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        wrong = TreeRef(root=REF.root, size_bytes=7, piece_bytes=3)
        with trio.move_on_after(0.5):
            await pair.exchange.fetch_in_background(wrong, pair.other)
        assert not pair.ours.has_tree(REF.root)


def flip(path: Path, at: int) -> None:
    """Change one bit of a file that a store keeps."""
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
