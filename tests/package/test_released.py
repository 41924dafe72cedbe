"""From a package without torch to verified points, and to a newer version and back.

The mirror, the ledger, the other volunteers and the programs are real; the package is what
`make package` built, and a second one differs in its version alone.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tequio_client.demo import play
from tequio_client.demo.main import run_demo
from tequio_client.demo.script import quick_script
from tequio_client.platform.programs import tequio
from tequio_shared.version import BUILD
from tests.package.conftest import BUILT
from tests.support.mirrors import NEWER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.package.conftest import ReleaseMirror

MINUTES = 60
PEERS = 2

pytestmark = pytest.mark.package


@pytest.fixture
def home(releases: ReleaseMirror, tmp_path: Path) -> dict[str, str]:
    """Environment of a user without Python and without a runtime."""
    return {
        "HOME": str(tmp_path / "home"),
        "PATH": "/nowhere",
        "QT_QPA_PLATFORM": "offscreen",
        "TEQUIO_RELEASES": str(releases.mirror.trust(tmp_path / "trust")),
    }


def run(home: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        (BUILT / "tequio" / "tequio", *words),
        capture_output=True,
        text=True,
        check=False,
        env=home,
        timeout=10 * MINUTES,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_the_runtime_comes_from_the_mirror_and_earns_points(
    home: dict[str, str], tmp_path: Path
) -> None:
    offer = json.loads(run(home, "runtime", "install", "--check", "--json"))
    assert offer["accelerator"] == "cpu"
    said = run(home, "runtime", "install", "--json").splitlines()
    fetched = [json.loads(line) for line in said if '"fetching"' in line]
    assert fetched[-1]["done"] == fetched[-1]["total"] == offer["runtime_bytes"]
    assert f"{BUILD}  cpu" in run(home, "runtime", "status")

    def packaged(*words: str) -> tuple[str, ...]:
        is_packaged = words[0] != "data"  # a package has no sources of Python to train on
        return (str(BUILT / "tequio" / "tequio"), *words) if is_packaged else tequio(*words)

    with mock.patch.object(play, "tequio", packaged), mock.patch.dict(os.environ, home):
        outcome: dict[str, Any] = run_demo(quick_script(tmp_path / "network", PEERS))
    assert outcome["audit_exit"] == 0
    assert all(peer["gflop"] for peer in outcome["peers"])


def test_a_newer_version_starts_and_the_old_one_comes_back(
    home: dict[str, str], releases: ReleaseMirror
) -> None:
    assert run(home, "--version").strip() == BUILD
    releases.publish_newer()
    offer, *_, done = (json.loads(line) for line in run(home, "update", "--json").splitlines())
    assert done == {"event": "installed", "version": NEWER, "is_update": True}
    assert offer["app_bytes"] < offer["disk_bytes"] / 5, "most is taken from the package itself"
    assert run(home, "--version").strip() == NEWER
    run(home, "app", "--selftest")
    run(home, "update", "--back")
    assert run(home, "--version").strip() == BUILD
