"""The door of a peer, under a clock that the test moves."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tequio_client.worker.swarm.limits import FAULTS, OUT, Door
from tequio_client.worker.swarm.limits import BURST_S, INBOUND, PeerLimits
from tequio_shared.errors import PeerError
from tests.support.attackers import key_number

HERE, THERE = "192.0.2.1", "198.51.100.1"


class Clock:
    """Seconds, moved by the test."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


def door(clock: Clock | None = None, **limits: float) -> Door:
    return Door(PeerLimits(**limits), clock or Clock())  # type: ignore[arg-type]  # int or float


def test_connections_of_an_address_are_counted_by_network_and_given_back() -> None:
    clock = Clock()
    entrance = door(clock, connections=2)
    for _ in range(3):
        with entrance.arrived(HERE) as one, entrance.arrived("192.0.2.99") as other:
            one.show_key()
            other.show_key()
            with pytest.raises(PeerError, match=r"192\.0\.2\.0/24"), entrance.arrived(HERE):
                pass
            with entrance.arrived(THERE), entrance.arrived("2001:db8::1"):
                pass
        clock.now += 60


def test_connections_without_a_key_are_fewer() -> None:
    entrance = door(handshakes=2)
    with entrance.arrived(HERE), entrance.arrived(HERE) as one:
        with pytest.raises(PeerError, match="without a key"), entrance.arrived(HERE):
            pass
        one.show_key()
        with entrance.arrived(HERE):
            pass


def test_connections_that_come_too_fast_are_refused_until_time_has_passed() -> None:
    clock = Clock()
    entrance = door(clock, arrivals_per_s=1)
    for _ in range(int(BURST_S)):
        with entrance.arrived(HERE):
            pass
    with pytest.raises(PeerError, match="too fast"), entrance.arrived(HERE):
        pass
    clock.now += 1
    with entrance.arrived(HERE):
        pass


def test_inbound_connections_leave_room_for_those_that_we_open() -> None:
    entrance = door()
    with ExitStack() as held:
        for number in range(INBOUND):
            held.enter_context(entrance.arrived(f"10.0.{number}.1")).show_key()
        with pytest.raises(PeerError, match="too many connections"), entrance.arrived(HERE):
            pass


def test_loopback_may_do_more() -> None:
    entrance = door(handshakes=1, loopback_times=3)
    with (
        entrance.arrived("127.0.0.1"),
        entrance.arrived("127.0.0.2"),
        entrance.arrived("127.0.0.1"),
        pytest.raises(PeerError),
        entrance.arrived("127.0.0.1"),
    ):
        pass


def test_who_takes_more_bytes_than_there_are_waits_as_long_as_they_take() -> None:
    clock = Clock()
    entrance = door(clock, bytes_per_s=1_000.0)
    assert entrance.delay_s("net", 1_000, is_ours=False) == 0
    assert entrance.delay_s("net", 500, is_ours=False) == pytest.approx(0.5)
    assert entrance.delay_s("net", 500, is_ours=True) == 0
    assert entrance.delay_s("other", 500, is_ours=False) == 0
    clock.now += 1.5
    assert entrance.delay_s("net", 0, is_ours=False) == 0


def test_a_peer_that_sends_garbage_is_out_for_longer_each_time() -> None:
    clock, peer = Clock(), key_number(1)
    entrance = door(clock, faults_per_s=0.0, out_s=60.0)
    assert [entrance.fault(peer) for _ in range(FAULTS + 1)] == [False] * FAULTS + [True]
    with pytest.raises(PeerError, match="kept out"):
        entrance.check(peer)
    assert not entrance.is_out(key_number(2))
    clock.now += 60
    assert not entrance.is_out(peer)
    assert entrance.fault(peer)
    clock.now += 119
    assert entrance.is_out(peer)
    clock.now += 1
    assert not entrance.is_out(peer)


def test_a_few_faults_over_a_long_time_are_forgiven() -> None:
    clock, peer = Clock(), key_number(1)
    entrance = door(clock, faults_per_s=0.1)
    for _ in range(50):
        assert not entrance.fault(peer)
        clock.now += 10


def test_who_is_kept_out_is_bounded() -> None:
    entrance = door(faults_per_s=0.0)
    for number in range(OUT + 1):
        for _ in range(FAULTS + 1):
            entrance.fault(key_number(number))
    assert not entrance.is_out(key_number(0))
    assert entrance.is_out(key_number(OUT))
