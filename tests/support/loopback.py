"""Peers for tests: real hosts on the loopback device."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.swarm.peers import PeerNetwork

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from trio_typing import TaskStatus

    from tequio_client.worker.swarm.limits import PeerLimits
    from tequio_shared.ids import PeerKey

LOOPBACK = ("/ip4/127.0.0.1/tcp/0",)


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="this computer has no IPv6")


def network(name: str, limits: PeerLimits | None = None) -> PeerNetwork:
    """A network, not yet started, whose key is derived from the name."""
    return PeerNetwork(seed=name.encode().ljust(32, b"."), listen=LOOPBACK, limits=limits)


class ContentFilter:
    """A topic filter that checks the content alone."""

    def __init__(self, check: Callable[[PeerKey, bytes], bool] = lambda *_: True) -> None:
        self.check = check

    def screen(self, _author: PeerKey, _content: bytes) -> bool:
        """Let everything through to `check`."""
        return True


@asynccontextmanager
async def two_peers(
    limits: PeerLimits | None = None,
) -> AsyncIterator[tuple[PeerNetwork, PeerNetwork]]:
    """Start two networks, the second connected to the first."""
    async with network("first", limits) as first, network("second", limits) as second:
        await second.connect(first.addresses()[0])
        yield first, second


async def run_peer(
    name: str,
    prepare: Callable[[PeerNetwork], object],
    *,
    task_status: TaskStatus[str] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run a peer until cancelled; its address is the started value."""
    async with network(name) as peers:
        prepare(peers)
        task_status.started(peers.addresses()[0])
        await trio.sleep_forever()


@asynccontextmanager
async def victim() -> AsyncIterator[tuple[int, list[float]]]:
    """Somebody's program on this computer: its port, and the times at which it was connected to."""
    times: list[float] = []

    async def record(stream: trio.SocketStream) -> None:
        times.append(trio.current_time())
        await stream.aclose()

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, record, [listener])
        yield listener.socket.getsockname()[1], times
        nursery.cancel_scope.cancel()
