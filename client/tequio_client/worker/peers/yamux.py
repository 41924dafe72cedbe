"""Yamux that is prompt, whole and bounded, in place of the library's own."""

from __future__ import annotations

import struct

import libp2p.stream_muxer.yamux.yamux as _yamux
import trio
from libp2p.stream_muxer.exceptions import MuxedStreamError
from libp2p.stream_muxer.yamux.yamux import Yamux, YamuxStream

from tequio_client.worker.peers.foreign import shielded
from tequio_shared.errors import PeerError

WINDOW_BYTES = 4 << 20
"""Largest receive window of a stream: 40 MB/s at a round trip of 100 ms."""
CONNECTION_BYTES = 32 << 20
"""Unread bytes of one connection beyond which its peer cannot be keeping to its windows."""
STREAMS = 128
"""Streams of one connection beyond which its peer opens them for their own sake."""
FRAME_S = 10.0
"""A Yamux frame that cannot be sent in this time ends the connection: its shield must end."""
WINDOW_S = 5.0
"""A stream whose reader opens no window for so long is given up."""
NOISE_PAYLOAD_BYTES = 65_519
"""What one Noise message carries; a Yamux frame of this size is encrypted once, not twice."""


def install() -> None:
    """Put these in the place of the library's own."""
    _yamux.MAX_MESSAGE_SIZE = NOISE_PAYLOAD_BYTES
    _yamux.MAX_WINDOW_SIZE = WINDOW_BYTES
    _yamux.YamuxStream = PromptStream  # type: ignore[misc]
    Yamux._write_frame = shielded_write  # type: ignore[method-assign]  # noqa: SLF001
    Yamux._read_data_body = bounded_read  # type: ignore[method-assign]  # noqa: SLF001


_read_body = Yamux._read_data_body  # noqa: SLF001 - the fixes replace private names


class PromptStream(YamuxStream):
    """Writes on as soon as the window opens, where the library looks every 10 ms.

    Gives its own window back in few frames. Writes without a copy of what is still to go. Writers
    take turns: the library's gossip has several for one stream, and their long messages would be
    mixed.
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
        unread = len(self.conn.stream_buffers.get(self.stream_id, b""))
        if self.target_recv_window - self.recv_window - unread >= self._grow_threshold():
            await super()._auto_tune_and_send_window_update(bytes_read=bytes_read)

    async def _write(self, left: memoryview) -> None:
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


async def shielded_write(self: Yamux, data: bytes) -> None:
    """Send a frame whole, or end the connection."""
    async with self._write_lock:  # waiting for our turn may be cancelled, sending may not
        with shielded(FRAME_S) as scope:
            await self.secured_conn.write(data)
        if scope.cancelled_caught:
            await self.secured_conn.close()
            raise PeerError(
                f"a frame could not be sent in {FRAME_S:.0f} s; the connection is closed"
            )


async def bounded_read(self: Yamux, length: int) -> bytes:
    """Read a frame's body if there may be room for it; else the connection ends."""
    if sum(map(len, self.stream_buffers.values())) + length > CONNECTION_BYTES:
        raise trio.TooSlowError  # the one error for which Yamux closes the connection here
    return await _read_body(self, length)
