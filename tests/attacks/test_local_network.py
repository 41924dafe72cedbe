"""An attacker in the local network of a member that looks for others there. Layer: net."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.support.attack_table import attack
from tests.support.home_networks import HomeNetworks, HomePeer, Nat, missing

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "everything is here")

FLOOD = """
import os, socket, sys, time
from tequio_client.worker.swarm.lan_discovery import announcement_kind
from tequio_client.worker.swarm.multicast import GROUP, UDP_PORT
from tequio_shared.ids import NetworkId, key_from_peer_id
own, member = sys.argv[1], key_from_peer_id(sys.argv[2])
listening = socket.create_server((own, 5555))
listening.settimeout(0.01)
sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
met, until = 0, time.monotonic() + 8
while time.monotonic() < until:
    for _ in range(50):
        raw = announcement_kind(NetworkId(b"n" * 32)).write(member, 5555, os.urandom(16))
        sending.sendto(raw, (GROUP, UDP_PORT))
        sending.sendto(os.urandom(900), (GROUP, UDP_PORT))
    try:
        listening.accept()[0].close()
        met += 1
    except TimeoutError:
        pass
print(met)
"""
"""Announces a member at its own computer, thousands of times; prints the connections it gets."""


@attack("D12", layer="net", ends="a few connections to who proves no key")
def test_a_flood_of_announcements_in_the_local_network_makes_few_connections(
    tmp_path: Path,
) -> None:
    with HomeNetworks.opened() as networks, ExitStack() as stack:
        router = networks.home("r", Nat.PORT_RESTRICTED)
        member = stack.enter_context(HomePeer(networks.public("away"), tmp_path, "away"))
        attacked = stack.enter_context(
            HomePeer(networks.computer(router, "attacked"), tmp_path, "attacked")
        )
        attacker = networks.computer(router, "attacker")
        attacked.ask("partner", peer=member.peer_id)
        attacked.ask("find_lan_peers", is_wanted=True)
        command = attacker.command(sys.executable, "-c", FLOOD, attacker.host, member.peer_id)
        flood = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert attacked.ask("connected") == {}, "it answers meanwhile"
        met, _ = flood.communicate(timeout=60)
        assert 1 <= int(met) <= 8
        assert attacked.ask("connected") == {}
