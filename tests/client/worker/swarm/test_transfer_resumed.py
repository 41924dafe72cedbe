"""A fetch continues with what is missing, also after a kill, and copies what similar trees hold."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.blob_server import (
    BlobServer,
)
from tequio_client.worker.swarm.limits import ByteBudget
from tests.support.partial_trees import flip
from tests.support.transfer_peers import (
    BIG,
    MIB,
    TransferPeers,
    big,
)

if TYPE_CHECKING:
    from pathlib import Path


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
        is_kept = part.read_bytes()
        assert 4 <= is_kept.count(1) < ref.pieces
        sent = servers[0].sent_bytes
        second = await trio.run_process(command, capture_stdout=True)
    verified, received = map(int, second.stdout.split()[-2:])
    sizes = [*[MIB] * (ref.pieces - 1), ref.size_bytes - (ref.pieces - 1) * MIB]
    missing = sum(size for size, kept in zip(sizes, is_kept, strict=True) if not kept)
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
        leaves = 32 * ref.pieces
        assert fetcher.client.streams.received_bytes <= leaves + MIB + 100
    assert swarm.has(BIG, ref)
    assert swarm.has(bytes(ours), mine)
