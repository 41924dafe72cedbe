"""A run whose volunteers sit behind home routers: real programs, real routers, a light trainer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.home_networks import HomeNetworks, Nat, missing

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(bool(missing()), reason=missing() or "everything is here"),
]


def test_volunteers_behind_routers_train_together_and_meet_where_the_routers_permit_it(
    tmp_path: Path,
) -> None:
    """Three volunteers that nobody can dial, one behind a router that changes ports."""
    nats = {"ana": Nat.PORT_RESTRICTED, "bo": Nat.PORT_RESTRICTED, "cleo": Nat.SYMMETRIC}
    with HomeNetworks.opened() as networks:
        seed = networks.public("seed")
        routers = {name: networks.home(f"r{name}", nat) for name, nat in nats.items()}
        homes = {name: networks.computer(router, name) for name, router in routers.items()}
        gateway = f"{seed.host.rpartition('.')[0]}.1"
        program = (sys.executable, "-m", "tests.support.home_swarm")
        named = (f"{name}={home.namespace}" for name, home in homes.items())
        command = networks.internet.command(*program, gateway, seed.namespace, *named)
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,
            check=True,
            env={**os.environ, "HOME_SWARM": str(tmp_path)},
        )
    places = json.loads(done.stdout.splitlines()[-1])
    met = {place.split("/")[2] for found in places.values() for place in found}
    outside = {name: router.computer.host for name, router in routers.items()}
    assert met <= {outside["ana"], outside["bo"]}
    assert not places["cleo"]
