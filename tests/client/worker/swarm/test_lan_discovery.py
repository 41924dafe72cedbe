"""Announcements in the local network: what they hide, and which of them count.

`test_home_networks` sends them.
"""

from __future__ import annotations

import ipaddress
from random import Random

import pytest
import trio

from tequio_client.worker.swarm.lan_discovery import (
    BURST_S,
    IN_ALL_S,
    PER_HOST_S,
    LanDiscovery,
    announcement_kind,
)
from tequio_client.worker.swarm.multicast import OwnAddress, own_addresses
from tequio_shared.ids import NetworkId, PeerKey, peer_id_text
from tests.support.loopback import network

KIND = announcement_kind(NET := NetworkId(b"n" * 32))
OTHER_KIND = announcement_kind(NetworkId(b"o" * 32))
ANA, BO = PeerKey(b"a" * 32), PeerKey(b"b" * 32)
SALT = b"s" * 16
OWN = [OwnAddress(host="192.168.7.2", network=ipaddress.IPv4Network("192.168.7.0/24"))]


def test_only_those_that_try_the_members_learn_who_announces_itself() -> None:
    raw = KIND.write(ANA, 4001, SALT)
    assert KIND.read(raw, [BO, ANA]) == (ANA, 4001)
    assert KIND.read(raw, [BO]) is None
    assert OTHER_KIND.read(raw, [ANA]) is None
    assert bytes(ANA) not in raw
    other = KIND.write(ANA, 4001, b"t" * 16)
    assert raw[-16:] != other[-16:], "and not that it is the same one as before"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"tequio-lan/1",
        KIND.write(ANA, 4001, SALT) + b"x",
        b"x" + KIND.write(ANA, 4001, SALT)[1:],
        KIND.write(ANA, 25, SALT),
    ],
)
def test_what_is_no_announcement_is_passed_over(raw: bytes) -> None:
    assert KIND.read(raw, [ANA]) is None


@pytest.mark.trio
@pytest.mark.parametrize(
    ("host", "is_heard"),
    [("192.168.7.9", True), ("192.168.8.9", False), ("45.0.7.9", False), ("127.0.0.1", False)],
)
async def test_only_senders_in_our_own_private_networks_count(host: str, is_heard: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    async with network("first") as first:
        lan = LanDiscovery(first, NET, [lambda: {ANA}], Random(1))
        found = lan.receive(KIND.write(ANA, 4001, SALT), host, OWN)
        addr = f"/ip4/{host}/tcp/4001/p2p/{peer_id_text(ANA)}"
        assert found == ((ANA, addr) if is_heard else None)


@pytest.mark.trio
async def test_we_are_not_our_own_neighbour() -> None:
    async with network("first") as first:
        lan = LanDiscovery(first, NET, [lambda: {first.key}], Random(1))
        raw = KIND.write(first.key, 4001, SALT)
        assert lan.receive(raw, "192.168.7.9", OWN) is None


@pytest.mark.trio
async def test_announcements_count_at_a_bounded_rate() -> None:
    async with network("first") as first:
        lan = LanDiscovery(first, NET, [lambda: {ANA}], Random(1))
        raw = KIND.write(ANA, 4001, SALT)
        since_s = trio.current_time()
        one = sum(lan.receive(raw, "192.168.7.9", OWN) is not None for _ in range(50))
        hosts = [f"192.168.7.{n}" for n in range(10, 250)]
        others = sum(lan.receive(raw, host, OWN) is not None for host in hosts)
        passed_s = trio.current_time() - since_s
        assert 1 <= one <= PER_HOST_S * (BURST_S + passed_s)
        assert 1 <= others <= IN_ALL_S * (BURST_S + passed_s)


def test_own_addresses_are_private() -> None:
    for one in own_addresses():
        assert ipaddress.ip_address(one.host).is_private
        assert ipaddress.ip_address(one.host) in one.network
