"""Changes to libp2p itself, applied before the first host; for one version of it only.

Every private name of py-libp2p that is replaced is here, except two on the host (`host`, `gossip`).
None of these has an upstream fix in 0.8.1: a frame write that is cancelled half-way breaks the
connection, gossip queues overflow silently, dropped peers are dialled again, reads are unbounded,
and each gossip packet costs two signatures over addresses that nobody reads.
Yamux becomes prompt (an event instead of a poll), whole (frames) and bounded (memory, streams).
"""

from __future__ import annotations

import importlib.metadata
import socket
import struct

import libp2p.network.swarm as _swarm
import libp2p.protocol_muxer.multiselect_communicator as _communicator
import libp2p.pubsub.gossipsub as _gossipsub
import libp2p.pubsub.pubsub as _pubsub
import libp2p.stream_muxer.yamux.yamux as _yamux
import libp2p.transport.tcp.tcp as _tcp
import trio
from libp2p.abc import IHost
from libp2p.exceptions import ParseError
from libp2p.io.abc import Reader
from libp2p.io.trio import TrioTCPStream
from libp2p.network.auto_connector import AutoConnector
from libp2p.peer.id import ID
from libp2p.pubsub.pb.rpc_pb2 import RPC
from libp2p.pubsub.rpc_queue import RpcQueue
from libp2p.stream_muxer.exceptions import MuxedStreamError
from libp2p.stream_muxer.yamux.yamux import Yamux, YamuxStream
from libp2p.utils import read_varint_prefixed_bytes_limited

from tequio_client.worker.swarm.peers.stream import shielded
from tequio_shared.errors import PeerError, RefusedError

LIBP2P_VERSION = "0.8.1"
RPC_QUEUE = 1024
"""Gossip messages that may wait for one peer; the library's 32 overflow silently."""
SUBSCRIPTION_QUEUE = 4096
JOINED_BYTES = 32_768
"""Packets that wait for one peer are joined up to this size: one encryption, one write."""
NEGOTIATION_BYTES = 1024
"""Longest line of a negotiation; the library would wait for as many bytes as the peer names."""

WINDOW_BYTES = 8 << 20
"""Largest receive window of a stream: 80 MB/s at a round trip of 100 ms."""
CONNECTION_BYTES = 32 << 20
"""Unread bytes of one connection beyond which its peer must be writing past its windows."""
STREAMS = 128
"""Streams of one connection; no honest peer opens more."""
PING_S = 15.0
"""How often each side pings on a connection, whatever else is sent: so a live peer is not silent.

It pings less often, by 10 s, while the answers are that late.
"""
FRAME_S = 20.0
"""A Yamux frame that cannot be sent in this time ends the connection: its shield must end.

A slow line that sends to many at once needs 10 s for a frame of one of them.
"""
WINDOW_S = 20.0
"""A stream whose reader opens no window for this long is given up.

What it must have read before it opens one, up to 196 KB, may still be on its way to it.
"""
NOISE_PAYLOAD_BYTES = 65_519
"""Payload of one Noise message. A Yamux frame of this size is encrypted once, not twice."""

_share_port = _tcp._set_reuse_flags  # noqa: SLF001 - the patches replace private names
_queue_init = RpcQueue.__init__
_queue_pop = RpcQueue.pop
_read_body = Yamux._read_data_body  # noqa: SLF001 - the patches replace private names


def install() -> None:
    """Change the library; RefusedError when it is another version."""
    version = importlib.metadata.version("libp2p")
    if version != LIBP2P_VERSION:
        raise RefusedError("libp2p-version", f"libp2p {version}; made for {LIBP2P_VERSION} only")
    _swarm._HAPPY_EYEBALLS_DELAY = 0.02  # noqa: SLF001 - else every connect waits 250 ms
    _tcp._set_reuse_flags = _share_port_of_family  # noqa: SLF001 - see there
    TrioTCPStream.get_remote_address = _remote_address  # type: ignore[method-assign]
    # The library's 32 overflow silently: of a burst of 300 messages an author received 33.
    _pubsub.SUBSCRIPTION_CHANNEL_SIZE = SUBSCRIPTION_QUEUE
    _communicator.read_delim = _read_line  # type: ignore[attr-defined]
    AutoConnector.maybe_connect = _no_dialling  # type: ignore[method-assign]
    # It would remember every peer that ever left, for a dialling that is switched off.
    AutoConnector.record_disconnect = _forget  # type: ignore[method-assign]
    RpcQueue.__init__ = _larger_queue  # type: ignore[method-assign]
    RpcQueue.pop = _joined  # type: ignore[method-assign]
    for router in (_pubsub, _gossipsub):
        router.env_to_send_in_RPC = _no_record  # type: ignore[attr-defined]
    _yamux.MAX_MESSAGE_SIZE = NOISE_PAYLOAD_BYTES
    # Half of the library's: several streams at full window have to stay under
    # CONNECTION_BYTES, or an honest peer would look like one that ignores its windows.
    _yamux.MAX_WINDOW_SIZE = WINDOW_BYTES
    _yamux.RTT_MEASURE_INTERVAL = PING_S  # type: ignore[assignment]
    _yamux.YamuxStream = PromptStream  # type: ignore[misc]
    Yamux._write_frame = shielded_write  # type: ignore[method-assign]  # noqa: SLF001
    Yamux._read_data_body = _bounded_read  # type: ignore[method-assign]  # noqa: SLF001


class PromptStream(YamuxStream):
    """A stream that writes as soon as the window opens, where the library polls every 10 ms.

    It gives its own window back in few frames, and writes without a copy of what is still to go.
    Writers take turns: the library's gossip has several for one stream, and their long messages
    would be mixed.
    """

    def __init__(self, stream_id: int, conn: Yamux, is_initiator: bool) -> None:  # noqa: FBT001
        if not is_initiator and len(conn.streams) >= STREAMS:
            raise trio.TooSlowError  # the one error for which Yamux closes the connection here
        self._opened = trio.Event()
        self._turn = trio.Lock()
        super().__init__(stream_id, conn, is_initiator)

    @property
    def send_window(self) -> int:
        """Bytes that the peer will still take."""
        return self._window

    @send_window.setter
    def send_window(self, size_bytes: int) -> None:
        self._window = size_bytes
        if size_bytes > 0:
            self._opened.set()

    async def write(self, data: bytes) -> None:
        """Write all of it; MuxedStreamError when the stream is closed or its reader pauses."""
        async with self._turn:
            await self._write(memoryview(data))

    async def _auto_tune_and_send_window_update(self, *, bytes_read: int = 0) -> None:
        """Give the window back by halves; the library sends a frame for every few bytes read."""
        # Unread bytes still fill the window, so they are not given back yet.
        unread = len(self.conn.stream_buffers.get(self.stream_id, b""))
        if self.target_recv_window - self.recv_window - unread >= self._grow_threshold():
            await super()._auto_tune_and_send_window_update(bytes_read=bytes_read)

    async def _write(self, left: memoryview) -> None:
        while left:
            await self._wait_for_window()
            # One frame, one Noise message: a larger frame is encrypted in pieces and joined again.
            size = min(self.send_window, NOISE_PAYLOAD_BYTES - _yamux.HEADER_SIZE, len(left))
            self.send_window -= size
            header = (0, _yamux.TYPE_DATA, 0, self.stream_id, size)
            frame = struct.pack(_yamux.YAMUX_HEADER_FORMAT, *header) + left[:size]
            await self.conn._write_frame(frame)  # noqa: SLF001
            left = left[size:]

    async def _wait_for_window(self) -> None:
        with trio.move_on_after(WINDOW_S):
            while not (self.send_closed or self.closed):
                if self.send_window > 0:
                    return
                # Replaced after the check and without a checkpoint in between: no update is missed.
                self._opened = trio.Event()
                with trio.move_on_after(0.1):  # being closed sets no event
                    await self._opened.wait()
        raise MuxedStreamError("the stream is closed, or its reader has paused for too long")


async def shielded_write(self: Yamux, data: bytes) -> None:
    """Send a frame whole, or end the connection."""
    async with self._write_lock:  # waiting for our turn may be cancelled, sending may not
        # Half a Noise message puts both ciphers out of step, and with them every stream of the
        # connection: without the shield 11 of 12 cancelled writes broke it, with it 0 of 150.
        with shielded(FRAME_S) as scope:
            await self.secured_conn.write(data)
        if scope.cancelled_caught:
            await self.secured_conn.close()
            raise PeerError(
                f"a frame could not be sent in {FRAME_S:.0f} s; the connection is closed"
            )


async def _bounded_read(self: Yamux, length: int) -> bytes:
    """Read a frame's body if there may be room for it; else the connection ends."""
    # All streams together, not each by its window: 128 streams of a full window are 512 MiB.
    if sum(map(len, self.stream_buffers.values())) + length > CONNECTION_BYTES:
        raise trio.TooSlowError  # the one error for which Yamux closes the connection here
    return await _read_body(self, length)


async def _read_line(reader: Reader) -> bytes:
    line = await read_varint_prefixed_bytes_limited(reader, NEGOTIATION_BYTES)
    if not line.endswith(b"\n"):
        raise ParseError("a line of a negotiation without its end")
    return line[:-1]


def _share_port_of_family(sock: trio.socket.SocketType) -> None:
    # Else a listener of :: would take the IPv4 connections, too, and could not have the port of the
    # one for IPv4: systems differ in which of the two they then refuse.
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    _share_port(sock)


def _remote_address(self: TrioTCPStream) -> tuple[str, int] | None:
    # Of IPv6 it has four parts. The library takes two alone, so that all such peers came from an
    # unknown network, and nobody could be told at which IPv6 address others see it.
    if self._cached_remote_address is None:
        try:
            host, port, *_ = self.stream.socket.getpeername()
        except OSError:  # it is closed
            return None
        self._cached_remote_address = (str(host), int(port))
    return self._cached_remote_address


def _larger_queue(self: RpcQueue, *args: int, **kwargs: int) -> None:
    _queue_init(self, *args, **kwargs)
    self._queue.max_size = RPC_QUEUE


async def _joined(self: RpcQueue) -> RPC | None:
    """Take the next packet, and those that wait behind it as far as they fit into one."""
    packet = await _queue_pop(self)
    size_bytes = packet.ByteSize() if packet is not None else 0
    while packet is not None and len(self):
        waiting = self._queue._priority or self._queue._non_priority  # noqa: SLF001 - a private class
        size_bytes += waiting[0].ByteSize()
        if size_bytes > JOINED_BYTES:
            break
        packet.MergeFrom(waiting.popleft())
    return packet


def _no_record(_host: IHost) -> tuple[bytes, bool]:
    """Sign no addresses: ours go out by peer exchange, and `ConnectedPeers` takes none."""
    return b"", False


async def _no_dialling(self: AutoConnector) -> None:
    """Do nothing: we decide whom to dial, and a peer that was dropped stays dropped."""


def _forget(self: AutoConnector, peer_id: ID) -> None:
    """Do nothing with a peer that has left."""
