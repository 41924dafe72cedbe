"""Finding the host of a cell by its announcements, also in a real home of IPv6 alone."""

from __future__ import annotations

import ipaddress
import subprocess
import sys

import pytest
import trio

from tequio_client.worker.cells.discovery import (
    KIND,
    OTHERS_FIRST_S,
    PASSED_OVER_S,
    HostAddress,
    HostFinder,
)
from tequio_client.worker.swarm import multicast
from tequio_client.worker.swarm.multicast import OwnAddress
from tequio_shared.ids import PeerKey
from tests.support.attack_table import attack
from tests.support.home_networks import HomeNetworks, Nat, missing

KEY = PeerKey(b"k" * 32)
OWN = [OwnAddress(host="192.168.7.2", network=ipaddress.IPv4Network("192.168.7.0/24"))]
TOWER, EVE = "192.168.7.9", "192.168.7.66"
ANNOUNCE = """
import trio
from tequio_client.worker.cells import discovery
trio.run(discovery.announce, b"k" * 32, 21_084)
"""
FIND = """
import trio
from tequio_client.worker.cells.discovery import HostFinder
async def main():
    with trio.fail_after(60):
        print(await HostFinder(b"k" * 32).find())
trio.run(main)
"""


def announced(port: int) -> bytes:
    return KIND.write(KEY, port, b"s" * 16)


@attack("D13", layer="net", ends="only that port is passed over, and the host is found at its own")
@pytest.mark.trio
async def test_who_repeats_an_announcement_in_the_hosts_name_does_not_hide_the_host(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(multicast, "own_addresses", lambda: OWN)
    finder, false = HostFinder(KEY), announced(5_555)
    assert finder.receive(false, TOWER) == HostAddress(TOWER, 5_555)
    finder.pass_over(HostAddress(TOWER, 5_555))
    await trio.sleep(OTHERS_FIRST_S)
    assert [finder.receive(false, TOWER) for _ in range(1_000)] == [None] * 1_000
    assert finder.receive(announced(21_084), TOWER) == HostAddress(TOWER, 21_084)
    await trio.sleep(PASSED_OVER_S - OTHERS_FIRST_S)
    assert finder.receive(false, TOWER) == HostAddress(TOWER, 5_555)


@attack("D13", layer="net", ends="other addresses are heard of before its next port")
@pytest.mark.trio
async def test_a_stranger_that_announces_port_after_port_does_not_hide_the_host(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(multicast, "own_addresses", lambda: OWN)
    finder = HostFinder(KEY)
    for port in range(5_000, 5_020):
        assert finder.receive(announced(port), EVE) == HostAddress(EVE, port)
        finder.pass_over(HostAddress(EVE, port))
        assert finder.receive(announced(port + 1), EVE) is None
        assert finder.receive(announced(21_084), TOWER) == HostAddress(TOWER, 21_084)
        await trio.sleep(OTHERS_FIRST_S)


@pytest.mark.skipif(bool(missing()), reason=missing() or "everything is here")
def test_a_host_is_found_in_a_home_of_ipv6_alone() -> None:
    with HomeNetworks.opened() as networks:
        router = networks.home("r", Nat.PORT_RESTRICTED)
        tower, laptop = (networks.computer(router, name) for name in ("tower", "laptop"))
        for number, one in enumerate((tower, laptop), start=1):
            one.run("ip", "-4", "address", "flush", "dev", "eth0")
            one.run("ip", "address", "add", f"fd12::{number}/64", "dev", "eth0", "nodad")
        host = subprocess.Popen(tower.command(sys.executable, "-c", ANNOUNCE))
        try:
            command = laptop.command(sys.executable, "-c", FIND)
            found = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
        finally:
            host.kill()
            host.wait()
        assert found.stdout.strip() == "[fd12::1]:21084"
