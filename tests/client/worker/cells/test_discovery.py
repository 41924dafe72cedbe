"""Finding the host of a cell by its announcements, in a real home of IPv6 alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.home_networks import HomeNetworks, Nat, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "everything is here")

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
