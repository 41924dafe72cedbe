"""Listening on IPv4 and IPv6 at one port, and talking over IPv6 alone."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tequio_client.cli import LISTEN_EVERYWHERE
from tequio_client.group.run import GroupOptions
from tequio_client.group.updates import TrainerOptions
from tequio_client.worker.settings import NetSettings
from tequio_client.worker.swarm import listening
from tequio_client.worker.swarm.listening import own_port, with_ports
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.reachability import DialBack, ReachabilityCheck
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import PeerKey
from tests.support.loopback import needs_ipv6

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = PeerKey(b"listening".ljust(32, b"."))


@contextmanager
def taken(family: int, port: int) -> Iterator[int]:
    """A program that listens on every interface of one family."""
    with socket.socket(family, socket.SOCK_STREAM) as program:
        if family == socket.AF_INET6:
            program.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        program.bind(("", port))
        program.listen()
        yield int(program.getsockname()[1])


def ports(listened: list[str]) -> set[int]:
    return {int(one.rpartition("/")[2]) for one in listened}


@needs_ipv6
def test_both_families_get_the_port_that_follows_from_the_key() -> None:
    port = own_port(KEY)
    assert with_ports(LISTEN_EVERYWHERE, port) == [
        f"/ip4/0.0.0.0/tcp/{port}",
        f"/ip6/::/tcp/{port}",
    ]
    assert own_port(PeerKey(b"o" * 32)) != port


@needs_ipv6
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_where_one_family_has_no_such_port_both_get_another(family: int) -> None:
    with taken(family, own_port(KEY)) as port:
        chosen = with_ports(LISTEN_EVERYWHERE, own_port(KEY))
    (other,) = ports(chosen)
    assert len(chosen) == 2
    assert other not in (0, port)


def test_an_address_with_a_port_or_an_interface_stays_as_it_was_asked_for() -> None:
    asked = ["/ip4/127.0.0.1/tcp/0", "/ip4/0.0.0.0/tcp/4001"]
    assert with_ports(asked, own_port(KEY)) == asked


def test_a_family_that_the_computer_lacks_is_left_out_but_never_the_last_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # An address that no socket binds, as :: without IPv6.
    monkeypatch.setitem(
        listening._FAMILIES,  # noqa: SLF001 - a computer without IPv6
        "/ip6/::/tcp/0",
        (socket.AF_INET, "192.0.2.1"),
    )
    (only,) = with_ports(LISTEN_EVERYWHERE, own_port(KEY))
    assert only.startswith("/ip4/0.0.0.0/tcp/")
    assert with_ports(["/ip6/::/tcp/0"], own_port(KEY)) == ["/ip6/::/tcp/0"]


@needs_ipv6
@pytest.mark.trio
async def test_a_node_takes_connections_of_both_families_at_one_port() -> None:
    listen = with_ports(LISTEN_EVERYWHERE, own_port(KEY))
    (port,) = ports(listen)
    async with PeerNetwork(seed=b"a" * 32, listen=listen) as both:
        assert both.listen_ports() == (port,)
        for seed, host in ((b"b", "ip4/127.0.0.1"), (b"c", "ip6/::1")):
            other = PeerNetwork(seed=seed * 32, listen=(f"/{host}/tcp/0",))
            async with other:
                await other.connect(f"/{host}/tcp/{port}/p2p/{both.addresses()[0][-52:]}")
                # Of an IPv4 connection as such: the listener of :: takes none.
                assert both.host_of(other.key) == host.partition("/")[2]


@needs_ipv6
@pytest.mark.trio
async def test_a_listener_of_ipv6_leaves_the_port_of_ipv4_to_others() -> None:
    (port,) = ports(with_ports(["/ip6/::/tcp/0"], own_port(KEY)))
    async with PeerNetwork(seed=b"a" * 32, listen=[f"/ip6/::/tcp/{port}"]):
        with taken(socket.AF_INET, port) as same:
            assert same == port


@needs_ipv6
@pytest.mark.trio
async def test_two_peers_find_out_over_ipv6_alone_that_they_can_be_reached() -> None:
    async with (
        PeerNetwork(seed=b"a" * 32, listen=("/ip6/::1/tcp/0",)) as first,
        PeerNetwork(seed=b"b" * 32, listen=("/ip6/::1/tcp/0",)) as second,
    ):
        DialBack(second)
        check = ReachabilityCheck(first, Random(1))
        await first.connect(second.addresses()[0])
        await check.check()
        assert check.verdict.confirmed == (("::1", first.listen_ports()[0]),)


@pytest.mark.parametrize(
    "addr",
    [
        *("/ip4/45.0.1.2", "/dns4/seed.example", "/ip4/45.0.1.2/tcp/0", "/dns4//tcp/4001"),
        *("/ip4/45.0.1.2/udp/4001/quic-v1", "/dns4/seed.example/tcp/443/wss", "/ip4/0.0.0.0/tcp/1"),
        *("/ip4/45.0.1.2/tcp/4001/p2p/12D3KooW/p2p-circuit", "seed.example:4001", ""),
    ],
)
def test_an_address_that_nobody_would_dial_is_not_announced(addr: str) -> None:
    good = "/dns4/seed.example/tcp/4001"
    with pytest.raises(UserFacingError, match="--announce takes an address and a TCP port"):
        worker_settings(good, addr)
    with pytest.raises(UserFacingError, match="--announce takes an address and a TCP port"):
        group_options(good, addr)


@pytest.mark.trio
async def test_an_announced_address_may_have_the_peer_id_that_programs_print() -> None:
    addrs = ("/ip4/45.0.1.2/tcp/4001", "/ip6/2a00::1/tcp/4001", "/dns4/seed.example/tcp/4001")
    async with PeerNetwork(seed=bytes(32), listen=(), announce=addrs) as peer:
        printed = peer.addresses()
    for chosen in (addrs, printed):
        assert worker_settings(*chosen).announce == group_options(*chosen).announce == chosen
        async with PeerNetwork(seed=bytes(32), listen=(), announce=chosen) as peer:
            assert peer.addresses() == printed


def worker_settings(*announce: str) -> NetSettings:
    return NetSettings(ledger="http://ledger.example", folder=Path("here"), announce=announce)


def group_options(*announce: str) -> GroupOptions:
    trainer = TrainerOptions(data=Path("here"), device="cpu", threads=1)
    return GroupOptions(folder=Path("here"), trainer=trainer, announce=announce)
