"""A network between processes of one machine with slow, late or cut links: a user-space proxy.

Every node has one link to the rest of the world, as a home has. It dials others at their fronts:
ports of this proxy, which forwards the bytes to the port on which the other node listens. Traffic
is limited by both links: by the sender's and the receiver's rate (each direction has its own token
bucket), and delayed by the sum of both delays. Nodes on different sides of a split cannot reach
each other: data in flight waits, as with an unplugged cable, and arrives when the split is mended.
The front determines the dialling node, or the proxy looks up which process owns the socket.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HOST = "127.0.0.1"
CHUNK_BYTES = 16 << 10
BURST_BYTES = 16 << 10
IN_FLIGHT = 64
"""Most chunks in flight in one direction of a connection; then the sender waits."""


class TokenBucket:
    """A token bucket for bytes: `acquire` returns when they may pass."""

    def __init__(self) -> None:
        self.bytes_per_s = math.inf
        self._free_at = 0.0  # trio time at which all acquired bytes have passed

    async def acquire(self, count: int) -> None:
        """Wait until `count` bytes may pass; callers are served in order."""
        if math.isinf(self.bytes_per_s):
            return
        burst_s = BURST_BYTES / self.bytes_per_s
        start = max(self._free_at, trio.current_time() - burst_s)
        self._free_at = start + count / self.bytes_per_s
        await trio.sleep_until(self._free_at)


@dataclass(slots=True, kw_only=True)
class NodeLink:
    """One node's link; only nodes with the same `side` reach each other."""

    up: TokenBucket = field(default_factory=TokenBucket)
    down: TokenBucket = field(default_factory=TokenBucket)
    delay_s: float = 0.0
    side: int = 0

    def slow_down(self, bytes_per_s: float) -> None:
        """Limit the rate, up and down."""
        self.up.bytes_per_s = self.down.bytes_per_s = bytes_per_s

    def mend(self) -> None:
        """Remove rate limit, delay and split."""
        self.slow_down(math.inf)
        self.delay_s, self.side = 0.0, 0


class NetworkProxy:
    """The links of all nodes, by name; an unknown node has a perfect link."""

    def __init__(self, nursery: trio.Nursery, pids: Callable[[], Mapping[str, int]]) -> None:
        """`pids` gives the ids of the running processes, by name."""
        self.lines: dict[str, NodeLink] = {}
        self._nursery = nursery
        self._pids = pids
        self._changed = trio.Event()  # replaced at every change of sides
        self._good = NodeLink()

    def line(self, name: str) -> NodeLink:
        """The link of that node."""
        return self.lines.setdefault(name, NodeLink())

    async def front(self, of: str, port: int, dialler: str | None = None) -> int:
        """Open a front for a node that listens on `port`; returns the port to dial.

        Without `dialler`, the dialling node is looked up for each connection.
        """
        (listener,) = await trio.open_tcp_listeners(0, host=HOST)
        dialled = self.line(of)

        async def carry(stream: trio.SocketStream) -> None:
            who = dialler or await self._owner(stream)
            with suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                await self._carry(stream, port, self.lines.get(who, self._good), dialled)
            await trio.aclose_forcefully(stream)

        self._nursery.start_soon(trio.serve_listeners, carry, [listener])
        found: int = listener.socket.getsockname()[1]
        return found

    def split(self, away: set[str]) -> None:
        """Split these nodes from all others."""
        for name, line in self.lines.items():
            line.side = int(name in away)

    def mend(self) -> None:
        """Make every link perfect again, and end the split."""
        for line in self.lines.values():
            line.mend()
        self._changed.set()
        self._changed = trio.Event()

    # --- private

    async def _owner(self, stream: trio.SocketStream) -> str:
        """The node whose process holds the other end."""
        port = stream.socket.getpeername()[1]
        return await trio.to_thread.run_sync(_owner_of, port, dict(self._pids()))

    async def _carry(
        self, near: trio.SocketStream, port: int, dialler: NodeLink, dialled: NodeLink
    ) -> None:
        await self._until_connected(dialler, dialled)
        far = await trio.open_tcp_stream(HOST, port)
        async with near, far, trio.open_nursery() as nursery:

            async def one_way(
                source: trio.SocketStream, sink: trio.SocketStream, lines: tuple[NodeLink, NodeLink]
            ) -> None:
                await self._pump(source, sink, lines)
                await self._until_connected(*lines)  # the end is not seen through a split, either
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await sink.send_eof()

            nursery.start_soon(one_way, near, far, (dialler, dialled))
            nursery.start_soon(one_way, far, near, (dialled, dialler))

    async def _pump(
        self, source: trio.SocketStream, sink: trio.SocketStream, lines: tuple[NodeLink, NodeLink]
    ) -> None:
        """Forward one direction to its end; a reset on either side ends it too."""
        sender, receiver = lines
        put, get = trio.open_memory_channel[tuple[float, bytes]](IN_FLIGHT)

        async def read() -> None:
            async with put:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    while chunk := await source.receive_some(CHUNK_BYTES):
                        await sender.up.acquire(len(chunk))
                        late_s = sender.delay_s + receiver.delay_s
                        await put.send((trio.current_time() + late_s, bytes(chunk)))

        async with trio.open_nursery() as nursery, get:
            nursery.start_soon(read)
            async for due, chunk in get:
                await trio.sleep_until(due)
                await receiver.down.acquire(len(chunk))
                await self._until_connected(sender, receiver)
                try:
                    await sink.send_all(chunk)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    await trio.aclose_forcefully(source)
                    break
            nursery.cancel_scope.cancel()

    async def _until_connected(self, one: NodeLink, other: NodeLink) -> None:
        while one.side != other.side:
            await self._changed.wait()


def _owner_of(port: int, pids: Mapping[str, int]) -> str:
    """The name of the process that holds the connection from that loopback port.

    It reads /proc itself: psutil would read the whole socket table for each process, which takes
    seconds per connection on a machine with many sockets.
    """
    inode = _inode_of(port)
    if inode:
        for name, pid in pids.items():
            with suppress(OSError):
                if any(
                    _target(one) == f"socket:[{inode}]" for one in Path(f"/proc/{pid}/fd").iterdir()
                ):
                    return name
    return ""


def _inode_of(port: int) -> str:
    """The inode of the socket with that local port; empty when there is none."""
    end = f":{port:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines():
        if end in line:
            fields = line.split()
            if fields[1].endswith(end) and fields[9] != "0":
                return fields[9]
    return ""


def _target(link: Path) -> str:
    with suppress(OSError):
        return str(link.readlink())
    return ""
