"""A cell of three owners' computers in one local network, which find each other by multicast.

The model is divided among them as a pipeline. A guest is killed, and the cell goes on once it is
back; nobody is asked about it twice.
"""

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


def test_three_computers_in_one_home_train_a_model_as_one_volunteer(tmp_path: Path) -> None:
    with HomeNetworks.opened() as networks:
        seed, ana = networks.public("seed"), networks.public("ana")
        router = networks.home("r", Nat.PORT_RESTRICTED)
        home = [networks.computer(router, name) for name in ("tower", "laptop", "desk")]
        gateway = f"{seed.host.rpartition('.')[0]}.1"
        program = (sys.executable, "-m", "tests.support.lan_party", gateway)
        spaces = (one.namespace for one in (seed, ana, *home))
        done = subprocess.run(
            networks.internet.command(*program, *spaces),
            stdout=subprocess.PIPE,
            text=True,
            timeout=900,
            check=True,
            env={**os.environ, "LAN_PARTY": str(tmp_path)},
        )
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["accepted"] > seen["before"]
    assert all(100 < part < 600 for part in seen["shared"]), "of one guest's rank of three"
    assert seen["asked"] == 2, "of each guest once"
    assert seen["was_away"]
    assert seen["lost"], "the cell ended with the killed guest"
