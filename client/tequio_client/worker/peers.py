"""The peer network: connections, streams and gossip; the one file that imports libp2p.

Nothing of libp2p leaves this file: peers are `PeerKey`, addresses are multiaddr text, every
foreign error is a `PeerError`.

py-libp2p 0.8.1 has sharp edges; the rules below keep us off them. The version is asserted,
because several of the fixes replace private names.

* A frame goes out whole or not at all. A write, read or `new_stream` that is cancelled in the
  middle of a Noise frame breaks the whole connection; the frame write is shielded.
* A handler must not raise: an error that leaves one takes the host along, or leaves the
  connection listed but dead. Every handler, the library's own too, goes through `_guarded`.
* A gossip validator must not raise either; `_safe_check` answers no instead.
* `reset()` from another task does not wake a pending read: every wait here has a deadline.
* After a timeout a stream is out of step. Drop it; never use it again.
* A peer that falls silent is not noticed by the library: `_watch` pings, and disconnects.
* The library dials peers that it remembers, dropped ones too; that is switched off.
* Yamux does not enforce its own receive window: a peer that writes past it fills our memory.
  `_bounded_read` ends such a connection.
* A reader that pauses for 5 s loses the stream: read on, hash and write to disk in threads.
* A writer looks at a closed window every 10 ms, and each read sends a window update: a
  `_PromptStream` waits for an event, and `PeerStream` reads few times and much.
"""

from __future__ import annotations

import importlib.metadata
import struct
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

import libp2p.network.swarm as _swarm
import libp2p.pubsub.pubsub as _pubsub
import libp2p.stream_muxer.yamux.yamux as _yamux
import structlog
import trio
from libp2p import new_host
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.crypto.x25519 import create_new_key_pair as create_noise_key_pair
from libp2p.custom_types import TProtocol
from libp2p.host.ping import PingService
from libp2p.network.auto_connector import AutoConnector
from libp2p.network.config import ConnectionConfig
from libp2p.peer.id import ID
from libp2p.peer.peerinfo import info_from_p2p_addr
from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11, PROTOCOL_ID_V12, GossipSub
from libp2p.pubsub.pubsub import Pubsub
from libp2p.pubsub.rpc_queue import RpcQueue
from libp2p.security.noise.transport import PROTOCOL_ID as NOISE
from libp2p.security.noise.transport import Transport as Noise
from libp2p.stream_muxer.exceptions import MuxedStreamError
from libp2p.stream_muxer.yamux.yamux import Yamux, YamuxStream
from libp2p.tools.anyio_service import background_trio_service
from multiaddr import Multiaddr

from tequio_shared.errors import PeerError, RefusedError, TequioError
from tequio_shared.ids import PeerKey, key_from_peer_id, peer_id_text
from tequio_shared.keys import KEY_BYTES, SEED_BYTES
from tequio_shared.limits import FRAME_BYTES, GOSSIP_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
    from types import TracebackType

    from libp2p.abc import IHost, INetConn, INetStream
    from libp2p.network.stream.net_stream import NetStream
    from libp2p.network.swarm import Swarm
    from libp2p.pubsub.pb.rpc_pb2 import Message
    from libp2p.security.noise.io import NoiseTransportReadWriter
    from libp2p.security.secure_session import SecureSession

log = structlog.get_logger(__name__)

LIBP2P_VERSION = "0.8.1"
CONNECTIONS = 200
RPC_QUEUE = 1024
"""Gossip messages that may wait for one peer; the library's 32 overflow in silence."""
SUBSCRIPTION_QUEUE = 4096
BACKLOG = 10_000
"""Gossip messages that may wait for our own reader."""
WINDOW_BYTES = 4 << 20
"""Largest receive window of a stream: 40 MB/s at a round trip of 100 ms."""
CONNECTION_BYTES = 32 << 20
"""Unread bytes of one connection beyond which its peer cannot be keeping to its windows."""
FRAME_S = 10.0
"""A Yamux frame that cannot be sent in this time ends the connection: its shield must end."""
READ_BYTES = 512 << 10
"""What is worth a read of its own."""
AHEAD_BYTES = 64 << 10
"""What may be read beyond what was asked for: most often the whole of a short frame."""
WINDOW_S = 5.0
"""A stream whose reader opens no window for so long is given up."""
NOISE_PAYLOAD_BYTES = 65_519
"""What one Noise message carries; a Yamux frame of this size is encrypted once, not twice."""
_KEY_PREFIX = bytes.fromhex("002408011220")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerLimits:
    """What one peer may take of us, and how soon a silent one is let go. Times in seconds."""

    streams: int = 32
    """Inbound streams of one peer that may be open at once."""
    connect_s: float = 15.0
    ping_every_s: float = 15.0
    ping_wait_s: float = 5.0
    ping_misses: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """One gossip message that passed its topic's check; `author` signed it at the wire."""

    author: PeerKey
    content: bytes


class PeerStream:
    """One ordered, encrypted byte stream to a peer; one reader and one writer at a time.

    Every method raises PeerError when the peer or the connection fails. After any failure or
    cancellation the stream is out of step: `drop` it.
    """

    def __init__(self, stream: INetStream, peer: PeerKey) -> None:
        self._stream = stream
        self._ahead = bytearray()  # read with what came before it
        self.peer = peer

    async def send_frame(self, *parts: bytes, timeout_s: float = 30.0) -> None:
        """Send the parts, joined, as one frame; RefusedError above FRAME_BYTES."""
        size = sum(map(len, parts))
        if size > FRAME_BYTES:
            raise RefusedError("too-large", f"a frame of {size} bytes; at most {FRAME_BYTES}")
        with _foreign_errors("sending a frame"), trio.fail_after(timeout_s):
            await self._stream.write(b"".join((struct.pack("!I", size), *parts)))

    async def receive_frame(
        self, *, most_bytes: int = FRAME_BYTES, timeout_s: float = 30.0
    ) -> bytearray:
        """Receive one whole frame; PeerError when it is longer than `most_bytes`.

        `timeout_s` is the longest silence, not the whole time: a slow link may take longer.
        """
        with _foreign_errors("receiving a frame"):
            (size,) = struct.unpack("!I", await self._read_exactly(4, timeout_s))
            if size > most_bytes:
                raise PeerError(f"a frame of {size} bytes where {most_bytes} are allowed")
            return await self._read_exactly(size, timeout_s)

    async def write(self, content: bytes, *, timeout_s: float = 30.0) -> None:
        """Send bytes without a frame."""
        with _foreign_errors("writing"), trio.fail_after(timeout_s):
            await self._stream.write(content)

    async def read_some(self, most_bytes: int, *, timeout_s: float = 30.0) -> bytes:
        """Between 1 and `most_bytes` bytes; PeerError at the end of the stream."""
        if self._ahead:
            return bytes(self._split_ahead(most_bytes))
        with _foreign_errors("reading"), trio.fail_after(timeout_s):
            return await self._stream.read(most_bytes)

    async def close(self) -> None:
        """Say that nothing more will be sent; what is on its way still arrives."""
        with _foreign_errors("closing a stream"), trio.fail_after(5):
            await self._stream.close()

    async def drop(self) -> None:
        """Reset the stream, both ways; never raises and is not cancelled."""
        with _shielded(2):
            try:
                await self._stream.reset()
            except Exception as err:  # noqa: BLE001 - a stream that is thrown away may fail in any way
                log.debug("a stream could not be reset", error=repr(err))

    async def _read_exactly(self, size: int, timeout_s: float) -> bytearray:
        while (lack := size - len(self._ahead)) > 0:
            await _wait_for_bytes(self._stream, lack, timeout_s)
            with trio.fail_after(timeout_s):
                came = await _read_ready(self._stream, lack + AHEAD_BYTES)
            self._ahead = self._ahead + came if self._ahead else came
        return self._split_ahead(size)

    def _split_ahead(self, size: int) -> bytearray:
        taken, self._ahead = self._ahead, self._ahead[size:]
        del taken[size:]
        return taken


class PeerNetwork:
    """Our place in the peer-to-peer network: `async with PeerNetwork(...) as network`.

    `seed` is the 32-byte Ed25519 seed of our key. `announce` replaces the addresses that
    peers are told (for a node behind a forwarded port).
    """

    def __init__(
        self,
        *,
        seed: bytes,
        listen: Sequence[str] = ("/ip4/0.0.0.0/tcp/0",),
        announce: Sequence[str] = (),
        limits: PeerLimits | None = None,
    ) -> None:
        if len(seed) != SEED_BYTES:  # libp2p gives a random identity for a seed of the wrong size
            raise RefusedError("bad-seed", f"a key seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._listen = [Multiaddr(text) for text in listen]
        self._host = _new_host(seed, self._listen, [Multiaddr(text) for text in announce])
        self._gossip = _new_gossip(self._host)
        self._ping = PingService(self._host)
        self._limits = limits or PeerLimits()
        self._inbound: dict[PeerKey, int] = {}  # open inbound streams, owned by `_admitted`
        self._watched: set[PeerKey] = set()  # owned by `_watch_all`
        self._known: dict[PeerKey, tuple[str, ...]] = {}
        self._stack = AsyncExitStack()
        self._nursery: trio.Nursery
        self.key = key_from_peer_id(str(self._host.get_id()))

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._running())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._stack.__aexit__(kind, value, traceback)

    def addresses(self) -> tuple[str, ...]:
        """Our own addresses with our peer id at the end, to give to others."""
        return tuple(str(addr) for addr in self._host.get_addrs())

    def connected(self) -> set[PeerKey]:
        """Tell to which peers a connection is open now."""
        keys = (_key_of(peer) for peer in self._host.get_connected_peers())
        return {key for key in keys if key is not None}

    def remember(self, peer: PeerKey, addrs: Sequence[str]) -> None:
        """Addresses at which `open_stream` may dial the peer when it is not connected."""
        self._known[peer] = tuple(addrs)

    async def connect(self, addr: str) -> PeerKey:
        """Connect to `/ip4/…/tcp/…/p2p/<peer id>` unless connected already; say to whom."""
        with _foreign_errors(f"connecting to {addr}"), trio.fail_after(self._limits.connect_s):
            info = info_from_p2p_addr(Multiaddr(addr))
            key = key_from_peer_id(str(info.peer_id))
            if key == self.key:
                raise PeerError("that address is our own")
            await self._host.connect(info)
        return key

    async def disconnect(self, peer: PeerKey) -> None:
        """Close every connection to the peer; never raises.

        The sockets go first: a write that waits for a dead peer is shielded, and holds the lock
        that a polite good-bye would need.
        """
        with trio.move_on_after(5):
            try:
                for connection in self._host.get_network().get_connections(_id_of(peer)):
                    await cast("Yamux", connection.muxed_conn).secured_conn.close()
                await self._host.disconnect(_id_of(peer))
            except Exception as err:  # noqa: BLE001 - a connection that is thrown away may fail in any way
                log.debug("a connection could not be closed", error=repr(err))

    async def open_stream(self, peer: PeerKey, protocol: str) -> PeerStream:
        """Open a stream; dial the peer first when it is not connected but was remembered."""
        if peer not in self.connected():
            await self._dial(peer)
        with _foreign_errors(f"opening {protocol}"), trio.fail_after(self._limits.connect_s):
            stream = await self._host.new_stream(_id_of(peer), [TProtocol(protocol)])
        return PeerStream(stream, peer)

    def serve(self, protocol: str, handler: Callable[[PeerStream], Awaitable[None]]) -> None:
        """Give every inbound stream of `protocol` to `handler`.

        When the handler returns the stream is closed; when it raises, it is reset and the
        error goes to the log.
        """

        async def admit(stream: INetStream) -> None:
            peer = _key_of(stream.muxed_conn.peer_id)
            if peer is None:
                raise PeerError("the peer's key is not Ed25519")
            with self._admitted(peer):
                await handler(PeerStream(stream, peer))

        self._host.set_stream_handler(TProtocol(protocol), _guarded(admit))

    async def subscribe(
        self, topic: str, check: Callable[[PeerKey, bytes], bool]
    ) -> trio.MemoryReceiveChannel[Announcement]:
        """Join a gossip topic and receive what passes `check`, our own messages too.

        `check` is called in the event loop for each message: cheap, no I/O. A reader that
        falls behind by BACKLOG messages loses the newest.
        """
        self._gossip.allowed_topics = (self._gossip.allowed_topics or frozenset()) | {topic}
        self._gossip.set_topic_validator(topic, _safe_check(check), False)  # noqa: FBT003
        with _foreign_errors(f"joining {topic}"):
            subscription = await self._gossip.subscribe(topic)
        send, receive = trio.open_memory_channel[Announcement](BACKLOG)
        self._nursery.start_soon(_pump, subscription.get, send)
        return receive

    async def publish(self, topic: str, content: bytes) -> None:
        """Tell the topic; best effort. RefusedError above GOSSIP_BYTES: larger ones vanish."""
        if len(content) > GOSSIP_BYTES:
            raise RefusedError("too-large", f"{len(content)} bytes for gossip")
        with _foreign_errors(f"publishing to {topic}"):
            await self._gossip.publish(topic, content)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        router = cast("GossipSub", self._gossip.router)
        async with (
            self._host.run(listen_addrs=self._listen),
            background_trio_service(self._gossip),
            background_trio_service(router),
            trio.open_nursery() as nursery,
        ):
            await self._gossip.wait_until_ready()
            self._nursery = nursery
            nursery.start_soon(self._watch_all)
            log.info("listening", addresses=self.addresses())
            try:
                yield
            finally:
                nursery.cancel_scope.cancel()
                await self._close_all()

    async def _close_all(self) -> None:
        with _shielded(5):
            for peer in self.connected():
                await self.disconnect(peer)
            try:
                await self._host.close()
            except Exception as err:  # noqa: BLE001 - on the way out, and in libp2p
                log.debug("the host did not close cleanly", error=repr(err))

    async def _dial(self, peer: PeerKey) -> None:
        for addr in self._known.get(peer, ()):
            try:
                await self.connect(addr)
            except PeerError as err:
                log.debug("an address does not answer", address=addr, error=str(err))
            else:
                return
        raise PeerError(f"no connection to {peer_id_text(peer)}")

    @contextmanager
    def _admitted(self, peer: PeerKey) -> Iterator[None]:
        open_streams = self._inbound.get(peer, 0)
        if open_streams >= self._limits.streams:
            raise PeerError(f"more than {open_streams} streams at once")
        self._inbound[peer] = open_streams + 1
        try:
            yield
        finally:
            self._inbound[peer] -= 1
            if not self._inbound[peer]:
                del self._inbound[peer]

    async def _watch_all(self) -> None:
        while True:
            for peer in self.connected() - self._watched:
                self._watched.add(peer)
                self._nursery.start_soon(self._watch, peer)
            await trio.sleep(min(1.0, self._limits.ping_every_s))

    async def _watch(self, peer: PeerKey) -> None:
        misses = 0
        while peer in self.connected() and misses < self._limits.ping_misses:
            await trio.sleep(self._limits.ping_every_s)
            misses = 0 if await self._answers(peer) else misses + 1
        if misses:
            log.info("a silent peer is let go", peer=peer_id_text(peer))
        await self.disconnect(peer)
        self._watched.discard(peer)

    async def _answers(self, peer: PeerKey) -> bool:
        """Whether the peer answered a ping, or sent anything else meanwhile."""
        before = self._heard(peer)
        with trio.move_on_after(self._limits.ping_wait_s):
            try:
                await self._ping.ping(_id_of(peer), 1)
            except Exception as err:  # noqa: BLE001 - libp2p fails in many ways on a dead connection
                log.debug("a ping failed", peer=peer_id_text(peer), error=repr(err))
            else:
                return True
        return self._heard(peer) > before

    def _heard(self, peer: PeerKey) -> int:
        connections = self._host.get_network().get_connections(_id_of(peer))
        return sum(_messages_read(connection) for connection in connections)


def _new_host(seed: bytes, listen: list[Multiaddr], announce: list[Multiaddr]) -> IHost:
    _install_fixes()
    pair = create_new_key_pair(seed)
    host = new_host(
        key_pair=pair,
        listen_addrs=listen,
        announce_addrs=announce or None,
        muxer_preference="YAMUX",
        # Noise alone: the default also takes plaintext
        sec_opt={NOISE: Noise(pair, noise_privkey=create_noise_key_pair().private_key)},
        connection_config=ConnectionConfig(
            max_connections=CONNECTIONS,
            high_watermark=CONNECTIONS * 3 // 4,
            low_watermark=0,
            min_connections=0,
        ),
    )
    _guard_negotiation(host)
    return host


def _new_gossip(host: IHost) -> Pubsub:
    router = GossipSub(
        [PROTOCOL_ID_V12, PROTOCOL_ID_V11],
        degree=6,
        degree_low=4,
        degree_high=10,
        heartbeat_interval=1,
        adaptive_gossip_enabled=False,
        spam_protection_enabled=False,  # its 10 messages a second drop honest bursts
        eclipse_protection_enabled=False,
    )
    return Pubsub(host, router, allowed_topics=frozenset())


async def _pump(
    receive: Callable[[], Awaitable[Message]], out: trio.MemorySendChannel[Announcement]
) -> None:
    """Move messages to the large queue at once: the library's own loses what it cannot hold."""
    while True:
        message = await receive()
        author = _key_of(ID(message.from_id))
        if author is None:
            continue
        try:
            out.send_nowait(Announcement(author=author, content=message.data))
        except trio.WouldBlock:
            log.warning("a gossip message was lost, our reader is behind", backlog=BACKLOG)
        except trio.BrokenResourceError:
            return  # the reader has left


def _safe_check(check: Callable[[PeerKey, bytes], bool]) -> Callable[[ID, Message], bool]:
    def validate(forwarder: ID, message: Message) -> bool:
        del forwarder  # the author counts, not who passed it on
        try:
            author = _key_of(ID(message.from_id))
            known = author is not None and len(message.data) <= GOSSIP_BYTES
            return known and check(PeerKey(author or b""), message.data)
        except TequioError as err:
            log.debug("gossip refused", error=str(err))
        except Exception:  # an error here would end the process by way of libp2p
            log.exception("a gossip check failed")
        return False

    return validate


def _guarded(
    body: Callable[[INetStream], Awaitable[None]],
) -> Callable[[INetStream], Awaitable[None]]:
    async def handler(stream: INetStream) -> None:
        try:
            await body(stream)
            await stream.close()  # not reset: the last bytes may be in flight
        except Exception as err:  # noqa: BLE001 - an error here would end the host
            await _dropped(stream, err)

    return handler


async def _dropped(stream: INetStream, err: Exception) -> None:
    if isinstance(err, TequioError | OSError | EOFError) or _is_foreign(err):
        log.debug("a stream ended", protocol=stream.get_protocol(), error=str(err) or repr(err))
    else:
        log.error("a stream handler failed", protocol=stream.get_protocol(), exc_info=err)
    with _shielded(2):
        try:
            await stream.reset()
        except Exception as reset_err:  # noqa: BLE001 - the stream is thrown away
            log.debug("a stream could not be reset", error=repr(reset_err))


def _guard_negotiation(host: IHost) -> None:
    """Guard what the library does with a new stream before any handler has it."""
    network = cast("Swarm", host.get_network())
    negotiate = network.common_stream_handler

    async def guarded(stream: INetStream) -> None:
        try:
            await negotiate(stream)
        except Exception as err:  # noqa: BLE001 - an error here would end the host
            await _dropped(stream, err)

    network.set_stream_handler(guarded)


@contextmanager
def _foreign_errors(doing: str) -> Iterator[None]:
    """Turn whatever libp2p raises into a PeerError; our own errors pass."""
    try:
        yield
    except TequioError:
        raise
    except trio.TooSlowError as err:
        raise PeerError(f"too slow: {doing}") from err
    except Exception as err:  # libp2p raises KeyError, RuntimeError, groups and its own errors
        raise PeerError(f"{doing}: {str(err) or type(err).__name__}") from err


def _shielded(seconds: float) -> trio.CancelScope:
    return trio.CancelScope(deadline=trio.current_time() + seconds, shield=True)


def _is_foreign(err: Exception) -> bool:
    return type(err).__module__.startswith(("libp2p", "trio", "noise", "multiaddr"))


def _id_of(key: PeerKey) -> ID:
    return ID(_KEY_PREFIX + key)


def _key_of(peer: ID) -> PeerKey | None:
    """Take the Ed25519 key out of a peer id; None for the other kinds of libp2p key."""
    raw = peer.to_bytes()
    if len(raw) != len(_KEY_PREFIX) + KEY_BYTES or not raw.startswith(_KEY_PREFIX):
        return None
    return PeerKey(raw[len(_KEY_PREFIX) :])


def _messages_read(connection: INetConn) -> int:
    """How many encrypted messages came in: the receiving cipher's nonce."""
    secured = cast("Yamux", connection.muxed_conn).secured_conn
    noise = cast("NoiseTransportReadWriter", cast("SecureSession", secured).conn)
    nonce: int = noise.noise_state.noise_protocol.cipher_state_decrypt.n
    return nonce


_read_body = Yamux._read_data_body  # noqa: SLF001 - the fixes replace private names
_queue_init = RpcQueue.__init__


async def _wait_for_bytes(stream: INetStream, size: int, timeout_s: float) -> None:
    """Return once `size` bytes, or enough to be worth a read, are there or the stream has ended.

    Each read costs a window update, which is a frame of its own at both ends. Half a window is
    always enough: the peer may be waiting for the rest. Raises trio.TooSlowError when nothing
    arrives for `timeout_s`.
    """
    muxed = cast("YamuxStream", cast("NetStream", stream).muxed_stream)
    events, buffers = muxed.conn.stream_events, muxed.conn.stream_buffers
    enough = min(size, READ_BYTES, muxed.target_recv_window // 2)
    while len(buffers.get(muxed.stream_id, b"")) < enough:
        event = events.get(muxed.stream_id)
        if event is None or muxed.recv_closed or muxed.closed:
            return
        if event.is_set():  # for bytes that were counted above
            event = events[muxed.stream_id] = trio.Event()
        with trio.fail_after(timeout_s):
            await event.wait()


async def _read_ready(stream: INetStream, most_bytes: int) -> bytearray:
    """Read what is there; the whole buffer changes hands where it may, which saves two copies."""
    muxed = cast("YamuxStream", cast("NetStream", stream).muxed_stream)
    buffers = muxed.conn.stream_buffers
    ready = len(buffers.get(muxed.stream_id, b""))
    if not 0 < ready <= most_bytes or muxed.recv_closed or muxed.closed:
        return bytearray(await stream.read(most_bytes))
    came, buffers[muxed.stream_id] = buffers[muxed.stream_id], bytearray()
    await muxed._auto_tune_and_send_window_update(bytes_read=ready)  # noqa: SLF001
    return came


class _PromptStream(YamuxStream):
    """Writes on as soon as the window opens, where the library looks every 10 ms.

    Writes without a copy of what is still to go. As there, one writer at a time.
    """

    def __init__(self, stream_id: int, conn: Yamux, is_initiator: bool) -> None:  # noqa: FBT001
        self._opened = trio.Event()
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
        left = memoryview(data)
        while left:
            await self._wait_for_window()
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
                self._opened = trio.Event()
                with trio.move_on_after(0.1):  # being closed sets no event
                    await self._opened.wait()
        raise MuxedStreamError("the stream is closed, or its reader has paused for too long")


async def _shielded_write(self: Yamux, data: bytes) -> None:
    async with self._write_lock:  # waiting for our turn may be cancelled, sending may not
        with _shielded(FRAME_S) as scope:
            await self.secured_conn.write(data)
        if scope.cancelled_caught:
            await self.secured_conn.close()
            raise PeerError(
                f"a frame could not be sent in {FRAME_S:.0f} s; the connection is closed"
            )


async def _bounded_read(self: Yamux, length: int) -> bytes:
    if sum(map(len, self.stream_buffers.values())) + length > CONNECTION_BYTES:
        raise trio.TooSlowError  # the one error for which Yamux closes the connection here
    return await _read_body(self, length)


def _larger_queue(self: RpcQueue, *args: int, **kwargs: int) -> None:
    _queue_init(self, *args, **kwargs)
    self._queue.max_size = RPC_QUEUE


async def _no_dialling(self: AutoConnector) -> None:
    """Do nothing: whom to dial is for us to say; a peer that was dropped stays dropped."""


def _install_fixes() -> None:
    version = importlib.metadata.version("libp2p")
    if version != LIBP2P_VERSION:
        raise RefusedError("libp2p-version", f"libp2p {version}; made for {LIBP2P_VERSION} only")
    _swarm._HAPPY_EYEBALLS_DELAY = 0.02  # noqa: SLF001 - else every connect waits 250 ms
    _pubsub.SUBSCRIPTION_CHANNEL_SIZE = SUBSCRIPTION_QUEUE
    _yamux.MAX_MESSAGE_SIZE = NOISE_PAYLOAD_BYTES
    _yamux.MAX_WINDOW_SIZE = WINDOW_BYTES
    _yamux.YamuxStream = _PromptStream  # type: ignore[misc]
    Yamux._write_frame = _shielded_write  # type: ignore[method-assign]  # noqa: SLF001
    Yamux._read_data_body = _bounded_read  # type: ignore[method-assign]  # noqa: SLF001
    AutoConnector.maybe_connect = _no_dialling  # type: ignore[method-assign]
    RpcQueue.__init__ = _larger_queue  # type: ignore[method-assign]
