"""Gossip over real connections: what arrives, what is remembered, and what it costs."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
import trio
from libp2p.pubsub.pb.rpc_pb2 import RPC, Message
from libp2p.pubsub.rpc_queue import RpcQueue

from tequio_client.worker.swarm.limits import PeerLimits
from tequio_client.worker.swarm.peers import Announcement, PeerNetwork, TopicFilter
from tequio_client.worker.swarm.peers.gossip import TOPIC_CHARACTERS, UNWANTED_BYTES
from tequio_client.worker.swarm.peers.patches import JOINED_BYTES
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.limits import GOSSIP_BYTES
from tests.support.loopback import ContentFilter, network, two_peers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from libp2p.peer.id import ID

    from tequio_shared.ids import PeerKey


@pytest.fixture
async def pair() -> AsyncIterator[tuple[PeerNetwork, PeerNetwork]]:
    async with two_peers() as peers:
        yield peers


PROBE = b"good"
REMEMBERED = 130
MESSAGES_KEPT_S = 8.0  # five heartbeats, and what a busy machine adds


async def mesh_stands(
    sender: PeerNetwork, received: trio.MemoryReceiveChannel[Announcement]
) -> None:
    """Return once a message of the sender arrives: those before the mesh stands are lost."""

    async def probe() -> None:
        while True:
            await sender.publish("/test/topic", PROBE)
            await trio.sleep(0.5)

    with trio.fail_after(90):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(probe)
            await received.receive()
            nursery.cancel_scope.cancel()


async def subscribed(
    reader: PeerNetwork, sender: PeerNetwork, judge: TopicFilter | None = None
) -> trio.MemoryReceiveChannel[Announcement]:
    """Have both join the topic; what the reader receives from then on, once the mesh stands."""
    received = await reader.subscribe("/test/topic", judge or ContentFilter())
    await sender.subscribe("/test/topic", ContentFilter())
    await mesh_stands(sender, received)
    return received


@pytest.mark.trio
async def test_gossip_reaches_the_others_with_its_author_and_a_burst_arrives(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    received = await subscribed(first, second)
    for number in range(300):
        await second.publish("/test/topic", b"%d" % number)
    contents: set[bytes] = set()
    with trio.move_on_after(60):
        while len(contents) < 300:
            announcement = await received.receive()
            assert announcement.author == second.key
            contents |= {announcement.content} - {PROBE}
    assert len(contents) == 300


@pytest.mark.trio
async def test_what_was_told_is_soon_forgotten(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    received = await subscribed(first, second)
    with trio.fail_after(60):
        for number in range(3 * REMEMBERED):
            await second.publish("/test/topic", b"%d" % number)
            while (await received.receive()).content != b"%d" % number:
                pass
    await trio.sleep(MESSAGES_KEPT_S)
    for peers in pair:
        assert largest_memory(peers) <= REMEMBERED


def largest_memory(peers: PeerNetwork) -> int:
    """Size of the largest collection of the library's gossip, except those that expire by time."""
    pubsub = peers.topics.pubsub  # what the library keeps shows nowhere else
    kept = (pubsub, pubsub.router, pubsub.validation_cache)
    found = [value for one in kept for value in vars(one).values() if hasattr(value, "__len__")]
    found += [one for value in found if isinstance(value, dict) for one in value.values()]
    return max(len(value) for value in found if isinstance(value, dict | list | set))


@pytest.mark.trio
async def test_a_peer_that_joins_a_topic_after_another_reaches_that_one(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    received = await first.subscribe("/test/topic", ContentFilter())
    await trio.sleep(1)  # the other was told, and does not take the topic itself
    await second.subscribe("/test/topic", ContentFilter())
    await mesh_stands(second, received)


@pytest.mark.trio
async def test_a_topic_with_a_very_long_name_is_not_remembered(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    await second.subscribe("/test/" + "t" * TOPIC_CHARACTERS, ContentFilter())
    received = await second.subscribe("/test/topic", ContentFilter())
    await first.subscribe("/test/topic", ContentFilter())
    await mesh_stands(first, received)
    assert set(known_topics(first)) == {"/test/topic"}


@pytest.mark.trio
async def test_a_peer_that_forgot_our_topics_is_sent_them_again() -> None:
    async with two_peers(PeerLimits(repeat_topics_s=0.5)) as (first, second):
        await subscribed(first, second)
        known_topics(second).clear()
        with trio.fail_after(20):
            while "/test/topic" not in known_topics(second):  # noqa: ASYNC110 - libp2p has no event for it
                await trio.sleep(0.02)


def known_topics(peers: PeerNetwork) -> dict[str, set[ID]]:
    return peers.topics.pubsub.peer_topics


@pytest.mark.trio
async def test_a_relay_passes_on_what_it_does_not_read_and_keeps_nothing_of_it() -> None:
    async with network("sender") as sender, network("relay") as relay, network("reader") as reader:
        received = await reader.subscribe("/test/topic", ContentFilter())
        for passing_on in (relay, sender):
            (await passing_on.subscribe("/test/topic", ContentFilter())).close()
        for peer in (sender, reader):
            await peer.connect(relay.addresses()[0])
        await mesh_stands(sender, received)
        for number in range(100):
            await sender.publish("/test/topic", b"%d" % number)
        contents: set[bytes] = set()
        with trio.move_on_after(60):
            while len(contents) < 100:
                contents |= {(await received.receive()).content} - {PROBE}
        assert len(contents) == 100
        with trio.fail_after(60):  # some may still be on their way through somebody's hands
            while _announcements() > received.statistics().current_buffer_used + 1:  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(0.2)


def _announcements() -> int:
    """How many of them somebody in this process still holds and can reach."""
    gc.collect()
    return sum(type(one) is Announcement for one in gc.get_objects())  # no proxy's `__class__`


@pytest.mark.trio
async def test_a_check_that_refuses_or_raises_stops_only_that_message(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair

    def check(author: PeerKey, content: bytes) -> bool:
        assert author == second.key
        if content == b"malformed":
            raise MalformedError("no")
        if content == b"bug":
            raise ValueError("ours")
        return content == b"good"

    received = await subscribed(first, second, ContentFilter(check))
    for content in (b"malformed", b"bug", b"refused", b"good"):
        await second.publish("/test/topic", content)
    with trio.fail_after(20):
        assert (await received.receive()).content == b"good"


@pytest.mark.trio
async def test_gossip_of_the_largest_size_arrives_and_a_larger_one_is_refused(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    received = await subscribed(first, second)
    with pytest.raises(RefusedError):
        await second.publish("/test/topic", bytes(GOSSIP_BYTES + 1))
    await second.publish("/test/topic", bytes(GOSSIP_BYTES))
    with trio.fail_after(20):
        while (content := (await received.receive()).content) == PROBE:
            pass
    assert content == bytes(GOSSIP_BYTES)


@pytest.mark.trio
async def test_neighbours_hear_of_long_messages_alone_and_repeats_are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with network("a") as first, network("b") as second, network("c") as third:
        for peer in (second, third):
            await peer.connect(first.addresses()[0])
        await second.connect(third.addresses()[0])
        screened: list[bytes] = []

        def screen(_author: PeerKey, content: bytes) -> bool:
            screened.append(content)
            return True

        counted = ContentFilter()
        monkeypatch.setattr(counted, "screen", screen)
        received = await first.subscribe("/test/topic", counted)
        for peer in (second, third):
            await peer.subscribe("/test/topic", ContentFilter())
        await mesh_stands(second, received)
        await mesh_stands(third, received)
        packets = _packets(monkeypatch, first)
        long = bytes(UNWANTED_BYTES)
        for content in (b"short", long):
            await second.publish("/test/topic", content)
        await trio.sleep(3)  # a heartbeat, and all repeats
        assert screened.count(b"short") == 1
        heard = [one for packet in packets for one in packet.control.idontwant]
        assert len(heard) <= 2, "each neighbour announces the long message once"
        assert [one for packet in packets for one in packet.publish if one.data == long]
        assert not [one for one in packets if one.senderRecord], "a record of addresses was sent"


def _packets(monkeypatch: pytest.MonkeyPatch, peers: PeerNetwork) -> list[RPC]:
    """Collect the packets that a peer receives from now on."""
    found: list[RPC] = []
    admit = peers.topics.admit

    def collect(forwarder: ID, packet: RPC) -> bool:
        copy = RPC()
        copy.CopyFrom(packet)
        found.append(copy)
        return admit(forwarder, packet)

    monkeypatch.setattr(peers.topics, "admit", collect)
    return found


@pytest.mark.trio
async def test_packets_that_wait_for_one_peer_are_sent_as_one_in_their_order() -> None:
    queue = RpcQueue()
    for number in range(3):
        assert queue.push(_packet(b"%d" % number))
    assert queue.push(RPC(), priority=True)
    packet = await queue.pop()
    assert packet is not None
    assert [one.data for one in packet.publish] == [b"0", b"1", b"2"]
    assert not len(queue)


@pytest.mark.trio
async def test_joined_packets_stay_short() -> None:
    queue = RpcQueue()
    half = bytes(JOINED_BYTES // 2 - 100)
    for _ in range(3):
        assert queue.push(_packet(half))
    assert queue.push(_packet(bytes(2 * JOINED_BYTES)))
    sizes = []
    while len(queue):
        packet = await queue.pop()
        assert packet is not None
        sizes.append(len(packet.publish))
    assert sizes == [2, 1, 1]
    queue.close()
    assert await queue.pop() is None


def _packet(content: bytes) -> RPC:
    return RPC(publish=[Message(data=content)])
