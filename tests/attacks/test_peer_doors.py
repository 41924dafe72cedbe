"""Attackers on the peer port, over real sockets. Layer: net; the node lives, and serves others."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import tracemalloc
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest
import trio
from libp2p.custom_types import TProtocol

from tequio_client import clock
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.swarm.limits import BURST_S, PeerLimits
from tequio_client.worker.swarm.membership import (
    PEERS_PROTOCOL,
    AddressRecords,
    Membership,
    ReconnectPauses,
    RecordBounds,
)
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.peers.patches import STREAMS
from tequio_client.worker.swarm.peers.stream import id_of
from tequio_client.worker.swarm.reachability import REACH_PROTOCOL, DialBack, DialBackStatus
from tequio_shared.addresses import sign_addresses
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import peer_id_text
from tequio_shared.keys import Signer
from tests.support.attack_table import attack
from tests.support.attackers import key_number
from tests.support.loopback import LOOPBACK, ContentFilter, network, victim
from tests.support.memory_log import NET, unused_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from libp2p.network.swarm import Swarm
    from libp2p.pubsub.gossipsub import GossipSub
    from libp2p.stream_muxer.yamux.yamux import Yamux

    from tequio_client.worker.swarm.peers import PeerStream
    from tequio_shared.addresses import AddressRecord


STRANGER = key_number(7)
ECHO, STRICT = "/test/echo/1", "/test/strict/1"
HELLO = b"\x13/multistream/1.0.0\n"
SYN = 1


async def echo(stream: PeerStream) -> None:
    while True:
        await stream.send_frame(bytes(await stream.receive_frame()))


async def strict(stream: PeerStream) -> None:
    """Take one message, and find that nobody honest sends it."""
    raise MalformedError(f"{len(await stream.receive_frame())} bytes of garbage")


async def serves(attacked: PeerNetwork, honest: PeerNetwork) -> bool:
    """True if an honest peer can connect, send a request and get its answer."""
    await honest.connect(attacked.addresses()[0])
    stream = await honest.open_stream(attacked.key, ECHO)
    await stream.send_frame(b"hello")
    answer = bytes(await stream.receive_frame())
    await stream.drop()
    return answer == b"hello"


async def until(holds: Callable[[], bool], patience_s: float = 20) -> None:
    with trio.fail_after(patience_s):
        while not holds():  # noqa: ASYNC110 - the library tells nobody when a connection ends
            await trio.sleep(0.02)


def port_of(peers: PeerNetwork) -> int:
    return int(peers.addresses()[0].split("/")[4])


async def closed(stream: trio.SocketStream) -> bool:
    """Read until the other end closes; False when it does not within 15 s."""
    with trio.move_on_after(15) as patience:
        try:
            while await stream.receive_some():
                pass
        except trio.BrokenResourceError:
            pass
    return not patience.cancelled_caught


@pytest.mark.trio
async def test_the_places_of_connections_that_ended_are_given_back() -> None:
    async with network("attacked", PeerLimits(inbound=3)) as attacked:
        attacked.serve(ECHO, echo)
        for number in range(8):
            async with network(f"guest {number}") as guest:
                assert await serves(attacked, guest)
            await until(lambda: not attacked.connected_peers())


@pytest.mark.trio
async def test_sockets_that_say_nothing_are_few_and_do_not_stay() -> None:
    limits = PeerLimits(handshakes=4, loopback_factor=1, arrivals_per_s=100)
    async with network("attacked", limits) as attacked, network("honest") as honest:
        attacked.serve(ECHO, echo)
        idle = [await trio.open_tcp_stream("127.0.0.1", port_of(attacked)) for _ in range(40)]
        ended: list[trio.SocketStream] = []

        async def wait_closed(one: trio.SocketStream) -> None:
            if await closed(one):
                ended.append(one)

        async with trio.open_nursery() as nursery:
            for one in idle:
                nursery.start_soon(wait_closed, one)
            await until(lambda: len(ended) >= 36)
            nursery.cancel_scope.cancel()
        for one in idle:  # the rest leaves by itself
            await one.aclose()
        await until(lambda: attacked.limiter.inbound == 0)
        assert await serves(attacked, honest)


@attack("W16", layer="net", ends="refused by its announced length")
@attack("L8", layer="net", ends="refused before memory is taken")
@pytest.mark.parametrize(
    "opening",
    [
        b"\xff" * 9 + b"\x01",  # a first line of 2^63 bytes
        b"\xff" * 400,
        HELLO + b"\xff\xff\xff\xff\x07",  # a protocol name of 2 GB
        HELLO + b"\x07/noise\n" + b"\xff\xff",  # a Noise message of 65535 bytes, sent for ever
        b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
    ],
)
@pytest.mark.trio
async def test_a_length_is_looked_at_before_memory_is_taken_for_it(opening: bytes) -> None:
    async with network("attacked") as attacked, network("honest") as honest:
        attacked.serve(ECHO, echo)
        assert await serves(attacked, honest)
        tracemalloc.start()
        try:
            async with await trio.open_tcp_stream("127.0.0.1", port_of(attacked)) as socket:
                await socket.send_all(opening)
                with trio.move_on_after(12):
                    try:
                        for _ in range(64):
                            await socket.send_all(bytes(1 << 18))
                    except trio.BrokenResourceError:
                        pass
                    assert await closed(socket)
            assert tracemalloc.get_traced_memory()[1] < 8 << 20
        finally:
            tracemalloc.stop()
        assert await serves(attacked, honest)


@attack("W17", layer="net", ends="the connection ends; others are served")
@pytest.mark.parametrize("opening", [b"\xff" * 9 + b"\x01", HELLO + b"\xff\xff\xff\xff\x07", HELLO])
@pytest.mark.trio
async def test_dialling_a_stranger_that_pours_takes_no_memory(opening: bytes) -> None:
    async def pour(stream: trio.SocketStream) -> None:
        async with stream:
            try:
                await stream.send_all(opening)
                for _ in range(128):
                    await stream.send_all(b"\xff" * (1 << 18))
            except trio.BrokenResourceError:
                pass

    async with network("attacked") as attacked, trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listener.socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, pour, [listener])
        tracemalloc.start()
        try:
            with pytest.raises(PeerError):
                await attacked.connect(f"/ip4/127.0.0.1/tcp/{port}/p2p/{peer_id_text(STRANGER)}")
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_streams_without_end_end_the_connection_and_no_other() -> None:
    async with network("attacked") as attacked, network("honest") as honest:
        attacked.serve(ECHO, echo)
        async with network("attacker") as attacker:
            await attacker.connect(attacked.addresses()[0])
            muxed = muxed_of(attacker, attacked)
            with trio.move_on_after(20):
                for number in range(4 * STREAMS):
                    header = struct.pack(">BBHII", 0, 1, SYN, 10_001 + 2 * number, 0)
                    try:
                        await muxed._write_frame(header)  # noqa: SLF001 - as no client does
                    except Exception:  # noqa: BLE001 - how a closed connection shows is libp2p's affair
                        break
            await until(lambda: attacker.key not in attacked.connected_peers())
            assert await serves(attacked, honest)


def muxed_of(ours: PeerNetwork, theirs: PeerNetwork) -> Yamux:
    """Our end of a connection, below everything that is ours."""
    (connection,) = ours._host.get_network().get_connections(id_of(theirs.key))  # noqa: SLF001
    return cast("Yamux", connection.muxed_conn)


@attack("L8", layer="net", ends="blocked for a while")
@pytest.mark.trio
async def test_a_peer_that_goes_on_sending_garbage_is_kept_out_for_a_while() -> None:
    limits = PeerLimits(first_ban_s=3.0)
    async with network("attacked", limits) as attacked, network("honest") as honest:
        attacked.serve(ECHO, echo)
        attacked.serve(STRICT, strict)
        async with network("attacker") as attacker:
            for _ in range(20):
                try:
                    await attacker.connect(attacked.addresses()[0])
                    stream = await attacker.open_stream(attacked.key, STRICT)
                    await stream.send_frame(b"garbage")
                    await stream.receive_frame(timeout_s=5)
                except PeerError:
                    if attacked.limiter.is_banned(attacker.key):
                        break
            else:
                pytest.fail("garbage was taken without end")
            await until(lambda: attacker.key not in attacked.connected_peers())
            with pytest.raises(PeerError):
                await attacked.connect(attacker.addresses()[0])
            assert await serves(attacked, honest)
            await until(lambda: not attacked.limiter.is_banned(attacker.key))
            await until(lambda: attacked.key not in attacker.connected_peers())
            assert await serves(attacked, attacker)


@attack("L7", layer="net", ends="cut to its rate; the node keeps serving others")
@pytest.mark.trio
async def test_a_flood_of_gossip_is_cut_to_its_rate_and_ends_nothing() -> None:
    async with (
        network("attacked", PeerLimits(gossip_per_s=2.0)) as attacked,
        network("attacker") as attacker,
    ):
        attacked.serve(ECHO, echo)
        received = await attacked.subscribe("/test/topic", ContentFilter())
        await attacker.subscribe("/test/topic", ContentFilter())
        await attacker.connect(attacked.addresses()[0])
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(flood, attacker)
                await received.receive()
                began, count = trio.current_time(), 1
                while trio.current_time() - began < 3:
                    with trio.move_on_after(0.5):
                        await received.receive()
                        count += 1
                nursery.cancel_scope.cancel()
        assert count < 60
        assert await serves(attacked, attacker)


async def flood(attacker: PeerNetwork) -> None:
    while True:
        for number in range(100):
            await attacker.publish("/test/topic", b"%d" % number)
        await trio.sleep(0.2)


@pytest.mark.trio
async def test_a_packet_is_stripped_of_what_would_end_or_lead_the_library() -> None:
    from libp2p.pubsub.pb.rpc_pb2 import RPC  # noqa: PLC0415 - here alone, as an attacker has it

    class SelectiveFilter(ContentFilter):
        def screen(self, _author: object, content: bytes) -> bool:
            return content != b"unwanted"

    async with network("attacked") as attacked:
        await attacked.subscribe("/test/topic", SelectiveFilter())
        author, packet = id_of(attacked.key).to_bytes(), RPC()
        for who, content, topic in (
            (author, b"good", "/test/topic"),
            (author, b"unwanted", "/test/topic"),
            (author, b"elsewhere", "/other"),
            (b"\x12\x20" + bytes(32), b"no Ed25519 key", "/test/topic"),
            (b"", b"nobody", "/test/topic"),
            (author, bytes(100_001), "/test/topic"),
        ):
            message = packet.publish.add(from_id=who, data=content, key=b"no key at all")
            message.topicIDs.append(topic)
        packet.control.prune.add(topicID="/test/topic").peers.add(peerID=author)
        assert attacked.topics.admit(id_of(attacked.key), packet)
        assert [one.data for one in packet.publish] == [b"good"]
        assert not packet.publish[0].key
        assert not packet.control.prune[0].peers


def at(place: str, number: int) -> AddressRecord:
    """An address record in which a stranger claims to be there."""
    stranger = Signer(number.to_bytes(32, "big"))
    addr = f"{place}/p2p/{peer_id_text(stranger.key)}"
    return sign_addresses(stranger, NET, [addr], clock.now_ms())


async def offer(attacker: PeerNetwork, attacked: PeerNetwork, record: AddressRecord) -> None:
    stream = await attacker.open_stream(attacked.key, PEERS_PROTOCOL)
    await stream.send_frame(record.encode())
    await stream.receive_frame()
    await stream.drop()


@asynccontextmanager
async def member(attacked: PeerNetwork) -> AsyncIterator[None]:
    """Let the peer look for others, as in a swarm, again and again."""
    async with LedgerApi(unused_url()) as ledger, trio.open_nursery() as nursery:
        membership = Membership(
            net=NET,
            network=attacked,
            ledger=ledger,
            signer=Signer(b"attacked".ljust(32, b".")),
            clock=clock.now_ms,
            rng=random.Random(1),
            pauses=ReconnectPauses(first_s=0.3, longest_s=0.5),
        )
        nursery.start_soon(membership.run)
        yield
        nursery.cancel_scope.cancel()


@attack("L11", layer="net", ends="only addresses that we asked for are dialled")
@pytest.mark.trio
async def test_what_a_peer_claims_in_identify_is_dialled_by_nobody() -> None:
    """The library dials it as soon as anything opens a stream to a peer that has left."""
    async with victim() as (port, times), network("attacked") as attacked:
        claimed = [f"/ip4/127.0.0.1/tcp/{port}"]
        async with PeerNetwork(seed=b"a" * 32, listen=LOOPBACK, announce=claimed) as attacker:
            await attacker.connect(attacked.addresses()[0])
            host = attacked._host  # noqa: SLF001 - as the library's own services use it
            attacker_id = id_of(attacker.key)
            await until(lambda: attacker_id in host._identified_peers)  # type: ignore[attr-defined]  # noqa: SLF001
        await until(lambda: not attacked.connected_peers())
        with pytest.raises(Exception, match="address"):
            await host.new_stream(attacker_id, [TProtocol(ECHO)])
        assert times == []


@attack("L11", layer="net", ends="dialled at a bounded rate")
@pytest.mark.trio
async def test_claimed_addresses_are_dialled_at_a_bounded_rate() -> None:
    """One source names one victim under thirty keys; the member looks for peers all the time."""
    limits = PeerLimits(loopback_factor=1)
    async with victim() as (port, times), network("attacked", limits) as attacked, member(attacked):
        async with network("attacker") as attacker:
            await attacker.connect(attacked.addresses()[0])
            for number in range(30, 60):
                await offer(attacker, attacked, at(f"/ip4/127.0.0.1/tcp/{port}", number))
            await trio.sleep(4)
        # A burst of ten seconds' worth, and one in each second.
        assert 1 <= len(times) <= limits.dials_to_per_s * BURST_S + 8


@attack("L11", layer="net", ends="who asks to be tried is tried where it is, at a bounded rate")
@pytest.mark.trio
async def test_a_peer_that_asks_to_be_tried_cannot_name_a_victim_nor_flood_its_neighbours() -> None:
    """Thirty requests for a port of somebody behind the same router, and one with an address."""
    limits = PeerLimits(loopback_factor=1, arrivals_per_s=100)
    async with (
        victim() as (port, times),
        network("attacked", limits) as attacked,
        network("attacker") as attacker,
    ):
        DialBack(attacked)
        await attacker.connect(attacked.addresses()[0])
        for _ in range(30):
            stream = await attacker.open_stream(attacked.key, REACH_PROTOCOL)
            await stream.send_frame(port.to_bytes(2, "big"))
            answer = await stream.receive_frame()
            assert answer[0] in (DialBackStatus.UNREACHED, DialBackStatus.BUSY)
            await stream.drop()
        asked = len(times)
        assert 1 <= asked <= limits.dial_backs_per_s * BURST_S + 10
        stream = await attacker.open_stream(attacked.key, REACH_PROTOCOL)
        await stream.send_frame(port.to_bytes(2, "big") + b"/ip4/127.0.0.1/tcp/%d" % port)
        with pytest.raises(PeerError):  # a frame with more than a port in it ends the stream
            await stream.receive_frame()
        assert len(times) == asked


IN_A_NETWORK_OF_ITS_OWN = """
ip link set lo up
ip addr add 8.8.4.4/32 dev lo
ip addr add 192.168.7.7/32 dev lo
echo "127.0.0.1 localhost attacker.example" > "$1/hosts"
mount --bind "$1/hosts" /etc/hosts
exec "$2" -m tests.support.reflecting_peers
"""
"""A public address, a private one, and a name that resolves to this computer."""


@attack("L11", layer="net", ends="loopback and private addresses are not dialled for a public peer")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives itself a public address")
def test_a_public_peer_cannot_send_us_to_our_own_computer_or_network(tmp_path: Path) -> None:
    """Under real addresses, in a network of their own: what each kind of source has us dial."""
    isolated = ["unshare", "--net", "--mount", "sh", "-ec", IN_A_NETWORK_OF_ITS_OWN, "sh"]
    done = subprocess.run(
        [*isolated, str(tmp_path), sys.executable], check=True, capture_output=True, timeout=120
    )
    dialled = json.loads(done.stdout.splitlines()[-1])
    assert dialled["8.8.4.4"] == ["public"]
    assert dialled["192.168.7.7"] == ["private", "public"]
    assert dialled["127.0.0.1"] == ["loopback", "mapped", "name", "private", "public"]


@attack("L12", layer="net", ends="a peer that has left is forgotten")
@pytest.mark.trio
async def test_peers_that_come_and_go_leave_nothing_behind() -> None:
    """Each brings a new identity, an identify record, a gossip record and an address record."""
    guests = 25
    async with network("attacked") as attacked, member(attacked):
        await attacked.subscribe("/test/topic", ContentFilter())
        for number in range(guests):
            async with network(f"guest {number}") as guest:
                await guest.subscribe("/test/topic", ContentFilter())
                await guest.connect(attacked.addresses()[0])
                known = attacked.topics.pubsub.peers
                await until(lambda: len(known) == 1)  # noqa: B023 - until it has come
            await until(lambda: not attacked.connected_peers())
        with trio.move_on_after(5):  # a task of the library may still hold one
            await until(lambda: not crowds(attacked, guests // 2))
        assert crowds(attacked, guests // 2) == {}


def crowds(attacked: PeerNetwork, most: int) -> dict[str, int]:
    """The collections of the library that hold more peers than that, by name."""
    host, pubsub = attacked._host, attacked.topics.pubsub  # noqa: SLF001 - shown nowhere else
    swarm = cast("Swarm", host.get_network())
    owners = (
        *(host, swarm, swarm.peerstore, swarm.tag_store, swarm.auto_connector),
        *(pubsub, pubsub.router, cast("GossipSub", pubsub.router).scorer, swarm._resource_manager),  # noqa: SLF001
    )
    found = {}
    for owner in owners:
        for name, value in getattr(owner, "__dict__", {}).items():
            if isinstance(value, dict | set | list):
                peers = sum("ID" in type(one).__name__ for one in value)
                if peers > most:
                    found[f"{type(owner).__name__}.{name}"] = peers
    return found


@attack("L12", layer="net", ends="peers that we chose keep their place")
@pytest.mark.trio
async def test_a_flood_of_records_displaces_no_peer_that_we_chose() -> None:
    async with network("attacked") as attacked, network("chosen") as chosen:
        await attacked.connect(chosen.addresses()[0])
        bounds = RecordBounds(peers=8, per_source=100)
        book = AddressRecords(NET, clock.now_ms, bounds, attacked.is_chosen)
        own = Signer(b"chosen".ljust(32, b"."))
        record = sign_addresses(own, NET, chosen.addresses(), clock.now_ms() - 1_000)
        assert book.add(record, "4.4.4.0/24")
        for number in range(50):
            assert book.add(at(f"/ip4/5.5.{number}.5/tcp/1", 1_000 + number), "4.4.4.0/24")
        assert len(book) == 8
        assert book.get(chosen.key) == record


@attack("L8", layer="net", ends="refused: the code that reads such a key is not installed")
@pytest.mark.trio
async def test_a_key_of_a_kind_that_nobody_here_has_is_refused() -> None:
    async with (
        network("attacked") as attacked,
        network("stranger") as stranger,
        network("honest") as honest,
    ):
        attacked.serve(ECHO, echo)
        _claim_a_key_of_secp256k1(stranger)
        with pytest.raises(PeerError):
            await serves(attacked, stranger)
        assert not attacked.connected_peers()
        assert await serves(attacked, honest)
        with pytest.raises(PeerError):  # and where the node is the one that dials
            await attacked.connect(stranger.addresses()[0])
        assert "coincurve" not in sys.modules


def _claim_a_key_of_secp256k1(stranger: PeerNetwork) -> None:
    """Let every handshake of the stranger name a well-formed point of secp256k1 as its key."""
    from libp2p.crypto.pb.crypto_pb2 import KeyType, PublicKey  # noqa: PLC0415 - as an attacker has it

    point = bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
    claimed = PublicKey(key_type=KeyType.Secp256k1, data=point).SerializeToString()
    swarm = cast("Any", stranger)._host.get_network()  # noqa: SLF001 - as an attacker has it
    noise = swarm.upgrader.security_multistream.transports["/noise"]
    public = noise.libp2p_privkey.get_public_key()
    public.serialize = lambda: claimed
    noise.libp2p_privkey.get_public_key = lambda: public
