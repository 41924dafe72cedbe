"""Sources that lie, are silent or die cost a fetch time, never wrong bytes; liars are banned."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef, hash_bytes
from tequio_client.worker.swarm.blob_server import (
    PAYLOAD_BYTES,
    BlobOp,
    BlobRequest,
    BlobStatus,
)
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.sources import FetchFailedError
from tequio_client.worker.swarm.streams import FIRST_BAN_S, PeerBans
from tequio_shared.ids import sha256
from tests.support.attack_table import attack
from tests.support.transfer_peers import (
    BIG,
    MIB,
    SMALL,
    TransferPeers,
    big,
    liar,
    small,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerStream


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


@pytest.mark.trio
async def test_a_blob_that_is_said_to_be_too_large_is_asked_for_once(swarm: TransferPeers) -> None:
    asked = 0

    async def huge(stream: PeerStream) -> None:
        nonlocal asked
        while True:
            await stream.receive_frame()
            asked += 1
            size = 3 * PAYLOAD_BYTES
            await stream.send_frame(bytes([BlobStatus.OK]), size.to_bytes(8, "big"), b"blob")

    bad = await swarm.crooked("huge", huge)
    async with swarm.fetcher() as fetcher:
        with pytest.raises(FetchFailedError) as failure:
            await fetcher.fetch_blob(
                sha256(b"blob"), [bad], timeout_s=10, most_bytes=3 * PAYLOAD_BYTES - 1
            )
        assert set(failure.value.progress.bad_sources) == {bad}
    assert asked == 1


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
