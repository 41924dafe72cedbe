"""The table of connections: who gives way to whom, and who is served first."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from ipaddress import ip_network

import pytest

from tequio_ledger import resources
from tequio_ledger.web.connections import (
    MAX_CONNECTIONS,
    RESERVED_DESCRIPTORS,
    UNREAD_BYTES,
    Acceptor,
    ConnectionLimits,
    ConnectionTable,
    OpenConnection,
    Rotation,
)
from tests.support.attack_table import attack

HOME, AWAY, PROXY = "198.51.100.7", "192.0.2.1", "127.0.0.1"
LIMITS = ConnectionLimits(most=4, per_network=2, proxies=(ip_network("127.0.0.0/8"),))


class FakeLine(OpenConnection):
    """A connection that only records whether it was closed."""

    def __init__(self) -> None:
        self.is_aborted = False

    def get_buffer(self, sizehint: int) -> bytearray:
        """Read into nothing."""
        return bytearray(max(sizehint, 1))

    def abort(self) -> None:
        """Record it."""
        self.is_aborted = True


@pytest.fixture
def connections() -> ConnectionTable:
    return ConnectionTable(LIMITS)


def opened(connections: ConnectionTable, *hosts: str) -> list[FakeLine]:
    made = []
    for host in hosts:
        assert connections.make_room(host)
        made.append(FakeLine())
        connections.add(made[-1], host)
    return made


def closed(lines: list[FakeLine]) -> list[int]:
    return [at for at, one in enumerate(lines) if one.is_aborted]


def test_a_network_gives_way_to_itself_alone(connections: ConnectionTable) -> None:
    lines = opened(connections, AWAY, HOME, HOME, HOME)
    assert closed(lines) == [1], "the one of that network that waited longest"


def test_without_room_the_longest_silent_one_is_closed(connections: ConnectionTable) -> None:
    lines = opened(connections, HOME, AWAY, HOME, AWAY)
    connections.serve(lines[0])
    connections.wait(lines[0])
    lines += opened(connections, "203.0.113.1")
    assert closed(lines) == [1], "before one that has sent a request"


def test_the_network_with_most_silent_ones_loses_its_oldest(connections: ConnectionTable) -> None:
    lines = opened(connections, HOME, AWAY, AWAY, PROXY)
    opened(connections, "203.0.113.1")
    assert closed(lines) == [1], "not the oldest of all"


def test_one_that_is_alone_and_silent_goes_last(connections: ConnectionTable) -> None:
    lines = opened(connections, HOME, AWAY, "192.0.3.1", "192.0.4.1")
    connections.wait(lines[3])
    opened(connections, "203.0.113.1", "203.0.114.1")
    assert closed(lines) == [0, 3]


@attack("D5", layer="net", ends="the network with most unread answers loses the oldest of them")
def test_unread_answers_have_a_bound(connections: ConnectionTable) -> None:
    lines = opened(connections, HOME, AWAY, AWAY)
    for one in lines:
        connections.serve(one)
    connections.hold(lines[0], UNREAD_BYTES // 8)
    connections.hold(lines[1], UNREAD_BYTES // 4)
    connections.hold(lines[2], UNREAD_BYTES // 2)
    assert closed(lines) == []
    connections.hold(lines[0], UNREAD_BYTES // 4 + 1)
    assert closed(lines) == [1], "not the one that began before it"
    connections.hold(lines[0], UNREAD_BYTES // 2)
    connections.release(lines[2])
    connections.hold(lines[0], UNREAD_BYTES)
    assert closed(lines) == [1]


def test_a_client_that_does_not_read_gives_way(connections: ConnectionTable) -> None:
    lines = opened(connections, HOME, AWAY, HOME, AWAY)
    for one in lines:
        connections.serve(one)
    connections.hold(lines[1], 1)
    connections.hold(lines[2], 1)
    opened(connections, "203.0.113.1")
    assert closed(lines) == [1]


def test_a_busy_connection_is_never_closed(connections: ConnectionTable) -> None:
    lines = opened(connections, HOME, AWAY, HOME, AWAY)
    for one in lines:
        connections.serve(one)
    assert not connections.make_room("203.0.113.1")
    assert not connections.make_room(HOME)
    connections.wait(lines[2])
    assert connections.make_room("203.0.113.1")
    assert closed(lines) == [2]


def test_a_body_that_goes_on_begins_its_wait_again(connections: ConnectionTable) -> None:
    lines = opened(connections, HOME, AWAY, HOME, AWAY)
    for at in (0, 1, 2, 3, 0):
        connections.wait(lines[at])
    opened(connections, "203.0.113.1")
    assert closed(lines) == [1]


def test_a_rotation_serves_one_of_each_network_after_the_other() -> None:
    async def run() -> None:
        served: list[str] = []
        rotation = Rotation(served.append)
        for item in ("a1", "a2", "a3", "b1", "b2", "c1"):
            rotation.add(item[0], item)
        await asyncio.sleep(0)
        assert served == ["a1"]
        rotation.add("d", "d1")
        for _ in range(4):
            await asyncio.sleep(0)
        assert served == ["a1", "b1", "c1", "a2", "d1"]
        assert rotation.clear() == ["b2", "a3"]

    asyncio.run(run())


def test_a_proxy_counts_among_all_only(connections: ConnectionTable) -> None:
    lines = opened(connections, PROXY, PROXY, PROXY, f"::ffff:{PROXY}")
    assert closed(lines) == []
    opened(connections, HOME)
    assert closed(lines) == [0]


def test_a_closed_connection_leaves_its_room(connections: ConnectionTable) -> None:
    for _ in range(3):
        lines = opened(connections, HOME, HOME)
        for one in lines:
            connections.serve(one)
            connections.remove(one)
            connections.remove(one)
            connections.wait(one)
        assert closed(lines) == []


@pytest.fixture
def descriptors(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    limit = [1_024]
    monkeypatch.setattr(resources, "descriptor_limit", lambda: limit[0])
    return limit


def test_two_descriptors_for_each_connection_stay_below_the_limit(descriptors: list[int]) -> None:
    few = ConnectionLimits.of_process(64)
    assert 2 * few.most + RESERVED_DESCRIPTORS <= descriptors[0]
    assert few.per_network == few.most // 8
    descriptors[0] = 65_536
    many = ConnectionLimits.of_process(64)
    assert (many.most, many.per_network) == (MAX_CONNECTIONS, 128)
    assert ConnectionLimits.of_process(0).per_network == 0


class ServedLine(FakeLine):
    """A connection that is recorded when it is served, and closed."""

    def __init__(self, served: list[str]) -> None:
        super().__init__()
        self._served = served

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Record its client's address."""
        assert isinstance(transport, asyncio.Transport)
        self._served.append(transport.get_extra_info("peername")[0])
        transport.abort()


def served_of(hosts: list[str], most: int) -> list[str]:
    """Connect from these addresses at once; returns the addresses in the order of service."""
    served: list[str] = []

    async def accept_all(listener: socket.socket) -> None:
        limits = ConnectionLimits(most=most, per_network=0)
        acceptor = Acceptor(listener, ConnectionTable(limits), lambda: ServedLine(served))
        acceptor.start()
        await asyncio.sleep(0.5)
        acceptor.stop()

    with ExitStack() as opened_here:
        listener = opened_here.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)  # noqa: FBT003  # the standard library's own parameter
        place = listener.getsockname()
        for host in hosts:
            line = socket.create_connection(place, source_address=(host, 0))
            opened_here.enter_context(line)
        asyncio.run(accept_all(listener))
    return served


@attack("D6", layer="net", ends="served next: networks have their turns one after the other")
def test_a_newcomer_does_not_wait_for_all_connections_of_another() -> None:
    flooder, newcomer, burst = "127.0.1.1", "127.0.2.1", 12
    served = served_of([flooder] * burst + [newcomer], most=64)
    assert served.index(newcomer) <= 2
    assert served.count(flooder) == burst


@attack("D6", layer="net", ends="without room they are closed before they are served")
def test_what_gives_way_before_its_turn_is_not_served() -> None:
    served = served_of(["127.0.1.1"] * 12 + ["127.0.2.1"], most=4)
    assert "127.0.2.1" in served
    assert len(served) < 12
