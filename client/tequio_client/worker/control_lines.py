"""Lines to and from a controller: over a local socket, or our own standard input and output."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol

import trio

from tequio_client.link.control import LINE_BYTES
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SEND_S = 10.0
"""A controller that takes nothing for so long is hung up on."""
GONE = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""What says that nobody is there any more."""
_READ_BYTES = 1 << 16


class Lines(Protocol):
    """A connection that carries lines; several tasks may send."""

    def received(self) -> AsyncIterator[bytes]:
        """Lines without their ends, until the other end hangs up.

        Raises MalformedError for one that is too long, and one of GONE.
        """

    async def send(self, line: bytes) -> None:
        """Send a line, end included; raises one of GONE."""


class SocketLines:
    """Over a stream."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._sending = trio.Lock()

    async def received(self) -> AsyncIterator[bytes]:
        """As `Lines` says."""
        rest = bytearray()
        while chunk := await self._stream.receive_some(_READ_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield bytes(line)
            if len(rest) > LINE_BYTES:
                raise MalformedError(f"a line of more than {LINE_BYTES} bytes")

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

    async def received(self) -> AsyncIterator[bytes]:
        """As `Lines` says."""
        while line := await self._line():
            if not line.endswith(b"\n"):
                if len(line) > LINE_BYTES:
                    raise MalformedError(f"a line of more than {LINE_BYTES} bytes")
                return  # cut off in the middle: whoever wrote is gone
            yield line[:-1]

    async def _line(self) -> bytes:
        return await trio.to_thread.run_sync(
            self._input.readline,
            LINE_BYTES + 1,
            abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
        )

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
