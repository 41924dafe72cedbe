"""Lines to and from a controller: over a local socket, or our own standard input and output."""

from __future__ import annotations

import os
import sys
from typing import Protocol

import trio

from tequio_client.link.control import LINE_BYTES
from tequio_shared.errors import MalformedError

SEND_S = 10.0
"""A controller that takes nothing for so long is hung up on."""
GONE = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""What says that nobody is there any more."""
_READ_BYTES = 1 << 16


class Lines(Protocol):
    """A connection that carries lines; several tasks may send."""

    async def receive(self) -> bytes | None:
        """The next line without its end; None once the other end has hung up.

        Raises MalformedError for one that is too long, and one of GONE.
        """

    async def send(self, line: bytes) -> None:
        """Send a line, end included; raises one of GONE."""


class SocketLines:
    """Over a stream."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._sending = trio.Lock()
        self._rest = bytearray()

    async def receive(self) -> bytes | None:
        """As `Lines` says."""
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > LINE_BYTES:
                raise MalformedError(f"a line of more than {LINE_BYTES} bytes")
            chunk = await self._stream.receive_some(_READ_BYTES)
            if not chunk:
                return None
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def send(self, line: bytes) -> None:
        """As `Lines` says."""
        with trio.fail_after(SEND_S):
            async with self._sending:
                await self._stream.send_all(line)


class PipeLines:
    """Over standard input and output, in threads: they may be pipes, files or consoles anywhere.

    From now on nothing else may be written to standard output: whoever tries writes to the log.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.buffer
        self._output = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        self._sending = trio.Lock()

    async def receive(self) -> bytes | None:
        """As `Lines` says."""
        line = await trio.to_thread.run_sync(
            self._input.readline,
            LINE_BYTES + 1,
            abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
        )
        if len(line) > LINE_BYTES:
            raise MalformedError(f"a line of more than {LINE_BYTES} bytes")
        return line[:-1] if line.endswith(b"\n") else None  # or cut off: whoever wrote is gone

    async def send(self, line: bytes) -> None:
        """As `Lines` says."""
        with trio.fail_after(SEND_S):
            async with self._sending:
                await trio.to_thread.run_sync(
                    self._write,
                    line,
                    abandon_on_cancel=True,  # type: ignore[call-arg]  # as above
                )

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        while left:
            left = left[os.write(self._output, left) :]
