"""An attacker in the local network of a member that looks for others there. Layer: net."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.support.attack_table import attack
from tests.support.home_networks import HomeNetworks, HomePeer, Nat, missing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.home_networks import Computer

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

REPEAT = """
import os, socket, sys, time
from tequio_client.worker.cells.code import derive_keys
from tequio_client.worker.cells.discovery import KIND
from tequio_client.worker.swarm.multicast import GROUP, UDP_PORT
raw = KIND.write(derive_keys(sys.argv[2]).host.key, UDP_PORT, os.urandom(16))  # as heard once
listening = socket.create_server((sys.argv[1], UDP_PORT))
listening.settimeout(0.6)
sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(sys.argv[1]))
while True:
    sending.sendto(raw, (GROUP, UDP_PORT))
    try:
        listening.accept()[0].close()
        print("met", flush=True)
    except TimeoutError:
        pass
"""
"""Repeats a cell's announcement from its own address; prints a line for each guest that comes."""

HOST = """
import sys, trio
from tequio_client.worker.cells.code import derive_keys
from tequio_client.worker.cells.computer import Terminal
from tequio_client.worker.cells.host import CellHost, GuestList
from tequio_client.worker.swarm.peers import PeerNetwork
from tests.client.worker.cells.test_host import OFFER
async def main():
    keys = derive_keys(sys.argv[2])
    async with PeerNetwork(seed=keys.host.seed, listen=(f"/ip4/{sys.argv[1]}/tcp/0",)) as peers:
        async with CellHost(peers, keys, OFFER, Terminal(says_yes=True), GuestList()).opened():
            await trio.sleep_forever()
trio.run(main)
"""

GUEST = """
import sys, trio
from pathlib import Path
from tequio_client.worker.cells.code import derive_keys
from tequio_client.worker.cells.computer import Terminal
from tequio_client.worker.cells.guest import CellGuest, GuestSettings
from tequio_client.worker.shutdown import ungrouped_errors
from tequio_shared.errors import UserFacingError
from tests.client.worker.cells.test_host import ASK
from tests.support.loopback import network
async def main():
    code, folder, find_s = sys.argv[1:]
    settings = GuestSettings(folder=Path(folder), code=code, find_s=float(find_s))
    async with network("guest") as peers, trio.open_nursery() as nursery:
        def hear(text):
            if "asked for a place" in text:
                print("asked the host")
                nursery.cancel_scope.cancel()
        owner = Terminal(says_yes=True, write=hear)
        nursery.start_soon(CellGuest(peers, derive_keys(code), settings, owner, ASK).run)
try:
    with ungrouped_errors():
        trio.run(main)
except UserFacingError as err:
    print(err)
"""
ENDLESS = """
import socket, sys, threading
own = sys.argv[1]
pages = socket.create_server((own, 5000))
search = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
search.bind(("", 1900))
membership = socket.inet_aton("239.255.255.250") + socket.inet_aton(own)
search.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
def serve():
    while True:
        asking = pages.accept()[0]
        print("asked", flush=True)
        asking.recv(4_000)
        try:
            asking.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
            while True:
                asking.sendall(b"<a>" * 20_000)
        except OSError:
            pass
threading.Thread(target=serve, daemon=True).start()
print("ready", flush=True)
while True:
    raw, asking = search.recvfrom(2_000)
    if raw.startswith(b"M-SEARCH"):
        wanted = next(one for one in raw.split(b"\\r\\n") if one.upper().startswith(b"ST:"))
        page = f"LOCATION: http://{own}:5000/d.xml".encode()
        head = (b"HTTP/1.1 200 OK", wanted, page, b"USN: uuid:1", b"SERVER: x", b"", b"")
        search.sendto(b"\\r\\n".join(head), asking)
"""
"""Calls itself a router, with a description that never ends; prints a line when it is asked."""

OPENS = """
import resource, psutil, trio
from tequio_client.ipc.snapshot import RouterPort
from tequio_client.worker.swarm import router_port
async def main():
    router_port.CALL_S = 12.0
    mapper = router_port.PortMapper(lambda: 4001, lambda: None)
    mapper.set_wanted(is_wanted=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mapper.run)
        while mapper.answer.state in (RouterPort.OFF, RouterPort.SEARCHING):
            await trio.sleep(0.1)
        await trio.sleep(1)
        threads = trio.to_thread.current_default_thread_limiter().borrowed_tokens
        own = psutil.Process().memory_info().rss >> 20
        child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        print(mapper.answer.state.value, threads, own, child)
        nursery.cancel_scope.cancel()
trio.run(main)
"""
"""Asks for a port; prints the answer, the worker's threads and MiB, and those of its process."""


@pytest.mark.skipif(find_spec("miniupnpc") is None, reason="miniupnpc is not installed")
@attack("D18", layer="net", ends="a process of its own ends when it has become large")
def test_an_endless_description_of_a_router_takes_little_memory_and_none_of_the_worker() -> None:
    with HomeNetworks.opened() as networks, ExitStack() as stack:
        router = networks.home("r", Nat.PORT_RESTRICTED)
        asking, eve = (networks.computer(router, one) for one in ("asking", "eve"))
        false = subprocess.Popen(
            eve.command(sys.executable, "-c", ENDLESS, eve.host), stdout=subprocess.PIPE, text=True
        )
        stack.enter_context(false)
        stack.callback(false.kill)  # before the wait for its end
        assert false.stdout is not None
        assert false.stdout.readline() == "ready\n"
        last = asking.run(sys.executable, "-c", OPENS).splitlines()[-1]
        assert false.stdout.readline() == "asked\n"
    state, threads, own_mib, child_mib = last.split()
    assert (state, threads) == ("no-router", "0")
    assert int(own_mib) < 150
    assert 200 < int(child_mib) < 400


CODE = "K7QF-2MXD-9TRP"


@attack("D13", layer="net", ends="its address is passed over, and the host is found at another one")
def test_a_stranger_that_repeats_a_cells_announcement_keeps_no_guest_out(tmp_path: Path) -> None:
    with HomeNetworks.opened() as networks, ExitStack() as stack:
        router = networks.home("r", Nat.PORT_RESTRICTED)
        tower, laptop, eve = (networks.computer(router, one) for one in ("tower", "laptop", "eve"))

        def start(computer: Computer, *words: str) -> subprocess.Popen[str]:
            command = computer.command(sys.executable, "-c", *words)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)  # before the wait for its end
            return process

        stranger = start(eve, REPEAT, eve.host, CODE)
        alone, _ = start(laptop, GUEST, CODE, str(tmp_path), "1.5").communicate(timeout=60)
        assert f"no host with the code {CODE} answered at {eve.host}:21084: check" in alone
        guest = start(laptop, GUEST, CODE, str(tmp_path), "60")
        assert stranger.stdout is not None
        for _ in range(2):  # once for each guest
            assert stranger.stdout.readline() == "met\n"
        start(tower, HOST, tower.host, CODE)
        found, _ = guest.communicate(timeout=90)
        assert found.endswith("asked the host\n"), found


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
