"""A libp2p host with Noise alone, Yamux alone, every handler guarded, and inbound limits.

The counting of inbound connections takes the place of the library's own, which never gives a slot
back before the host ends: after 200 connections it would accept no more.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import structlog
import trio
from libp2p import new_host
from libp2p.abc import IHost, IMuxedConn, INetConn, INetStream, IRawConnection
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.crypto.x25519 import create_new_key_pair as create_noise_key_pair
from libp2p.io.abc import ReadWriteCloser
from libp2p.io.trio import TrioTCPStream
from libp2p.network.config import ConnectionConfig, RetryConfig
from libp2p.network.connection.raw_connection import RawConnection
from libp2p.network.connection.swarm_connection import SwarmConn
from libp2p.network.exceptions import SwarmException
from libp2p.network.swarm import Swarm
from libp2p.peer.id import ID
from libp2p.peer.peerinfo import PeerInfo
from libp2p.security.noise.transport import PROTOCOL_ID as NOISE
from libp2p.security.noise.transport import Transport as Noise
from libp2p.stream_muxer.yamux.yamux import Yamux
from multiaddr import Multiaddr

from tequio_client.worker.swarm import dials
from tequio_client.worker.swarm.limits import CONNECTIONS, RateLimiter
from tequio_client.worker.swarm.peers import patches
from tequio_client.worker.swarm.peers.store import ConnectedPeers
from tequio_client.worker.swarm.peers.stream import key_of, reset, shielded
from tequio_shared.addresses import ADDRESSES, network_of
from tequio_shared.errors import MalformedError, SignatureInvalidError, TequioError
from tequio_shared.ids import PeerKey

Handler = Callable[[INetStream], Awaitable[None]]

log = structlog.get_logger(__name__)

HANDSHAKE_S = 10
READ_BYTES = 1 << 18
"""Largest read of a socket: the library asks for as much as the peer announced."""
LONGEST_PAUSE_S = 5.0
CLOSE_S = 5.0
INTERFACES_S = 5.0
"""Time for which the addresses of network interfaces are taken as unchanged."""
_FOREIGN = ("libp2p", "trio", "noise", "multiaddr", "google.protobuf")


class OwnAddresses:
    """Addresses of this computer at which a host listens, read from the system now and then.

    The library asks before each gossip message that it sends, and to read them takes longer than to
    send it.
    """

    def __init__(self, fresh_s: float = INTERFACES_S) -> None:
        self._fresh_s = fresh_s
        self._listened: list[str] = []
        self._found: list[str] = []
        self._read_s = -math.inf

    def of(self, listened: list[str]) -> list[str]:
        now_s = time.monotonic()
        if listened != self._listened or now_s - self._read_s >= self._fresh_s:
            self._listened, self._found = listened, dials.own_addresses(*listened)
            self._read_s = now_s
        return self._found


def create_host(
    seed: bytes,
    listen: list[Multiaddr],
    announce: list[Multiaddr],
    limiter: RateLimiter,
    choose_announced: Callable[[list[str]], list[str]],
) -> IHost:
    """Make a host that does not run yet.

    Without addresses to `announce`, those of this computer are, as `choose_announced` leaves them.
    """
    own = OwnAddresses()

    def announced(listened: Sequence[Multiaddr]) -> list[Multiaddr]:
        # The library would tell others to dial 0.0.0.0.
        found = own.of([str(one) for one in listened])
        return [Multiaddr(one) for one in choose_announced(found)][:ADDRESSES]

    patches.install()
    pair = create_new_key_pair(seed)
    store = ConnectedPeers(ID.from_pubkey(pair.public_key))
    host = new_host(
        key_pair=pair,
        peerstore_opt=store,
        listen_addrs=listen,
        announce_addrs=announce or None,
        addrs_factory=None if announce else announced,
        muxer_preference="YAMUX",
        # Noise alone: the default also accepts plaintext
        sec_opt={NOISE: Noise(pair, noise_privkey=create_noise_key_pair().private_key)},
        connection_config=ConnectionConfig(
            max_connections=CONNECTIONS,
            high_watermark=CONNECTIONS,  # no peer is pruned: the limiter admits fewer
            low_watermark=0,  # above it the library dials known peers by itself, every 30 s
            min_connections=0,
            inbound_upgrade_timeout=HANDSHAKE_S,
        ),
    )
    swarm = cast("Swarm", host.get_network())
    # A dial is one connection: the library would try a dead address four times.
    swarm.retry_config = RetryConfig(max_retries=0)
    store.is_connected = swarm.connections.__contains__
    _limit_connections(host, limiter)
    return host


async def dial(host: IHost, info: PeerInfo) -> None:
    """Connect to a peer, with one attempt at its first address; raises errors of libp2p."""
    swarm = cast("Swarm", host.get_network())
    swarm.unblock_peer(info.peer_id)  # the library refuses for a minute what failed once
    with cast("ConnectedPeers", swarm.peerstore).dialling(info.peer_id, info.addrs[0]):
        await host.connect(info)


async def knock(host: IHost, limiter: RateLimiter, peer: ID, addr: str) -> None:
    """Connect to the address, have the peer there prove its key, and hang up.

    Raises errors of libp2p. No connection of the peer is made or lost by it: only the handshake of
    the secure channel is done. (The library's own dial would find the connection that is open
    already, and dial nothing; so does its AutoNAT, which then calls every peer reachable.)
    """
    swarm, target = cast("Swarm", host.get_network()), Multiaddr(addr)
    transport = swarm.transport_manager.transport_for_dialing(target)
    if transport is None:
        raise SwarmException(f"no transport dials {addr}")
    raw = cast("RawConnection", await transport.dial(target))
    try:
        raw.stream = MeteredSocket(raw.stream, limiter)
        await swarm.upgrader.upgrade_security(raw, True, peer)  # noqa: FBT003 - the library's own
    finally:
        with shielded(1):
            await raw.close()


async def dial_through(host: IHost, peer: ID, socket: trio.SocketStream) -> None:
    """Make an outbound connection out of a socket that is connected; raises errors of libp2p."""
    raw = RawConnection(TrioTCPStream(socket), initiator=True)
    try:
        await cast("Swarm", host.get_network()).upgrade_outbound_raw_conn(raw, peer)
    except BaseException:
        with shielded(1):
            await raw.close()
        raise


async def answer_through(
    host: IHost, limiter: RateLimiter, addr: str, socket: trio.SocketStream
) -> None:
    """Serve a socket that is connected as one that came in; returns at its end. Never raises."""
    swarm = cast("Swarm", host.get_network())
    await _accept(swarm, limiter, TrioTCPStream(socket), Multiaddr(addr))


async def close(connection: INetConn) -> None:
    """Close one connection of a peer, which may have others; never raises."""
    # The socket first: a write that waits for a dead peer is shielded, and holds the lock that the
    # library's own closing frame needs.
    with trio.move_on_after(CLOSE_S):
        try:
            await cast("Yamux", connection.muxed_conn).secured_conn.close()
            await connection.close()
        except Exception as err:  # noqa: BLE001 - a connection that is thrown away may fail in any way
            log.debug("a connection could not be closed", error=repr(err))
    # Else a peer whose connection did not close in time would count as connected.
    cast("SwarmConn", connection).swarm.remove_conn(cast("SwarmConn", connection))


def guarded(handler: Handler, blame: Callable[[PeerKey], None]) -> Handler:
    """Wrap a handler: a stream on which it fails is reset; garbage gets its peer blamed."""

    async def guarded_handler(stream: INetStream) -> None:
        try:
            await handler(stream)
        except Exception as err:  # noqa: BLE001 - an error here would end the host
            await _drop(stream, err, blame)

    return guarded_handler


def guard_negotiation(host: IHost, blame: Callable[[PeerKey], None]) -> None:
    """Guard the library's own negotiation of a new stream, which runs before any handler."""
    network = cast("Swarm", host.get_network())
    network.set_stream_handler(guarded(network.common_stream_handler, blame))


async def _drop(stream: INetStream, err: Exception, blame: Callable[[PeerKey], None]) -> None:
    peer = key_of(stream.muxed_conn.peer_id)
    is_foreign = type(err).__module__.startswith(_FOREIGN)
    if is_foreign or isinstance(err, TequioError | OSError | EOFError):
        log.debug("a stream ended", protocol=stream.get_protocol(), error=str(err) or repr(err))
    else:
        log.error("a stream handler failed", protocol=stream.get_protocol(), exc_info=err)
    await reset(stream)
    # Only for what no honest program sends; a DecodeError is of protobuf, as the library reads it.
    is_unparsed = type(err).__name__ == "DecodeError"
    if peer and (is_unparsed or isinstance(err, MalformedError | SignatureInvalidError)):
        blame(peer)


def _limit_connections(host: IHost, limiter: RateLimiter) -> None:
    """Put the limiter before every connection of a host that does not run yet."""
    swarm = cast("Swarm", host.get_network())
    upgrade_out, add = swarm.upgrade_outbound_raw_conn, swarm.add_conn

    async def accept(conn: ReadWriteCloser, maddr: Multiaddr) -> None:
        await _accept(swarm, limiter, conn, maddr)

    async def dialled(raw: IRawConnection, *args: object, **names: object) -> object:
        raw.stream = MeteredSocket(raw.stream, limiter)  # type: ignore[attr-defined]  # a RawConnection
        return await upgrade_out(raw, *args, **names)  # type: ignore[arg-type]  # as it came

    # Only here is the peer's key known and proven, for inbound and outbound connections alike.
    async def add_known(muxed: IMuxedConn, direction: str = "unknown") -> SwarmConn:
        key = key_of(muxed.peer_id)
        if key is None or limiter.is_banned(key):
            await cast("Yamux", muxed).secured_conn.close()
            raise SwarmException("a key of another kind, or a peer that is banned")
        return await add(muxed, direction)

    swarm._handle_inbound_connection = accept  # type: ignore[method-assign, assignment]  # noqa: SLF001 - in its place
    swarm.upgrade_outbound_raw_conn = dialled  # type: ignore[method-assign, assignment]
    swarm.add_conn = add_known  # type: ignore[method-assign, assignment]


async def _accept(
    swarm: Swarm, limiter: RateLimiter, conn: ReadWriteCloser, maddr: Multiaddr
) -> None:
    """Count an inbound connection from its first byte to its end."""
    remote = conn.get_remote_address()
    try:
        with limiter.admit_connection(remote[0] if remote else "") as handshake:
            raw = RawConnection(MeteredSocket(conn, limiter), initiator=False)
            muxed = await swarm.upgrade_inbound_raw_conn(raw, maddr)
            handshake.close()
            # The slot is held as long as the connection: the library's own counter is released
            # only when the host ends.
            await cast("Yamux", muxed).event_closed.wait()
    except Exception as err:  # noqa: BLE001 - a stranger's bytes can raise anything in libp2p
        log.debug("a connection was not accepted", remote=remote, error=str(err) or repr(err))
    finally:
        with shielded(1):
            await conn.close()


class MeteredSocket(ReadWriteCloser):
    """A socket that reads and writes no faster than its network address may."""

    def __init__(self, conn: ReadWriteCloser, limiter: RateLimiter) -> None:
        self._conn = conn
        self._limiter = limiter
        remote = conn.get_remote_address()
        self._network = network_of(remote[0] if remote else "")
        # Read now: a socket that is closed has none.
        self.local_port: int = cast("TrioTCPStream", conn).stream.socket.getsockname()[1]

    async def read(self, n: int | None = None) -> bytes:
        # Paid after the read, as its size is not known before; the next read waits for it.
        received = await self._conn.read(READ_BYTES if n is None else min(n, READ_BYTES))
        await self._pay(len(received), is_ours=False)
        return received

    async def write(self, data: bytes) -> None:
        await self._pay(len(data), is_ours=True)
        await self._conn.write(data)

    async def close(self) -> None:
        await self._conn.close()

    def get_remote_address(self) -> tuple[str, int] | None:
        return self._conn.get_remote_address()

    async def _pay(self, size_bytes: int, *, is_ours: bool) -> None:
        delay_s = self._limiter.delay_s(self._network, size_bytes, is_ours=is_ours)
        if delay_s:
            # Bounded: a longer pause would look like a dead peer to the other end's pings. What is
            # not waited for stays owed.
            await trio.sleep(min(delay_s, LONGEST_PAUSE_S))
