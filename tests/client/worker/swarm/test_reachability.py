"""Reachability: what peers answer, what follows from it, and what is announced."""

from __future__ import annotations

import socket
from random import Random
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc.snapshot import ReachState
from tequio_client.worker.swarm.limits import PeerLimits
from tequio_client.worker.swarm.reachability import (
    REACH_PROTOCOL,
    Answer,
    DialBack,
    DialBackStatus,
    ReachabilityCheck,
    judge,
    parse_answer,
    plain_host,
)
from tequio_shared.errors import MalformedError
from tests.support.loopback import network, two_peers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tequio_client.worker.swarm.peers import PeerNetwork

HOME = "45.0.7.2"
OWN = ["/ip4/45.0.7.9/tcp/4001", "/ip4/192.168.1.5/tcp/4001", "/ip6/2600::5/tcp/4001"]


def answer(place: str, *, is_reached: bool, host: str = HOME, port: int = 4001) -> Answer:
    return Answer(place=place, host=host, port=port, is_reached=is_reached)


def test_two_networks_that_reach_us_are_enough() -> None:
    found = judge([answer("45.0.1.0/24", is_reached=True), answer("45.0.2.0/24", is_reached=True)])
    assert found.state is ReachState.REACHABLE
    assert found.confirmed == ((HOME, 4001),)


def test_the_only_network_there_is_decides_alone() -> None:
    assert judge([answer("45.0.1.0/24", is_reached=True)]).state is ReachState.REACHABLE
    assert judge([answer("45.0.1.0/24", is_reached=False)]).state is ReachState.UNREACHABLE


def test_many_peers_of_one_network_do_not_outvote_two_others() -> None:
    lies = [answer("45.0.1.0/24", is_reached=True) for _ in range(9)]
    found = judge([*lies, *(answer(f"45.0.{one}.0/24", is_reached=False) for one in (2, 3))])
    assert found.state is ReachState.UNREACHABLE
    assert found.confirmed == ()


def test_one_against_one_decides_nothing() -> None:
    split = [answer("45.0.1.0/24", is_reached=True), answer("45.0.2.0/24", is_reached=False)]
    assert judge(split).state is ReachState.UNKNOWN
    assert judge([]).state is ReachState.UNKNOWN


def test_a_neighbour_that_reaches_us_says_nothing_about_the_internet() -> None:
    near = answer("192.168.1.0/24", is_reached=True, host="192.168.1.5")
    assert judge([near]).state is ReachState.REACHABLE
    found = judge([near, answer("45.0.1.0/24", is_reached=False)])
    assert found.state is ReachState.UNREACHABLE
    assert found.seen == (HOME,)


def test_public_addresses_are_announced_only_if_confirmed_and_private_ones_stay() -> None:
    reached = judge([answer("45.0.1.0/24", is_reached=True)])
    assert reached.choose_announced(OWN) == [f"/ip4/{HOME}/tcp/4001", OWN[1], OWN[2]]
    missed = judge([answer("45.0.1.0/24", is_reached=False)])
    assert missed.choose_announced(OWN) == [OWN[1], OWN[2]], "of IPv6, nobody has tried"


def test_everything_is_announced_before_somebody_has_tried_from_the_internet() -> None:
    assert judge([]).choose_announced(OWN) == OWN
    near = judge([answer("192.168.1.0/24", is_reached=True, host="192.168.1.5")])
    assert near.choose_announced(OWN) == OWN


@pytest.mark.parametrize("raw", [b"", b"\x00", b"\x09127.0.0.1", b"\x00nowhere", b"\x00\xff"])
def test_a_malformed_answer_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        parse_answer(raw)


def test_an_address_is_written_in_its_plain_form() -> None:
    assert plain_host("::ffff:45.0.7.2") == HOME
    assert plain_host("2600:0::5") == "2600::5"


@pytest.mark.trio
async def test_a_peer_that_listens_is_reached_and_keeps_its_connection(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    check = ReachabilityCheck(second, Random(1))
    await check.check()
    assert check.verdict.state is ReachState.REACHABLE
    assert check.verdict.confirmed == (("127.0.0.1", second.listen_ports()[0]),)
    assert first.connected_peers() == {second.key}
    assert await ask(second, first, second.listen_ports()[0]) is DialBackStatus.REACHED


@pytest.mark.trio
async def test_a_port_where_nobody_listens_or_somebody_else_does_is_not_reached(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    async with network("third") as third:
        assert await ask(second, first, third.listen_ports()[0]) is DialBackStatus.UNREACHED
    assert await ask(second, first, closed_port()) is DialBackStatus.UNREACHED


@pytest.mark.trio
async def test_ports_of_services_are_not_tried(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    assert await ask(second, first, 25) is DialBackStatus.REFUSED


@pytest.mark.trio
async def test_a_node_that_cannot_see_where_peers_come_from_tries_nothing() -> None:
    async with two_peers() as (first, second):
        DialBack(first)
        first.public_only = True
        port = second.listen_ports()[0]
        assert await ask(second, first, port) is DialBackStatus.REFUSED


@pytest.mark.trio
async def test_an_address_that_asks_too_often_is_not_tried() -> None:
    limits = PeerLimits(dial_backs_per_s=0.2, loopback_factor=1, arrivals_per_s=100)
    async with two_peers(limits) as (first, second):
        DialBack(first)
        port = second.listen_ports()[0]
        answers = [await ask(second, first, port) for _ in range(4)]
    assert answers.count(DialBackStatus.REACHED) == 2
    assert answers.count(DialBackStatus.BUSY) == 2


@pytest.mark.trio
async def test_without_an_answer_nothing_is_claimed() -> None:
    async with two_peers() as (_, second):  # the first does not know the protocol
        check = ReachabilityCheck(second, Random(1))
        await check.check()
        assert check.verdict.state is ReachState.UNKNOWN
        assert second.addresses()


@pytest.mark.trio
async def test_a_port_on_the_router_is_the_one_that_is_tried(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    _, second = pair
    check = ReachabilityCheck(second, Random(1))
    check.router_port = closed_port
    await check.check()
    assert check.verdict.state is ReachState.UNREACHABLE


@pytest.fixture
async def pair() -> AsyncIterator[tuple[PeerNetwork, PeerNetwork]]:
    """Two connected peers, of which the first answers."""
    async with two_peers() as (first, second):
        DialBack(first)
        yield first, second


def closed_port() -> int:
    """A port of this computer where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


async def ask(asker: PeerNetwork, server: PeerNetwork, port: int) -> DialBackStatus:
    stream = await asker.open_stream(server.key, REACH_PROTOCOL)
    try:
        await stream.send_frame(port.to_bytes(2, "big"))
        return parse_answer(bytes(await stream.receive_frame()))[0]
    finally:
        await stream.drop()
