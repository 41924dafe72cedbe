"""Sources that lie, shout, trickle or vanish. Layers: net and mdl, over real libp2p."""

from __future__ import annotations

import random
import tracemalloc
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.rounds.gossip import commitment_filter, topic_of
from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.blob_server import (
    PAYLOAD_BYTES,
    PEER_ANSWERS,
    PROTOCOL,
    BlobOp,
    BlobRequest,
    BlobServer,
    BlobStatus,
)
from tequio_client.worker.swarm.membership import AddressRecords, PeerExchange
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.request_places import OTHER_PLACES, TRUSTED_PLACES
from tequio_client.worker.swarm.sources import FetchFailedError
from tequio_client.worker.swarm.transfer import Fetcher, TransferTimes
from tequio_shared.addresses import sign_addresses
from tequio_shared.ids import Digest, NetworkId, sha256
from tequio_shared.keys import Signer
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.runs import WorkCommit
from tests.support.attack_table import attack
from tests.support.attackers_peers import (
    CONTENT,
    MIB,
    PeerSetup,
    SilentSources,
    answering,
    holding_back,
    only_in,
    peer_setup,
    shouting,
    tree_of,
    trickling,
    until,
)
from tests.support.attackers_round import round_of, swarm_in
from tests.support.loopback import LOOPBACK, ContentFilter, network, two_peers
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerStream
    from tests.support.attackers_peers import Serve


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[PeerSetup]:
    async with peer_setup(tmp_path) as place:
        yield place


ALTERED: dict[str, Serve] = {
    "another weight": only_in(BlobOp.PIECES, lambda honest: bytes([honest[0] ^ 1]) + honest[1:]),
    "another leaf hash": only_in(BlobOp.LEAVES, lambda honest: bytes([honest[0] ^ 1]) + honest[1:]),
    "leaf hashes for another tree": only_in(
        BlobOp.LEAVES, lambda honest: honest[32:] + honest[:32]
    ),
    "a list of pieces without end": only_in(BlobOp.HELD, lambda _: bytes(MIB)),
    "more than was asked for": only_in(BlobOp.PIECES, lambda honest: honest + b"x"),
    "less than was asked for": only_in(BlobOp.PIECES, lambda honest: honest[:-1]),
    "nothing": only_in(BlobOp.PIECES, lambda _: b""),
}


@attack("M1", layer="mdl", ends="dropped at the first wrong piece; the rest comes from others")
@attack("W16", layer="net", ends="dropped at its limit or first wrong size; others continue")
@pytest.mark.trio
@pytest.mark.parametrize("lie", ALTERED)
async def test_altered_weights_never_reach_the_store(here: PeerSetup, lie: str) -> None:
    liar = await here.crooked("liar", ALTERED[lie])
    honest = await here.honest("honest")
    async with here.fetcher() as fetcher:
        report = await fetcher.fetch_tree(tree_of().ref, [liar, honest], timeout_s=40)
    assert here.has()
    assert report.bytes_by_source.get(liar, 0) + report.bytes_by_source[honest] == len(CONTENT)


@attack("M1", layer="mdl", ends="refused: content that only a liar offers never becomes the model")
@pytest.mark.trio
async def test_when_only_liars_are_there_nothing_is_taken(here: PeerSetup) -> None:
    liar = await here.crooked("liar", ALTERED["another weight"])
    async with here.fetcher() as fetcher:
        with pytest.raises(FetchFailedError) as failed:
            await fetcher.fetch_tree(tree_of().ref, [liar], timeout_s=20)
    assert set(failed.value.progress.bad_sources) == {liar}
    assert not here.has()


@attack("W16", layer="net", ends="dropped after silence, or for a faster source")
@pytest.mark.trio
@pytest.mark.parametrize("slow", ["trickling", "silent"])
async def test_a_source_that_trickles_holds_nobody_up(here: PeerSetup, slow: str) -> None:
    serve = trickling if slow == "trickling" else answering(lambda *_: None)
    tar, honest = await here.crooked("tar", serve), await here.honest("honest")
    with trio.fail_after(45):
        async with here.fetcher(TransferTimes(silence_s=3.0)) as fetcher:
            report = await fetcher.fetch_tree(tree_of().ref, [tar, honest], timeout_s=40)
    assert here.has()
    assert report.bytes_by_source[honest] == len(CONTENT)


@attack("W17", layer="net", ends="at most 16 MiB are requested at once, over all transfers")
@pytest.mark.trio
async def test_many_transfers_at_once_stay_under_one_cap(here: PeerSetup) -> None:
    counting = SilentSources()
    small = [tree_of(bytes([at]) * MIB).ref for at in range(100, 140)]
    sources = [await here.crooked(f"source {at}", counting.source(small[0])) for at in range(8)]
    async with here.fetcher() as fetcher, trio.open_nursery() as nursery:
        for ref in small:
            nursery.start_soon(_failing, fetcher, ref, sources)
        await until(lambda: counting.asked_bytes >= OTHER_PLACES * MIB, 40)
        await trio.sleep(1)
        assert counting.asked_bytes == OTHER_PLACES * MIB <= 16 * MIB - TRUSTED_PLACES * MIB
        nursery.cancel_scope.cancel()


def part_of(name: Digest, _first: int, count: int) -> tuple[int, bytes]:
    """Read a blob that is as long as anybody asks."""
    return count, bytes([name[0]]) * count


async def asked_for_many(attacked: PeerNetwork, attacker: PeerNetwork) -> list[PeerStream]:
    """Ask for as much as an answer may have, on each of sixteen streams."""
    streams = []
    for number in range(16):
        name = sha256(bytes([number]))
        streams.append(await attacker.open_stream(attacked.key, PROTOCOL))
        request = BlobRequest(op=BlobOp.BLOB, name=name, count=PAYLOAD_BYTES)
        await streams[-1].send_frame(request.encode())
    return streams


@attack("W17", layer="net", ends="two answers to one key are in memory, over all its streams")
@pytest.mark.trio
async def test_a_peer_that_reads_no_answer_holds_two_in_memory(tmp_path: Path) -> None:
    read: list[Digest] = []

    def read_part(name: Digest, first: int, count: int) -> tuple[int, bytes]:
        read.append(name)
        return part_of(name, first, count)

    store = Store(tmp_path, quota_bytes=10**9)
    async with two_peers() as (attacked, attacker):
        BlobServer(attacked, store, more_blobs=read_part)
        await asked_for_many(attacked, attacker)
        await until(lambda: len(read) >= PEER_ANSWERS, 40)
        await trio.sleep(1)
        assert len(read) == PEER_ANSWERS


@attack(
    "W26", layer="net", ends="work is sent to nobody before its trainer reads its place in the log"
)
@pytest.mark.trio
async def test_work_that_the_log_does_not_have_yet_is_sent_to_nobody(tmp_path: Path) -> None:
    store = Store(tmp_path, quota_bytes=10**9)
    trees = [store.put_tree(bytes([number]) * 70_000, 1 << 16) for number in (1, 2)]
    work, other = (tree.root for tree in trees)
    async with two_peers() as (attacked, attacker):
        server = BlobServer(attacked, store)
        server.withheld.add(work)
        stream = await attacker.open_stream(attacked.key, PROTOCOL)

        async def status(root: Digest, op: BlobOp) -> BlobStatus:
            await stream.send_frame(BlobRequest(op=op, name=root, count=1).encode())
            return BlobStatus((await stream.receive_frame())[0])

        ways = (BlobOp.LEAVES, BlobOp.HELD, BlobOp.PIECES)
        assert {await status(work, op) for op in ways} == {BlobStatus.MISSING}
        assert {await status(other, op) for op in ways} == {BlobStatus.OK}
        server.withheld.clear()
        assert {await status(work, op) for op in ways} == {BlobStatus.OK}


@attack("W17", layer="net", ends="an answer that was sent leaves memory, however idle its stream")
@pytest.mark.trio
async def test_a_peer_that_asks_once_on_many_streams_holds_no_memory(tmp_path: Path) -> None:
    store = Store(tmp_path, quota_bytes=10**9)
    async with two_peers() as (attacked, attacker):
        server = BlobServer(attacked, store, more_blobs=part_of)
        tracemalloc.start()
        try:
            streams = await asked_for_many(attacked, attacker)
            for stream in streams:
                await stream.receive_frame()
            await until(lambda: server.sent_bytes >= len(streams) * PAYLOAD_BYTES, 20)
            held_bytes = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
    assert held_bytes < 4 * MIB


@attack(
    "M13", layer="net", ends="sources that send have places of their own, and slow ones lose theirs"
)
@pytest.mark.trio
async def test_a_few_sources_that_hold_back_do_not_stop_all_transfers(here: PeerSetup) -> None:
    slow = [await here.crooked(f"slow {at}", holding_back()) for at in range(4)]
    honest = await here.honest("honest")
    async with here.fetcher() as fetcher:
        report = await fetcher.fetch_tree(tree_of().ref, [*slow, honest], timeout_s=allowed_s(40))
    assert report.bytes_by_source == {honest: len(CONTENT)}


async def _failing(fetcher: object, ref: object, sources: object) -> None:
    try:
        await fetcher.fetch_tree(ref, sources, timeout_s=30)  # type: ignore[attr-defined]  # a Fetcher
    except FetchFailedError:
        return


@attack("W16", layer="net", ends="refused by its announced length: no memory is taken for it")
@pytest.mark.trio
async def test_a_frame_that_announces_gigabytes_takes_no_memory(here: PeerSetup) -> None:
    liar = await here.crooked("liar", shouting)
    tracemalloc.start()
    try:
        async with here.fetcher() as fetcher:
            with pytest.raises(FetchFailedError):
                await fetcher.fetch_tree(tree_of().ref, [liar], timeout_s=6)
        assert tracemalloc.get_traced_memory()[1] < 24 * MIB
    finally:
        tracemalloc.stop()


NOW, NET = 1_800_000_000_000, NetworkId(bytes(32))


@attack("M3", layer="net", ends="the others know each other's signed addresses and continue")
@pytest.mark.trio
async def test_the_death_of_the_first_peer_splits_nobody_off() -> None:
    def exchange(name: str, peers: object) -> tuple[AddressRecords, PeerExchange]:
        book = AddressRecords(NET, lambda: NOW)
        return book, PeerExchange(peers, book, rng=random.Random(name))  # type: ignore[arg-type]

    async with network("left") as left, network("right") as right:
        async with network("seed") as seed:
            books = {}
            for name, peers in (("seed", seed), ("left", left), ("right", right)):
                books[name] = exchange(name, peers)
            for name, peers in (("left", left), ("right", right)):
                await peers.connect(seed.addresses()[0])
                signer = Signer(name.encode().ljust(32, b"."))
                record = sign_addresses(signer, NET, peers.addresses(), NOW)
                await books[name][1].ask(seed.key, record)
            await books["left"][1].ask(seed.key)
            assert right.key in {one.author for one in books["left"][0].current()}
        await until(lambda: seed.key not in left.connected_peers(), 40)
        found = books["left"][0].get(right.key)
        assert found is not None
        await left.connect(found.addrs[0])
        assert right.key in left.connected_peers()


@attack("A1", layer="net", ends="not passed on: author, transport and signature are one key")
@attack("A5", layer="net", ends="not passed on: a topic carries statements of its one kind")
@attack("A23", layer="net", ends="ignored: topic and signature name network and run")
@pytest.mark.trio
async def test_gossip_in_another_name_network_or_of_another_kind_is_not_passed_on() -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN, logged=2)
    commits = [one for one in swarm.entries if one.statement.type == "work.commit"]
    opened = next(one for one in swarm.entries if one.statement.type == "round.open")
    speaker = next(one for one in swarm.volunteers if one.key == commits[0].statement.author)
    true, others = (one.leaf() for one in commits[:2])
    renamed = others[:2] + true[2:34] + others[34:]
    flipped = true[:90] + bytes([true[90] ^ 1]) + true[91:]
    bad = [others, renamed, flipped, opened.leaf(), b"x", bytes(99_000), true[:-1]]
    number, run = round_of(swarm).number, swarm.manifest.run_id
    judge = commitment_filter(swarm.net, run, lambda _: number, lambda *_: None)
    received: list[bytes] = []
    mine = PeerNetwork(seed=speaker.signer.seed, listen=LOOPBACK)
    async with network("first") as first, mine as second, trio.open_nursery() as nursery:
        await second.connect(first.addresses()[0])
        topic, stray = (topic_of(net, run, WorkCommit) for net in (swarm.net, NET))
        ours = await first.subscribe(topic, judge)
        for heard in (topic, stray):
            await second.subscribe(heard, ContentFilter())

        async def collect() -> None:
            while True:
                received.append((await ours.receive()).content)

        nursery.start_soon(collect)
        with trio.fail_after(40):
            while not received:  # before the mesh stands, messages are lost
                await second.publish(stray, true)
                await second.publish(topic, true)
                await trio.sleep(0.3)
        for content in bad:
            await second.publish(topic, content)
        await trio.sleep(2)
        nursery.cancel_scope.cancel()
    assert received == [true]


@attack("M4", layer="net", ends="announcements are passed on, and any peer can send the bytes")
@pytest.mark.trio
async def test_members_that_reach_one_peer_only_still_get_each_others_work(tmp_path: Path) -> None:
    tree = tree_of()
    stores = {name: Store(tmp_path / name, quota_bytes=10**9) for name in ("left", "hub", "right")}
    stores["left"].put_tree(CONTENT, MIB)
    async with network("left") as left, network("hub") as hub, network("right") as right:
        for name, peers in (("left", left), ("hub", hub), ("right", right)):
            BlobServer(peers, stores[name])
        for peers in (left, right):
            await peers.connect(hub.addresses()[0])
        assert right.key not in left.connected_peers()
        for peers, name, source in ((hub, "hub", left), (right, "right", hub)):
            async with Fetcher(peers, stores[name], rng=random.Random(4)) as fetcher:
                await fetcher.fetch_tree(tree.ref, [source.key], timeout_s=40)
    assert stores["right"].tree_path(tree.ref.root).read_bytes() == CONTENT
