"""This peer in the peer network: connections, streams, gossip, and noticing silent peers."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self, cast
from weakref import WeakValueDictionary

import structlog
import trio
from libp2p.abc import IHost, INetConn, INetStream
from libp2p.custom_types import TProtocol
from libp2p.network.connection.swarm_connection import SwarmConn
from libp2p.network.swarm import Swarm
from libp2p.peer.peerinfo import info_from_p2p_addr
from libp2p.pubsub.gossipsub import GossipSub
from libp2p.rcmgr import Direction
from libp2p.security.noise.io import NoiseTransportReadWriter
from libp2p.security.secure_session import SecureSession
from libp2p.stream_muxer.yamux.yamux import Yamux
from libp2p.tools.anyio_service import background_trio_service
from multiaddr import Multiaddr

from tequio_client.worker.swarm import dials
from tequio_client.worker.swarm.dials import Claim, Reach
from tequio_client.worker.swarm.limits import PeerLimits, RateLimiter, counted
from tequio_client.worker.swarm.peers import host as hosts
from tequio_client.worker.swarm.peers.gossip import Announcement, GossipTopics, TopicFilter
from tequio_client.worker.swarm.peers.punched_ports import PunchedPort
from tequio_client.worker.swarm.peers.stream import (
    PeerStream,
    foreign_errors,
    id_of,
    key_of,
    shielded,
)
from tequio_shared.addresses import network_of
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import PeerKey, key_from_peer_id, peer_id_text
from tequio_shared.keys import SEED_BYTES
from tequio_shared.limits import GOSSIP_BYTES

log = structlog.get_logger(__name__)

SILENT_CHECKS = 5
"""How often nothing has arrived on a connection before it is closed."""
KNOCK_S = 5.0
"""Longest time for a connection that is only tried: a router that drops packets says nothing."""
PUNCH_S = 8.0
"""Longest time for a connection through two routers: three packets are sent in it."""


class PeerNetwork:
    """This peer in the peer-to-peer network: `async with PeerNetwork(...) as network`.

    `seed` is the 32-byte Ed25519 seed of our key. `announce` replaces the addresses that are sent
    to peers (for a node behind a forwarded port). With `public_only`, every peer that connects to
    us may name public addresses only, wherever it seems to come from (`dials`).
    """

    def __init__(
        self,
        *,
        seed: bytes,
        listen: Sequence[str] = ("/ip4/0.0.0.0/tcp/0",),
        announce: Sequence[str] = (),
        limits: PeerLimits | None = None,
        public_only: bool = False,
    ) -> None:
        if len(seed) != SEED_BYTES:  # libp2p gives a random identity for a seed of the wrong size
            raise RefusedError("bad-seed", f"a key seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._listen = [Multiaddr(text) for text in listen]
        self._limits = limits or PeerLimits()
        self.public_only = public_only
        self.limiter = RateLimiter(self._limits, trio.current_time)
        addrs = [Multiaddr(text) for text in announce]
        self.choose_announced: Callable[[list[str]], list[str]] = lambda own: own
        """Chooses the addresses to give to others, of this computer's own or beyond them."""
        self._host = hosts.create_host(seed, self._listen, addrs, self.limiter, self._announced)
        hosts.guard_negotiation(self._host, self.record_fault)
        self.topics = GossipTopics(self._host, self.limiter, self.record_fault)
        self._watch = SilenceWatch(self._host, self._limits)
        self._inbound: Counter[PeerKey] = Counter()  # open inbound streams
        # Of the peers that are being dialled: libp2p is given one address of each at a time.
        self._dials: WeakValueDictionary[PeerKey, trio.Lock] = WeakValueDictionary()
        self.find_claim: Callable[[PeerKey], Claim | None] = lambda _: None
        """Gives the addresses at which `open_stream` may dial a peer that is not connected."""
        self.connect_otherwise: Callable[[PeerKey], Awaitable[None]] = _no_other_way
        """Connects to a peer that cannot be dialled, or raises PeerError."""
        self._stack = AsyncExitStack()
        self._nursery: trio.Nursery
        self.key = key_from_peer_id(str(self._host.get_id()))

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._running())
        return self

    async def __aexit__(self, *exc: object) -> bool | None:
        return await self._stack.__aexit__(*exc)  # type: ignore[arg-type]  # the protocol's three

    def addresses(self) -> tuple[str, ...]:
        """Our own addresses with our peer id at the end, to give to others."""
        return tuple(str(addr) for addr in self._host.get_addrs())

    def listen_ports(self) -> tuple[int, ...]:
        """The TCP ports on which we listen."""
        listeners = cast("Swarm", self._host.get_network()).listeners.values()
        addrs = (addr for one in listeners for addr in one.get_addrs())
        ports = (addr.value_for_protocol("tcp") for addr in addrs)
        return tuple(dict.fromkeys(int(one) for one in ports if one))

    def connected_peers(self) -> set[PeerKey]:
        keys = (key_of(peer) for peer in self._host.get_connected_peers())
        return {key for key in keys if key is not None}

    def is_connected(self, peer: PeerKey) -> bool:
        return bool(self._host.get_network().get_connections(id_of(peer)))

    def outbound_peers(self) -> set[PeerKey]:
        """The peers to which a connection is open that we opened ourselves."""
        return {peer for peer in self.connected_peers() if self.is_chosen(peer)}

    def is_chosen(self, peer: PeerKey) -> bool:
        """Check for an open connection to the peer that we opened ourselves."""
        connections = self._host.get_network().get_connections(id_of(peer))
        return any(cast("SwarmConn", one).direction is Direction.OUTBOUND for one in connections)

    def network_of(self, peer: PeerKey) -> str:
        """The network address that a connected peer comes from; UNKNOWN for one that is not."""
        return network_of(self.host_of(peer))

    def reach_of(self, peer: PeerKey) -> Reach:
        """The smallest reach that a peer may name: that of the address it is connected from."""
        return Reach.PUBLIC if self.public_only else dials.reach_of_source(self.host_of(peer))

    async def connect(self, addr: str) -> PeerKey:
        """Connect to `/ip4/…/tcp/…/p2p/<peer id>` unless connected already; returns its key.

        For an address that this computer's owner chose; `connect_claimed` is for all others.
        """
        with foreign_errors(f"connecting to {addr}"):
            info = info_from_p2p_addr(Multiaddr(addr))
            key = key_from_peer_id(str(info.peer_id))
            # One list of bootstrap addresses may be given to all nodes, this one included.
            if key == self.key:
                raise PeerError("that address is our own")
            # Before the dial: a ban that only refused inbound connections could be undone by our
            # own search for peers.
            self.limiter.check_not_banned(key)
            with trio.fail_after(self._limits.connect_s):
                async with self._dials.setdefault(key, trio.Lock()):
                    if not self.is_connected(key):
                        await hosts.dial(self._host, info)
        return key

    async def connect_claimed(self, peer: PeerKey, claim: Claim) -> None:
        """Connect to a peer at an address that somebody else named, unless connected already.

        Raises PeerError if none that we dial answers, or there were too many dials lately.
        """
        tried = 0
        own = dials.own_links()
        # Last, not left out: a translator may pass them on.
        for addr in sorted(
            dict.fromkeys(claim.addrs), key=lambda one: not dials.is_likely(one, own)
        ):
            if self.is_connected(peer):
                return
            if tried >= dials.MAX_PLACES:
                break
            if not dials.has_reach(addr, claim.reach):
                log.debug("an address is not dialled", address=addr, source=claim.source)
                continue
            tried += 1
            try:
                await self._connect_place(addr, claim)
            except PeerError as err:
                log.debug("an address does not answer", address=addr, error=str(err))
            else:
                return
        raise PeerError(f"no connection to {peer_id_text(peer)}")

    async def knock(self, peer: PeerKey, addr: str) -> None:
        """Check that the peer answers at this address; raises PeerError. Connects to nothing."""
        with foreign_errors(f"knocking at {addr}"), trio.fail_after(KNOCK_S):
            await hosts.knock(self._host, self.limiter, id_of(peer), addr)

    async def check_place(self, addr: str, claim: Claim) -> str:
        """Charge for a dial that somebody else asked for; returns the address to dial.

        Raises PeerError if we do not dial it.
        """
        # Charged before a name is resolved: a look-up is a packet to somebody as well.
        self.limiter.check_claimed_dial(claim.source)
        # Read for each dial: an interface's addresses change, and dials are rare.
        for place in (await dials.places(addr, claim.reach, dials.own_links()))[:1]:
            self.limiter.check_dial_to(network_of(dials.host_of(place)))
            return place
        raise PeerError("it is at no address that we dial")

    async def dial_through(self, peer: PeerKey, port: PunchedPort, place: str) -> None:
        """Connect from that port to a peer that is connecting to it; raises PeerError.

        `place` was checked (`check_place`), here and in `start_answering`.
        """
        self.limiter.check_not_banned(peer)
        with foreign_errors(f"connecting through routers to {place}"), trio.fail_after(PUNCH_S):
            socket = await port.connect(*dials.endpoint_of(place))
            await hosts.dial_through(self._host, id_of(peer), socket)

    def start_answering(
        self, peer: PeerKey, port: PunchedPort, place: str, ended: Callable[[PeerKey], None]
    ) -> None:
        """Begin the other side of `dial_through`; `ended` is called when it has worked or not."""
        self._nursery.start_soon(self._answer_through, peer, port, place, ended)

    async def disconnect(self, peer: PeerKey) -> None:
        """Close every connection to the peer; never raises."""
        for connection in self._host.get_network().get_connections(id_of(peer)):
            await hosts.close(connection)

    def record_fault(self, peer: PeerKey) -> None:
        """Count a message that no honest program sends; after too many the peer is banned."""
        if self.limiter.record_fault(peer):
            log.info("a peer sent garbage and is banned", peer=peer_id_text(peer))
            # Not awaited: we are called by the handler of a stream of this very connection.
            self._nursery.start_soon(self.disconnect, peer)

    async def open_stream(self, peer: PeerKey, protocol: str) -> PeerStream:
        """Open a stream; dial the peer first when it is not connected but was remembered."""
        if not self.is_connected(peer):
            await self._connect_somehow(peer)
        with foreign_errors(f"opening {protocol}"), trio.fail_after(self._limits.connect_s):
            stream = await self._host.new_stream(id_of(peer), [TProtocol(protocol)])
        return PeerStream(stream, peer)

    def serve(self, protocol: str, handler: Callable[[PeerStream], Awaitable[None]]) -> None:
        """Give every inbound stream of `protocol` to `handler`; one on which it fails is reset."""

        async def admit(stream: INetStream) -> None:
            peer = key_of(stream.muxed_conn.peer_id)
            if peer is None:
                raise PeerError("the peer's key is not Ed25519")
            # By peer, not by connection: a peer may open many connections, each with few streams.
            if self._inbound[peer] >= self._limits.streams:
                raise PeerError(f"more than {self._inbound[peer]} streams at once")
            with counted(self._inbound, peer):
                await handler(PeerStream(stream, peer))
            await stream.close()  # not reset: the last bytes may be in flight

        self._host.set_stream_handler(TProtocol(protocol), hosts.guarded(admit, self.record_fault))

    async def subscribe(
        self, topic: str, topic_filter: TopicFilter
    ) -> trio.MemoryReceiveChannel[Announcement]:
        """Join a gossip topic and receive what the filter accepts, our own messages too."""
        with foreign_errors(f"joining {topic}"):
            return await self.topics.subscribe(topic, topic_filter, self._nursery)

    async def unsubscribe(self, topic: str) -> None:
        with foreign_errors(f"leaving {topic}"):
            await self.topics.unsubscribe(topic)

    async def publish(self, topic: str, content: bytes) -> None:
        """Publish, best effort. RefusedError above GOSSIP_BYTES: larger ones vanish silently."""
        if len(content) > GOSSIP_BYTES:
            raise RefusedError("too-large", f"{len(content)} bytes for gossip")
        with foreign_errors(f"publishing to {topic}"):
            await self.topics.pubsub.publish(topic, content)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        pubsub = self.topics.pubsub
        router = cast("GossipSub", pubsub.router)
        async with (
            self._host.run(listen_addrs=self._listen),
            background_trio_service(pubsub),
            background_trio_service(router),
            trio.open_nursery() as nursery,
        ):
            await pubsub.wait_until_ready()
            self._nursery = nursery
            nursery.start_soon(self._watch.run)
            log.info("listening", addresses=self.addresses())
            try:
                yield
            finally:
                nursery.cancel_scope.cancel()
                await self._close_all()

    async def _close_all(self) -> None:
        # Shielded: a stop is a cancellation, and the sockets have to be closed all the same.
        with shielded(5):
            for peer in self.connected_peers():
                await self.disconnect(peer)
            try:
                await self._host.close()
            except Exception as err:  # noqa: BLE001 - on the way out, and in libp2p
                log.debug("the host did not close cleanly", error=repr(err))

    async def _connect_place(self, addr: str, claim: Claim) -> None:
        await self.connect(await self.check_place(addr, claim))

    async def _connect_somehow(self, peer: PeerKey) -> None:
        """Dial the peer, or reach it in another way; raises PeerError."""
        if (claim := self.find_claim(peer)) is not None:
            try:
                await self.connect_claimed(peer, claim)
            except PeerError as err:
                log.debug("a peer cannot be dialled", peer=peer_id_text(peer), error=str(err))
            else:
                return
        await self.connect_otherwise(peer)

    async def _answer_through(
        self, peer: PeerKey, port: PunchedPort, place: str, ended: Callable[[PeerKey], None]
    ) -> None:
        socket: trio.SocketStream | None = None
        with port, trio.move_on_after(PUNCH_S):
            try:
                socket = await port.connect(*dials.endpoint_of(place))
            except OSError as err:
                log.debug("not connected through routers", place=place, error=str(err))
        if socket is None:
            ended(peer)
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hosts.answer_through, self._host, self.limiter, place, socket)
            with trio.move_on_after(hosts.HANDSHAKE_S):
                while not self.is_connected(peer):  # noqa: ASYNC110 - it has no event
                    await trio.sleep(0.05)
            ended(peer)

    def _announced(self, own: list[str]) -> list[str]:
        return self.choose_announced(own)

    def host_of(self, peer: PeerKey) -> str:
        """The IP address that a connected peer comes from; empty for one that is not."""
        for connection in self._host.get_network().get_connections(id_of(peer)):
            remote = cast("Yamux", connection.muxed_conn).secured_conn.get_remote_address()
            if remote:
                return remote[0]
        return ""


async def _no_other_way(peer: PeerKey) -> None:
    raise PeerError(f"no connection to {peer_id_text(peer)}, and no address that answers")


class SilenceWatch:
    """Closes connections on which nothing arrives any more: a peer that lives pings on each.

    The library does not notice: a stopped process stays listed, and new streams to it time out. So
    does the connection of a computer that has changed its network and has come back by another one.
    """

    def __init__(self, host: IHost, limits: PeerLimits) -> None:
        self._host = host
        self._check_s = limits.silence_s / SILENT_CHECKS

    async def run(self) -> None:
        received: dict[INetConn, int] = {}
        silent: Counter[INetConn] = Counter()
        async with trio.open_nursery() as nursery:
            while True:
                await trio.sleep(self._check_s)
                connections = self._host.get_network().get_connections()
                now = {one: _messages_read(one) for one in connections}
                # Checks in a row, not seconds: a computer that slept has missed its peers' pings.
                silent = Counter(
                    {one: silent[one] + 1 for one in now if received.get(one) == now[one]}
                )
                received = now
                for connection, checks in silent.items():
                    if checks >= SILENT_CHECKS:
                        peer = str(connection.muxed_conn.peer_id)
                        log.info("a silent connection is closed", peer=peer)
                        nursery.start_soon(hosts.close, connection)


def _messages_read(connection: INetConn) -> int:
    # The nonce of the receiving cipher counts messages; the library has no other count of them.
    secured = cast("Yamux", connection.muxed_conn).secured_conn
    noise = cast("NoiseTransportReadWriter", cast("SecureSession", secured).conn)
    nonce: int = noise.noise_state.noise_protocol.cipher_state_decrypt.n
    return nonce
