"""The limits of the peer port, under a clock that the test moves."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.swarm.limits import (
    BANS,
    BURST_S,
    FORGIVEN_FAULTS,
    LONGEST_BAN_S,
    MIN_CHARGE_BYTES,
    ByteBudget,
    PeerLimits,
    RateLimiter,
)
from tequio_shared.errors import PeerError
from tests.support.attackers import key_number
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from trio.testing import MockClock

HERE, THERE = "192.0.2.1", "198.51.100.1"


class SecondsClock:
    """Seconds, moved by the test."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


def limiter(clock: SecondsClock | None = None, **limits: float) -> RateLimiter:
    return RateLimiter(PeerLimits(**limits), clock or SecondsClock())  # type: ignore[arg-type]  # int or float


def test_connections_of_an_address_are_counted_by_network_and_given_back() -> None:
    clock = SecondsClock()
    rates = limiter(clock, connections=2)
    for _ in range(3):
        with rates.admit_connection(HERE) as one, rates.admit_connection("192.0.2.99") as other:
            one.close()
            other.close()
            with pytest.raises(PeerError, match=r"192\.0\.2\.0/24"), rates.admit_connection(HERE):
                pass
            with rates.admit_connection(THERE), rates.admit_connection("2001:db8::1"):
                pass
        clock.now += 60


def test_connections_without_a_key_are_fewer() -> None:
    rates = limiter(handshakes=2)
    with rates.admit_connection(HERE), rates.admit_connection(HERE) as one:
        with pytest.raises(PeerError, match="without a key"), rates.admit_connection(HERE):
            pass
        one.close()
        with rates.admit_connection(HERE):
            pass


def test_connections_that_come_too_fast_are_refused_until_time_has_passed() -> None:
    clock = SecondsClock()
    rates = limiter(clock, arrivals_per_s=1)
    for _ in range(int(BURST_S)):
        with rates.admit_connection(HERE):
            pass
    with pytest.raises(PeerError, match="too fast"), rates.admit_connection(HERE):
        pass
    clock.now += 1
    with rates.admit_connection(HERE):
        pass


def test_inbound_connections_leave_room_for_those_that_we_open() -> None:
    rates = limiter()
    with ExitStack() as held:
        for number in range(PeerLimits().inbound):
            held.enter_context(rates.admit_connection(f"10.0.{number}.1")).close()
        with pytest.raises(PeerError, match="too many connections"), rates.admit_connection(HERE):
            pass


def test_loopback_may_do_more() -> None:
    rates = limiter(handshakes=1, loopback_factor=3)
    with (
        rates.admit_connection("127.0.0.1"),
        rates.admit_connection("127.0.0.2"),
        rates.admit_connection("127.0.0.1"),
        pytest.raises(PeerError),
        rates.admit_connection("127.0.0.1"),
    ):
        pass


def test_connections_from_loopback_may_come_faster() -> None:
    rates = limiter(arrivals_per_s=1, loopback_factor=3)
    for _ in range(3 * int(BURST_S)):
        with rates.admit_connection("127.0.0.1"):
            pass
    with pytest.raises(PeerError, match="too fast"), rates.admit_connection("127.0.0.1"):
        pass


def test_more_bytes_than_the_rate_cost_a_wait_in_proportion() -> None:
    clock, unit = SecondsClock(), MIN_CHARGE_BYTES
    rates = limiter(clock, bytes_per_s=2.0 * unit)
    assert rates.delay_s("net", 2 * unit, is_ours=False) == 0
    assert rates.delay_s("net", unit, is_ours=False) == pytest.approx(0.5)
    assert rates.delay_s("net", unit, is_ours=True) == 0
    assert rates.delay_s("other", unit, is_ours=False) == 0
    clock.now += 1.5
    assert rates.delay_s("net", unit, is_ours=False) == 0


def test_a_small_message_is_charged_like_a_larger_one_and_counted_as_it_is() -> None:
    rates = limiter(SecondsClock(), bytes_per_s=2.0 * MIN_CHARGE_BYTES)
    waits = [rates.delay_s("net", 1, is_ours=False) for _ in range(3)]
    assert waits == [0, 0, pytest.approx(0.5)]
    assert (rates.read_bytes, rates.written_bytes) == (3, 0)


def test_a_peer_that_sends_garbage_is_banned_for_longer_each_time() -> None:
    clock, peer = SecondsClock(), key_number(1)
    rates = limiter(clock, faults_per_s=0.0, first_ban_s=60.0)
    assert [rates.record_fault(peer) for _ in range(FORGIVEN_FAULTS + 1)] == [
        False
    ] * FORGIVEN_FAULTS + [True]
    with pytest.raises(PeerError, match="banned for sending garbage"):
        rates.check_not_banned(peer)
    assert not rates.is_banned(key_number(2))
    clock.now += 60
    assert not rates.is_banned(peer)
    assert rates.record_fault(peer)
    clock.now += 119
    assert rates.is_banned(peer)
    clock.now += 1
    assert not rates.is_banned(peer)


def test_a_few_faults_over_a_long_time_are_forgiven() -> None:
    clock, peer = SecondsClock(), key_number(1)
    rates = limiter(clock, faults_per_s=0.1)
    for _ in range(50):
        assert not rates.record_fault(peer)
        clock.now += 10


def test_the_number_of_bans_is_bounded() -> None:
    rates = limiter(faults_per_s=0.0)
    for number in range(BANS + 1):
        for _ in range(FORGIVEN_FAULTS + 1):
            rates.record_fault(key_number(number))
    assert not rates.is_banned(key_number(0))
    assert rates.is_banned(key_number(BANS))


def test_a_ban_lasts_no_longer_than_an_hour() -> None:
    clock, peer = SecondsClock(), key_number(1)
    rates = limiter(clock, faults_per_s=0.0, first_ban_s=LONGEST_BAN_S - 1)
    for _ in range(FORGIVEN_FAULTS + 3):
        rates.record_fault(peer)
    clock.now += LONGEST_BAN_S
    assert not rates.is_banned(peer)


def test_of_too_many_bans_the_one_that_was_renewed_last_stays() -> None:
    rates = limiter(faults_per_s=0.0)
    for number in range(BANS):
        for _ in range(FORGIVEN_FAULTS + 1):
            rates.record_fault(key_number(number))
    rates.record_fault(key_number(0))
    for _ in range(FORGIVEN_FAULTS + 1):
        rates.record_fault(key_number(BANS))
    assert [rates.is_banned(key_number(at)) for at in (0, 1, BANS)] == [True, False, True]


def test_dials_that_others_ask_for_are_few_by_source_and_by_network() -> None:
    clock = SecondsClock()
    rates = limiter(clock, dials_per_s=2, dials_to_per_s=1, loopback_factor=3)
    for check, burst in ((rates.check_claimed_dial, 2), (rates.check_dial_to, 1)):
        for network, times in ((HERE, 1), ("127.0.0.0/8", 3)):
            for _ in range(int(burst * times * BURST_S)):
                check(network)
            with pytest.raises(PeerError, match="too many dials"):
                check(network)
        check(THERE)
        clock.now += 1
        check(HERE)


@pytest.mark.trio
async def test_a_budget_lets_a_burst_pass_and_then_keeps_the_rate() -> None:
    budget = ByteBudget(100_000, burst_bytes=10_000)
    start = trio.current_time()
    for _ in range(6):
        await budget.acquire(10_000)
    assert 0.35 < trio.current_time() - start < allowed_s(0.5)


@pytest.mark.trio
async def test_who_no_longer_waits_for_a_budget_costs_the_others_nothing(
    autojump_clock: MockClock,
) -> None:
    budget = ByteBudget(1_000, burst_bytes=1_000)
    await budget.acquire(10_000)
    with trio.move_on_after(1):
        await budget.acquire(90_000)
    assert budget.wait_s() == pytest.approx(8)


@pytest.mark.trio
async def test_a_higher_limit_ends_waits_that_have_begun(autojump_clock: MockClock) -> None:
    budget = ByteBudget(1_000, burst_bytes=1_000)
    await budget.acquire(11_000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(budget.acquire, 1)
        await trio.sleep(5)
        budget.limit(5_000)
    assert trio.current_time() == pytest.approx(6)
