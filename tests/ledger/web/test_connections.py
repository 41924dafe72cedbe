"""The table of connections: who gives way to whom."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from tequio_ledger import resources
from tequio_ledger.web.connections import (
    MAX_CONNECTIONS,
    RESERVED_DESCRIPTORS,
    ConnectionLimits,
    ConnectionTable,
    OpenConnection,
)

HOME, AWAY, PROXY = "198.51.100.7", "192.0.2.1", "127.0.0.1"
LIMITS = ConnectionLimits(most=4, per_network=2, proxies=(ip_network("127.0.0.0/8"),))


class FakeLine(OpenConnection):
    """A connection that only records whether it was closed."""

    def __init__(self) -> None:
        self.is_aborted = False

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


def test_a_proxy_counts_among_all_only(connections: ConnectionTable) -> None:
    lines = opened(connections, PROXY, PROXY, PROXY, PROXY)
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
