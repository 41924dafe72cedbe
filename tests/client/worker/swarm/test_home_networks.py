"""Peers behind real routers: what they learn about themselves, and how the router lets others in.

Needs root, nftables and, for the router's port, miniupnpd and miniupnpc.
"""

from __future__ import annotations

import importlib.util
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.home_networks import (
    NAT_PMP_CHAIN,
    HomeNetworks,
    HomePeer,
    Nat,
    missing,
    nat_pmp_daemon,
    open_ports,
    upnp_daemon,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.home_networks import Computer

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "everything is here")
needs_upnp = pytest.mark.skipif(
    shutil.which("miniupnpd") is None or importlib.util.find_spec("miniupnpc") is None,
    reason="miniupnpd or miniupnpc is not installed",
)

needs_client = pytest.mark.skipif(
    importlib.util.find_spec("miniupnpc") is None, reason="miniupnpc is not installed"
)


class World:
    """Two seeds on the internet, and peers that know both."""

    def __init__(self, networks: HomeNetworks, folder: Path, stack: ExitStack) -> None:
        self.networks = networks
        self.folder = folder
        self._stack = stack
        self.seeds = [self.start(networks.public(name), name) for name in ("one", "two")]

    def start(self, computer: Computer, name: str) -> HomePeer:
        return self._stack.enter_context(HomePeer(computer, self.folder, name))

    def join(self, computer: Computer, name: str) -> HomePeer:
        peer = self.start(computer, name)
        for seed in self.seeds:
            assert peer.ask("connect", address=seed.addresses[0]) == {"connected": True}
        return peer


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with HomeNetworks.opened() as networks, ExitStack() as stack:
        yield World(networks, tmp_path_factory.mktemp("peers"), stack)


def hosts(reach: dict[str, Any]) -> list[str]:
    """The addresses that a peer gives to others."""
    return [one.split("/")[2] for one in reach["announced"]]


def test_peers_that_have_ipv6_alone_reach_each_other_and_exchange(world: World) -> None:
    networks, folder = world.networks, world.folder
    with ExitStack() as stack:
        seeds = [
            stack.enter_context(HomePeer(networks.public_ipv6(name), folder, name))
            for name in ("six", "seven")
        ]
        computer = networks.public_ipv6("eight")
        peer = stack.enter_context(HomePeer(computer, folder, "eight"))
        assert [one.split("/")[1:3] for one in peer.addresses] == [["ip6", computer.host]]
        for seed in seeds:
            assert peer.ask("connect", address=seed.addresses[0]) == {"connected": True}
        reach = peer.ask("reach")
        assert reach["state"] == "reachable"
        assert reach["confirmed"] == [[computer.host, 4001]]
        assert reach["announced"] == peer.addresses
        assert seeds[0].ask("connected") == {peer.peer_id: computer.host}
        assert seeds[0].ask("open", peer=peer.peer_id) == {"from": computer.host}


@pytest.mark.parametrize("nat", [Nat.NONE, Nat.FULL_CONE], ids=lambda nat: nat.name)
def test_a_peer_that_lets_others_in_announces_the_address_at_which_it_was_reached(
    world: World, nat: Nat
) -> None:
    router = world.networks.home(f"r{nat.name[0]}", nat)
    computer = world.networks.computer(router, f"h{nat.name[0]}")
    reach = world.join(computer, nat.name).ask("reach")
    outside = computer.host if nat is Nat.NONE else router.computer.host
    assert reach["state"] == "reachable"
    assert reach["confirmed"] == [[outside, 4001]]
    assert hosts(reach)[0] == outside


@pytest.mark.parametrize("nat", [Nat.PORT_RESTRICTED, Nat.SYMMETRIC], ids=lambda nat: nat.name)
def test_a_peer_behind_a_router_that_lets_nobody_in_announces_only_its_place_at_home(
    world: World, nat: Nat
) -> None:
    router = world.networks.home(f"r{nat.name[0]}", nat)
    computer = world.networks.computer(router, f"h{nat.name[0]}")
    reach = world.join(computer, nat.name).ask("reach")
    assert reach["state"] == "unreachable"
    assert reach["seen"] == [router.computer.host]
    assert hosts(reach) == [computer.host]


@needs_upnp
def test_a_router_opens_a_port_for_each_peer_and_closes_it_again(
    world: World, tmp_path: Path
) -> None:
    router = world.networks.home("ru", Nat.SYMMETRIC)
    computers = [world.networks.computer(router, name) for name in ("u1", "u2")]
    with upnp_daemon(router, tmp_path):
        first = world.join(computers[0], "first")
        ports = [first.ask("router", is_wanted=True)["port"]]
        with HomePeer(computers[1], tmp_path, "second") as second:
            for seed in world.seeds:
                second.ask("connect", address=seed.addresses[0])
            ports.append(second.ask("router", is_wanted=True)["port"])
            assert len(open_ports(router)) == len(set(ports)) == 2
            for peer, port in zip((first, second), ports, strict=True):
                reach = peer.ask("reach")
                assert reach["state"] == "reachable"
                assert reach["confirmed"] == [[router.computer.host, port]]
        assert len(open_ports(router)) == 1, "closed at the end of the program"
        assert first.ask("router", is_wanted=False) == {"state": "off", "port": 0, "problem": ""}
        assert open_ports(router) == []
        assert first.ask("reach")["state"] == "unreachable"


@needs_client
def test_a_router_that_knows_nat_pmp_alone_opens_a_port_too(world: World) -> None:
    router = world.networks.home("rp", Nat.PORT_RESTRICTED)
    with nat_pmp_daemon(router):
        peer = world.join(world.networks.computer(router, "hp"), "pmp")
        port = peer.ask("router", is_wanted=True)["port"]
        reach = peer.ask("reach")
        assert reach["state"] == "reachable"
        assert reach["confirmed"] == [[router.computer.host, port]]
        assert len(open_ports(router, NAT_PMP_CHAIN)) == 1
        assert peer.ask("router", is_wanted=False)["state"] == "off"
        assert open_ports(router, NAT_PMP_CHAIN) == []
        assert peer.ask("reach")["state"] == "unreachable"


@needs_upnp
def test_a_router_behind_another_one_is_not_asked_for_a_port_in_vain(
    world: World, tmp_path: Path
) -> None:
    provider = world.networks.home("isp", Nat.PORT_RESTRICTED)
    router = world.networks.home("rd", Nat.PORT_RESTRICTED, behind=provider)
    computer = world.networks.computer(router, "hd")
    with upnp_daemon(router, tmp_path):
        peer = world.join(computer, "double")
        assert peer.ask("router", is_wanted=True)["state"] == "nested"
        assert open_ports(router) == []
        reach = peer.ask("reach")
    assert reach["state"] == "unreachable"
    assert reach["seen"] == [provider.computer.host]


MEBIBYTE = 1 << 20
MEETING = [
    (Nat.PORT_RESTRICTED, Nat.PORT_RESTRICTED, True),
    (Nat.PORT_RESTRICTED, Nat.SYMMETRIC, False),
    (Nat.SYMMETRIC, Nat.PORT_RESTRICTED, False),
]


@pytest.mark.parametrize(("asking", "asked", "is_direct"), MEETING)
def test_members_behind_routers_exchange_directly_where_both_routers_keep_ports(
    world: World,
    asking: Nat,
    asked: Nat,
    is_direct: bool,  # noqa: FBT001 - a parameter of pytest
) -> None:
    """Otherwise through a seed, which then carries every byte in and out."""
    tag = f"{asking.name[0]}{asked.name[0]}"
    routers = [world.networks.home(f"{tag}{n}", nat) for n, nat in enumerate((asking, asked))]
    first, second = [
        world.join(world.networks.computer(router, f"{tag}c{n}"), f"{tag}{n}")
        for n, router in enumerate(routers)
    ]
    introduce(first, second)
    assert second.ask("router_keeps_ports") is (asked is not Nat.SYMMETRIC)
    tree = second.ask("store", size_bytes=3 * MEBIBYTE)
    opened = first.ask("open", peer=second.peer_id)
    if is_direct:
        assert opened == {"from": routers[1].computer.host}
        assert second.ask("open", peer=first.peer_id) == {"from": routers[0].computer.host}
        sent = first.ask("fetch", sources=[second.peer_id], **tree)
        assert sent == {second.peer_id: 3 * MEBIBYTE}
        assert [seed.ask("sent") for seed in world.seeds] == [0, 0]
        return
    assert "error" in opened
    seed = world.seeds[0]
    before = seed.ask("sent")
    assert seed.ask("fetch", sources=[second.peer_id], **tree) == {second.peer_id: 3 * MEBIBYTE}
    assert first.ask("fetch", sources=[seed.peer_id], **tree) == {seed.peer_id: 3 * MEBIBYTE}
    assert seed.ask("sent") - before >= 3 * MEBIBYTE


def test_members_meet_through_two_routers_each_and_through_one_that_refuses(world: World) -> None:
    """A refused attempt is made again: the other side's had not begun."""
    provider = world.networks.home("mp", Nat.PORT_RESTRICTED)
    nested = world.networks.home("mn", Nat.PORT_RESTRICTED, behind=provider)
    refusing = world.networks.home("mr", Nat.PORT_RESTRICTED)
    refusing.computer.run("nft", "flush", "chain", "ip", "home", "own")
    refuse = 'iifname "eth0" ct state new reject with tcp reset'
    refusing.computer.run("nft", "add", "rule", "ip", "home", "own", refuse)
    first, second = [
        world.join(world.networks.computer(router, name), name)
        for router, name in ((nested, "nested"), (refusing, "refusing"))
    ]
    introduce(first, second)
    assert first.ask("open", peer=second.peer_id) == {"from": refusing.computer.host}
    assert second.ask("connected")[first.peer_id] == provider.computer.host


def test_members_that_ask_for_each_other_at_once_meet_too(world: World) -> None:
    """As in every round, when each fetches what the other one made."""
    peers = []
    for name in ("at1", "at2"):
        router = world.networks.home(name, Nat.PORT_RESTRICTED)
        peers.append(world.join(world.networks.computer(router, f"{name}c"), name))
    introduce(*peers)
    with ThreadPoolExecutor() as threads:
        opened = list(
            threads.map(lambda one, other: one.ask("open", peer=other.peer_id), peers, peers[::-1])
        )
    assert any("from" in one for one in opened), opened
    wait_for(lambda: all(len(one.ask("connected")) == 3 for one in peers))


def test_members_in_one_home_find_each_other_when_both_want_it(world: World) -> None:
    """Each sees only public addresses of the other in the internet, or none."""
    router = world.networks.home("lan", Nat.PORT_RESTRICTED)
    computers = [world.networks.computer(router, f"lan{n}") for n in range(3)]
    first, second, third = [world.join(computer, f"lan{n}") for n, computer in enumerate(computers)]
    introduce(first, second)
    assert "error" in first.ask("open", peer=second.peer_id), "a seed sees one address for both"
    for peer in (first, second, third):  # the third one is in no round with them
        peer.ask("find_lan_peers", is_wanted=True)
    wait_for(lambda: second.peer_id in first.ask("connected"))
    assert first.ask("connected")[second.peer_id] == computers[1].host
    assert second.ask("connected")[first.peer_id] == computers[0].host
    assert set(third.ask("connected")) == {seed.peer_id for seed in world.seeds}


def wait_for(holds: Callable[[], bool], patience_s: float = 60) -> None:
    deadline_s = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.5)


def introduce(first: HomePeer, second: HomePeer) -> None:
    """Have each in the other's round."""
    first.ask("partner", peer=second.peer_id)
    second.ask("partner", peer=first.peer_id)
