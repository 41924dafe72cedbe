"""One byte stream to a peer, cut into frames; libp2p's peer ids as keys, its errors as ours."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, cast

import structlog
import trio
from libp2p.abc import INetStream
from libp2p.network.stream.net_stream import NetStream
from libp2p.peer.id import ID
from libp2p.stream_muxer.yamux.yamux import YamuxStream

from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.ids import PeerKey
from tequio_shared.keys import KEY_BYTES
from tequio_shared.limits import FRAME_BYTES

if TYPE_CHECKING:
    from libp2p.network.connection.raw_connection import RawConnection
    from libp2p.security.noise.io import NoiseTransportReadWriter
    from libp2p.security.secure_session import SecureSession

log = structlog.get_logger(__name__)

READ_BYTES = 512 << 10
"""As much as is worth a read of its own."""
AHEAD_BYTES = 64 << 10
"""How much may be read beyond what is needed: most often the whole of a short frame."""
_KEY_PREFIX = bytes.fromhex("002408011220")


def id_of(key: PeerKey) -> ID:
    return ID(_KEY_PREFIX + key)


def key_of(peer: ID) -> PeerKey | None:
    """Take the Ed25519 key out of a peer id; None for the other kinds of libp2p key."""
    raw = peer.to_bytes()
    if len(raw) != len(_KEY_PREFIX) + KEY_BYTES or not raw.startswith(_KEY_PREFIX):
        return None
    return PeerKey(raw[len(_KEY_PREFIX) :])


@contextmanager
def foreign_errors(doing: str) -> Iterator[None]:
    """Turn every error of libp2p into a PeerError; our own errors pass."""
    try:
        yield
    except TequioError:
        raise
    except trio.TooSlowError as err:
        raise PeerError(f"too slow: {doing}") from err
    except Exception as err:  # libp2p raises KeyError, RuntimeError, groups and its own errors
        raise PeerError(f"{doing}: {str(err) or type(err).__name__}") from err


def shielded(seconds: float) -> trio.CancelScope:
    """A scope that no outer cancellation ends, and that ends itself after `seconds`."""
    return trio.CancelScope(deadline=trio.current_time() + seconds, shield=True)


async def reset(stream: INetStream) -> None:
    """Reset a stream, both ways; never raises and is not cancelled."""
    # Shielded: a stream that is not reset keeps its buffer until its connection ends.
    with shielded(2):
        try:
            await stream.reset()
        except Exception as err:  # noqa: BLE001 - a stream that is thrown away may fail in any way
            log.debug("a stream could not be reset", error=repr(err))


class _BoundSocket(Protocol):
    """The part of `host.MeteredSocket` that is needed here."""

    local_port: int


class PeerStream:
    """One ordered, encrypted byte stream to a peer; one reader and one writer at a time.

    Every method raises PeerError when the peer or the connection fails. After any failure or
    cancellation the stream is out of step: `drop` it.
    """

    def __init__(self, stream: INetStream, peer: PeerKey) -> None:
        self._stream = stream
        self._ahead = bytearray()  # was read, but belongs to the next frame
        self.peer = peer

    @property
    def remote_host(self) -> str:
        """IP address from which the peer has this stream's connection; empty once it is gone."""
        return self._remote[0]

    @property
    def remote_port(self) -> int:
        """TCP port from which the peer has this stream's connection; 0 once it is gone."""
        return self._remote[1]

    @property
    def local_port(self) -> int:
        """Our own TCP port of this stream's connection."""
        secured = cast("SecureSession", self._muxed.conn.secured_conn)
        noise = cast("NoiseTransportReadWriter", secured.conn)
        raw = cast("RawConnection", noise.read_writer.read_write_closer)
        return cast("_BoundSocket", raw.stream).local_port

    @property
    def _muxed(self) -> YamuxStream:
        return cast("YamuxStream", cast("NetStream", self._stream).muxed_stream)

    @property
    def _remote(self) -> tuple[str, int]:
        return self._muxed.conn.secured_conn.get_remote_address() or ("", 0)

    async def send_frame(self, *parts: bytes, timeout_s: float = 30.0) -> None:
        """Send the parts, joined, as one frame; RefusedError above FRAME_BYTES."""
        size = sum(map(len, parts))
        if size > FRAME_BYTES:
            raise RefusedError("too-large", f"a frame of {size} bytes; at most {FRAME_BYTES}")
        # One write: the length alone would be a Yamux frame and a Noise message of its own.
        with foreign_errors("sending a frame"), trio.fail_after(timeout_s):
            await self._stream.write(b"".join((struct.pack("!I", size), *parts)))

    async def receive_frame(
        self, *, most_bytes: int = FRAME_BYTES, timeout_s: float = 30.0
    ) -> bytearray:
        """Receive one whole frame; PeerError when it is longer than `most_bytes`.

        `timeout_s` is the longest silence, not the whole time: a slow link may take longer.
        """
        with foreign_errors("receiving a frame"):
            (size,) = struct.unpack("!I", await self._read_exactly(4, timeout_s))
            # Checked before a byte of it is read: the length is the peer's word.
            if size > most_bytes:
                raise MalformedError(f"a frame of {size} bytes where {most_bytes} are allowed")
            return await self._read_exactly(size, timeout_s)

    async def write(self, content: bytes, *, timeout_s: float = 30.0) -> None:
        with foreign_errors("writing"), trio.fail_after(timeout_s):
            await self._stream.write(content)

    async def read_some(self, most_bytes: int, *, timeout_s: float = 30.0) -> bytes:
        """Between 1 and `most_bytes` bytes; PeerError at the end of the stream."""
        if self._ahead:
            return bytes(self._split_ahead(most_bytes))
        with foreign_errors("reading"), trio.fail_after(timeout_s):
            return await self._stream.read(most_bytes)

    async def close(self) -> None:
        """Send nothing more; what is on its way still arrives."""
        with foreign_errors("closing a stream"), trio.fail_after(5):
            await self._stream.close()

    async def drop(self) -> None:
        await reset(self._stream)

    async def _read_exactly(self, size: int, timeout_s: float) -> bytearray:
        while (lack := size - len(self._ahead)) > 0:
            await _wait_for_bytes(self._stream, lack, timeout_s)
            with trio.fail_after(timeout_s):
                received = await _read_ready(self._stream, lack + AHEAD_BYTES)
            # Joined only when something was left over: joining copies, and a frame may have 1 MiB.
            self._ahead = self._ahead + received if self._ahead else received
        return self._split_ahead(size)

    def _split_ahead(self, size: int) -> bytearray:
        taken, self._ahead = self._ahead, self._ahead[size:]
        del taken[size:]
        return taken


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
    # The stream's own `read` copies out of the buffer and then shortens it, a second copy.
    received, buffers[muxed.stream_id] = buffers[muxed.stream_id], bytearray()
    await muxed._auto_tune_and_send_window_update(bytes_read=ready)  # noqa: SLF001
    return received
