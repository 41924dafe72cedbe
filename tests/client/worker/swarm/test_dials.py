"""Which addresses are dialled on somebody's word; names are resolved before they are judged."""

from __future__ import annotations

from ipaddress import IPv6Network, ip_address
from socket import AF_INET, AF_INET6
from types import SimpleNamespace

import psutil
import pytest

from tequio_client.worker.swarm import dials
from tequio_client.worker.swarm.dials import (
    Reach,
    has_reach,
    own_addresses,
    own_links,
    places,
    reach_of,
    reach_of_source,
    reach_of_url,
)
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.peers.host import OwnAddresses
from tequio_shared.errors import PeerError
from tests.support.loopback import LOOPBACK

PEER = "12D3KooWGCWE9cRJQBcuUcD8FESwEU1d1Y6BQCH1CRWjpLkyse6M"
REACHES = {
    Reach.LOOPBACK: ("127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"),
    Reach.PRIVATE: (
        *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
        *("100.64.0.1", "100.127.255.255", "fc00::1", "fd12::1", "::ffff:10.0.0.1"),
    ),
    Reach.PUBLIC: (
        *("8.8.8.8", "172.32.0.1", "100.63.255.255", "100.128.0.1", "::ffff:8.8.8.8"),
        *("2001:200::1", "2606:4700::1", "2a00:1450::1"),
    ),
    None: (
        *("0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "239.255.255.250"),  # noqa: S104
        *("255.255.255.255", "240.0.0.1", "192.0.0.1", "192.0.2.1", "192.88.99.1"),
        *("198.18.0.1", "198.51.100.1", "203.0.113.1", "::ffff:169.254.169.254"),
        *("::", "fe80::1", "fec0::1", "ff02::1", "100::1", "2001:db8::1", "3fff::1"),
        *("2001::1", "2001:10::1", "2001:20::1"),  # Teredo, ORCHID
        *("2002:7f00:1::", "2002:808:808::", "64:ff9b::7f00:1", "64:ff9b:1::a00:1"),
        *("::127.0.0.1", "::808:808", "5f00::1", "localhost", "", "1", "0x7f.1", "127.1"),
    ),
}


@pytest.mark.parametrize(
    ("host", "reach"), [(host, reach) for reach, hosts in REACHES.items() for host in hosts]
)
def test_every_address_has_a_reach_or_is_never_dialled(host: str, reach: Reach | None) -> None:
    assert reach_of(host) is reach
    is_shared = host.startswith("100.")
    assert reach_of_source(host) is (Reach.PUBLIC if reach is None or is_shared else reach)


@pytest.mark.parametrize("host", REACHES[Reach.PUBLIC])
def test_what_is_public_here_is_so_for_python_too(host: str) -> None:
    address = ip_address(host)
    assert (getattr(address, "ipv4_mapped", None) or address).is_global


@pytest.mark.parametrize(
    "addr",
    [
        "/ip4/8.8.8.8/tcp/1/ip4/127.0.0.1/tcp/2/p2p/{}",
        "/ip4/8.8.8.8/tcp/1/p2p/{}/p2p-circuit/p2p/{}",
        "/ip4/8.8.8.8/udp/1/quic-v1/p2p/{}",
        "/ip4/8.8.8.8/tcp/1/ws/p2p/{}",
        "/ip6zone/eth0/ip6/fe80::1/tcp/1/p2p/{}",
        "/ip6/2606:4700::1%eth0/tcp/1/p2p/{}",
        "/dnsaddr/attacker.example/p2p/{}",
        "/dnsaddr/attacker.example/tcp/1/p2p/{}",
        "/unix/run/docker.sock/p2p/{}",
        "/ip4/8.8.8.8/tcp/0/p2p/{}",
        "/ip4/8.8.8.8/tcp/65536/p2p/{}",
        "/ip4/localhost/tcp/1/p2p/{}",
        "/dns4//tcp/1/p2p/{}",
        "",
    ],
)
def test_addresses_of_other_shapes_are_not_dialled(addr: str) -> None:
    assert not has_reach(addr.replace("{}", PEER), Reach.LOOPBACK)


@pytest.mark.trio
@pytest.mark.parametrize("kind", ["dns", "dns4"])
async def test_a_name_counts_as_what_it_resolves_to(kind: str) -> None:
    named = f"/{kind}/localhost/tcp/7/p2p/{PEER}"
    assert f"/ip4/127.0.0.1/tcp/7/p2p/{PEER}" in await places(named, Reach.LOOPBACK)
    assert await places(named, Reach.PRIVATE) == []
    assert await places(named, Reach.PUBLIC) == []


@pytest.mark.trio
@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
async def test_a_number_in_another_spelling_is_a_name_and_resolved(host: str) -> None:
    assert await places(f"/dns4/{host}/tcp/7/p2p/{PEER}", Reach.PUBLIC) == []


@pytest.mark.trio
async def test_a_name_that_does_not_resolve_is_the_sources_fault() -> None:
    with pytest.raises(PeerError, match="does not resolve"):
        await places(f"/dns4/{'x' * 70}.invalid/tcp/7/p2p/{PEER}", Reach.PUBLIC)


@pytest.mark.trio
async def test_a_ledger_may_name_what_reaches_as_far_as_itself() -> None:
    assert await reach_of_url("http://127.0.0.1:8080") is Reach.LOOPBACK
    assert await reach_of_url("http://localhost:8080") is Reach.LOOPBACK
    assert await reach_of_url("http://[fd00::1]:8080/x") is Reach.PRIVATE
    assert await reach_of_url("https://8.8.8.8") is Reach.PUBLIC
    assert await reach_of_url("https://no.such.name.invalid") is Reach.PUBLIC


def test_a_customer_of_the_same_provider_is_a_public_source() -> None:
    for host in ("100.64.0.1", "100.127.255.255", "::ffff:100.100.1.1"):
        assert reach_of_source(host) is Reach.PUBLIC
        assert not has_reach(f"/ip4/100.64.0.1/tcp/7/p2p/{PEER}", reach_of_source(host))


@pytest.mark.trio
async def test_a_public_source_names_no_address_on_our_own_links() -> None:
    own = frozenset({IPv6Network("2a00:1450:1:2::/64")})
    neighbour = f"/ip6/2a00:1450:1:2::7/tcp/7/p2p/{PEER}"
    elsewhere = f"/ip6/2a00:1450:1:3::7/tcp/7/p2p/{PEER}"
    assert await places(neighbour, Reach.PUBLIC, own) == []
    assert await places(elsewhere, Reach.PUBLIC, own) == [elsewhere]
    assert await places(neighbour, Reach.PRIVATE, own) == [neighbour]
    assert await places(f"/ip4/8.8.8.8/tcp/7/p2p/{PEER}", Reach.PUBLIC, own)


def interfaces(**hosts: tuple[str, ...]) -> dict[str, list[SimpleNamespace]]:
    def family(host: str) -> int:
        return AF_INET6 if ":" in host else AF_INET

    return {
        name: [SimpleNamespace(family=family(one), address=one) for one in found]
        for name, found in hosts.items()
    }


def test_who_listens_on_every_interface_gives_their_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = interfaces(
        lo=("127.0.0.1", "::1"),
        docker0=("172.17.0.1", "fe80::1%docker0"),
        eth0=("8.8.8.8", "2a00:1450::1", "fd12::1", "192.0.2.1"),
    )
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: found)
    four, six = (f"/{one}/tcp/4001/p2p/{PEER}" for one in ("ip4/0.0.0.0", "ip6/::"))
    assert own_addresses(four) == [
        f"/ip4/8.8.8.8/tcp/4001/p2p/{PEER}",
        f"/ip4/172.17.0.1/tcp/4001/p2p/{PEER}",
    ]
    assert own_addresses(six) == [
        f"/ip6/2a00:1450::1/tcp/4001/p2p/{PEER}",
        f"/ip6/fd12::1/tcp/4001/p2p/{PEER}",
    ]
    one = f"/ip4/10.0.0.7/tcp/4001/p2p/{PEER}"
    assert own_addresses(one) == [one], "as it was asked for"


def test_without_a_network_this_computer_can_still_be_reached_from_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: interfaces(lo=("127.0.0.1",)))
    assert own_addresses("/ip4/0.0.0.0/tcp/1") == ["/ip4/127.0.0.1/tcp/1"]
    assert own_addresses("/ip6/::/tcp/1") == ["/ip6/::/tcp/1"]


@pytest.mark.trio
async def test_another_peer_reaches_a_node_that_listens_everywhere() -> None:
    async with (
        PeerNetwork(seed=b"a" * 32) as everywhere,
        PeerNetwork(seed=b"b" * 32, listen=LOOPBACK) as other,
    ):
        addresses = everywhere.addresses()
        assert addresses
        assert not any("/0.0.0.0/" in one for one in addresses)
        assert await other.connect(addresses[0]) == everywhere.key


def test_our_own_links_are_those_of_our_interfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {"2a00:1450:1:2::9": AF_INET6, "fe80::1%eth0": AF_INET6, "fd00::1": AF_INET6}
    addrs = [
        SimpleNamespace(family=family, address=host)
        for host, family in {**hosts, "8.8.8.8": AF_INET}.items()
    ]
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: {"eth0": addrs})
    assert own_links() == {IPv6Network("2a00:1450:1:2::/64")}


@pytest.mark.trio
async def test_a_node_behind_a_bridge_takes_everybody_for_public() -> None:
    async with (
        PeerNetwork(seed=b"a" * 32, listen=LOOPBACK, public_only=True) as hidden,
        PeerNetwork(seed=b"b" * 32, listen=LOOPBACK) as other,
    ):
        await other.connect(hidden.addresses()[0])
        assert hidden.reach_of(other.key) is Reach.PUBLIC
        assert other.reach_of(hidden.key) is Reach.LOOPBACK


def test_a_host_reads_its_own_addresses_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def found(*listened: str) -> list[str]:
        asked.extend(listened)
        return [f"/ip4/10.0.0.{len(asked)}/tcp/1", *listened[1:]]

    monkeypatch.setattr(dials, "own_addresses", found)
    lasting, passing = OwnAddresses(fresh_s=3_600.0), OwnAddresses(fresh_s=0.0)
    here = ["/ip4/0.0.0.0/tcp/1"]
    first = lasting.of(here)
    assert first == lasting.of(list(here)) == ["/ip4/10.0.0.1/tcp/1"]
    other = [*here, "/ip4/0.0.0.0/tcp/2"]
    assert len(lasting.of(other)) == 2, "at once where it listens elsewhere"
    assert passing.of(here) != passing.of(here)
