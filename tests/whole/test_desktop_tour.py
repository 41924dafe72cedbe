"""The app as a new user meets it: first run, Contribute, a verified round, Pause; two panels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.desktop_tour import PANELS

TOOLS = ("Xvfb", "openbox", "xdotool", "import", "dbus-run-session")
PICTURES = Path(__file__).parents[2] / "build" / "tour"
PATIENCE_S = 600
STEPS = 19


@pytest.mark.whole
@pytest.mark.parametrize("panel", PANELS)
def test_a_new_user_gets_to_a_verified_round_and_pauses(panel: str) -> None:
    if any(shutil.which(tool) is None for tool in (*TOOLS, panel)):
        pytest.skip("the tools of the desktop are not here: installer/setup.sh tools")
    out = PICTURES / panel
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "tests.support.desktop_tour"]
    bus = ["dbus-run-session", "--"]
    done = subprocess.run(
        [*bus, *command, "--panel", panel, "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=Path(__file__).parents[2],
        env=os.environ,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3_000:]
    assert len(list(out.glob("*.png"))) == STEPS
    assert "Traceback" not in (out / "app.log").read_text(errors="replace")
